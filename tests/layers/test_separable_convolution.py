"""The feed-forward sub-layer of separable convolutions, against their definition."""

import keras
import numpy as np

from t2t_keras.layers.separable_convolution import (
    FIRST_WIDTH,
    SECOND_WIDTH,
    SeparableReluSeparable,
)
from t2t_keras.layers.sublayer import Processing

SIZE, FILTER = 4, 6


def make():
    layer = SeparableReluSeparable(Processing(SIZE), FILTER)
    layer.build()
    for number, variable in enumerate(layer.weights):
        variable.assign(keras.random.normal(variable.shape, seed=number))
    return layer


def convolved(layer, x, width):
    depthwise, pointwise, bias = (np.asarray(variable) for variable in layer.weights)
    padded = np.pad(x, ((0, 0), (width - 1, 0), (0, 0)))
    mixed = sum(padded[:, i : i + x.shape[1]] * depthwise[i, 0, :, 0] for i in range(width))
    return mixed @ pointwise[0, 0] + bias


def test_is_two_separable_convolutions_to_the_left():
    layer, x = make(), keras.random.normal((2, 40, SIZE), seed=9).numpy()
    hidden = np.maximum(convolved(layer.conv1, x, FIRST_WIDTH), 0.0)
    expected = convolved(layer.conv2, hidden, SECOND_WIDTH)
    np.testing.assert_allclose(layer(x), expected, rtol=1e-4, atol=1e-4)


def test_names_of_variables():
    assert [variable.path for variable in make().weights] == [
        f"ffn/conv{n}_single/{name}"
        for n in (1, 2)
        for name in ("depthwise_kernel", "pointwise_kernel", "bias")
    ]
