"""What replicas cost: the time of a step of N replicas with B/N sentences each, against one with B.

    python benchmarks/replica_overhead.py                        # transformer_tiny, 1, 2, 4, 8
    python benchmarks/replica_overhead.py --hparams_set=transformer_base --replicas=1,2
    python benchmarks/replica_overhead.py --quick                # does it run?

The replicas are logical devices of this machine's CPU, so the arithmetic is the same for any number
of them, and they share the same cores: what a step takes longer is what the loop itself costs. That
is starting the replicas, smaller matrices, as many updates of the weights as there are replicas,
and the sums of gradients, copies between logical devices here. (On GPUs the updates and
the matrices don't share cores, and the sums take what docs/scaling.md reckons.) The update's share
doesn't grow with the batch; "without update" leaves it out: N − 1 times the time of one update,
measured on its own.

The steps of all numbers of replicas take turns, `--steps` at a time, `--rounds` times over, so that
whatever else the machine does meets all alike. Ratios are medians of the rounds' ratios.
"""

import argparse
import os
import statistics
import sys
import time
from typing import Any

from training_step import Work, random_batch


def make_step(work: Work, num_replicas: int, xla: bool) -> Any:
    """The trainer's step for so many replicas, on a model of its own."""
    from t2t_keras import registry
    from t2t_keras.training.distribution import make_strategy
    from t2t_keras.training.schedules import learning_rate_schedule
    from t2t_keras.training.step import TrainStep

    hparams = work.hparams()
    strategy = make_strategy(num_replicas)
    with strategy.scope():
        model = registry.model("transformer")(
            hparams, input_vocab_size=work.vocabulary, target_vocab_size=work.vocabulary
        )
        optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    return TrainStep(model, optimizer, hparams, strategy=strategy, jit_compile=xla)


def seconds_of_update(work: Work, rounds: int) -> float:
    """Median time of the optimizer alone, on one replica."""
    import tensorflow as tf

    from t2t_keras import registry
    from t2t_keras.training.schedules import learning_rate_schedule

    hparams = work.hparams()
    model = registry.model("transformer")(
        hparams, input_vocab_size=work.vocabulary, target_vocab_size=work.vocabulary
    )
    optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    optimizer.build(model.trainable_variables)
    gradients = [tf.ones(variable.shape) for variable in model.trainable_variables]

    @tf.function
    def update() -> tf.Tensor:
        optimizer.apply(gradients, model.trainable_variables)
        return tf.identity(optimizer.iterations.value)

    return statistics.median(seconds_of(update) for _ in range(rounds + 1))


def seconds_of(function: Any) -> float:
    """Seconds from the call to its result in hand."""
    start = time.perf_counter()
    result = function()
    getattr(result, "loss", result).numpy()
    return time.perf_counter() - start


def measure(
    steps: dict[int, Any], batch: Any, options: argparse.Namespace
) -> dict[int, list[float]]:
    """Median time of a step by number of replicas, in each round."""
    rounds: dict[int, list[float]] = {count: [] for count in steps}
    for number in range(options.rounds):
        for count, step in steps.items():
            seconds = [seconds_of(lambda step=step: step(batch)) for _ in range(options.steps)]
            rounds[count].append(statistics.median(seconds))
        print(f"round {number + 1} of {options.rounds}", file=sys.stderr)
    return rounds


def table(rounds: dict[int, list[float]], update: float) -> list[str]:
    """A Markdown table of times and ratios to one replica."""
    lines = [
        "| replicas | s/step (median) | ratio to 1 replica (median; least–most) | without update |",
        "|---|---|---|---|",
    ]
    base = min(rounds)
    for count, seconds in rounds.items():
        ratios = [own / one for own, one in zip(seconds, rounds[base], strict=True)]
        bare = [
            (own - (count - base) * update) / one
            for own, one in zip(seconds, rounds[base], strict=True)
        ]
        lines.append(
            f"| {count} | {statistics.median(seconds):.4f} | {statistics.median(ratios):.3f} "
            f"({min(ratios):.3f}–{max(ratios):.3f}) | {statistics.median(bare):.3f} |"
        )
    return lines


def parsed_options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hparams_set", default="transformer_tiny")
    parser.add_argument("--hparams", default="", help="overrides of the set")
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--sentences", type=int, default=64, help="in a global batch (64)")
    parser.add_argument("--length", type=int, default=32, help="of each sentence, in tokens (32)")
    parser.add_argument("--replicas", default="1,2,4,8", help="numbers of replicas (1,2,4,8)")
    parser.add_argument("--steps", type=int, default=5, help="in a row (5)")
    parser.add_argument("--rounds", type=int, default=8, help="of all numbers in turn (8)")
    parser.add_argument("--xla", action="store_true", help="compile with XLA")
    parser.add_argument("--quick", action="store_true", help="a small model, two rounds")
    options = parser.parse_args()
    if options.quick:
        options.hparams += ",num_hidden_layers=1,hidden_size=32,filter_size=64,num_heads=2"
        options.hparams = options.hparams.lstrip(",")
        options.vocabulary, options.sentences, options.replicas = 64, 8, "1,2"
        options.steps = options.rounds = 2
    options.counts = sorted({int(count) for count in options.replicas.split(",")})
    if options.counts[0] < 1 or any(options.sentences % count for count in options.counts):
        parser.error(f"sentences must be a multiple of all replicas. Received: {options.replicas}")
    return options


def main() -> None:
    """Measures and prints."""
    options = parsed_options()
    for name, value in (("TF_CPP_MIN_LOG_LEVEL", "2"), ("TF_ENABLE_ONEDNN_OPTS", "1")):
        os.environ.setdefault(name, value)
    from t2t_keras.training.distribution import make_strategy

    make_strategy(max(options.counts))  # All logical devices, before TensorFlow starts.
    work = Work(
        options.hparams_set, options.vocabulary, options.sentences, options.length, options.hparams
    )
    batch = random_batch(work)
    steps = {count: make_step(work, count, options.xla) for count in options.counts}
    for count, step in steps.items():
        warm = [seconds_of(lambda step=step: step(batch)) for _ in range(2)]
        print(f"{count} replica(s) ready after {warm[0]:.1f} s", file=sys.stderr)
    update = seconds_of_update(work, options.rounds)
    rounds = measure(steps, batch, options)
    print(
        f"{work.hparams_set}{' (' + work.overrides + ')' if work.overrides else ''}, vocabulary "
        f"{work.vocabulary:,}, {work.sentences} × {work.length} tokens a side in all, "
        f"{'XLA' if options.xla else 'no XLA'}, {os.cpu_count()} cores; one update takes "
        f"{update:.4f} s\n"
    )
    print("\n".join(table(rounds, update)))


if __name__ == "__main__":
    main()
