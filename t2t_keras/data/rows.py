"""Many examples in a few arrays: cut apart, joined and padded without a loop over examples."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

__all__ = ["Column", "Rows", "join"]


@dataclasses.dataclass(frozen=True)
class Column:
    """One feature of all rows.

    Attributes:
        values: `[rows, …]`, or the values of all rows one after the other, `[sum of lengths, …]`.
        lengths: int64 `[rows]`; None if all rows have one shape.
    """

    values: np.ndarray
    lengths: np.ndarray | None

    def take(self, rows: np.ndarray) -> Column:
        """The rows of these numbers, in their order."""
        if self.lengths is None:
            return Column(self.values[rows], None)
        starts = (np.cumsum(self.lengths) - self.lengths)[rows]
        lengths = self.lengths[rows]
        # Place in the result -> place in `values`: both advance by one within a row.
        shifts = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
        return Column(self.values[shifts + np.arange(len(shifts))], lengths)

    def padded(self, length: int | None) -> np.ndarray:
        """`[rows, length, …]`, padded with zeros; None: to the longest row."""
        if self.lengths is None:
            return self.values
        if length is None:
            length = int(self.lengths.max(initial=0))
        result = np.zeros((len(self.lengths), length, *self.values.shape[1:]), self.values.dtype)
        result[np.arange(length) < self.lengths[:, None]] = self.values
        return result


@dataclasses.dataclass(frozen=True)
class Rows:
    """Examples.

    Attributes:
        ids: int64 `[rows]`, where each comes from.
        columns: feature name -> its values.
        length: int64 `[rows]`, length of each example: of its longest feature.
    """

    ids: np.ndarray
    columns: dict[str, Column]
    length: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: np.ndarray) -> Rows:
        """The rows of these numbers, in their order, as arrays of their own."""
        columns = {name: column.take(rows) for name, column in self.columns.items()}
        return Rows(self.ids[rows], columns, self.length[rows])

    def split(self, counts: Sequence[int]) -> list[Rows]:
        """Consecutive parts of so many rows each; the counts add up to all rows."""
        ends = np.cumsum(counts)
        return [
            self.take(np.arange(end - count, end)) for count, end in zip(counts, ends, strict=True)
        ]

    def padded(self, length: int | None = None) -> dict[str, np.ndarray]:
        """Feature name -> `[rows, length]`, padded with zeros.

        Args:
            length: of all features whose rows differ in length; None: the longest row of each.
        """
        return {name: column.padded(length) for name, column in self.columns.items()}


def join(parts: Sequence[Rows]) -> Rows:
    """All rows of several parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    columns = {}
    for name, first in parts[0].columns.items():
        lengths = None
        if first.lengths is not None:
            lengths = np.concatenate([part.columns[name].lengths for part in parts])
        values = np.concatenate([part.columns[name].values for part in parts])
        columns[name] = Column(values, lengths)
    ids = np.concatenate([part.ids for part in parts])
    return Rows(ids, columns, np.concatenate([part.length for part in parts]))
