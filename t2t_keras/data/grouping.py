"""Collects examples of similar length into batches."""

from __future__ import annotations

import collections

import numpy as np

from t2t_keras.data.bucketing import BatchingScheme
from t2t_keras.data.rows import Rows, join

__all__ = ["Grouping"]


class Grouping:
    """Open batches of all buckets, and the full ones in the order in which they became full.

    Args:
        scheme: which examples are kept, and how many of which length make a batch.
    """

    def __init__(self, scheme: BatchingScheme) -> None:
        self._scheme = scheme
        self._open: list[list[Rows]] = [[] for _ in scheme.batch_sizes]
        self.ready: collections.deque[Rows] = collections.deque()

    def add(self, rows: Rows) -> int:
        """Adds examples in their order; returns how many the length filter kept."""
        kept = (rows.length >= self._scheme.min_length) & (rows.length <= self._scheme.max_length)
        numbers = np.flatnonzero(kept)
        boundaries = np.asarray(self._scheme.boundaries, np.int64)
        buckets = np.searchsorted(boundaries, rows.length[numbers], side="right")
        completed: list[tuple[int, Rows]] = []
        for bucket in np.unique(buckets).tolist():
            completed += self._add_to_bucket(bucket, rows, numbers[buckets == bucket])
        # As if the examples had come one after the other.
        self.ready.extend(batch for _, batch in sorted(completed, key=lambda item: item[0]))
        return len(numbers)

    def _add_to_bucket(
        self, bucket: int, rows: Rows, numbers: np.ndarray
    ) -> list[tuple[int, Rows]]:
        """Full batches, each with the number of the row that completed it."""
        size = self._scheme.batch_sizes[bucket]
        completed = []
        while len(numbers):
            missing = size - sum(map(len, self._open[bucket]))
            taken, numbers = numbers[:missing], numbers[missing:]
            self._open[bucket].append(rows.take(taken))
            if len(taken) == missing:
                completed.append((int(taken[-1]), join(self._open[bucket])))
                self._open[bucket] = []
        return completed

    def open_groups(self) -> list[Rows]:
        """The examples that wait for their batch to become full."""
        return [rows for parts in self._open for rows in parts]
