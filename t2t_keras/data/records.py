"""Shards of tf.train.Examples: written completely or not at all, shuffled one shard at a time.

Unfinished files have hidden names (`.<name>.incomplete`) that no reading pattern matches. All
final names appear together, by renaming, after the last byte was written; so a killed run leaves
nothing that looks finished, and the next run starts over.
"""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from absl import logging

from t2t_keras.data.problem import UNSHUFFLED_SUFFIX
from t2t_keras.data.progress import progress

if TYPE_CHECKING:
    import tensorflow as tf

Example = dict[str, Any]

# A TFRecord: 8 bytes length (little endian), 4 bytes check sum, the data, 4 bytes check sum.
_LENGTH_AND_CHECKSUM = 12
_DATA_CHECKSUM = 4


def to_example(sample: Example) -> tf.train.Example:
    """A sample as a tf.train.Example; the first element of each value decides its type.

    Args:
        sample: feature name -> non-empty sequence of ints, floats, strings (UTF-8) or bytes.

    Raises:
        ValueError: if a value is empty or of another type.
    """
    import tensorflow as tf

    feature = {}
    for name, values in sample.items():
        if len(values) == 0:
            raise ValueError(f"Feature {name!r} is empty. Received the sample: {sample!r}")
        feature[name] = _to_feature(name, values, tf)
    return tf.train.Example(features=tf.train.Features(feature=feature))


def _to_feature(name: str, values: Sequence[Any], tf: Any) -> Any:
    import numpy as np

    first = values[0]
    if isinstance(first, (int, np.integer)):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    if isinstance(first, (float, np.floating)):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    if isinstance(first, (str, bytes)):
        raw = [v.encode("utf-8") if isinstance(v, str) else v for v in values]
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=raw))
    raise ValueError(
        f"Feature {name!r} must hold ints, floats, strings or bytes. Received: {first!r} of type "
        f"{type(first).__name__}"
    )


def parse_example(serialized: bytes) -> Example:
    """The inverse of `to_example`: feature name -> list; strings come back as bytes."""
    import tensorflow as tf

    example = tf.train.Example.FromString(serialized)
    result = {}
    for name, feature in example.features.feature.items():
        kind = feature.WhichOneof("kind")
        result[name] = list(getattr(feature, kind).value) if kind else []
    return result


def read_records(path: str) -> list[bytes]:
    """All records of a TFRecord file."""
    import tensorflow as tf

    return [record.numpy() for record in tf.data.TFRecordDataset(path)]


def count_records(path: str) -> int:
    """Number of records of a TFRecord file, found by hopping over the data.

    Raises:
        ValueError: if the file ends within a record.
    """
    size = os.path.getsize(path)
    count = position = 0
    with open(path, "rb") as stream:
        while position < size:
            stream.seek(position)
            header = stream.read(_LENGTH_AND_CHECKSUM)
            if len(header) == _LENGTH_AND_CHECKSUM:
                (length,) = struct.unpack("<Q", header[:8])
                position += _LENGTH_AND_CHECKSUM + length + _DATA_CHECKSUM
            if len(header) < _LENGTH_AND_CHECKSUM or position > size:
                raise ValueError(f"{path} is cut off within record {count} (size {size} bytes).")
            count += 1
    return count


def final_path(path: str) -> str:
    """The path without the suffix that marks unshuffled shards."""
    return path.replace(UNSHUFFLED_SUFFIX, "")


def all_exist(paths: Sequence[str]) -> bool:
    """Whether all files exist, i.e. there is nothing left to make.

    If only some do (an interrupted run of tensor2tensor, deleted files), says so: they will be
    made anew.
    """
    missing = [path for path in paths if not os.path.exists(path)]
    if missing and len(missing) < len(paths):
        logging.warning(
            "%d of %d shards are missing, e.g. %s; starting over.",
            len(missing),
            len(paths),
            missing[0],
        )
    return not missing


def incomplete_path(path: str) -> str:
    """Name of a file while it is being written; hidden, so that no pattern matches it."""
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.incomplete")


def generate_files(
    generator: Iterable[Example | None],
    output_filenames: Sequence[str],
    max_cases: int | None = None,
    cycle_every_n: int = 1,
) -> None:
    """Write samples to shards, in turn: sample k goes to shard (k // cycle_every_n) mod n.

    Does nothing if all the final files (without `-unshuffled`) exist.

    Args:
        generator: samples; None ones are left out.
        output_filenames: paths of the n shards.
        max_cases: write no more samples than this; None or 0: all.
        cycle_every_n: number of consecutive samples a shard gets.

    Raises:
        ValueError: if a sample can't be written (see `to_example`), or there are none.
    """
    if all_exist([final_path(path) for path in output_filenames]):
        logging.info("Shards exist already: %s …", final_path(output_filenames[0]))
        return
    import tensorflow as tf

    os.makedirs(os.path.dirname(output_filenames[0]) or ".", exist_ok=True)
    temporary = [incomplete_path(path) for path in output_filenames]
    writers = [tf.io.TFRecordWriter(path) for path in temporary]
    count = 0
    try:
        description = os.path.basename(output_filenames[0])
        for sample in progress(generator, f"Writing {description}", "sample"):
            if sample is None:
                continue
            if max_cases and count >= max_cases:
                break
            shard = count // cycle_every_n % len(writers)
            writers[shard].write(to_example(sample).SerializeToString())
            count += 1
    except BaseException:
        _close(writers)
        _remove(temporary)
        raise
    _close(writers)
    if count == 0:
        _remove(temporary)
        raise ValueError(
            f"There were no samples to write to {output_filenames[0]}. Are the source files empty?"
        )
    publish(temporary, output_filenames)
    logging.info("Wrote %d samples to %d shards.", count, len(output_filenames))


def shuffle_dataset(
    filenames: Sequence[str],
    extra_fn: Callable[[list[bytes]], Iterable[bytes]] | None = None,
    shuffle: bool = True,
) -> None:
    """Turn unshuffled shards into final ones; each is read, shuffled, packed, written, deleted.

    The order comes from Python's `random.shuffle`, once a shard, in the order of `filenames`;
    seed `random` before for repeatable data.

    Args:
        filenames: paths with the suffix `-unshuffled`.
        extra_fn: turns the serialised examples of a shard into others, e.g. packs them.
        shuffle: False keeps the order.
    """
    if not filenames or all_exist([final_path(path) for path in filenames]):
        return
    temporary = []
    for path in progress(filenames, "Shuffling", "shard", total=len(filenames)):
        records = read_records(path)
        if shuffle:
            random.shuffle(records)
        temporary.append(incomplete_path(final_path(path)))
        write_records(temporary[-1], extra_fn(records) if extra_fn else records)
        # From here on the shard exists only under its hidden name: an interruption costs a new
        # run, not the disk space of the whole data twice.
        os.remove(path)
    publish(temporary, [final_path(path) for path in filenames])


def publish(temporary: Sequence[str], final: Sequence[str]) -> None:
    """Rename finished files, all together."""
    for source, target in zip(temporary, final, strict=True):
        os.replace(source, target)


def write_records(path: str, records: Iterable[bytes]) -> None:
    """Writes serialised examples to a TFRecord file, under this name at once."""
    import tensorflow as tf

    with tf.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)


def _close(writers: Iterable[Any]) -> None:
    for writer in writers:
        writer.close()


def _remove(paths: Iterable[str]) -> None:
    for path in paths:
        if os.path.exists(path):
            os.remove(path)


def seed_generators(seed: int) -> None:
    """Seed Python's, NumPy's and TensorFlow's generators, as T2T's datagen does before a problem.

    TensorFlow is loaded first: loading it draws from Python's generator, which would change the
    order of the shards.

    Args:
        seed: the seed.
    """
    import numpy as np
    import tensorflow as tf

    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
