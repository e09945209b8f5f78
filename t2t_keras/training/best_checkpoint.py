"""`best/`: the checkpoints that an evaluation found best, safe from the deletion of old ones."""

import json
import os
import pathlib
import shutil
from collections.abc import Sequence
from typing import Any

from absl import logging

from t2t_keras.text.text_files import write_text_atomically
from t2t_keras.training import checkpoints, retention
from t2t_keras.training.validation_metrics import ChosenMetric

__all__ = ["BEST_DIRECTORY", "BEST_FILE", "BestCheckpoints"]

BEST_DIRECTORY = "best"
BEST_FILE = "best.json"

# What a directory needs for its name alone to be enough for decoding and exporting.
_DESCRIPTION_FILES = ("flags.txt", "flags_t2t.txt", "hparams.json", "vocabulary.json")

Point = tuple[int, float]


class BestCheckpoints:
    """Keeps the best checkpoints of a run in `<output_dir>/best/`.

    That is a directory like the run's own: checkpoints, the state file `checkpoint` that names the
    best one as the one to use, `flags.txt` and `hparams.json`; and `best.json` with metric, value
    and step. Checkpoints are hard links where the file system has them: they cost nothing until the
    original is deleted. Every file appears whole, and in an order that leaves a usable directory
    behind whenever the process is killed.

    Args:
        output_dir: the run's directory.
        metric: what is compared.
        num_kept: how many checkpoints.
        is_new_run: the run begins; an older one's `best/` is put aside.
    """

    def __init__(
        self, output_dir: str, metric: ChosenMetric, num_kept: int = 1, is_new_run: bool = False
    ) -> None:
        if num_kept < 1:
            raise ValueError(f"At least one best checkpoint must be kept. Received: {num_kept}")
        self._output_dir = output_dir
        self.directory = os.path.join(output_dir, BEST_DIRECTORY)
        self._metric = metric
        self._num_kept = num_kept
        if is_new_run:
            self._put_aside()
        self._kept: list[Point] = self._read()

    @property
    def best(self) -> Point | None:
        """Step and value of the best checkpoint kept, None if there is none."""
        return self._kept[0] if self._kept else None

    def make_up(self, points: Sequence[Point]) -> None:
        """As `update`, for a process that goes on: nothing has been trained, so no fewer are kept.

        Args:
            points: step and value of all evaluations so far, in the order of steps.
        """
        self._bring_up_to_date(points, None, max(self._num_kept, len(self._kept)))

    def update(self, points: Sequence[Point], model: Any = None) -> bool:
        """Brings `best/` up to date; whether there is a new best checkpoint.

        Doing it again changes nothing, so that it makes up for an update that was cut short.

        Args:
            points: step and value of all evaluations so far, in the order of steps.
            model: as it was at the last of them, for a step that has no checkpoint.
        """
        return self._bring_up_to_date(points, model, self._num_kept)

    def _bring_up_to_date(self, points: Sequence[Point], model: Any, count: int) -> bool:
        if not points:
            return False
        newest = points[-1][0]
        ranked = self._available(points, newest if model is not None else -1, count)
        previous = self.best
        if not ranked or (ranked == self._kept and all(self._is_kept(step) for step, _ in ranked)):
            return False
        os.makedirs(self.directory, exist_ok=True)
        self._copy_description()
        for step, _ in ranked:
            self._keep(step, model if step == newest else None, renew=step == newest)
        self._write_state(ranked)
        self._kept = ranked
        self._delete_others()
        return ranked[0] != previous

    def _rank(self, point: Point) -> tuple[float, int]:
        step, value = point
        # Of equal values the earlier one.
        return (value if self._metric.minimize else -value, step)

    def _available(self, points: Sequence[Point], step_of_model: int, count: int) -> list[Point]:
        """So many evaluations, best first, whose weights still exist."""
        candidates = dict(self._kept) | dict(points)
        numbers = [point for point in candidates.items() if point[1] == point[1]]  # no NaN
        found: list[Point] = []
        for point in sorted(numbers, key=self._rank):
            if len(found) == count:
                break
            step = point[0]
            if step == step_of_model or self._is_kept(step) or self._is_in_run(step):
                found.append(point)
        return found

    def _is_kept(self, step: int) -> bool:
        return checkpoints.is_complete(checkpoints.prefix_of_step(self.directory, step))

    def _is_in_run(self, step: int) -> bool:
        return checkpoints.is_complete(checkpoints.prefix_of_step(self._output_dir, step))

    def _keep(self, step: int, model: Any, renew: bool) -> None:
        """Puts a checkpoint into `best/`, from the run's if it has it, else from the model."""
        if self._is_in_run(step):
            # A step that comes again after a kill: the file of that name is the new one.
            if not renew and self._is_kept(step):
                return
            try:
                self._link(checkpoints.prefix_of_step(self._output_dir, step))
                return
            except FileNotFoundError:
                # The trainer, another process, has just deleted it.
                if model is None:
                    raise
        if model is not None:
            checkpoints.save(self.directory, model, step)

    def _link(self, prefix: str) -> None:
        source = pathlib.Path(prefix)
        files = [
            path
            for ending in ("data-*-of-*", "index")  # the index last
            for path in sorted(source.parent.glob(f"{source.name}.{ending}"))
        ]
        for path in files:
            target = pathlib.Path(self.directory, path.name)
            if target.exists() and os.path.samefile(path, target):
                continue
            temporary = target.with_name(f".{target.name}.tmp{os.getpid()}")
            temporary.unlink(missing_ok=True)
            try:
                os.link(path, temporary)
            except FileNotFoundError:
                raise
            except OSError:  # no hard links here
                shutil.copy2(path, temporary)
            os.replace(temporary, target)

    def _copy_description(self) -> None:
        for name in _DESCRIPTION_FILES:
            source = pathlib.Path(self._output_dir, name)
            if source.is_file():
                text = source.read_text(encoding="utf-8")
                write_text_atomically(os.path.join(self.directory, name), text)

    def _write_state(self, ranked: Sequence[Point]) -> None:
        names = [os.path.basename(checkpoints.prefix_of_step("", step)) for step, _ in ranked]
        lines = [f'model_checkpoint_path: "{names[0]}"']
        lines += [f'all_model_checkpoint_paths: "{name}"' for name in reversed(names)]
        state = os.path.join(self.directory, checkpoints.STATE_FILE)
        write_text_atomically(state, "\n".join(lines) + "\n")
        kept = [{"step": step, "value": value} for step, value in ranked]
        description = {
            "metric": self._metric.tag,
            "minimize": self._metric.minimize,
            **kept[0],
            "checkpoints": kept,
        }
        text = json.dumps(description, indent=2) + "\n"
        write_text_atomically(os.path.join(self.directory, BEST_FILE), text)

    def _delete_others(self) -> None:
        kept = {step for step, _ in self._kept}
        for path in pathlib.Path(self.directory).glob("*.index"):
            prefix = str(path)[: -len(".index")]
            if checkpoints.step_of(prefix) >= 0 and checkpoints.step_of(prefix) not in kept:
                retention.delete_checkpoint(prefix)

    def _read(self) -> list[Point]:
        """What `best.json` lists of this metric."""
        path = os.path.join(self.directory, BEST_FILE)
        try:
            with open(path, encoding="utf-8") as stream:
                saved = json.load(stream)
            kept = [(int(e["step"]), float(e["value"])) for e in saved["checkpoints"]]
            metric = str(saved["metric"])
        except FileNotFoundError:
            return []
        except (ValueError, KeyError, TypeError) as error:
            logging.warning("%s can't be read (%s); it will be made again.", path, error)
            return []
        if metric != self._metric.tag:
            logging.info(
                "%s was chosen by %s; from now on it is by %s.",
                self.directory, metric, self._metric.tag,
            )  # fmt: skip
            return []
        return [point for point in kept if self._is_kept(point[0])]

    def _put_aside(self) -> None:
        if not os.path.isdir(self.directory):
            return
        number = 1
        while os.path.exists(target := f"{self.directory}.old-{number}"):
            number += 1
        os.rename(self.directory, target)
        logging.warning("%s is of an earlier run; it is now %s.", self.directory, target)
