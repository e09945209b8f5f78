"""The input pipeline: shards -> batches of sentences of similar length.

Steps, as in T2T's Problem.input_fn: read, parse, preprocess, reverse, shuffle examples, pack (if
`pack_dataset`), repeat, skip, filter by length, batch by length, pad, shuffle batches, cut long
targets into chunks (if `split_targets_chunk_length`). Differences to T2T: text tensors have two
axes, not four; training order is the same in every run with the same seed; the iterator can be
saved and restored with `tf.train.Checkpoint(iterator=iter(dataset))`.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import tensorflow as tf
from absl import logging

from t2t_keras.data import (
    batching,
    bucketing,
    chunking,
    packed_dataset,
    reading,
    records,
    shapes,
    tfrecord,
)
from t2t_keras.data.data_report import describe
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.problem import Problem

__all__ = ["describe", "input_dataset"]

# T2T's size of the buffer in which single examples are shuffled.
EXAMPLE_SHUFFLE_SIZE = 1024
_PREFETCHED_BATCHES = 2


def input_dataset(
    problem: Problem,
    mode: str,
    hparams: Any,
    data_dir: str,
    *,
    num_replicas: int = 1,
    dataset_split: str | None = None,
    seed: int | None = None,
    pad_to_bucket: bool = False,
    max_records: int = -1,
    shuffle_files: bool | None = None,
    prevent_repeat: bool = False,
    force_repeat: bool = False,
    partition_id: int = 0,
    num_partitions: int = 1,
) -> tf.data.Dataset:
    """Batches for training, evaluation or decoding.

    Training is endless and shuffled; evaluation and decoding are one pass in the order of the
    files (batches are emitted when full, remainders at the end, shortest first). An iterator of
    the training batches can be checkpointed: its state holds the shuffled batches, about
    16 MB for `batch_size=4096`, `batch_shuffle_size=512` and one replica, in 0.1 s.

    Args:
        problem: the problem.
        mode: one of `ModeKeys`.
        hparams: model hparams: batch_size (tokens a replica, of the longer side), max_length,
            min_length, min_length_bucket, length_bucket_step, batch_shuffle_size,
            use_fixed_batch_size, eval_drop_long_sequences, pack_dataset, use_custom_ops, those of
            `Problem.preprocess_example`, and those of `chunking.chunked`.
        data_dir: directory of the shards.
        num_replicas: every batch has a multiple of so many sentences; T2T's batch sizes are
            multiplied by it.
        dataset_split: read this split instead of the mode's: "train", "eval", "dev", "test".
        seed: of all shuffling. None: drawn, and logged. TensorFlow's global seed
            (`tf.random.set_seed`), if set, takes part too.
        pad_to_bucket: pad all sequences to the longest length of their bucket, so that there is
            one shape a bucket, instead of to the longest of their batch and feature.
        max_records: use no more examples than this; -1: all.
        shuffle_files: None: only in training.
        prevent_repeat: one pass in training too.
        force_repeat: endless in every mode.
        partition_id: number of this reader among `num_partitions`; file i belongs to reader
            i mod num_partitions.
        num_partitions: number of readers that share the files.

    Returns:
        Data set of dicts feature name -> `[batch, length]`, int32 (floats stay float32), padded
        with zeros. Rows added to reach a multiple of `num_replicas` are all zeros.

    Raises:
        FileNotFoundError: if there are no shards, with the command that makes them.
        ValueError: for `pack_dataset` with a problem that is packed already; if data to be
            repeated have no example that passes the length filter; for
            `split_targets_strided_training` with batches of several sizes.
    """
    is_training = mode == ModeKeys.TRAIN
    if shuffle_files is None:
        shuffle_files = is_training
    if seed is None:
        seed = random.SystemRandom().randrange(2**31)
        if shuffle_files:
            logging.info("Seed of the input pipeline: %d", seed)
    seeds = Seeds(seed)
    read = functools.partial(
        reading.examples,
        problem,
        mode,
        data_dir,
        hparams,
        dataset_split=dataset_split,
        partition_id=partition_id,
        num_partitions=num_partitions,
        max_records=max_records,
        seed=seeds.files,
        as_int32=True,
    )
    dataset = read(shuffle_files=shuffle_files)
    if shuffle_files:
        dataset = dataset.shuffle(EXAMPLE_SHUFFLE_SIZE, seed=seeds.examples)
    packs = _packs(problem, mode, hparams)
    if packs:
        dataset = packed_dataset.pack_dataset(
            dataset,
            problem.max_length(hparams),
            drop_long_sequences=not getattr(hparams, "use_custom_ops", True),
        )
    scheme = batching.batching_scheme(problem, mode, hparams, num_replicas)
    if force_repeat or (is_training and not prevent_repeat):
        if not packs:
            _raise_if_all_filtered(read(shuffle_files=False), scheme, data_dir)
        dataset = dataset.repeat()
    if is_training and not prevent_repeat:
        files = reading.shard_files(problem, mode, data_dir, dataset_split=dataset_split)
        dataset = dataset.skip(records_to_skip(problem, seeds, files))
    dataset = batching.filtered(dataset, scheme)
    dataset = batching.batched(dataset, problem, scheme, hparams, num_replicas, pad_to_bucket)
    if num_replicas > 1:
        dataset = dataset.map(lambda batch: batching.pad_rows(batch, num_replicas))
    if is_training and hparams.batch_shuffle_size:
        files = reading.shard_files(
            problem,
            mode,
            data_dir,
            dataset_split=dataset_split,
            partition_id=partition_id,
            num_partitions=num_partitions,
        )
        count = batching.smallest_batch(problem, scheme, hparams, num_replicas)
        buffer_size = batch_buffer_size(hparams, files, count)
        dataset = dataset.shuffle(buffer_size, seed=seeds.batches)
    if chunking.chunk_length(hparams):
        needs_same_rows = is_training and not prevent_repeat and chunking.is_strided(hparams)
        rows = _same_rows(problem, hparams, data_dir, num_replicas) if needs_same_rows else None
        dataset = chunking.chunked(dataset, hparams, rows)
    return dataset.prefetch(_PREFETCHED_BATCHES).with_options(_options())


def _same_rows(problem: Problem, hparams: Any, data_dir: str, num_replicas: int) -> int:
    scheme = shapes.training_scheme(problem, hparams, data_dir, num_replicas)
    return chunking.same_rows(hparams, scheme.batch_sizes)


def _raise_if_all_filtered(
    one_pass: tf.data.Dataset, scheme: bucketing.BatchingScheme, data_dir: str
) -> None:
    """Without any example to keep, endless data would be an endless search."""
    kept = batching.filtered(one_pass, scheme).take(1)
    if next(iter(kept), None) is None:
        raise batching.no_example_passes(scheme, data_dir)


def batch_buffer_size(hparams: Any, files: list[str], smallest_batch: int) -> int:
    """Batches to shuffle: `batch_shuffle_size`, or those of a pass at most.

    More would only be repetitions, and take hundreds of passes over a corpus of few examples.

    Args:
        hparams: model hparams.
        files: the shards.
        smallest_batch: examples in the smallest batches.
    """
    batches = -(-tfrecord.estimate_count(files) // smallest_batch)
    return max(min(hparams.batch_shuffle_size, batches), 1)


def records_to_skip(problem: Problem, seeds: Seeds, files: list[str]) -> int:
    """How many examples a new run leaves out, so that another run begins with others.

    Args:
        problem: may want none to be left out.
        seeds: of the run.
        files: the shards.
    """
    if not problem.skip_random_fraction_when_training:
        return 0
    return seeds.number_to_skip(records.count_records(files[0]))


class Seeds:
    """Seeds of the single shuffles, from one."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.files, self.examples, self.batches = (self._random.randrange(2**31) for _ in range(3))

    def number_to_skip(self, maximum: int) -> int:
        """A number of examples, up to `maximum` inclusive."""
        return self._random.randint(0, maximum)


def _options() -> tf.data.Options:
    options = tf.data.Options()
    options.deterministic = True
    # TensorFlow can't shard such a data set; the trainer hands out slices itself.
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
    return options


def _packs(problem: Problem, mode: str, hparams: Any) -> bool:
    """Whether examples are packed while reading; T2T does so in prediction too, to no use."""
    if not getattr(hparams, "pack_dataset", False) or mode == ModeKeys.PREDICT:
        return False
    if problem.packed_length:
        raise ValueError(
            f"The examples of problem {problem.name} are packed already; leave out the hparam "
            "pack_dataset. Received: pack_dataset=True"
        )
    return True
