"""Convolutions over positions, named as T2T names their variables."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.dense import matmul_last_axis
from t2t_keras.layers.initializers import InitializerFactory, default_initializer


def pad_positions(x: Any, width: int, padding: str) -> Any:
    """`x` `[batch, length, depth]` with the zeros that a kernel of `width` positions needs.

    Args:
      x: the sequence.
      width: positions of the kernel.
      padding: "LEFT", a result depends on its own and earlier positions; "SAME", on as many to
        either side.

    Returns:
      `[batch, length + width − 1, depth]`.

    Raises:
      ValueError: another padding, or an empty kernel.
    """
    check_kernel(width, padding)
    left = width - 1 if padding == "LEFT" else (width - 1) // 2
    return ops.pad(x, ((0, 0), (left, width - 1 - left), (0, 0)))


def check_kernel(width: int, padding: str) -> None:
    """Raises `ValueError` for an empty kernel or another padding than "LEFT" and "SAME"."""
    if padding not in ("SAME", "LEFT"):
        raise ValueError(f"padding must be SAME or LEFT. Received: {padding!r}")
    if width < 1:
        raise ValueError(f"The kernel needs at least one position. Received: {width}")


class Convolution(keras.layers.Layer):
    """A full kernel over positions: `kernel` `[width, 1, input_size, units]`, `bias` `[units]`.

    Args:
      input_size: length of the last axis of the input.
      units: length of the last axis of the output.
      width: positions of the kernel.
      padding: see `pad_positions`.
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
        check_kernel(width, padding)
        self.input_size, self.units = input_size, units
        self.width, self.padding = width, padding
        self.initializer = initializer

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        shape = (self.width, 1, self.input_size, self.units)
        self.kernel = self.add_weight(name="kernel", shape=shape, initializer=self.initializer())
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def call(self, x: Any) -> Any:
        """`x` `[batch, length, input_size]` -> `[batch, length, units]`."""
        x = pad_positions(x, self.width, self.padding)
        output = ops.conv(x, ops.cast(self.kernel[:, 0], x.dtype), padding="valid")
        return output + ops.cast(self.bias, x.dtype)


class SeparableConvolution(keras.layers.Layer):
    """A kernel over positions for each value, then a dense layer over the values.

    "Xception" (Chollet, 2017): `width` · input_size + input_size · units weights instead of
    width · input_size · units. Variables: `depthwise_kernel` `[width, 1, input_size, 1]`,
    `pointwise_kernel` `[1, 1, input_size, units]`, `bias` `[units]`.

    Args:
      input_size: length of the last axis of the input.
      units: length of the last axis of the output.
      width: positions of the kernel.
      padding: see `pad_positions`.
      initializer: makes the kernels' initialisers.
      name: scope of the variables.
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
        check_kernel(width, padding)
        self.input_size, self.units = input_size, units
        self.width, self.padding = width, padding
        self.initializer = initializer

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""

        def weight(name: str, shape: tuple[int, ...]) -> Any:
            return self.add_weight(name=name, shape=shape, initializer=self.initializer())

        self.depthwise = weight("depthwise_kernel", (self.width, 1, self.input_size, 1))
        self.pointwise = weight("pointwise_kernel", (1, 1, self.input_size, self.units))
        self.bias = self.add_weight(name="bias", shape=(self.units,), initializer="zeros")

    def call(self, x: Any) -> Any:
        """`x` `[batch, length, input_size]` -> `[batch, length, units]`."""
        x = pad_positions(x, self.width, self.padding)
        kernel = ops.cast(self.depthwise[:, 0], x.dtype)
        return self._mix(ops.depthwise_conv(x, kernel, padding="valid"))

    def of_window(self, rows: Any) -> Any:
        """The result of one window, `rows` `[…, width, input_size]` -> `[…, units]`."""
        kernel = ops.cast(self.depthwise[:, 0, :, 0], rows.dtype)
        return self._mix(ops.sum(rows * kernel, axis=-2))

    def _mix(self, x: Any) -> Any:
        return matmul_last_axis(x, self.pointwise[0, 0]) + ops.cast(self.bias, x.dtype)
