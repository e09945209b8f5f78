"""What the evaluations of a run found, remembered beside its curves.

Choosing the best checkpoint and stopping early depend on all evaluations so far, also on those of
earlier processes of the same run.
"""

import json
import math
import os
from collections.abc import Mapping

from absl import logging

from t2t_keras.text.text_files import write_text_atomically

__all__ = ["HISTORY_FILE", "EvaluationHistory"]

HISTORY_FILE = "history.json"

Point = tuple[int, float]


class EvaluationHistory:
    """Results by step, in `<directory>/history.json`, which is rewritten with every evaluation.

    Args:
        directory: of the evaluation's curves; made with the first entry.
        first_step: step at which the run goes on. Entries of later steps are left from a process
            that was killed before it saved them: they are forgotten.
    """

    def __init__(self, directory: str, first_step: float = math.inf) -> None:
        self._path = os.path.join(directory, HISTORY_FILE)
        self._entries = {s: v for s, v in _read(self._path).items() if s <= first_step}

    @property
    def steps(self) -> list[int]:
        """Steps of the evaluations, in their order."""
        return sorted(self._entries)

    def record(self, step: int, results: Mapping[str, float]) -> None:
        """Adds an evaluation in place of any that this step, or a later one, has.

        The file holds it when this returns.
        """
        self._entries = {s: values for s, values in self._entries.items() if s < step}
        self._entries[step] = {name: float(value) for name, value in results.items()}
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        # One evaluation a line. NaN is written as Python's JSON reads it back.
        lines = [
            json.dumps({"step": s, "results": values})
            for s, values in sorted(self._entries.items())
        ]
        write_text_atomically(self._path, "[\n" + ",\n".join(lines) + "\n]\n")

    def points(self, tag: str) -> list[Point]:
        """Step and value of every evaluation that has this result, in the order of steps."""
        return [
            (step, values[tag]) for step, values in sorted(self._entries.items()) if tag in values
        ]


def _read(path: str) -> dict[int, dict[str, float]]:
    try:
        with open(path, encoding="utf-8") as stream:
            return {int(entry["step"]): dict(entry["results"]) for entry in json.load(stream)}
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        logging.warning("%s can't be read (%s); earlier evaluations don't count.", path, error)
        return {}
