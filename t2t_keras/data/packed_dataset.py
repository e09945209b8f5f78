"""Packing while reading (hparam `pack_dataset`): short examples share rows of one length.

Definition: T2T's data_generators.generator_utils.pack_dataset. The examples are taken in windows,
and each window is packed by itself, so an iterator can be saved between any two rows. T2T mixes the
rows of ten windows as they come; here one window follows the other, and the order is always the
same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.data import packing

_QUEUE_SIZE = 10
# T2T's estimate: examples of eight ids on average, and enough to fill each open row ten times.
_EXAMPLES_PER_ROW = 1 / 8
_ROWS_PER_WINDOW = 10 * _QUEUE_SIZE


def pack_dataset(
    dataset: tf.data.Dataset, length: int, drop_long_sequences: bool = False
) -> tf.data.Dataset:
    """Packs examples into rows of exactly `length` ids a side.

    An example goes into the oldest of ten open rows where all sides fit.

    Args:
        dataset: examples with integers `targets` and, if any, `inputs`, `[length of the example]`;
            other features are left out.
        length: length of the rows.
        drop_long_sequences: leave out examples with a longer side (T2T without its custom
            operations) instead of cutting that side (T2T with them; its end of sequence is lost).

    Returns:
        Data set of dicts of int32 `[length]`: each side, `<side>_segmentation` (1, 2, …; 0 where
        nothing is) and `<side>_position` (0, 1, … within each example).
    """
    sides = [side for side in ("inputs", "targets") if side in dataset.element_spec]
    names = [side + suffix for side in sides for suffix in ("", *packing.AUXILIARY_SUFFIXES)]
    window_size = max(1, int(length * _EXAMPLES_PER_ROW * _ROWS_PER_WINDOW))

    def packed_rows(*flat_values_and_lengths: np.ndarray) -> np.ndarray:
        values, lengths = flat_values_and_lengths[::2], flat_values_and_lengths[1::2]
        columns = [
            np.split(ids, np.cumsum(rows)[:-1]) for ids, rows in zip(values, lengths, strict=True)
        ]
        window = dict(zip(sides, columns, strict=True))
        return _packed_window(window, names, length, drop_long_sequences)

    def pack_window(window: dict[str, tf.RaggedTensor]) -> dict[str, tf.Tensor]:
        parts = []
        for side in sides:
            parts += [tf.cast(window[side].flat_values, tf.int32), window[side].row_lengths()]
        # [names, rows, length]
        rows = tf.numpy_function(packed_rows, parts, tf.int32, stateful=False)
        rows = tf.ensure_shape(rows, [len(names), None, length])
        return dict(zip(names, tf.unstack(rows, num=len(names)), strict=True))

    examples = dataset.map(lambda example: {side: example[side] for side in sides})
    windows = examples.ragged_batch(window_size)
    return windows.map(pack_window).unbatch()


def _packed_window(
    columns: dict[str, list[np.ndarray]], names: list[str], length: int, drop_long_sequences: bool
) -> np.ndarray:
    """`[names, rows, length]` the rows made of a window's examples."""
    examples: list[dict[str, Any]] = []
    for values in zip(*columns.values(), strict=True):
        if drop_long_sequences and any(len(ids) > length for ids in values):
            continue
        cut = [ids[:length].tolist() for ids in values]
        examples.append(dict(zip(columns, cut, strict=True)))
    rows = list(
        packing.pack_examples(
            examples, "inputs" in columns, length, spacing=0, queue_size=_QUEUE_SIZE
        )
    )
    packed = np.zeros([len(names), len(rows), length], np.int32)
    for number, row in enumerate(rows):
        for place, name in enumerate(names):
            packed[place, number, : len(row[name])] = row[name]
    return packed
