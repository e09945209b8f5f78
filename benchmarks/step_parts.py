"""Other ways to do parts of a training step, beside what the step does.

    python benchmarks/step_parts.py [--vocabulary=8192] [--rounds=15]
    python benchmarks/step_parts.py --quick    # small sizes, few rounds

Three parts at transformer_base's sizes, 32 sentences of 32 tokens on either side:

* logits: softmax and loss, forward and backward, of all target tokens, or of the real ones gathered
  before (30 % are padding);
* embeddings: the gradient of a table that both embeddings and the softmax share. Either the
  embeddings' gradients become dense and are added to the softmax's, or their rows are;
* update: Adam's operation on each variable, after what XLA has compiled, or compiled with it, so
  that XLA updates the variables in place.

All ways take turns. What is printed is the median time of each way and the median ratio to the
first way in a round; both also for CPU time, which other work on the machine changes less.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable

os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")

import tensorflow as tf

from t2t_keras.layers.manual_gradients import linear_transposed
from t2t_keras.training.losses import padded_loss_terms

Ways = dict[str, Callable[[], object]]
_ROWS, _LENGTH, _REAL = 32, 32, 0.7


def compiled(function: Callable[..., object], *arguments: object, jit: bool = False) -> Callable:
    """A call of `function` that waits for its results."""
    graph = tf.function(function, autograph=False, jit_compile=jit)

    def call() -> None:
        for result in tf.nest.flatten(graph(*arguments)):
            tf.reshape(result, [-1])[0].numpy()

    return call


def logits(vocabulary: int, depth: int) -> Ways:
    """Softmax and loss of all tokens, or of the real ones."""
    hidden = tf.random.normal([_ROWS, _LENGTH, depth])
    table = tf.random.normal([vocabulary, depth]) * depth**-0.5
    labels = tf.random.uniform([_ROWS, _LENGTH], 2, vocabulary, tf.int32)
    labels *= tf.cast(tf.range(_LENGTH) < int(_REAL * _LENGTH), tf.int32)

    def of_all(hidden: tf.Tensor, table: tf.Tensor) -> tf.Tensor:
        flat = linear_transposed(tf.reshape(hidden, [-1, depth]), table)
        return padded_loss_terms(tf.reshape(flat, [_ROWS, _LENGTH, -1]), labels, 0.1)[0]

    def of_real(hidden: tf.Tensor, table: tf.Tensor) -> tf.Tensor:
        where = tf.where(tf.reshape(labels, [-1]) != 0)[:, 0]
        rows = tf.gather(tf.reshape(hidden, [-1, depth]), where)
        real_labels = tf.gather(tf.reshape(labels, [-1]), where)
        return padded_loss_terms(linear_transposed(rows, table)[None], real_labels[None], 0.1)[0]

    def gradients(loss_of: Callable) -> Callable[[], object]:
        def step(hidden: tf.Tensor, table: tf.Tensor) -> object:
            with tf.GradientTape() as tape:
                tape.watch([hidden, table])
                loss = loss_of(hidden, table)
            return tape.gradient(loss, [hidden, table])

        return compiled(step, hidden, table)

    return {"all tokens": gradients(of_all), "real tokens": gradients(of_real)}


def embeddings(vocabulary: int, depth: int, jit: bool) -> Ways:
    """The gradient of a table of three uses; the first of them, the softmax's, is dense."""
    tokens = _ROWS * _LENGTH
    upstream = tf.random.normal([tokens, vocabulary])
    hidden, *rows = (tf.random.normal([tokens, depth]) for _ in range(3))
    ids = [tf.random.uniform([tokens], 2, vocabulary, tf.int32) for _ in rows]

    def of_softmax() -> tf.Tensor:
        return tf.matmul(upstream, hidden, transpose_a=True)

    def dense() -> tf.Tensor:
        slices = [
            tf.IndexedSlices(r, i, [vocabulary, depth]) for r, i in zip(rows, ids, strict=True)
        ]
        return tf.add_n([of_softmax(), *map(tf.convert_to_tensor, slices)])

    def by_row() -> tf.Tensor:
        where = tf.concat(ids, axis=0)[:, None]
        return tf.tensor_scatter_nd_add(of_softmax(), where, tf.concat(rows, axis=0))

    ways = {"dense": dense, "row by row": by_row, "softmax alone": of_softmax}
    return {name: compiled(way, jit=jit) for name, way in ways.items()}


def update(num_variables: int, rows: int, depth: int) -> Ways:
    """Adam's update of variables `[rows, depth]`."""
    gradients = [tf.random.normal([rows, depth]) for _ in range(num_variables)]
    state = [[tf.Variable(tf.ones([rows, depth])) for _ in range(3)] for _ in gradients]

    def step() -> tf.Tensor:
        for (weight, first, second), gradient in zip(state, gradients, strict=True):
            tf.raw_ops.ResourceApplyAdam(
                var=weight.handle, m=first.handle, v=second.handle, grad=gradient,
                beta1_power=0.9, beta2_power=0.997, lr=1e-3, beta1=0.9, beta2=0.997, epsilon=1e-9,
            )  # fmt: skip
        return tf.constant(0.0)

    return {"operations": compiled(step), "compiled": compiled(step, jit=True)}


def measure(ways: Ways, rounds: int) -> None:
    """Prints a line for each way."""
    wall: dict[str, list[float]] = {name: [] for name in ways}
    cpu: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(-2, rounds):
        for name, way in ways.items():
            start, cpu_start = time.perf_counter(), time.process_time()
            way()
            if number >= 0:
                wall[name].append(time.perf_counter() - start)
                cpu[name].append(time.process_time() - cpu_start)
    print("                  ms   ratio   ms of all cores   ratio")
    first = next(iter(ways))
    for name in ways:
        figures = [
            f"{1000 * statistics.median(seconds[name]):8.1f} {_ratio(seconds, name, first):7.2f}"
            for seconds in (wall, cpu)
        ]
        print(f"{name:>13}{'         '.join(figures)}", flush=True)


def _ratio(seconds: dict[str, list[float]], name: str, first: str) -> float:
    pairs = zip(seconds[name], seconds[first], strict=True)
    return statistics.median(one / other for one, other in pairs)


def main() -> None:
    """Measures all parts."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    vocabulary, depth, num_variables = arguments.vocabulary, 512, 46
    if arguments.quick:
        vocabulary, depth, num_variables, arguments.rounds = 512, 64, 4, 3
    parts = {
        "logits": lambda: logits(vocabulary, depth),
        "embeddings": lambda: embeddings(vocabulary, depth, jit=False),
        "embeddings, XLA": lambda: embeddings(vocabulary, depth, jit=True),
        "update": lambda: update(num_variables, 4 * depth, depth),
    }
    for name, make in parts.items():
        print(name)
        measure(make(), arguments.rounds)


if __name__ == "__main__":
    main()
