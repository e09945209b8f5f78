"""Affine maps and layer norm with gradients written out.

Automatic differentiation sums over rows by reductions, once for each factor that was broadcast. On
the CPU those are slow, and XLA computes what they sum (the gradient of all residual connections
above) anew for each. Here the sums over rows are products with a vector of ones: one pass over
memory, whose operand is computed once.
"""

from typing import Any

import tensorflow as tf

from t2t_keras.layers.compilation import for_xla, materialized

__all__ = ["add_vector", "affine", "layer_norm", "linear", "linear_transposed"]


def _column_sums(x: tf.Tensor) -> tf.Tensor:
    """`[rows, size]` -> `[size]`, the sums over rows."""
    # Two rows, the second for nothing: XLA takes a product with one row for a loop, into which it
    # draws the computation of `x`.
    ones = tf.ones([2, tf.shape(x)[0]], x.dtype)
    return tf.matmul(ones, x)[0]


def _kernel_gradient(x: tf.Tensor, upstream: tf.Tensor) -> tf.Tensor:
    """xᵀ·upstream: `[rows, in]`, `[rows, out]` -> `[in, out]`."""
    if not for_xla():
        return tf.matmul(x, upstream, transpose_a=True)
    # XLA's product with a transposed first operand is up to a third slower on the CPU than one
    # without. So an operand is transposed beforehand: the narrower one, as that is slow, too.
    if x.shape[-1] <= upstream.shape[-1]:
        return tf.matmul(materialized(tf.transpose(x)), upstream)
    return tf.transpose(materialized(tf.matmul(materialized(tf.transpose(upstream)), x)))


@tf.custom_gradient
def linear(x: tf.Tensor, kernel: tf.Tensor) -> Any:
    """x·kernel: `[rows, in]`, `[in, out]` -> `[rows, out]`."""

    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.matmul(upstream, kernel, transpose_b=True), _kernel_gradient(x, upstream)

    return tf.matmul(x, kernel), gradient


@tf.custom_gradient
def linear_transposed(x: tf.Tensor, table: tf.Tensor) -> Any:
    """x·tableᵀ: `[rows, depth]`, `[size, depth]` -> `[rows, size]`."""

    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.matmul(upstream, table), _kernel_gradient(upstream, x)

    return tf.matmul(x, table, transpose_b=True), gradient


@tf.custom_gradient
def affine(x: tf.Tensor, kernel: tf.Tensor, bias: tf.Tensor) -> Any:
    """x·kernel + bias: `[rows, in]`, `[in, out]`, `[out]` -> `[rows, out]`."""

    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        return (
            tf.matmul(upstream, kernel, transpose_b=True),
            _kernel_gradient(x, upstream),
            _column_sums(upstream),
        )

    return tf.nn.bias_add(tf.matmul(x, kernel), bias), gradient


@tf.custom_gradient
def add_vector(x: tf.Tensor, vector: tf.Tensor) -> Any:
    """The sum x + vector: `[…, size]`, `[size]` -> `[…, size]`."""

    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return upstream, _column_sums(tf.reshape(upstream, [-1, upstream.shape[-1]]))

    return x + vector, gradient


def layer_norm(x: tf.Tensor, scale: tf.Tensor, bias: tf.Tensor, epsilon: float) -> tf.Tensor:
    """(x − mean)·rsqrt(variance + epsilon)·scale + bias over the last axis.

    "Layer Normalization" (Ba et al., 2016); the variance is the mean squared deviation.

    Args:
        x: `[…, size]`.
        scale: `[size]`.
        bias: `[size]`.
        epsilon: added to the variance.

    Returns:
        the shape of `x`.
    """
    size = x.shape[-1]
    flat = tf.reshape(x, [-1, size])  # [rows, size]
    result = _layer_norm_of_rows(flat, scale, bias, tf.constant(epsilon, x.dtype))
    return tf.reshape(result, tf.shape(x))


@tf.custom_gradient
def _layer_norm_of_rows(x: tf.Tensor, scale: tf.Tensor, bias: tf.Tensor, epsilon: tf.Tensor) -> Any:
    """`layer_norm` of `[rows, size]`."""
    centred = x - tf.reduce_mean(x, axis=-1, keepdims=True)
    variance = tf.reduce_mean(tf.square(centred), axis=-1, keepdims=True)
    inverse_deviation = tf.math.rsqrt(variance + epsilon)  # [rows, 1]
    normalized = centred * inverse_deviation

    def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor, None]:
        # With n = normalized and g = scale * upstream, the gradient of x is
        # (g - mean(g) - n * mean(g * n)) * inverse_deviation. As mean(n) = 0, the mean may be taken
        # last: so the gradients of a row add up to 0 but for one rounding.
        product = upstream * normalized
        mean_product = tf.reduce_mean(product * scale, axis=-1, keepdims=True)  # [rows, 1]
        of_centred = upstream * scale - normalized * mean_product
        mean = tf.reduce_mean(of_centred, axis=-1, keepdims=True)  # [rows, 1]
        of_x = (of_centred - mean) * inverse_deviation
        return of_x, _column_sums(product), _column_sums(upstream), None

    return normalized * scale + bias, gradient
