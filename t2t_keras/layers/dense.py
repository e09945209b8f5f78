"""Matrix multiplication over the last axis."""

from typing import Any

import keras
import tensorflow as tf
from keras import ops

from t2t_keras.layers.initializers import InitializerFactory, default_initializer
from t2t_keras.layers.manual_gradients import affine, linear


def matmul_last_axis(x: Any, kernel: Any) -> Any:
    """`x` `[…, in]` times `kernel` `[in, out]` -> `[…, out]`.

    Flattened to one matrix product: a batched product would sum one kernel gradient per batch row.
    """
    # Activations may be of lower precision than weights.
    kernel = ops.cast(tf.convert_to_tensor(kernel), x.dtype)
    if len(x.shape) == 2:
        return linear(x, kernel)
    leading = ops.shape(x)[:-1]
    flat = linear(ops.reshape(x, (-1, kernel.shape[0])), kernel)
    return ops.reshape(flat, (*leading, kernel.shape[1]))


class Dense(keras.layers.Layer):
    """x·kernel (+ bias) on the last axis; `kernel` `[input_size, units]`, `bias` `[units]`.

    Unlike Keras' own layer it is told its input size, so its variables exist as soon as `build`
    runs, before any data is seen.

    Args:
      input_size: length of the last axis of the input.
      units: length of the last axis of the output.
      use_bias: whether to add a bias, initially 0.
      initializer: makes the kernel's initialiser.
      name: scope of the variables.
    """

    def __init__(
        self,
        input_size: int,
        units: int,
        *,
        use_bias: bool = True,
        initializer: InitializerFactory = default_initializer,
        name: str | None = None,
    ) -> None:
        super().__init__(name=name)
        self.input_size = input_size
        self.units = units
        self.use_bias = use_bias
        self.initializer = initializer

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        self.kernel = self.add_weight(
            name="kernel", shape=(self.input_size, self.units), initializer=self.initializer()
        )
        self.bias = (
            self.add_weight(name="bias", shape=(self.units,), initializer="zeros")
            if self.use_bias
            else None
        )

    def call(self, x: Any) -> Any:
        """`x` `[…, input_size]` -> `[…, units]`."""
        if self.bias is None:
            return matmul_last_axis(x, self.kernel)
        flat = affine(
            ops.reshape(x, (-1, self.input_size)),
            ops.cast(tf.convert_to_tensor(self.kernel), x.dtype),
            ops.cast(tf.convert_to_tensor(self.bias), x.dtype),
        )
        return ops.reshape(flat, (*ops.shape(x)[:-1], self.units))
