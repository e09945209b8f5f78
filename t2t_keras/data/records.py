"""Shards of tf.train.Examples: written completely or not at all, shuffled one shard at a time.

Samples are encoded, serialised and framed in blocks, on several processes if `parallel.processes`
allows it; the order of the records does not depend on that. A killed run leaves nothing that looks
finished (see `publishing`), and the next run makes the same files.
"""

from __future__ import annotations

import contextlib
import functools
import os
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import IO, TYPE_CHECKING, Any

from absl import logging

from t2t_keras import parallel
from t2t_keras.data import example_proto, publishing, shard_sizes, tfrecord
from t2t_keras.data.progress import progress
from t2t_keras.data.seeding import seed_generators
from t2t_keras.data.shard_names import UNSHUFFLED_SUFFIX

if TYPE_CHECKING:
    import tensorflow as tf

__all__ = [
    "EncodedSamples",
    "all_exist",
    "count_records",
    "final_path",
    "generate_files",
    "parse_example",
    "read_records",
    "seed_generators",
    "serialize_example",
    "shuffle_dataset",
    "shuffle_shard",
    "to_example",
    "write_records",
]

Example = dict[str, Any]

serialize_example = example_proto.serialize
parse_example = example_proto.parse
read_records = tfrecord.read
count_records = tfrecord.count

# Work handed over at a time: characters (of samples to be encoded) or ids.
_BLOCK_WEIGHT = 200_000
# Characters that are encoded, or bytes that are packed, before other processes are started.
_SERIAL_WEIGHT = 5_000_000
_WRITE_BUFFER_BYTES = 1 << 16


class EncodedSamples(Iterator[Example]):
    """Samples that are encoded when they are asked for, or elsewhere, in other processes.

    Args:
        samples: the samples as a problem generates them.
        encode: turns a sample into one of lists of numbers or texts, for `to_example`. It may
            change the sample in place. It is picklable if it is to run in other processes.
    """

    def __init__(self, samples: Iterable[Example], encode: Callable[[Example], Example]) -> None:
        self.samples = iter(samples)
        self.encode = encode

    def __next__(self) -> Example:
        return self.encode(next(self.samples))


def to_example(sample: Example) -> tf.train.Example:
    """A sample as TensorFlow's tf.train.Example; the first element of a value decides its type.

    `serialize_example` gives its bytes without loading TensorFlow.

    Args:
        sample: feature name -> non-empty sequence of ints, floats, strings (UTF-8) or bytes.

    Raises:
        ValueError: if a value is empty or of another type.
    """
    import tensorflow as tf

    return tf.train.Example.FromString(example_proto.serialize(sample))


def final_path(path: str) -> str:
    """The path without the suffix that marks unshuffled shards."""
    return path.replace(UNSHUFFLED_SUFFIX, "")


def all_exist(paths: Sequence[str]) -> bool:
    """Whether all shards exist and are complete, i.e. there is nothing left to make.

    Finishes the renaming that a killed run began. If only some exist (an interrupted run of
    tensor2tensor, deleted files), or one is damaged, says so: they will be made anew.
    """
    publishing.finish_publishing(paths[0])
    missing = [path for path in paths if not os.path.exists(path)]
    if missing and len(missing) < len(paths):
        logging.warning(
            "%d of %d shards are missing, e.g. %s; starting over.",
            len(missing),
            len(paths),
            missing[0],
        )
    damage = None if missing else shard_sizes.damage(paths)
    if damage:
        logging.warning("%s; starting over.", damage)
    return not missing and not damage


def generate_files(
    generator: Iterable[Example | None],
    output_filenames: Sequence[str],
    max_cases: int | None = None,
    cycle_every_n: int = 1,
    total: int | None = None,
) -> None:
    """Write samples to shards, in turn: sample k goes to shard (k // cycle_every_n) mod n.

    Does nothing if all the final files (without `-unshuffled`) exist.

    Args:
        generator: samples; None ones are left out. `EncodedSamples` may be encoded in other
            processes.
        output_filenames: paths of the n shards.
        max_cases: write no more samples than this; None or 0: all.
        cycle_every_n: number of consecutive samples a shard gets.
        total: number of samples if known, for the estimate of the time left.

    Raises:
        ValueError: if a sample can't be written (see `to_example`), or there are none.
    """
    if all_exist([final_path(path) for path in output_filenames]):
        logging.info("Shards exist already: %s …", final_path(output_filenames[0]))
        return
    os.makedirs(os.path.dirname(output_filenames[0]) or ".", exist_ok=True)
    encode = generator.encode if isinstance(generator, EncodedSamples) else None
    samples = generator.samples if isinstance(generator, EncodedSamples) else generator
    description = f"Writing {os.path.basename(output_filenames[0])}"
    blocks = _blocks(progress(samples, description, "sample", total), max_cases)
    framed_blocks = parallel.ordered_map(
        functools.partial(_framed_block, encode, len(output_filenames), cycle_every_n),
        blocks,
        weight=lambda block: block[2],
        # Samples that are encoded already are as much work to hand over as to write.
        serial_weight=sys.maxsize if encode is None else _SERIAL_WEIGHT,
    )
    count = 0
    try:
        with _opened(output_filenames) as streams:
            for block_size, parts in framed_blocks:
                count += block_size
                for shard, contents in parts:
                    streams[shard].write(contents)
        if count == 0:
            raise ValueError(
                f"There were no samples to write to {output_filenames[0]}. "
                "Are the source files empty?"
            )
    except BaseException:
        publishing.remove_incomplete(output_filenames)
        raise
    _publish(output_filenames)
    logging.info("Wrote %d samples to %d shards.", count, len(output_filenames))


# Number of the first sample, the samples, their weight.
_Block = tuple[int, list[Example], int]


def _blocks(samples: Iterable[Example | None], max_cases: int | None) -> Iterator[_Block]:
    first, weight = 0, 0
    block: list[Example] = []
    for sample in samples:
        if sample is None:
            continue
        if max_cases and first + len(block) >= max_cases:
            break
        block.append(sample)
        weight += sum(len(value) for value in sample.values() if hasattr(value, "__len__"))
        if weight >= _BLOCK_WEIGHT:
            yield first, block, weight
            first += len(block)
            block, weight = [], 0
    if block:
        yield first, block, weight


def _framed_block(
    encode: Callable[[Example], Example] | None, num_shards: int, cycle: int, block: _Block
) -> tuple[int, list[tuple[int, bytes]]]:
    """Number of samples of a block, and what is appended to which shards."""
    first, samples, _ = block
    encoded = map(encode, samples) if encode else samples
    frames = tfrecord.frames([example_proto.serialize(sample) for sample in encoded])
    parts: dict[int, list[bytes]] = {}
    for number, frame in enumerate(frames, start=first):
        parts.setdefault(number // cycle % num_shards, []).append(frame)
    return len(frames), [(shard, b"".join(part)) for shard, part in parts.items()]


@contextlib.contextmanager
def _opened(paths: Sequence[str]) -> Iterator[list[IO[bytes]]]:
    """The incomplete files of the paths, for writing."""
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                open(publishing.incomplete_path(path), "wb", buffering=_WRITE_BUFFER_BYTES)
            )
            for path in paths
        ]


def _publish(paths: Sequence[str]) -> None:
    if UNSHUFFLED_SUFFIX in os.path.basename(paths[0]):
        # Intermediate files are of no use to another run, complete or not.
        for path in paths:
            os.replace(publishing.incomplete_path(path), path)
    else:
        publishing.publish(paths)


def shuffle_dataset(
    filenames: Sequence[str],
    extra_fn: Callable[[list[bytes]], Iterable[bytes]] | None = None,
    shuffle: bool = True,
) -> None:
    """Turn unshuffled shards into final ones; each is read, shuffled, packed, written, deleted.

    The order comes from Python's `random.shuffle`, once a shard, in the order of `filenames`;
    seed `random` before for repeatable data. The memory needed is that of one shard, or one a
    process when packing.

    Args:
        filenames: paths with the suffix `-unshuffled`.
        extra_fn: turns the serialised examples of a shard into others, e.g. packs them. It may run
            in other processes if it is picklable.
        shuffle: False keeps the order.
    """
    if not filenames or all_exist([final_path(path) for path in filenames]):
        return
    shards = progress(_shuffled_shards(filenames, shuffle), "Shuffling", "shard", len(filenames))
    if extra_fn is None:
        for shard in shards:
            _write_shard(None, shard)
    else:
        work = functools.partial(_write_shard, extra_fn)
        for _ in parallel.ordered_map(
            work, shards, lambda shard: sum(map(len, shard[1])), _SERIAL_WEIGHT
        ):
            pass
    publishing.publish([final_path(path) for path in filenames])


def shuffle_shard(
    path: str,
    extra_fn: Callable[[list[bytes]], Iterable[bytes]] | None = None,
    shuffle: bool = True,
) -> None:
    """`shuffle_dataset` for one of many shards: the result keeps its hidden name."""
    for shard in _shuffled_shards([path], shuffle):
        _write_shard(extra_fn, shard)


_Shard = tuple[str, list[bytes]]


def _shuffled_shards(filenames: Sequence[str], shuffle: bool) -> Iterator[_Shard]:
    """Yields the path and the framed records of every shard."""
    for path in filenames:
        with open(path, "rb") as stream:
            frames = tfrecord.split_frames(stream.read(), path)
        if shuffle:
            random.shuffle(frames)
        yield path, frames


def _write_shard(extra_fn: Callable[[list[bytes]], Iterable[bytes]] | None, shard: _Shard) -> None:
    path, frames = shard
    if extra_fn is not None:
        frames = tfrecord.frames(list(extra_fn([tfrecord.data_of(frame) for frame in frames])))
    with open(publishing.incomplete_path(final_path(path)), "wb") as stream:
        stream.writelines(frames)
    # From here on the shard exists only under its hidden name: an interruption costs a new run,
    # not the disk space of the whole data twice.
    os.remove(path)


def write_records(path: str, records: Iterable[bytes]) -> None:
    """Writes serialised examples to a TFRecord file, under this name at once."""
    with open(path, "wb") as stream:
        for block in parallel.blocks(records, len, _BLOCK_WEIGHT):
            stream.writelines(tfrecord.frames(block))
