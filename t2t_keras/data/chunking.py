"""Long targets in chunks (hparam `split_targets_chunk_length`), for models that keep a memory.

A batch becomes several, one after the other: of the same sentences, each with the next few target
ids. T2T has it for its language models with a memory of the chunk before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf

__all__ = ["CHUNK_NUMBER", "chunk_length", "chunked", "describe", "is_strided", "same_rows"]

# The feature that tells which chunk of its batch a batch is.
CHUNK_NUMBER = "chunk_number"


def chunk_length(hparams: Any) -> int:
    """Target ids in a chunk; 0: targets stay whole."""
    return getattr(hparams, "split_targets_chunk_length", 0)


def is_strided(hparams: Any) -> bool:
    """Whether training wants every batch to have the same sentences in the same number of rows."""
    return bool(getattr(hparams, "split_targets_strided_training", False))


def same_rows(hparams: Any, batch_sizes: Sequence[int]) -> int:
    """The number of rows of all batches, which `split_targets_strided_training` asks for.

    Args:
        hparams: model hparams.
        batch_sizes: rows of the batches of each length.

    Raises:
        ValueError: if they differ.
    """
    if len(set(batch_sizes)) > 1:
        raise ValueError(
            "split_targets_strided_training needs the same number of sentences in every batch. Set "
            "use_fixed_batch_size=True (batch_size then counts sentences), or raise "
            "min_length_bucket to the longest length. Received: use_fixed_batch_size="
            f"{hparams.use_fixed_batch_size}, min_length_bucket={hparams.min_length_bucket}: "
            f"batches of {min(batch_sizes)} to {max(batch_sizes)} sentences"
        )
    return batch_sizes[0]


def chunked(dataset: tf.data.Dataset, hparams: Any, rows: int | None = None) -> tf.data.Dataset:
    """Cuts the targets of batches.

    Args:
        dataset: batches, feature name -> `[batch, …]`, `targets` `[batch, length]`.
        hparams: `split_targets_chunk_length`, and `split_targets_max_chunks`, which is the largest
            number of chunks there may be. A longer batch raises
            `tf.errors.InvalidArgumentError` when it is read.
        rows: number of sentences in each batch, known beforehand; None: it varies.

    Returns:
        Batches with `targets` `[batch, chunk length]`, padded with zeros, and `chunk_number` (0, 1,
        …) of the same shape. Other features are repeated with each chunk. Chunks that are all
        padding are left out.
    """
    length, count = chunk_length(hparams), hparams.split_targets_max_chunks

    def chunks_of(batch: dict[str, tf.Tensor]) -> tf.data.Dataset:
        if rows is not None:
            batch = {
                name: tf.ensure_shape(value, [rows, *value.shape[1:]])
                for name, value in batch.items()
            }
        chunks = _split(batch["targets"], length, count)

        def chunk(number: tf.Tensor) -> dict[str, tf.Tensor]:
            targets = chunks[number]
            numbers = tf.zeros_like(targets, tf.int32) + tf.cast(number, tf.int32)
            return {**batch, "targets": targets, CHUNK_NUMBER: numbers}

        return tf.data.Dataset.range(count).map(chunk).filter(_has_targets)

    return dataset.flat_map(chunks_of)


def describe(hparams: Any) -> str:
    """One line, for the log."""
    return (
        f"Each batch is given in up to {hparams.split_targets_max_chunks} chunks of "
        f"{chunk_length(hparams)} target ids, one a step"
    )


def _split(targets: tf.Tensor, length: int, count: int) -> tf.Tensor:
    """`[count, batch, length]` the chunks of targets `[batch, length of the batch]`."""
    rows, width = tf.unstack(tf.shape(targets))
    message = (
        f"Targets are longer than split_targets_max_chunks={count} chunks of "
        f"split_targets_chunk_length={length} ids. Set split_targets_max_chunks higher, or "
        "max_length lower."
    )
    # With the check as an input, it is made before anything is cut.
    with tf.control_dependencies([tf.debugging.assert_less_equal(width, length * count, message)]):
        padded = tf.pad(targets, [[0, 0], [0, length * count - width]])
    # [batch, count, length]
    chunks = tf.reshape(padded, [rows, count, length])
    chunks = tf.transpose(chunks, [1, 0, 2])
    return tf.ensure_shape(chunks, [count, targets.shape[0], length])


def _has_targets(batch: dict[str, tf.Tensor]) -> tf.Tensor:
    return tf.reduce_any(tf.not_equal(batch["targets"], 0))
