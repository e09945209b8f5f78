"""Peak memory of a training step's softmax and loss, whole and factored.

    python benchmarks/factored_logits.py [--vocabulary=33708] [--tokens=4096] [--depth=512]
    python benchmarks/factored_logits.py --quick    # a small vocabulary, few tokens

Each way runs in a process of its own, forward and backward from the decoder's output to the
gradients of it and of the softmax table; what is printed is the process's peak resident memory less
what it had before.
"""

import argparse
import resource
import subprocess
import sys
import time


def megabytes() -> float:
    """The largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(way: str, vocabulary: int, tokens: int, depth: int) -> None:
    """Prints megabytes and seconds of one way."""
    import tensorflow as tf

    from t2t_keras.training.factored_loss import factored_loss_sum
    from t2t_keras.training.losses import padded_loss_terms

    hidden = tf.random.normal([32, tokens // 32, depth])
    table = tf.Variable(tf.random.normal([vocabulary, depth]) * depth**-0.5)
    labels = tf.random.uniform([32, tokens // 32], 2, vocabulary, tf.int32)

    @tf.function
    def gradients(hidden: tf.Tensor, labels: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(hidden)
            if way == "whole":
                flat = tf.reshape(hidden, [-1, depth])
                logits = tf.reshape(tf.matmul(flat, table, transpose_b=True), [32, -1, vocabulary])
                loss, _ = padded_loss_terms(logits, labels, 0.1)
            else:
                weights = tf.ones_like(labels, tf.float32)
                loss = factored_loss_sum(hidden, table.read_value(), labels, weights, 0.1)
        return tape.gradient(loss, [hidden, table])

    small = slice(0, 1)
    gradients(hidden[:, small], labels[:, small])  # traces
    before, start = megabytes(), time.perf_counter()
    [gradient.numpy() for gradient in gradients(hidden, labels)]
    print(f"{megabytes() - before:.0f} {time.perf_counter() - start:.2f}")


def main() -> None:
    """Measures both ways and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vocabulary", type=int, default=33708)
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--depth", type=int, default=512)
    parser.add_argument("--quick", action="store_true", help="8,192 symbols, 512 tokens, depth 64")
    parser.add_argument("--way", choices=("whole", "factored"))
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.vocabulary, arguments.tokens, arguments.depth = 8192, 512, 64
    sizes = (arguments.vocabulary, arguments.tokens, arguments.depth)
    if arguments.way:
        measure(arguments.way, *sizes)
        return
    for way in ("whole", "factored"):
        command = [sys.executable, __file__, f"--way={way}"]
        names = ("vocabulary", "tokens", "depth")
        command += [f"--{name}={size}" for name, size in zip(names, sizes, strict=True)]
        output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        peak, seconds = output.split()
        print(f"{way:>10}: {peak:>6} MB more at the peak, {seconds} s")


if __name__ == "__main__":
    main()
