"""From single examples to padded batches."""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from absl import logging

from t2t_keras.data import bucketing, preprocessing
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.problem import Problem

Features = dict[str, tf.Tensor]


def problem_multiplier(problem: Problem, hparams: Any) -> int:
    """The problem's `batch_size_multiplier`."""
    problem_hparams = getattr(hparams, "problem_hparams", None)
    if problem_hparams is None:
        problem_hparams = problem.get_hparams(hparams)
    return problem_hparams.batch_size_multiplier


def batching_scheme(
    problem: Problem, mode: str, hparams: Any, num_replicas: int = 1
) -> bucketing.BatchingScheme:
    """Batch sizes by length, and the length filter, of a problem in a mode.

    The filter's limit is the problem's (`Problem.max_length`); outside training, longer examples
    are kept unless hparam `eval_drop_long_sequences` is set.
    """
    drops_long = mode == ModeKeys.TRAIN or hparams.eval_drop_long_sequences
    scheme = bucketing.hparams_to_batching_scheme(
        hparams,
        drop_long_sequences=drops_long,
        shard_multiplier=num_replicas,
        length_multiplier=problem_multiplier(problem, hparams),
    )
    return scheme.with_limit(problem.max_length(hparams), drops_long)


def filtered(dataset: tf.data.Dataset, scheme: bucketing.BatchingScheme) -> tf.data.Dataset:
    """The examples whose longest feature is within the scheme's limits."""

    def is_kept(example: Features) -> tf.Tensor:
        length = preprocessing.example_length(example)
        return (length >= scheme.min_length) & (length <= scheme.max_length)

    return dataset.filter(is_kept)


def no_example_passes(scheme: bucketing.BatchingScheme, data_dir: str) -> ValueError:
    """The error for data of which the length filter leaves nothing."""
    return ValueError(
        "No example passes the length filter. "
        f"Received: min_length={scheme.min_length}, max_length={scheme.max_length}, "
        f"data_dir={data_dir!r}"
    )


def smallest_batch(
    problem: Problem, scheme: bucketing.BatchingScheme, hparams: Any, num_replicas: int
) -> int:
    """Sentences in the batches of the longest sequences; see `batched` for the arguments."""
    if hparams.use_fixed_batch_size or not problem.batch_size_means_tokens:
        return hparams.batch_size * num_replicas
    return min(scheme.batch_sizes)


def batched(
    dataset: tf.data.Dataset,
    problem: Problem,
    scheme: bucketing.BatchingScheme,
    hparams: Any,
    num_replicas: int,
    pad_to_bucket: bool,
) -> tf.data.Dataset:
    """Batch examples by length.

    Args:
        dataset: examples that `filtered` has passed, feature name -> `[length]`.
        problem: whether `batch_size` means tokens is its choice; if all its features have fixed
            shapes and it does not, batches are simply of `batch_size` examples a replica.
        scheme: batch sizes.
        hparams: with `use_fixed_batch_size`, batches of any length have `batch_size` examples a
            replica (T2T: for all replicas together).
        num_replicas: number of replicas.
        pad_to_bucket: pad to the longest length of the bucket.

    Returns:
        Data set of dicts feature name -> `[batch, length]`, padded with zeros.
    """
    fixed_size = hparams.batch_size * num_replicas
    if hparams.use_fixed_batch_size:
        return _bucketed(dataset, (), (fixed_size,), scheme.longest, pad_to_bucket)
    if not problem.batch_size_means_tokens:
        if all(spec.shape.is_fully_defined() for spec in dataset.element_spec.values()):
            return dataset.batch(fixed_size)
        log_that_batch_size_means_tokens(problem)
    return _bucketed(dataset, scheme.boundaries, scheme.batch_sizes, scheme.longest, pad_to_bucket)


def log_that_batch_size_means_tokens(problem: Problem) -> None:
    """Says so where a problem has it count examples, as T2T does: lengths must not be mixed."""
    logging.info(
        "Problem %s counts its batch_size in examples, but they differ in length: "
        "batch_size is taken as tokens.",
        problem.name,
    )


def _bucketed(
    dataset: tf.data.Dataset,
    boundaries: tuple[int, ...],
    batch_sizes: tuple[int, ...],
    longest: int,
    pad_to_bucket: bool,
) -> tf.data.Dataset:
    """Batch examples of one bucket together; remainders come last, in the order of buckets."""
    sizes = tf.constant(batch_sizes, tf.int64)
    limits = tf.constant([*(boundary - 1 for boundary in boundaries), longest], tf.int64)

    def bucket_of(example: Features) -> tf.Tensor:
        length = preprocessing.example_length(example)
        return tf.reduce_sum(tf.cast(tf.constant(boundaries, tf.int32) <= length, tf.int64))

    def batch_size_of(bucket: tf.Tensor) -> tf.Tensor:
        return sizes[bucket]

    def pad(bucket: tf.Tensor, window: tf.data.Dataset) -> tf.data.Dataset:
        batches = window.padded_batch(sizes[bucket])
        if not pad_to_bucket:
            return batches
        return batches.map(lambda batch: _pad_length(batch, window.element_spec, limits[bucket]))

    return dataset.group_by_window(
        key_func=bucket_of, reduce_func=pad, window_size_func=batch_size_of
    )


def _pad_length(batch: Features, example_spec: Any, limit: tf.Tensor) -> Features:
    """Pad every feature of variable length to the limit, or the next multiple that suffices."""

    def padded(name: str, value: tf.Tensor) -> tf.Tensor:
        if example_spec[name].shape.rank == 0 or example_spec[name].shape[0] is not None:
            return value
        length = tf.shape(value, out_type=tf.int64)[1]
        # Evaluation keeps longer examples: few lengths there too.
        wanted = limit * tf.maximum((length + limit - 1) // limit, tf.constant(1, tf.int64))
        paddings = [[0, 0] for _ in value.shape]
        paddings[1] = [0, wanted - length]
        return tf.pad(value, tf.cast(paddings, tf.int64))

    return {name: padded(name, value) for name, value in batch.items()}


def pad_rows(batch: Features, multiple: int) -> Features:
    """Add all-zero rows until the number of rows is a multiple."""
    rows = tf.shape(next(iter(batch.values())))[0]
    missing = -rows % multiple

    def padded(value: tf.Tensor) -> tf.Tensor:
        return tf.pad(value, [[0, missing], *([0, 0] for _ in value.shape[1:])])

    return {name: padded(value) for name, value in batch.items()}
