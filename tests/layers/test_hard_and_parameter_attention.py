"""Hard attention and attention to learned vectors, against their definitions."""

import keras
import numpy as np
import tensorflow as tf

from t2t_keras.layers.dot_product import DotProductAttention, harden
from t2t_keras.layers.parameter_attention import ParameterAttention
from t2t_keras.layers.sublayer import Processing


def test_the_k_th_largest_weight_is_subtracted() -> None:
    weights = tf.constant([[0.1, 0.4, 0.2, 0.3]])
    expected = np.array([[0.0, 0.2, 0.0, 0.1]]) / 0.3
    np.testing.assert_allclose(harden(weights, 3), expected, atol=1e-6)
    np.testing.assert_array_equal(harden(weights, 1), np.zeros((1, 4)))
    np.testing.assert_allclose(harden(weights, 9), harden(weights, 4))


def test_noise_is_for_training() -> None:
    layer = DotProductAttention(hard_k=3, gumbel_noise_weight=1.0)
    x = keras.random.normal((1, 2, 6, 4), seed=1)
    calm = layer(x, x, x)
    np.testing.assert_allclose(calm.weights, layer(x, x, x).weights)
    assert np.count_nonzero(calm.weights) == 2 * 2 * 6
    noisy = layer(x, x, x, dropout_seed=tf.constant([3, 4])).weights
    assert np.abs(noisy - calm.weights).max() > 1e-3


def test_keys_and_values_are_variables() -> None:
    size, slots, heads = 6, 5, 2
    layer = ParameterAttention(Processing(size), slots, heads, key_depth=4, value_depth=8)
    layer.build()
    x = keras.random.normal((2, 3, size), seed=1).numpy()
    inner = layer.attention
    assert inner.k.shape == (heads, slots, 2) and inner.v.shape == (heads, slots, 4)
    query = (x @ inner.q_transform.kernel.numpy()).reshape(2, 3, heads, 2)
    logits = np.einsum("bqhd,hkd->bhqk", query, inner.k.numpy())
    weights = tf.nn.softmax(logits).numpy()
    joined = np.einsum("bhqk,hkd->bqhd", weights, inner.v.numpy()).reshape(2, 3, 8)
    expected = joined @ inner.output_transform.kernel.numpy()
    np.testing.assert_allclose(layer(x), expected, atol=1e-5)
