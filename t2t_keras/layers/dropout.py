"""Stateless dropout: the mask is a function of a seed, nothing else.

Keras' own dropout draws the same mask on every replica of a mirrored strategy, and TensorFlow's
stateless one gives other numbers, at a hundred times the cost, once compiled by XLA for the CPU.
This one hashes a counter with plain integer operations: the same mask with and without XLA, on any
device, for a given seed; 16 bits decide about one value.
"""

from collections.abc import Sequence
from typing import Any

import keras
import tensorflow as tf

from t2t_keras.layers.compilation import for_xla, materialized

_BITS = 16
# Odd constants: the golden ratio for spreading counters, and a pair of multipliers whose
# xor-shift-multiply hash is known to be nearly free of bias (Wellons' "lowbias32").
_SPREAD = 0x9E3779B1
_SPREAD_SITE = 0x85EBCA6B
_MULTIPLY_1 = 0x7FEB352D
_MULTIPLY_2 = 0x846CA68B


def _uint32(value: int) -> tf.Tensor:
    return tf.constant(value, tf.uint32)


def _fold(value: tf.Tensor, bits: int) -> tf.Tensor:
    return tf.bitwise.bitwise_xor(value, tf.bitwise.right_shift(value, _uint32(bits)))


def _hash(value: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
    """A bijective mix of uint32 values; `key` goes in half-way."""
    value = _fold(value, 16) * _uint32(_MULTIPLY_1) + key
    value = _fold(value, 15) * _uint32(_MULTIPLY_2)
    return _fold(value, 16)


def _keys(seed: tf.Tensor, site: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Two uint32 scalars, determined by the arguments."""
    words = tf.bitcast(seed, tf.uint32)
    first = _hash(words[0] + _uint32((site * _SPREAD) & 0xFFFFFFFF), words[1])
    second = _hash(words[1] + _uint32((site * _SPREAD_SITE + 1) & 0xFFFFFFFF), first)
    return first, second


def random_bits(count: tf.Tensor, seed: tf.Tensor, site: int) -> tf.Tensor:
    """Pseudo-random uint16 `[count]`, determined by the arguments.

    Args:
      count: int scalar.
      seed: int32 `[2]`, different for every step and replica.
      site: number of the place in the model, different for each.
    """
    first, second = _keys(seed, site)
    # Two 16-bit draws from every 32-bit word.
    counters = tf.bitcast(tf.range((count + 1) // 2, dtype=tf.int32), tf.uint32)
    bits = _hash(counters * _uint32(_SPREAD) + first, second)
    return tf.reshape(tf.bitcast(bits, tf.uint16), [-1])[:count]


def _random_words(shape: Any, seed: tf.Tensor, site: int) -> tf.Tensor:
    """Pseudo-random uint32 of the given shape, of which the high bits are the good ones.

    Every row (all axes but the last) and every column gets a well-mixed word of its own; a value's
    is a short mix of their sum. So most of the mixing is done once a row or column: this is the
    dearest part of dropout.
    """
    shape = tf.convert_to_tensor(shape, tf.int32)
    columns = shape[-1]
    rows = tf.reduce_prod(shape[:-1])
    first, second = _keys(seed, site)
    value = _mixed_range(rows, first, second)[:, None] + _mixed_range(columns, second, first)
    value = _fold(value, 16) * _uint32(_MULTIPLY_1)  # [rows, columns]
    value = _fold(value, 15) * _uint32(_MULTIPLY_2)
    return tf.reshape(value, shape)


def _mixed_range(count: tf.Tensor, start: tf.Tensor, key: tf.Tensor) -> tf.Tensor:
    """uint32 `[count]`, determined by the arguments."""
    counters = tf.bitcast(tf.range(count, dtype=tf.int32), tf.uint32)
    mixed = _hash(counters * _uint32(_SPREAD) + start, key)
    # Otherwise XLA would do it again for every value.
    return materialized(mixed) if for_xla() else mixed


def keep_mask(shape: Any, rate: float, seed: tf.Tensor, site: int) -> tf.Tensor:
    """Bool mask of the given shape, True with probability 1 − rate (to 1 in 2^16)."""
    threshold = _uint32(_threshold(rate) << _BITS)
    return _random_words(shape, seed, site) >= threshold


def gumbel_noise(shape: Any, seed: tf.Tensor, site: int) -> tf.Tensor:
    """Float32 draws from the standard Gumbel distribution, −ln(−ln u), determined by the seed."""
    shape = tf.convert_to_tensor(shape, tf.int32)
    count = tf.reduce_prod(shape)
    # Two 16-bit draws make one number strictly between 0 and 1; the sites of dropout count up from
    # 0, so negative ones are free.
    draws = tf.cast(random_bits(2 * count, seed, -1 - site), tf.float32)  # [2 * count]
    coarse, fine = tf.unstack(tf.reshape(draws, [2, -1]))
    uniform = (coarse + (fine + 0.5) / 2**_BITS) / 2**_BITS
    uniform = tf.clip_by_value(uniform, 1e-10, 1.0 - 1e-7)
    return tf.reshape(-tf.math.log(-tf.math.log(uniform)), shape)


def _threshold(rate: float) -> int:
    return round(rate * 2**_BITS)


def parse_broadcast_dims(text: str) -> tuple[int, ...]:
    """The hparams' comma list of axes ("0,1", "" for none) as integers.

    Raises:
      ValueError: something in the list is no integer.
    """
    try:
        return tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise ValueError(
            f"Dropout broadcast dims must be a comma list of integers. Received: {text!r}"
        ) from error


class Dropout(keras.layers.Layer):
    """Drops values with probability `rate` and scales the kept ones by 1 / (1 − rate).

    Without a seed (evaluation, inference) it returns its input.

    Args:
      rate: probability of a zero, in [0, 1).
      site: number of this place in the model; two places with one number would share masks.
      broadcast_dims: axes (negative ones count from the end) along which one decision holds for
        all positions.

    Raises:
      ValueError: the rate is outside [0, 1).
    """

    def __init__(
        self, rate: float, site: int, broadcast_dims: Sequence[int] = (), name: str | None = None
    ) -> None:
        super().__init__(name=name)
        if not 0.0 <= rate < 1.0:
            raise ValueError(f"A dropout rate must be in [0, 1). Received: {rate!r}")
        self.rate = rate
        self.site = site
        self.broadcast_dims = tuple(broadcast_dims)
        self.built = True

    def call(self, x: Any, dropout_seed: Any = None) -> Any:
        """Applies dropout to `x` (any shape) if `dropout_seed` (int32 `[2]`) is given."""
        if dropout_seed is None or self.rate == 0.0:
            return x
        keep = keep_mask(self._noise_shape(x), self.rate, dropout_seed, self.site)
        # The probability the mask really has, so that the expectation is exact.
        scale = 1.0 / (1.0 - _threshold(self.rate) / 2**_BITS)
        # A product, because TensorFlow's selection takes three times as long on the CPU.
        return x * (tf.cast(keep, x.dtype) * tf.constant(scale, x.dtype))

    def _noise_shape(self, x: Any) -> Any:
        rank = len(x.shape)
        axes = {axis % rank for axis in self.broadcast_dims if -rank <= axis < rank}
        if x.shape.is_fully_defined():
            sizes: Any = x.shape.as_list()
        else:
            sizes = tf.unstack(tf.shape(x), num=rank)
        return [1 if axis in axes else sizes[axis] for axis in range(rank)]
