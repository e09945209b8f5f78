"""Where the time of one training step goes: by part of the model and by type of operation.

    python benchmarks/profile_step.py [--hparams_set=transformer_base] [--vocabulary=8192] [--xla]

The trainer's step runs on a synthetic batch of 32 × 32 source and as many target tokens, under
TensorFlow's profiler. What is counted is the time inside operations, those they call left out; with
`--inter_op=1` (the default) one operation runs at a time, on all cores, so the times add up to the
step's. With `--inter_op=2`, as in training, operations overlap and their times add up to more.
Names tell part and direction, but not of what XLA compiles; sums of several gradients (AddN) belong
to no part. Profiling itself costs some milliseconds.
"""

import argparse
import collections
import functools
import glob
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from training_step import Work, make_train_step, matmul_flops, random_batch, timed_step

# The first part whose pattern is found in an operation's name has it.
PARTS = (
    ("optimizer", r"(^|/)(adam|multistep_adam|adafactor|momentum|sgd)[^/]*/"),
    ("dropout", r"/dropout(_\d+)*/"),
    ("layer norm", r"/(layer|l2|noam)_norm(_\d+)*/"),
    ("residual", r"/layer_postprocess(_\d+)*/"),
    ("attention projections", r"attention.*/(q|k|v|qkv|kv|output_transform)(_\d+)*/"),
    ("attention heads", r"attention(_\d+)*/"),
    ("feed-forward", r"/ffn(_\d+)*/"),
    ("masks, positions", r"/(encoder|decoder)(_\d+)*/"),
    ("logits", r"transformer(_\d+)*/.*MatMul"),
    ("embedding, gradient of the table", r"transformer(_\d+)*/"),
)
OTHER = "loss, sums of gradients"
XLA_PART = "compiled by XLA"
# How a trace names an operation's event: node:operation. The runtime's own have "::" or spaces.
OPERATION = re.compile(r"([\w./-]+):(\w+)")


class Operation(NamedTuple):
    """An operation that ran.

    Attributes:
        name: of its node in the graph, scopes included.
        kind: MatMul, AddV2, ….
        milliseconds: of its own, without what ran inside it.
    """

    name: str
    kind: str
    milliseconds: float

    @property
    def part(self) -> str:
        """The part of the model it belongs to."""
        if self.name == XLA_PART:
            return XLA_PART
        return next((part for part, pattern in PARTS if re.search(pattern, self.name)), OTHER)

    @property
    def direction(self) -> str:
        """Whether it belongs to the gradients or to what comes before or after them."""
        return "backward" if "gradient_tape" in self.name else "forward"


class Names(NamedTuple):
    """What the numbers in a trace's events stand for."""

    events: dict[int, str]
    statistics: dict[int, str]


def operations_of(line: Any, names: Names) -> Iterator[Operation]:
    """The operations of one thread of a trace.

    An operation inside another one's time was called by it: its time is taken off the caller's.
    """
    events = []
    for event in line.events:
        found = _name_and_kind(event, names)
        if found:
            events.append((event.offset_ps, -event.duration_ps, *found))
    open_calls: list[list[Any]] = []  # [end, own time, name, kind] of the calls around this event
    for start, negative_duration, name, kind in sorted(events):
        while open_calls and open_calls[-1][0] <= start:
            yield _finished(open_calls.pop())
        if open_calls:
            open_calls[-1][1] += negative_duration
        open_calls.append([start - negative_duration, -negative_duration, name, kind])
    while open_calls:
        yield _finished(open_calls.pop())


def _name_and_kind(event: Any, names: Names) -> tuple[str, str] | None:
    """Of an operation; None for what isn't one. XLA's have lost the names of the graph."""
    title = names.events[event.metadata_id]
    match = OPERATION.fullmatch(title)
    if match:
        return match.group(1), match.group(2)
    if any(names.statistics[data.metadata_id] == "hlo_op" for data in event.stats):
        return XLA_PART, re.sub(r"(_\d+)?(\.\d+)?$", "", title)
    return None


def _finished(call: list[Any]) -> Operation:
    _, picoseconds, name, kind = call
    return Operation(name, kind, picoseconds / 1e9)


def name_custom_gradients() -> None:
    """Has gradients that are written by hand named after what they are gradients of.

    TensorFlow does so with all others. To be called before the modules that define any are
    imported.
    """
    import tensorflow as tf

    plain = tf.custom_gradient

    def custom_gradient(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def with_named_gradient(*arguments: Any, **options: Any) -> Any:
            result, gradient = function(*arguments, **options)
            scope = f"gradient_tape/{tf.get_current_name_scope() or 'loss'}/"

            def named_gradient(*upstream: Any, **variables: Any) -> Any:
                with tf.name_scope(scope):
                    return gradient(*upstream, **variables)

            return result, named_gradient

        return plain(with_named_gradient)

    tf.custom_gradient = custom_gradient


def trace(step: Any, batch: dict[str, Any], steps: int) -> tuple[list[Operation], float]:
    """The operations of some steps and the milliseconds a step took, while traced."""
    import tensorflow as tf
    from tensorflow.tsl.profiler.protobuf import xplane_pb2

    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=2, python_tracer_level=0)
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.experimental.start(folder, options=options)
        times = [timed_step(step, batch) for _ in range(steps)]
        tf.profiler.experimental.stop()
        (path,) = glob.glob(f"{folder}/**/*.xplane.pb", recursive=True)
        space = xplane_pb2.XSpace()
        with open(path, "rb") as stream:
            space.ParseFromString(stream.read())
    operations = []
    for plane in space.planes:
        names = Names(
            {number: data.name for number, data in plane.event_metadata.items()},
            {number: data.name for number, data in plane.stat_metadata.items()},
        )
        for line in plane.lines:
            operations += operations_of(line, names)
    return operations, 1000 * sum(times) / steps


def print_table(
    title: str, keyed: Iterable[tuple[str, Operation]], steps: int, rows: int = 100
) -> None:
    """Milliseconds, calls and share of each key, for one step."""
    time: collections.Counter[str] = collections.Counter()
    backward: collections.Counter[str] = collections.Counter()
    calls: collections.Counter[str] = collections.Counter()
    for key, operation in keyed:
        time[key] += operation.milliseconds / steps
        calls[key] += 1
        if operation.direction == "backward":
            backward[key] += operation.milliseconds / steps
    total = sum(time.values())
    print(f"\n{title:<52}{'ms':>9}{'share':>8}{'backward ms':>13}{'calls':>8}")
    for key, milliseconds in time.most_common(rows):
        print(
            f"{key:<52}{milliseconds:9.1f}{milliseconds / total:8.1%}"
            f"{backward[key]:13.1f}{calls[key] // steps:8}"
        )
    print(f"{'all':<52}{total:9.1f}{1:8.1%}{sum(backward.values()):13.1f}")


def main() -> None:
    """Traces and prints."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hparams_set", default="transformer_base")
    parser.add_argument("--hparams", default="", help="overrides, name=value,name=value")
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--xla", action="store_true", help="compile loss and gradients")
    parser.add_argument("--steps", type=int, default=3)
    parser.add_argument("--inter_op", type=int, default=1, help="operations run at a time")
    parser.add_argument("--intra_op", type=int, default=0, help="threads of one; 0: all cores")
    parser.add_argument("--slowest", type=int, default=0, help="list this many operations too")
    arguments = parser.parse_args()
    from t2t_keras.bin import environment

    environment.prepare_environment()
    environment.load_tensorflow()
    import tensorflow as tf

    tf.config.threading.set_inter_op_parallelism_threads(arguments.inter_op)
    tf.config.threading.set_intra_op_parallelism_threads(arguments.intra_op)
    name_custom_gradients()
    work = Work(arguments.hparams_set, arguments.vocabulary, overrides=arguments.hparams)
    step, batch = make_train_step(work, arguments.xla), random_batch(work)
    for _ in range(3):
        untraced = timed_step(step, batch)
    operations, milliseconds = trace(step, batch, arguments.steps)
    flops = matmul_flops(work)
    print(
        f"{work.hparams_set}, vocabulary {work.vocabulary}{', XLA' if arguments.xla else ''}: "
        f"{milliseconds:.0f} ms a step while traced ({1000 * untraced:.0f} ms before), "
        f"{flops / 1e9:.0f} GFLOP of products with weights"
    )
    print_table("part", ((o.part, o) for o in operations), arguments.steps)
    print_table("operation", ((o.kind, o) for o in operations), arguments.steps, rows=25)
    both = ((f"{o.part}: {o.kind}", o) for o in operations)
    print_table("part: operation", both, arguments.steps, rows=30)
    if arguments.slowest:
        named = ((f"{o.name[-50:]}", o) for o in operations)
        print_table("slowest", named, arguments.steps, rows=arguments.slowest)


if __name__ == "__main__":
    main()
