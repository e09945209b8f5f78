"""Batches of sentences of similar length: how many sentences for which lengths.

The numbers are T2T's (utils.data_reader): sizes are rounded down to divisors of one window size,
so a batch has up to a third fewer tokens than `batch_size`.
"""

from __future__ import annotations

import bisect
import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

# Numbers with many divisors: the window is one of them.
_HIGHLY_COMPOSITE = (
    1, 2, 4, 6, 12, 24, 36, 48, 60, 120, 180, 240, 360, 720, 840, 1260, 1680, 2520, 5040, 7560,
    10080, 15120, 20160, 25200, 27720, 45360, 50400, 55440, 83160, 110880, 166320, 221760, 277200,
    332640, 498960, 554400, 665280, 720720, 1081080, 1441440, 2162160, 2882880, 3603600, 4324320,
    6486480, 7207200, 8648640, 10810800, 14414400, 17297280, 21621600, 32432400, 36756720,
    43243200, 61261200, 73513440, 110270160,
)  # fmt: skip

_WITHOUT_LIMIT = 10**9


def bucket_boundaries(
    max_length: int, min_length: int = 8, length_bucket_step: float = 1.1
) -> list[int]:
    """Boundaries min_length, …, < max_length, each `length_bucket_step` times the one before.

    Args:
        max_length: no boundary reaches it.
        min_length: first boundary, at least 1.
        length_bucket_step: factor, > 1.

    Raises:
        ValueError: if an argument is out of range.
    """
    if length_bucket_step <= 1.0:
        raise ValueError(f"length_bucket_step must exceed 1. Received: {length_bucket_step}")
    if min_length < 1:
        raise ValueError(f"min_length_bucket must be at least 1. Received: {min_length}")
    boundaries = []
    boundary = min_length
    while boundary < max_length:
        boundaries.append(boundary)
        boundary = max(boundary + 1, int(boundary * length_bucket_step))
    return boundaries


@dataclasses.dataclass(frozen=True)
class BatchingScheme:
    """Which examples are kept, and how many of which length make a batch.

    Attributes:
        boundaries: bucket i holds lengths from boundaries[i−1] to boundaries[i] − 1.
        batch_sizes: examples in a (global) batch, for each of the len(boundaries) + 1 buckets.
        min_length: shorter examples are dropped.
        max_length: longer examples are dropped.
        longest: longest length the last bucket is meant for; `max_length` may be without limit.
        shuffle_queue_size: T2T's value, for comparison; not used.
    """

    boundaries: tuple[int, ...]
    batch_sizes: tuple[int, ...]
    min_length: int
    max_length: int
    longest: int
    shuffle_queue_size: int

    @property
    def bucket_lengths(self) -> tuple[int, ...]:
        """Longest length of each bucket."""
        return (*(boundary - 1 for boundary in self.boundaries), self.longest)

    def bucket_of(self, length: int) -> int:
        """Number of the bucket: the first whose boundary is greater than the length."""
        return bisect.bisect_right(self.boundaries, length)

    def with_limit(self, problem_max_length: int, drop_long_sequences: bool) -> BatchingScheme:
        """The same batch sizes with a problem's own length limit.

        Args:
            problem_max_length: longest example of the problem.
            drop_long_sequences: whether longer ones are dropped.
        """
        return dataclasses.replace(
            self,
            max_length=problem_max_length if drop_long_sequences else _WITHOUT_LIMIT,
            longest=max(problem_max_length, *self.boundaries, 1),
        )

    def with_buckets(self, chosen: Sequence[int]) -> BatchingScheme:
        """Only some of the buckets; the others' examples go to the next one chosen.

        Args:
            chosen: numbers of buckets, ascending; the last bucket is one of them.
        """
        return dataclasses.replace(
            self,
            boundaries=tuple(self.boundaries[bucket] for bucket in chosen[:-1]),
            batch_sizes=tuple(self.batch_sizes[bucket] for bucket in chosen),
        )

    def joined(self, max_buckets: int, counts: Sequence[int]) -> BatchingScheme:
        """Neighbouring buckets joined so that sequences padded to their bucket are shortest.

        A joined bucket has the batch size of its longest part: no batch gets more tokens.

        Args:
            max_buckets: at most so many remain, at least 1.
            counts: how frequent the lengths of each bucket are.

        Raises:
            ValueError: if `max_buckets` is below 1.
        """
        if max_buckets < 1:
            raise ValueError(f"There must be at least one bucket. Received: {max_buckets}")
        return self.with_buckets(_cheapest_buckets(self.bucket_lengths, counts, max_buckets))

    def describe(self) -> str:
        """One line: tokens a step, the longest bucket, the number of shapes."""
        tokens = [
            size * length
            for size, length in zip(self.batch_sizes, self.bucket_lengths, strict=True)
        ]
        return (
            f"{min(tokens)}–{max(tokens)} tokens a step and side (padding included); longest "
            f"bucket {self.longest} × {self.batch_sizes[-1]} (length × sentences); "
            f"{len(self.batch_sizes)} shapes"
        )


def _cheapest_buckets(lengths: Sequence[int], counts: Sequence[int], max_buckets: int) -> list[int]:
    """Numbers of the buckets to keep, the last one included, by dynamic programming.

    The cost is the number of ids after padding: the sum over examples of their bucket's length.
    """
    totals = list(itertools.accumulate(counts, initial=0))
    # Number of the last bucket kept -> (cost up to there, buckets kept), for so many kept buckets.
    best = {last: (totals[last + 1] * length, [last]) for last, length in enumerate(lengths)}
    end = len(lengths) - 1
    cheapest = best[end]
    for _ in range(max_buckets - 1):
        best = {
            last: min(
                (cost + (totals[last + 1] - totals[before + 1]) * lengths[last], [*kept, last])
                for before, (cost, kept) in best.items()
                if before < last
            )
            for last in range(1, len(lengths))
            if any(before < last for before in best)
        }
        if end not in best:
            break
        # Fewer shapes, where more save nothing.
        cheapest = min(cheapest, best[end], key=lambda item: item[0])
    return cheapest[1]


def batching_scheme(
    batch_size: int,
    max_length: int,
    min_length_bucket: int,
    length_bucket_step: float,
    drop_long_sequences: bool = False,
    shard_multiplier: int = 1,
    length_multiplier: int = 1,
    min_length: int = 0,
) -> BatchingScheme:
    """T2T's batching scheme.

    Args:
        batch_size: tokens in the batch of one replica, of the longer side.
        max_length: longest example meant; 0: `batch_size`.
        min_length_bucket: first boundary.
        length_bucket_step: factor between boundaries.
        drop_long_sequences: whether longer examples are dropped.
        shard_multiplier: number of replicas.
        length_multiplier: boundaries and `max_length` are multiplied by it.
        min_length: shorter examples are dropped.

    Raises:
        ValueError: if `max_length` is below `min_length`, or another value is out of range.
    """
    if batch_size < 1 or shard_multiplier < 1:
        raise ValueError(
            "batch_size and the number of replicas must be positive. Received: "
            f"batch_size={batch_size}, replicas={shard_multiplier}"
        )
    max_length = max_length or batch_size
    if max_length < min_length:
        raise ValueError(
            f"max_length must not be below min_length. Received: max_length={max_length}, "
            f"min_length={min_length}"
        )
    boundaries = bucket_boundaries(max_length, min_length_bucket, length_bucket_step)
    boundaries = [boundary * length_multiplier for boundary in boundaries]
    max_length *= length_multiplier
    sizes = [max(1, batch_size // length) for length in [*boundaries, max_length]]
    # One window holds a whole number of batches of every bucket.
    window = max(number for number in _HIGHLY_COMPOSITE if number <= 3 * max(sizes))
    sizes = [_largest_divisor(window, size) for size in sizes]
    max_batches_per_window = window // min(sizes)
    return BatchingScheme(
        boundaries=tuple(boundaries),
        batch_sizes=tuple(size * shard_multiplier for size in sizes),
        min_length=min_length,
        max_length=max_length if drop_long_sequences else _WITHOUT_LIMIT,
        longest=max_length,
        shuffle_queue_size=max_batches_per_window * 3,
    )


def _largest_divisor(number: int, limit: int) -> int:
    """Largest divisor of `number` that does not exceed `limit`."""
    return next(divisor for divisor in range(limit, 0, -1) if number % divisor == 0)


def hparams_to_batching_scheme(
    hparams: Any,
    drop_long_sequences: bool = False,
    shard_multiplier: int = 1,
    length_multiplier: int = 1,
) -> BatchingScheme:
    """The batching scheme of a model's hparams; see `batching_scheme`."""
    return batching_scheme(
        batch_size=hparams.batch_size,
        max_length=hparams.max_length,
        min_length_bucket=hparams.min_length_bucket,
        length_bucket_step=hparams.length_bucket_step,
        drop_long_sequences=drop_long_sequences,
        shard_multiplier=shard_multiplier,
        length_multiplier=length_multiplier,
        min_length=hparams.min_length,
    )
