"""What a run is going to be fed with: tokens a step, padding, dropped sentences."""

from __future__ import annotations

from typing import Any

import numpy as np

from t2t_keras.data import bucketing, chunking, reading, shapes
from t2t_keras.data.length_scan import Scan, TrainingSample
from t2t_keras.data.problem import Problem


def describe(
    problem: Problem,
    hparams: Any,
    data_dir: str,
    num_replicas: int = 1,
    max_shapes: int = 0,
    sample: TrainingSample | None = None,
) -> str:
    """Lines to log when training starts.

    They give tokens a step, the longest bucket, the number of shapes, the padding, and the
    share of sentences that the length filter drops, per side.

    Args:
        problem: the problem.
        hparams: model hparams.
        data_dir: directory of the shards.
        num_replicas: number of replicas.
        max_shapes: see `shapes.training_scheme`; sequences are padded to their bucket then.
        sample: the first training examples, which alone are looked at, if somebody else does too.

    Raises:
        FileNotFoundError: if there are no shards.
        ValueError: if ids in the shards exceed the vocabulary, or no example passes the filter.
    """
    sample = sample or TrainingSample(problem, hparams, data_dir)
    scan = sample.scan
    scheme = shapes.training_scheme(problem, hparams, data_dir, num_replicas, max_shapes, sample)
    _check_ids(problem, hparams, data_dir, scan)
    kept = scan.kept_by(scheme)
    if not kept.any():
        raise ValueError(
            f"The length filter drops all {scan.count} examples of problem {problem.name} that "
            f"were looked at: min_length={scheme.min_length}, max_length={scheme.max_length}, "
            f"shortest {scan.longest_side.min()}, longest {scan.longest_side.max()}."
        )
    if getattr(hparams, "pack_dataset", False):
        rows = scheme.batch_sizes[-1]
        return (
            f"Examples are packed into rows of {scheme.max_length} ids a side; {rows} rows a step"
        )
    lines = [_describe_batches(hparams, scheme, num_replicas)]
    lines += [_describe_fill(scan, scheme, kept)] if not hparams.use_fixed_batch_size else []
    if max_shapes:
        original = shapes.training_scheme(problem, hparams, data_dir, num_replicas)
        lines.append(shapes.describe_joined(scan, scheme, original))
    if chunking.chunk_length(hparams):
        lines.append(chunking.describe(hparams))
    lines += [_describe_filter(scan, scheme, kept)]
    return "\n".join(lines)


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
    buckets = np.searchsorted(scheme.boundaries, scan.longest_side[kept], side="right")
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
