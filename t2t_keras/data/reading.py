"""From shards to single examples."""

from __future__ import annotations

import glob
import json
import os
import re
import zlib
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from absl import logging

from t2t_keras.data import preprocessing, shard_sizes
from t2t_keras.data.modes import ModeKeys

if TYPE_CHECKING:
    from t2t_keras.data.problem import Problem

_SHARD_NAME = re.compile(r"-(\d{5})-of-(\d{5})$")
# Files read at the same time in training, as in T2T.
_CYCLE_LENGTH = 8
# Consecutive records of a file: larger blocks are faster; the shuffle buffer evens them out.
_BLOCK_LENGTH = 16
_READ_BUFFER_BYTES = 1024 * 1024


def shard_files(
    problem: Problem,
    mode: str,
    data_dir: str | None,
    *,
    dataset_split: str | None = None,
    shard: int | None = None,
    partition_id: int = 0,
    num_partitions: int = 1,
) -> list[str]:
    """Sorted paths of the shards to read.

    Args:
        problem: the problem.
        mode: one of `ModeKeys`; decides the split unless `dataset_split` is given.
        data_dir: directory of the shards.
        dataset_split: "train", "eval", "dev" or "test".
        shard: only this shard.
        partition_id: number of this reader, among `num_partitions` that share the files: file i
            belongs to reader i mod num_partitions.
        num_partitions: number of readers.

    Raises:
        FileNotFoundError: if there are none, or some of a numbered set are missing.
        ValueError: if shards of two generations are mixed, one has not the size it was made with,
            or there are too few for all readers.
    """
    pattern = problem.filepattern(data_dir or "", dataset_split or mode, shard)
    # A leftover of an interrupted tensor2tensor run matches its pattern, but is not complete.
    files = sorted(path for path in glob.glob(pattern) if not path.endswith(".incomplete"))
    if not files:
        raise FileNotFoundError(f"No file matches {pattern}. {_way_out(problem, data_dir)}")
    if shard is None:
        _check_complete(files, pattern, _way_out(problem, data_dir))
    _check_sizes(files, _way_out(problem, data_dir))
    if len(files) < num_partitions:
        raise ValueError(
            f"{num_partitions} readers need at least as many shards. Received: {len(files)} "
            f"files matching {pattern}"
        )
    return files[partition_id::num_partitions]


def _way_out(problem: Problem, data_dir: str | None) -> str:
    return (
        f"Make the data with: t2t-datagen --problem={problem.name} --data_dir={data_dir} "
        "--tmp_dir=<directory of the source files>"
    )


def _check_complete(files: list[str], pattern: str, way_out: str) -> None:
    """Numbered shards must be all of one set: anything else is an accident."""
    numbered = [match for match in map(_SHARD_NAME.search, files) if match]
    totals = sorted({int(match[2]) for match in numbered})
    if len(totals) > 1:
        raise ValueError(
            f"{pattern} matches shards of several generations, with {totals} shards in all. "
            "Remove the ones you don't want; together they would repeat examples."
        )
    if totals and len(numbered) < totals[0]:
        present = {int(match[1]) for match in numbered}
        missing = [number for number in range(totals[0]) if number not in present]
        raise FileNotFoundError(
            f"{len(missing)} of {totals[0]} shards matching {pattern} are missing, the first is "
            f"number {missing[0]}. {way_out}"
        )


def _check_sizes(files: list[str], way_out: str) -> None:
    damaged = shard_sizes.wrong_size(files)
    if damaged:
        raise ValueError(f"{damaged}. Delete this shard. {way_out}")
    empty = shard_sizes.suspiciously_empty(files)
    if empty:
        # Not an error: tensor2tensor's problems of one task a shard may have made it so.
        logging.warning("%s: is something lost? If so, delete this shard. %s", empty, way_out)


def examples(
    problem: Problem,
    mode: str,
    data_dir: str | None,
    hparams: Any,
    *,
    dataset_split: str | None = None,
    shard: int | None = None,
    partition_id: int = 0,
    num_partitions: int = 1,
    shuffle_files: bool | None = None,
    max_records: int = -1,
    seed: int | None = None,
    as_int32: bool = False,
) -> tf.data.Dataset:
    """Single examples, parsed, preprocessed, reversed and copied; one pass.

    With `shuffle_files`, files are read in a new random order in every pass, eight at a time.
    Unlike T2T's, this order is the same in every run with the same seed.

    Args:
        problem: the problem.
        mode: one of `ModeKeys`.
        data_dir: directory of the shards.
        hparams: model hparams, for `Problem.preprocess_example`.
        dataset_split: see `shard_files`.
        shard: see `shard_files`.
        partition_id: see `shard_files`.
        num_partitions: see `shard_files`.
        shuffle_files: None: only in training.
        max_records: read no more examples than this; -1: all.
        seed: of the file order.
        as_int32: whether integers become int32.

    Returns:
        Data set of dicts feature name -> tensor `[length]`, types as in the files (int64, float32)
        unless `as_int32`.
    """
    files = shard_files(
        problem,
        mode,
        data_dir,
        dataset_split=dataset_split,
        shard=shard,
        partition_id=partition_id,
        num_partitions=num_partitions,
    )
    if shuffle_files is None:
        shuffle_files = mode == ModeKeys.TRAIN
    if shuffle_files:
        dataset = _mixed_records(files, seed)
    else:
        dataset = tf.data.TFRecordDataset(files, buffer_size=_READ_BUFFER_BYTES)
    dataset = _loaded(dataset, problem, mode, hparams, as_int32)
    return dataset.take(max_records)


def _loaded(
    dataset: tf.data.Dataset, problem: Problem, mode: str, hparams: Any, as_int32: bool
) -> tf.data.Dataset:
    """Parse, preprocess, reverse and copy records, in one step, because every step costs time."""
    load = loading_function(problem, mode, hparams, as_int32)
    mapped = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    if isinstance(mapped.element_spec, tf.data.DatasetSpec):
        return dataset.flat_map(load)
    return mapped


def loading_function(problem: Problem, mode: str, hparams: Any, as_int32: bool) -> Any:
    """What parses, preprocesses, reverses and copies a record; see `examples`.

    It returns a data set of examples where preprocessing splits them.
    """
    configuration = preprocessing.parsing_configuration(problem)

    def finish(example: preprocessing.Features) -> preprocessing.Features:
        example = problem.maybe_reverse_and_copy(example)
        return preprocessing.to_int32(example) if as_int32 else example

    def load(serialized: tf.Tensor) -> Any:
        example = tf.io.parse_single_example(serialized, configuration)
        loaded = problem.preprocess_example(example, mode, hparams)
        return loaded.map(finish) if isinstance(loaded, tf.data.Dataset) else finish(loaded)

    return load


def _mixed_records(files: list[str], seed: int | None) -> tf.data.Dataset:
    """Records of all files, of several files at a time."""
    # A few examples in a hundred shards: opening the empty ones would take most of the time.
    files = [path for path in files if os.path.getsize(path)] or files
    dataset = tf.data.Dataset.from_tensor_slices(files)
    dataset = dataset.shuffle(len(files), seed=seed, reshuffle_each_iteration=True)
    return dataset.interleave(
        lambda path: tf.data.TFRecordDataset(path, buffer_size=_READ_BUFFER_BYTES),
        cycle_length=_CYCLE_LENGTH,
        block_length=_BLOCK_LENGTH,
        num_parallel_calls=tf.data.AUTOTUNE,
        deterministic=True,
    )


def example_groups(
    problem: Problem, files: list[str], mode: str, hparams: Any, max_records: int, group_size: int
) -> tf.data.Dataset:
    """Examples as `examples` gives them, in the order of the files, many at a time.

    Much faster than one at a time if preprocessing changes nothing.

    Args:
        problem: the problem.
        files: the shards.
        mode: one of `ModeKeys`.
        hparams: model hparams.
        max_records: read no more records than this.
        group_size: examples in a group.

    Returns:
        Data set of dicts feature name -> ragged (or, of fixed length, dense) `[group, length]`.
    """
    dataset = tf.data.TFRecordDataset(files, buffer_size=_READ_BUFFER_BYTES).take(max_records)
    configuration = preprocessing.parsing_configuration(problem)
    if preprocessing.is_plain(problem, hparams):
        dataset = dataset.batch(group_size).map(
            lambda serialized: tf.io.parse_example(serialized, configuration)
        )
        return dataset.map(problem.maybe_reverse_and_copy)
    return _loaded(dataset, problem, mode, hparams, as_int32=False).ragged_batch(group_size)


def fingerprint(files: list[str]) -> str:
    """Number and size of files, and a check sum of their names and sizes."""
    sizes = [os.path.getsize(path) for path in files]
    names = [os.path.basename(path) for path in files]
    checksum = zlib.crc32(json.dumps([names, sizes]).encode())
    return f"{len(files)} files, {sum(sizes)} bytes, {checksum:08x}"


def describe_files(files: list[str]) -> str:
    """`<first file>` or `<first file> … (n files)`."""
    first = os.path.basename(files[0])
    return first if len(files) == 1 else f"{first} … ({len(files)} files)"
