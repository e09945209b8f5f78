"""Hand-written gradients against automatic differentiation, with XLA and without."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.layers import manual_gradients
from t2t_keras.layers.compilation import for_xla, traced_for_xla

ROWS, WIDTH, SIZE = 6, 5, 7
EPSILON = 1e-3


def _plain_layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    mean, variance = tf.nn.moments(x, axes=[-1], keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + EPSILON) * scale + bias


CASES = {
    "linear": (
        manual_gradients.linear,
        lambda x, kernel: x @ kernel,
        [(ROWS, WIDTH), (WIDTH, SIZE)],
    ),
    "linear_transposed": (
        manual_gradients.linear_transposed,
        lambda x, table: x @ tf.transpose(table),
        [(ROWS, WIDTH), (SIZE, WIDTH)],
    ),
    "affine": (
        manual_gradients.affine,
        lambda x, kernel, bias: x @ kernel + bias,
        [(ROWS, WIDTH), (WIDTH, SIZE), (SIZE,)],
    ),
    "add_vector": (
        manual_gradients.add_vector,
        lambda x, vector: x + vector,
        [(2, 3, WIDTH), (WIDTH,)],
    ),
    "layer_norm": (
        lambda x, scale, bias: manual_gradients.layer_norm(x, scale, bias, EPSILON),
        _plain_layer_norm,
        [(2, 3, WIDTH), (WIDTH,), (WIDTH,)],
    ),
}


def _result_and_gradients(function: Any, arguments: list[tf.Tensor]) -> list[tf.Tensor]:
    with tf.GradientTape() as tape:
        tape.watch(arguments)
        result = function(*arguments)
        # Unequal weights, so that no part of the gradient cancels.
        weights = tf.reshape(tf.range(tf.size(result), dtype=tf.float32), tf.shape(result))
        loss = tf.reduce_sum(tf.sin(weights) * result)
    return [result, *tape.gradient(loss, arguments)]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_equal_to_automatic_differentiation(name: str, compiled: bool) -> None:
    function, formula, shapes = CASES[name]
    random = np.random.default_rng(1)
    arguments = [tf.constant(random.normal(size=shape), tf.float32) for shape in shapes]
    expected = _result_and_gradients(formula, arguments)

    def run(*tensors: tf.Tensor) -> list[tf.Tensor]:
        assert for_xla() == compiled
        return _result_and_gradients(function, list(tensors))

    traced = tf.function(traced_for_xla(run), jit_compile=True) if compiled else tf.function(run)
    for ours, theirs in zip(traced(*arguments), expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)
    assert not for_xla()
