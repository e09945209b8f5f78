"""What a run is going to be fed with: tokens a step, padding, dropped sentences."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.data import batching, bucketing, reading
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.problem import Problem

_EXAMPLES_AT_A_TIME = 4096


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


def describe(
    problem: Problem,
    hparams: Any,
    data_dir: str,
    num_replicas: int = 1,
    max_examples: int = 100_000,
) -> str:
    """Lines to log when training starts.

    They give tokens a step, the longest bucket, the number of shapes, the padding, and the
    share of sentences that the length filter drops, per side.

    Args:
        problem: the problem.
        hparams: model hparams.
        data_dir: directory of the shards.
        num_replicas: number of replicas.
        max_examples: only so many examples are looked at, the first of the training shards.

    Raises:
        FileNotFoundError: if there are no shards.
        ValueError: if ids in the shards exceed the vocabulary, or no example passes the filter.
    """
    scheme = batching.batching_scheme(problem, ModeKeys.TRAIN, hparams, num_replicas)
    scan = scan_examples(problem, hparams, data_dir, max_examples)
    _check_ids(problem, hparams, data_dir, scan)
    kept = _kept(scan, scheme)
    if not kept.any():
        raise ValueError(
            f"The length filter drops all {scan.count} examples of problem {problem.name} that "
            f"were looked at: min_length={scheme.min_length}, max_length={scheme.max_length}, "
            f"shortest {_longest_side(scan).min()}, longest {_longest_side(scan).max()}."
        )
    if getattr(hparams, "pack_dataset", False):
        rows = scheme.batch_sizes[-1]
        return (
            f"Examples are packed into rows of {scheme.max_length} ids a side; {rows} rows a step"
        )
    lines = [_describe_batches(hparams, scheme, num_replicas)]
    lines += [_describe_fill(scan, scheme, kept)] if not hparams.use_fixed_batch_size else []
    lines += [_describe_filter(scan, scheme, kept)]
    return "\n".join(lines)


def scan_examples(problem: Problem, hparams: Any, data_dir: str, max_examples: int) -> Scan:
    """Look at the first training examples, after preprocessing and reversal."""
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


def _longest_side(scan: Scan) -> np.ndarray:
    return np.max(list(scan.lengths.values()), axis=0)


def _kept(scan: Scan, scheme: bucketing.BatchingScheme) -> np.ndarray:
    longest = _longest_side(scan)
    return (longest >= scheme.min_length) & (longest <= scheme.max_length)


def _check_ids(problem: Problem, hparams: Any, data_dir: str, scan: Scan) -> None:
    """Ids beyond the vocabulary mean that data and vocabulary are of different runs."""
    problem_hparams = getattr(hparams, "problem_hparams", None) or problem.get_hparams(hparams)
    for name, vocab_size in problem_hparams.vocab_size.items():
        largest = scan.largest_ids.get(name, 0)
        if vocab_size and largest >= vocab_size:
            vocabulary = getattr(problem, "vocab_filename", "its vocabulary")
            raise ValueError(
                f"Feature {name!r} in {reading.describe_files(scan.files)} has id {largest}, but "
                f"{vocabulary} in {data_dir} has only {vocab_size} entries. Data and vocabulary "
                "are of different runs: remove both and make them again with t2t-datagen "
                f"--problem={problem.name} --data_dir={data_dir}"
            )


def _describe_batches(hparams: Any, scheme: bucketing.BatchingScheme, num_replicas: int) -> str:
    if hparams.use_fixed_batch_size:
        return (
            f"Batches: {hparams.batch_size} sentences × {num_replicas} replicas, of any length up "
            f"to {scheme.longest}"
        )
    return f"Batches ({num_replicas} replicas): {scheme.describe()}"


def _describe_fill(scan: Scan, scheme: bucketing.BatchingScheme, kept: np.ndarray) -> str:
    """Expected tokens of a step, from the sample's lengths."""
    buckets = np.searchsorted(scheme.boundaries, _longest_side(scan)[kept], side="right")
    # A sentence takes 1 / (batch size of its bucket) of a step.
    steps = np.sum(1.0 / np.asarray(scheme.batch_sizes)[buckets])
    sides = [name for name in ("inputs", "targets") if name in scan.lengths]
    tokens = {name: scan.lengths[name][kept].sum() / steps for name in sides}
    cells = np.sum(np.asarray(scheme.bucket_lengths)[buckets]) * len(sides) / steps
    each = ", ".join(f"{count:,.0f} {name}" for name, count in tokens.items())
    return (
        f"A step has on average {kept.sum() / steps:,.0f} sentences, {each} tokens without "
        f"padding; padded to bucket lengths {1 - sum(tokens.values()) / cells:.0%} would be padding"
    )


def _describe_filter(scan: Scan, scheme: bucketing.BatchingScheme, kept: np.ndarray) -> str:
    shares = ", ".join(
        f"{name} longer: {np.mean(scan.lengths[name] > scheme.max_length):.2%}"
        for name in ("inputs", "targets")
        if name in scan.lengths
    )
    return (
        f"The length filter ({scheme.min_length} to {scheme.max_length}) drops "
        f"{1 - kept.mean():.2%} of the first {scan.count:,} training examples ({shares})"
    )
