"""Telling padding from real positions, and computing without it."""

from typing import Any

import tensorflow as tf
from keras import ops


def embedding_to_padding(x: Any) -> Any:
    """Where vectors `[batch, length, depth]` are exactly zero, as `SymbolTable` embeds padding.

    Returns:
      float32 `[batch, length]`, 1 at padding, 0 elsewhere.
    """
    return ops.cast(ops.equal(ops.sum(ops.abs(x), axis=-1), 0.0), "float32")


def bias_to_padding(bias: Any) -> Any:
    """Which keys an attention bias `[batch, 1, 1, length]` hides; see `masks.padding_bias`.

    Returns:
      float32 `[batch, length]`, 1 where the bias is below −1, 0 elsewhere.
    """
    return ops.cast(ops.less(bias, -1.0), "float32")[:, 0, 0, :]


class PadRemover:
    """Takes the padding out of a batch, and puts zeros in its place afterwards (T2T's).

    A layer that treats every position alike then runs on the real positions only. How many there
    are is known only when the data is, which XLA can't compile: the models here multiply results by
    0 at padding instead (hparam `use_pad_remover`), with equal results.

    Args:
      padding: `[batch · length]`, 1 at padding, 0 at real positions; see `embedding_to_padding`.

    Example:
      remover = PadRemover(tf.reshape(embedding_to_padding(x), [-1]))
      y = remover.restore(layer(remover.remove(tf.reshape(x, [-1, depth]))))
    """

    def __init__(self, padding: Any) -> None:
        padding = tf.convert_to_tensor(padding)
        self._count = tf.shape(padding)[0]
        self._real = tf.where(padding < 0.5)  # [real positions, 1]

    def remove(self, x: Any) -> Any:
        """`x` `[batch · length, …]` -> `[real positions, …]`."""
        return tf.gather_nd(x, self._real)

    def restore(self, x: Any) -> Any:
        """`x` `[real positions, …]` -> `[batch · length, …]`, zeros at padding."""
        shape = tf.concat([[self._count], tf.shape(x)[1:]], axis=0)
        restored = tf.scatter_nd(self._real, x, tf.cast(shape, tf.int64))
        restored.set_shape([None, *x.shape[1:]])
        return restored
