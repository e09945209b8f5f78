"""The shapes of training batches: T2T's many, or few for a compiler of static shapes."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.data import batching, bucketing, preprocessing
from t2t_keras.data.length_scan import Scan, TrainingSample
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.problem import Problem

__all__ = ["describe_joined", "padding_share", "training_scheme"]

# The first so many training examples say how frequent each length is.
_EXAMPLES_LOOKED_AT = 50_000


def training_scheme(
    problem: Problem,
    hparams: Any,
    data_dir: str,
    num_replicas: int = 1,
    max_shapes: int = 0,
    sample: TrainingSample | None = None,
) -> bucketing.BatchingScheme:
    """The batching scheme of a training run.

    Args:
        problem: the problem.
        hparams: model hparams.
        data_dir: directory of the shards; looked at only if buckets are joined.
        num_replicas: number of replicas.
        max_shapes: at most so many buckets: neighbours are joined where that costs the least
            padding for the lengths of the first training examples. A joined bucket has the
            batch size of the longest of its parts, so a batch has no more tokens than T2T's.
            A packed problem has one. 0: T2T's buckets.
        sample: the first training examples, if somebody else looks at them too.
    """
    scheme = batching.batching_scheme(problem, ModeKeys.TRAIN, hparams, num_replicas)
    fixed_size = _fixed_batch_size(problem, hparams)
    if fixed_size:
        return dataclasses.replace(scheme, boundaries=(), batch_sizes=(fixed_size * num_replicas,))
    if not max_shapes:
        return scheme
    if problem.packed_length:
        return scheme.with_buckets([len(scheme.batch_sizes) - 1])
    if len(scheme.batch_sizes) <= max_shapes:
        return scheme
    if sample is None:
        sample = TrainingSample(problem, hparams, data_dir, _EXAMPLES_LOOKED_AT)
    scan = sample.scan.first(_EXAMPLES_LOOKED_AT)
    counts = np.bincount(_buckets(scan, scheme), minlength=len(scheme.batch_sizes))
    return scheme.joined(max_shapes, counts.tolist())


def _fixed_batch_size(problem: Problem, hparams: Any) -> int:
    """Examples of a replica's batch whatever their length; 0: it depends on the length."""
    if hparams.use_fixed_batch_size:
        return hparams.batch_size
    if problem.batch_size_means_tokens:
        return 0
    specs = preprocessing.parsing_configuration(problem).values()
    all_fixed = all(isinstance(spec, tf.io.FixedLenFeature) for spec in specs)
    if all_fixed and preprocessing.is_plain(problem, hparams):
        return hparams.batch_size
    batching.log_that_batch_size_means_tokens(problem)
    return 0


def _buckets(scan: Scan, scheme: bucketing.BatchingScheme) -> np.ndarray:
    """Bucket of each example that the length filter keeps, `[kept examples]`."""
    lengths = scan.longest_side[scan.kept_by(scheme)]
    return np.searchsorted(np.asarray(scheme.boundaries, np.int64), lengths, side="right")


def padding_share(scan: Scan, scheme: bucketing.BatchingScheme) -> float:
    """Share of the ids of a batch that is padding, if sequences are padded to their bucket."""
    sides = [name for name in ("inputs", "targets") if name in scan.lengths]
    kept = scan.kept_by(scheme)
    tokens = sum(scan.lengths[name][kept].sum() for name in sides)
    cells = np.asarray(scheme.bucket_lengths)[_buckets(scan, scheme)].sum() * len(sides)
    return float(1.0 - tokens / max(cells, 1))


def describe_joined(
    scan: Scan, scheme: bucketing.BatchingScheme, original: bucketing.BatchingScheme
) -> str:
    """One line: the shapes to compile, and what joining buckets costs."""
    shapes = ", ".join(
        f"{rows} × {length}"
        for rows, length in zip(scheme.batch_sizes, scheme.bucket_lengths, strict=True)
    )
    text = (
        f"{len(scheme.batch_sizes)} shapes to compile (sentences × length): {shapes}. "
        f"{padding_share(scan, scheme):.1%} of their ids are padding"
    )
    if scheme.boundaries == original.boundaries:
        return text
    return (
        f"{text}; tensor2tensor's {len(original.batch_sizes)} buckets would have "
        f"{padding_share(scan, original):.1%}"
    )
