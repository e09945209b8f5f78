"""Speed of training beside other systems': tokens/s, time of a step, share of the machine's peak.

    python benchmarks/train.py                      # t2t_keras alone
    HF_PYTHON=… ONMT_PYTHON=… T2T_PYTHON=… python benchmarks/train.py
    python benchmarks/train.py --hparams_sets=transformer_tiny --vocabularies=8192,33708
    python benchmarks/train.py --quick              # does it run? under a minute

A step is the trainer's own: forward, backward and Adam's update of a batch of 32 × 32 source and as
many target tokens, none of them padding; dropout 0.1, label smoothing 0.1, float32, all cores.

Every system is a process of its own that builds its model, warms up and then sleeps. They are
woken in turn, for `--steps` steps each (after one that doesn't count), `--rounds` times over, so
that whatever else the machine does meets all alike. The fastest product of two 2048 × 2048 float32
matrices in any library and round is the machine's peak; PyTorch's product, where there is PyTorch,
has a column of its own. GFLOP/s count the products with weights, the same for all systems
(`training_step.matmul_flops`).

The other systems run in environments of their own; the options, or the variables named above, tell
their Python interpreters (README.md: how to make them). One that isn't told is left out.
"""

import argparse
import json
import os
import statistics
import sys
import time
from typing import Any, NamedTuple

from training_step import Work, matmul_flops
from worker_process import WORKERS, WorkerError, WorkerProcess

OURS = {"plain": "t2t_keras", "xla": "t2t_keras, XLA"}


class Peer(NamedTuple):
    """Another system."""

    title: str
    script: str
    variable: str  # of the environment: the Python that has the system
    installs: str


PEERS = (
    Peer("Hugging Face Marian", "huggingface.py", "HF_PYTHON", "torch and transformers"),
    Peer("tensor2tensor", "t2t.py", "T2T_PYTHON", "tensor2tensor and TensorFlow 1"),
    Peer("OpenNMT-tf", "onmt.py", "ONMT_PYTHON", "OpenNMT-tf"),
)


class Team:
    """The systems of one table, and how fast the machine multiplies."""

    def __init__(self, work: Work, options: argparse.Namespace) -> None:
        self.workers: dict[str, WorkerProcess] = {}
        self.seconds: dict[str, list[list[float]]] = {}  # a list a round
        self.peaks: dict[str, float] = {}
        self._work, self._options = work, options
        self._multiplier: WorkerProcess | None = None

    def start(self) -> None:
        """Starts and warms up one after another."""
        self._multiplier = self._started("sgemm", sys.executable, "sgemm.py", [])
        arguments = self._arguments()
        for variant in self._options.variants:
            extra = [f"--hparams={self._work.overrides}"]
            extra += ["--xla"] if variant == "xla" else []
            self._add(OURS[variant], sys.executable, "ours.py", arguments + extra)
        for peer in PEERS:
            python = getattr(self._options, peer.variable.lower())
            if python:
                folder = self._options.peer_scripts
                self._add(peer.title, python, peer.script, arguments, folder)
            else:
                print(
                    f"{peer.title} left out: --{peer.variable.lower()} (or {peer.variable}) "
                    f"doesn't tell which Python has {peer.installs}"
                )

    def run(self, steps: int) -> None:
        """One round."""
        for worker in (self._multiplier, self.workers.get(PEERS[0].title)):
            for library, speed in (worker.peak() if worker else {}).items():
                self.peaks[library] = max(self.peaks.get(library, 0.0), speed)
        for title, worker in list(self.workers.items()):
            try:
                self.seconds[title].append(worker.seconds(steps))
            except WorkerError as error:
                print(f"{title} left out: {error}")
                del self.workers[title], self.seconds[title]

    def close(self) -> None:
        """Ends all processes."""
        for worker in (self._multiplier, *self.workers.values()):
            if worker:
                worker.close()

    def _arguments(self) -> list[str]:
        work, hparams = self._work, self._work.hparams()
        values = {
            "hparams_set": work.hparams_set,
            "layers": hparams.num_hidden_layers,
            "width": hparams.hidden_size,
            "filter": hparams.filter_size,
            "heads": hparams.num_heads,
            "vocabulary": work.vocabulary,
            "sentences": work.sentences,
            "length": work.length,
        }
        return [f"--{name}={value}" for name, value in values.items()]

    def _add(
        self, title: str, python: str, script: str, arguments: list[str], folder: str = WORKERS
    ) -> None:
        worker = self._started(title, python, script, arguments, folder)
        if worker:
            self.workers[title] = worker
            self.seconds[title] = []

    def _started(
        self, title: str, python: str, script: str, arguments: list[str], folder: str = WORKERS
    ) -> WorkerProcess | None:
        start = time.monotonic()
        try:
            worker = WorkerProcess(python, script, arguments, folder)
        except WorkerError as error:
            print(f"{title} left out: {error}")
            return None
        print(
            f"{title}: ready after {time.monotonic() - start:.0f} s "
            f"({worker.description.get('version', 'matrix products')})",
            flush=True,
        )
        return worker


def table(work: Work, team: Team) -> str:
    """The result: medians and minima over all rounds, and ratios to the first system."""
    flops = matmul_flops(work)
    best = max(team.peaks.values(), default=float("nan"))
    speeds = ", ".join(f"{library} {speed:.0f}" for library, speed in team.peaks.items())
    first, *_ = [*team.seconds, ""]
    lines = [
        f"{work.hparams_set}, vocabulary {work.vocabulary}, "
        f"{work.sentences} × {work.length} source and target tokens, "
        f"{flops / 1e9:.0f} GFLOP a step; peak of a float32 product {best:.0f} GFLOP/s ({speeds})",
        "",
        "| system | target tokens/s | s/step, median | s/step, least | GFLOP/s | of the peak "
        f"| of PyTorch's product | time / {first}'s (round by round) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    medians = {
        title: [statistics.median(times) for times in rounds]
        for title, rounds in team.seconds.items()
    }
    torch = team.peaks.get("torch")
    all_times = {title: sum(rounds, []) for title, rounds in team.seconds.items()}
    for title, times in all_times.items():
        median = statistics.median(times)
        speed = flops / median / 1e9
        of_torch = f"{speed / torch:.0%}" if torch else "–"
        ratios = [b / a for a, b in zip(medians[first], medians[title], strict=True)]
        ratio = median / statistics.median(all_times[first])
        lines.append(
            f"| {title} | {work.target_tokens / median:,.0f} | {median:.3f} | {min(times):.3f} "
            f"| {speed:.0f} | {speed / best:.0%} | {of_torch} "
            f"| {ratio:.2f} ({' '.join(f'{r:.2f}' for r in ratios)}) |"
        )
    return "\n".join(lines)


def measure(work: Work, options: argparse.Namespace) -> dict[str, Any]:
    """Runs all systems on one piece of work, prints the table and returns the figures."""
    team = Team(work, options)
    try:
        team.start()
        for number in range(options.rounds):
            team.run(options.steps)
            rounds = "; ".join(
                f"{title} {statistics.median(times[-1]):.3f}"
                for title, times in team.seconds.items()
            )
            print(f"round {number + 1} of {options.rounds}, median s/step: {rounds}", flush=True)
        print(f"\n{table(work, team)}\n", flush=True)
    finally:
        team.close()
    return {"work": work._asdict(), "peaks": team.peaks, "seconds": team.seconds}


def names(text: str) -> list[str]:
    """A comma list."""
    return [part for part in text.split(",") if part]


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hparams_sets", type=names, default=["transformer_base"])
    parser.add_argument("--vocabularies", type=names, default=["8192"])
    parser.add_argument("--variants", type=names, default=list(OURS), help="plain,xla")
    parser.add_argument("--hparams", default="", help="overrides for t2t_keras: name=value,…")
    parser.add_argument("--sentences", type=int, default=32)
    parser.add_argument("--length", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=4, help="of every system in a round")
    parser.add_argument("--peer_scripts", default=WORKERS, help="folder of the other workers")
    parser.add_argument("--json", help="file for all times")
    parser.add_argument("--quick", action="store_true", help="transformer_tiny, one round of two")
    for peer in PEERS:
        parser.add_argument(
            f"--{peer.variable.lower()}",
            default=os.environ.get(peer.variable, ""),
            help=f"Python interpreter with {peer.installs}",
        )
    options = parser.parse_args()
    unknown = set(options.variants) - set(OURS)
    if unknown:
        parser.error(f"--variants takes {', '.join(OURS)}. Received: {', '.join(unknown)}")
    if options.quick:
        options.hparams_sets, options.rounds, options.steps = ["transformer_tiny"], 1, 2
    return options


def main() -> None:
    """Measures and prints."""
    options = parse_arguments()
    start, results = time.monotonic(), []
    for hparams_set in options.hparams_sets:
        for vocabulary in map(int, options.vocabularies):
            work = Work(hparams_set, vocabulary, options.sentences, options.length, options.hparams)
            results.append(measure(work, options))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(results, stream, indent=1)
    print(f"{time.monotonic() - start:.0f} s in all")


if __name__ == "__main__":
    main()
