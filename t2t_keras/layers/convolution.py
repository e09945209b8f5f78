"""Convolutions over positions, named as T2T names their variables."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.dense import matmul_last_axis
from t2t_keras.layers.initializers import InitializerFactory, default_initializer


def positions_before(width: int, padding: str) -> int:
    """How many earlier positions a kernel sees.

    Args:
      width: positions of the kernel.
      padding: "LEFT", a result depends on its own and earlier positions; "SAME", on as many to
        either side, of an even width on one more to the right.

    Raises:
      ValueError: another padding, or an empty kernel.
    """
    if padding not in ("SAME", "LEFT"):
        raise ValueError(f"padding must be SAME or LEFT. Received: {padding!r}")
    if width < 1:
        raise ValueError(f"The kernel needs at least one position. Received: {width}")
    return width - 1 if padding == "LEFT" else (width - 1) // 2


def pad_positions(x: Any, width: int, before: int) -> Any:
    """Adds the zeros that a kernel of `width` positions, `before` of them earlier ones, needs.

    `[batch, length, depth]` -> `[batch, length + width − 1, depth]`.
    """
    return ops.pad(x, ((0, 0), (before, width - 1 - before), (0, 0)))


def rows_at(cache: Any, positions: Any) -> Any:
    """What a cache has at some positions, zeros before the first.

    Args:
      cache: `[batch, beam, 1, max_length, depth]`.
      positions: int `[width]`.

    Returns:
      `[batch, beam, width, depth]`.
    """
    rows = ops.take(cache[:, :, 0], ops.maximum(positions, 0), axis=2)
    exists = ops.cast(ops.greater_equal(positions, 0), rows.dtype)
    return rows * exists[:, None]


class _KernelOverPositions(keras.layers.Layer):
    """Base of the convolutions, with the bias; a subclass has the kernel.

    Args:
      input_size: length of the last axis of the input.
      units: length of the last axis of the output.
      width: positions of the kernel.
      padding: see `positions_before`.
      initializer: makes the kernel's initialiser.
      name: scope of the variables; T2T adds `_single` to the names of its convolutions.
    """

    def __init__(
        self,
        input_size: int,
        units: int,
        width: int,
        padding: str,
        *,
        initializer: InitializerFactory = default_initializer,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self.input_size, self.units = input_size, units
        self.width, self.before = width, positions_before(width, padding)
        self.initializer = initializer

    def build(self, input_shape: Any = None) -> None:
        """Creates the bias."""
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def add_kernel(self, name: str, shape: tuple[int, ...]) -> Any:
        """Creates a variable."""
        return self.add_weight(name=name, shape=shape, initializer=self.initializer())


class Convolution(_KernelOverPositions):
    """A full kernel over positions: `kernel` `[width, 1, input_size, units]`, `bias` `[units]`.

    Arguments: see the base class.
    """

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        self.kernel = self.add_kernel("kernel", (self.width, 1, self.input_size, self.units))
        super().build()

    def call(self, x: Any) -> Any:
        """`x` `[batch, length, input_size]` -> `[batch, length, units]`."""
        x = pad_positions(x, self.width, self.before)
        output = ops.conv(x, ops.cast(self.kernel[:, 0], x.dtype), padding="valid")
        return output + ops.cast(self.bias, x.dtype)


class SeparableConvolution(_KernelOverPositions):
    """A kernel over positions for each value, then a dense layer over the values.

    "Xception" (Chollet, 2017): `width` · input_size + input_size · units weights instead of
    width · input_size · units. Variables: `depthwise_kernel` `[width, 1, input_size, 1]`,
    `pointwise_kernel` `[1, 1, input_size, units]`, `bias` `[units]`.

    Arguments: see the base class.
    """

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        self.depthwise = self.add_kernel("depthwise_kernel", (self.width, 1, self.input_size, 1))
        self.pointwise = self.add_kernel("pointwise_kernel", (1, 1, self.input_size, self.units))
        super().build()

    def call(self, x: Any) -> Any:
        """`x` `[batch, length, input_size]` -> `[batch, length, units]`."""
        x = pad_positions(x, self.width, self.before)
        kernel = ops.cast(self.depthwise[:, 0], x.dtype)
        return self._mix(ops.depthwise_conv(x, kernel, padding="valid"))

    def step(self, cache: Any, step: Any) -> Any:
        """The result at one position, by which a decoder has got all that the kernel sees.

        Args:
          cache: `[batch, beam, 1, max_length, input_size]`, filled up to `step` (inclusive).
          step: int scalar, the position.

        Returns:
          `[batch, beam, units]`.
        """
        rows = rows_at(cache, ops.arange(1 - self.width, 1, dtype="int32") + step)
        kernel = ops.cast(self.depthwise[:, 0, :, 0], rows.dtype)
        return self._mix(ops.sum(rows * kernel, axis=-2))

    def _mix(self, x: Any) -> Any:
        return matmul_last_axis(x, self.pointwise[0, 0]) + ops.cast(self.bias, x.dtype)
