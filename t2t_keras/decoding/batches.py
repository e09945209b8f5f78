"""Grouping sequences of ids into batches for decoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from t2t_keras.decoding.record_files import longest_first

DEFAULT_BATCH_SIZE = 32

# Memory grows with the ids of a batch (caches) and with rows * length ** 2 (attention). These
# bounds leave a batch of 32 as it is up to 256 ids a row, and end with single rows of 4,096.
MAX_IDS = 8192
MAX_SQUARES = 2**23

# Lengths that inputs are padded to where every new shape costs a compilation.
_SHORTEST_BOUNDARY = 16


class Batch(NamedTuple):
    """Some sequences to be decoded together.

    Attributes:
        indices: their places in what was to be batched.
        ids: int32 `[rows, length]`, right-padded with 0; rows beyond `indices` are padding.
        lengths: int32 `[rows]`, ids of each row; 0 in padding rows.
    """

    indices: list[int]
    ids: np.ndarray
    lengths: np.ndarray


def rows_for(length: int, batch_size: int) -> int:
    """How many rows of `length` ids are decoded together, at most `batch_size`."""
    length = max(length, 1)
    return max(1, min(batch_size, MAX_IDS // length, MAX_SQUARES // length**2))


def make_batches(
    sequences: Sequence[Sequence[int]],
    batch_size: int,
    sort_keys: Sequence[int] | None = None,
    few_shapes: bool = False,
) -> Iterator[Batch]:
    """Batches of similar length, longest first.

    Longest first, because then a batch that does not fit into memory fails at the start, and time
    estimates are on the safe side.

    Args:
        sequences: lists of ids.
        batch_size: most rows of a batch; fewer where rows are very long.
        sort_keys: decreasing order of the sequences; None: their lengths.
        few_shapes: pad lengths to some boundary and every batch to its full number of rows.
    """
    lengths = [len(sequence) for sequence in sequences]
    order = longest_first(lengths if sort_keys is None else sort_keys)
    start = 0
    while start < len(order):
        longest = max(lengths[index] for index in order[start : start + batch_size])
        width = _boundary(longest) if few_shapes else max(longest, 1)
        rows = rows_for(width, batch_size)
        indices = order[start : start + rows]
        yield _batch(sequences, indices, rows if few_shapes else len(indices), width)
        start += rows


def _batch(sequences: Sequence[Sequence[int]], indices: list[int], rows: int, width: int) -> Batch:
    ids = np.zeros([rows, width], np.int32)
    lengths = np.zeros([rows], np.int32)
    for row, index in enumerate(indices):
        lengths[row] = len(sequences[index])
        ids[row, : lengths[row]] = sequences[index]
    return Batch(indices, ids, lengths)


def _boundary(length: int) -> int:
    """The smallest of 16, 24, 32, 48, 64, 96, ... that is not below `length`."""
    boundary = _SHORTEST_BOUNDARY
    while boundary < length:
        if boundary + boundary // 2 >= length:
            return boundary + boundary // 2
        boundary *= 2
    return boundary
