"""The conversation between a benchmark and a program that does training steps for it.

Python 3.7, standard library only: the oldest peer needs it. A worker builds its model, does a few
steps to warm up and says it is ready; then it reads one command a line, `steps <number>` or `peak`,
and answers each with one line. The lines that count begin with MARK; whatever else libraries print
is passed over.
"""

import argparse
import json
import os
import sys
import time

MARK = "@benchmark "  # The benchmark looks for it, too.
WARM_UP_STEPS = 3


def parse_arguments(description):
    """What a step does: sizes of the model and of the batch."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--hparams_set", default="transformer_base")
    parser.add_argument("--hparams", default="", help="overrides for t2t_keras alone")
    parser.add_argument("--layers", type=int, default=6)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--filter", type=int, default=2048)
    parser.add_argument("--heads", type=int, default=8)
    parser.add_argument("--vocabulary", type=int, default=8192)
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--xla", action="store_true")
    return parser.parse_args()


def answer(**values):
    """Tells the benchmark something."""
    print(MARK + json.dumps(values), flush=True)


def cores():
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def best_gflops(multiply, size=2048, repetitions=8):
    """Speed of the fastest product of two float32 matrices of this size, in GFLOP/s."""
    times = []
    for _ in range(repetitions + 2):
        start = time.perf_counter()
        multiply()
        times.append(time.perf_counter() - start)
    return 2.0 * size**3 / min(times[2:]) / 1e9


def serve(step, peak=None, **description):
    """Warms up, then does what it is told until its input ends.

    Args:
        step: a function that does one training step and returns when it is done.
        peak: a function that returns {library: GFLOP/s of its matrix product}.
        **description: told to the benchmark, such as the library's version.
    """
    if step is not None:
        for _ in range(WARM_UP_STEPS):
            step()
    answer(ready=True, **description)
    for line in sys.stdin:
        command, _, number = line.strip().partition(" ")
        if command == "peak":
            answer(peak=peak() if peak else {})
        elif command == "steps":
            # One more before those that count: the caches hold another program's data.
            step()
            seconds = []
            for _ in range(int(number)):
                start = time.perf_counter()
                step()
                seconds.append(time.perf_counter() - start)
            answer(seconds=seconds)
