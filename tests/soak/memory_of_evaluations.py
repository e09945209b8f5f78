"""Whether memory grows from evaluation to evaluation.

    PYTHONPATH=. python tests/soak/memory_of_evaluations.py --rounds=20

One process trains a tiny model with an evaluation after every few steps; then another reloads and
evaluates checkpoints as `--schedule=continuous_eval` does. Every evaluation translates the dev
split by beam search. Each process prints its resident memory after
every round; from round 3 to the last it must grow by less than 5 %. The exit status is 1 if it
grows more.
"""

import argparse
import gc
import os
import pathlib
import subprocess
import sys
import tempfile

_LIMIT = 0.05
_FIRST_ROUND = 3
_STEPS_A_ROUND = 5
# With this length penalty the search goes on to the end: something longer might still be better.
_SEARCH = "beam_size=4,alpha=5,extra_length=5,num_samples=100"


def resident_megabytes() -> float:
    """Of this process, after a collection of garbage."""
    gc.collect()
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def evaluate_rounds(kind: str, folder: str, rounds: int) -> list[float]:
    """Resident memory after each evaluation of one of the two kinds."""
    from t2t_keras.decoding.decode_hparams import decode_hparams
    from t2t_keras.decoding.validation import TranslationScorer, ValidationText, text_of_split
    from t2t_keras.training import checkpoints
    from t2t_keras.training.trainer import Trainer
    from tests.training import toy

    pathlib.Path(folder, "data").mkdir(exist_ok=True)
    data_dir = toy.make_data(pathlib.Path(folder, "data"))
    megabytes: list[float] = []
    original = Trainer._evaluate_model

    def measured(self, *args, **kwargs):  # type: ignore[no-untyped-def]
        results = original(self, *args, **kwargs)
        megabytes.append(resident_megabytes())
        print(f"{kind}, evaluation {len(megabytes)}: {megabytes[-1]:.1f} MB", flush=True)
        return results

    Trainer._evaluate_model = measured  # type: ignore[method-assign]
    steps = _STEPS_A_ROUND * rounds
    config = toy.make_config(
        pathlib.Path(folder, "run"), data_dir, train_steps=steps, eval_steps=100,
        iterations_per_loop=_STEPS_A_ROUND, local_eval_frequency=_STEPS_A_ROUND,
        keep_checkpoint_max=0, eval_poll_seconds=0, translate_every_evaluations=1,
    )  # fmt: skip
    hparams = toy.make_hparams(data_dir)
    options = decode_hparams(_SEARCH)

    def dev_split() -> ValidationText:
        return text_of_split(hparams, data_dir, "dev", options.num_samples)

    translate = TranslationScorer(hparams, options, dev_split, config.output_dir)
    trainer = Trainer(hparams, "transformer", config, translation_check=translate)
    if kind == "training":
        trainer.train_and_evaluate()
        return megabytes
    prefixes = checkpoints.complete_checkpoints(config.output_dir)[1:]
    remaining = iter(prefixes)
    # Each look finds one more checkpoint, as if training went on meanwhile.
    checkpoints.latest_checkpoint = lambda directory: next(remaining)
    trainer.continuous_eval()
    return megabytes


def growth(megabytes: list[float]) -> float:
    """From round 3 to the last, as a share."""
    return megabytes[-1] / megabytes[_FIRST_ROUND - 1] - 1.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--kind", choices=["training", "continuous_eval"])
    parser.add_argument("--folder")
    arguments = parser.parse_args()
    if arguments.kind:
        grown = growth(evaluate_rounds(arguments.kind, arguments.folder, arguments.rounds))
        print(f"{arguments.kind}: {100 * grown:+.2f} % from round {_FIRST_ROUND} on", flush=True)
        sys.exit(int(grown >= _LIMIT))
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, __file__, f"--rounds={arguments.rounds}", f"--folder={folder}"]
        # A process each: what one has freed would hide what the other takes.
        statuses = [
            subprocess.run([*command, f"--kind={kind}"], check=False).returncode
            for kind in ("training", "continuous_eval")
        ]
    sys.exit(max(statuses))


if __name__ == "__main__":
    main()
