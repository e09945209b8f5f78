"""How long the first training examples are."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.data import reading
from t2t_keras.data.bucketing import BatchingScheme
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.problem import Problem

__all__ = ["Scan", "TrainingSample"]

_EXAMPLES_AT_A_TIME = 4096
# So many are looked at to describe the data.
_MAX_EXAMPLES = 100_000


@dataclasses.dataclass(frozen=True)
class Scan:
    """Lengths and largest ids of a sample of the training examples.

    Attributes:
        lengths: feature name -> int array `[examples]`.
        largest_ids: feature name -> largest id.
        files: the shards it is taken from.
    """

    lengths: dict[str, np.ndarray]
    largest_ids: dict[str, int]
    files: list[str]

    @property
    def count(self) -> int:
        """Number of examples."""
        return len(next(iter(self.lengths.values())))

    @property
    def longest_side(self) -> np.ndarray:
        """Length of each example: of its longest feature, `[examples]`."""
        return np.max(list(self.lengths.values()), axis=0)

    def kept_by(self, scheme: BatchingScheme) -> np.ndarray:
        """Which examples the scheme's length filter keeps, bool `[examples]`."""
        return (self.longest_side >= scheme.min_length) & (self.longest_side <= scheme.max_length)

    def first(self, count: int) -> Scan:
        """Of the first `count` examples only; the largest ids remain those of all."""
        lengths = {name: values[:count] for name, values in self.lengths.items()}
        return dataclasses.replace(self, lengths=lengths)


class TrainingSample:
    """The first training examples, after preprocessing and reversal.

    Args:
        problem: the problem.
        hparams: model hparams, for the preprocessing.
        data_dir: directory of the shards.
        max_examples: at most so many are looked at.
    """

    def __init__(
        self, problem: Problem, hparams: Any, data_dir: str, max_examples: int = _MAX_EXAMPLES
    ) -> None:
        self._source = (problem, hparams, data_dir, max_examples)

    @functools.cached_property
    def scan(self) -> Scan:
        """Their lengths and ids; they are read when this is first asked for.

        Raises:
            FileNotFoundError: if there are no shards.
            ValueError: if there are no examples.
        """
        return _scan(*self._source)


def _scan(problem: Problem, hparams: Any, data_dir: str, max_examples: int) -> Scan:
    files = reading.shard_files(problem, ModeKeys.TRAIN, data_dir)
    groups = reading.example_groups(
        problem, files, ModeKeys.TRAIN, hparams, max_examples, _EXAMPLES_AT_A_TIME
    )
    lengths: dict[str, list[np.ndarray]] = {}
    largest: dict[str, int] = {}
    for group in groups:
        for name, values in group.items():
            is_ragged = isinstance(values, tf.RaggedTensor)
            flat = (values.flat_values if is_ragged else values).numpy()
            rows = values.row_lengths().numpy() if is_ragged else _fixed_lengths(flat)
            lengths.setdefault(name, []).append(rows)
            if np.issubdtype(flat.dtype, np.integer) and flat.size:
                largest[name] = max(largest.get(name, 0), int(flat.max()))
    joined = {name: np.concatenate(rows) for name, rows in lengths.items()}
    if not joined:
        raise ValueError(f"There are no examples in {reading.describe_files(files)}.")
    return Scan(joined, largest, files)


def _fixed_lengths(values: np.ndarray) -> np.ndarray:
    length = values.shape[1] if values.ndim > 1 else 1
    return np.full(len(values), length)
