"""Norms over the last axis, per position, by T2T's `norm_type` names."""

from typing import Any

import keras
import tensorflow as tf
from keras import ops

from t2t_keras.layers.manual_gradients import layer_norm

NORM_TYPES = ("layer", "noam", "l2", "none")


class LayerNorm(keras.layers.Layer):
    """(x − mean)·rsqrt(variance + epsilon)·scale + bias ("Layer Normalization", Ba et al. 2016).

    Args:
      size: length of the last axis.
      epsilon: added to the variance, the mean squared deviation.
      name: scope; the variables are `<name>_scale` and `<name>_bias` below it. T2T numbers a second
        norm of one scope, the variables keep the plain prefix.
    """

    # The scope; also what the variables' names begin with.
    prefix = "layer_norm"

    def __init__(self, size: int, epsilon: float = 1e-6, name: str | None = None) -> None:
        super().__init__(name=name or self.prefix)
        self.size = size
        self.epsilon = epsilon

    def build(self, input_shape: Any = None) -> None:
        """Creates scale (ones) and bias (zeros)."""
        self.scale = self.add_weight(
            name=f"{self.prefix}_scale", shape=(self.size,), initializer="ones"
        )
        self.bias = self.add_weight(
            name=f"{self.prefix}_bias", shape=(self.size,), initializer="zeros"
        )

    def call(self, x: Any) -> Any:
        """`x` `[…, size]` -> the same shape."""
        exact = ops.cast(x, "float32")
        if type(self).spread is LayerNorm.spread:
            scale, bias = tf.convert_to_tensor(self.scale), tf.convert_to_tensor(self.bias)
            return ops.cast(layer_norm(exact, scale, bias, self.epsilon), x.dtype)
        centred = exact - ops.mean(exact, axis=-1, keepdims=True)
        spread = self.spread(ops.square(centred))
        output = centred * ops.rsqrt(spread + self.epsilon) * self.scale + self.bias
        return ops.cast(output, x.dtype)

    def spread(self, squared: Any) -> Any:
        """The squared deviations `[…, size]` combined into `[…, 1]`: their mean."""
        return ops.mean(squared, axis=-1, keepdims=True)


class L2Norm(LayerNorm):
    """Like the layer norm, but divides by the root of the **sum** of squared deviations."""

    prefix = "l2_norm"

    def spread(self, squared: Any) -> Any:
        """The squared deviations `[…, size]` combined into `[…, 1]`: their sum."""
        return ops.sum(squared, axis=-1, keepdims=True)


class NoamNorm(keras.layers.Layer):
    """x / |x| · sqrt(size), without variables; |x|² is at least epsilon."""

    prefix = "noam_norm"

    def __init__(self, size: int, epsilon: float = 1e-6, name: str | None = None) -> None:
        super().__init__(name=name or self.prefix)
        self.size = size
        self.epsilon = epsilon

    def build(self, input_shape: Any = None) -> None:
        """Creates nothing: there are no variables."""

    def call(self, x: Any) -> Any:
        """`x` `[…, size]` -> the same shape."""
        exact = ops.cast(x, "float32")
        squares = ops.sum(ops.square(exact), axis=-1, keepdims=True)
        output = exact * ops.rsqrt(ops.maximum(squares, self.epsilon)) * (self.size**0.5)
        return ops.cast(output, x.dtype)


def make_norm(
    norm_type: str, size: int, epsilon: float = 1e-6, number: int = 0
) -> keras.layers.Layer | None:
    """The norm layer of that name, None for "none".

    Args:
      norm_type: one of `NORM_TYPES`.
      size: length of the last axis.
      epsilon: see the layers.
      number: how many norms the scope already has; names after the first get `_1`, `_2`, …

    Raises:
      ValueError: T2T's `batch` and `group` norms, which need image-shaped data, or unknown names.
    """
    classes: dict[str, Any] = {"layer": LayerNorm, "l2": L2Norm, "noam": NoamNorm}
    if norm_type == "none":
        return None
    if norm_type not in classes:
        raise ValueError(f"norm_type must be one of {NORM_TYPES}. Received: {norm_type!r}")
    norm = classes[norm_type]
    return norm(size, epsilon, name=f"{norm.prefix}_{number}" if number else norm.prefix)
