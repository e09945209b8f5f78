"""Local attention against full attention with the neighbourhood written out as a mask."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.layers.dot_product import DotProductAttention
from t2t_keras.layers.local_attention import NEIGHBOURHOODS, LocalAttention

BLOCK = 4


def sees(name, query, key):
    before, after, causal = NEIGHBOURHOODS[name]
    distance = key // BLOCK - query // BLOCK
    return -before <= distance <= after and not (causal and key > query)


def full_mask(name, length):
    allowed = [[sees(name, i, j) for j in range(length)] for i in range(length)]
    return np.where(allowed, 0.0, -1e9).astype(np.float32)


@pytest.mark.parametrize("length", [2, 4, 7, 8, 21])
@pytest.mark.parametrize("name", NEIGHBOURHOODS)
def test_is_masked_attention(name, length):
    query, key, value = (keras.random.normal((2, 3, length, 5), seed=n) for n in range(3))
    layer = LocalAttention(NEIGHBOURHOODS[name], BLOCK)
    expected = DotProductAttention()(query, key, value, full_mask(name, length)).output
    np.testing.assert_allclose(layer(query, key, value).output, expected, atol=1e-5)


def test_hidden_keys_are_not_seen():
    query, key, value = (keras.random.normal((1, 2, 9, 5), seed=n) for n in range(3))
    hidden = np.zeros((1, 1, 1, 9), np.float32)
    hidden[..., 6:] = -1e9
    layer = LocalAttention(NEIGHBOURHOODS["local_unmasked"], BLOCK)
    padded = layer(query, key, value, hidden).output[:, :, :6]
    short = layer(query[:, :, :6], key[:, :, :6], value[:, :, :6]).output
    np.testing.assert_allclose(padded, short, atol=1e-5)
    with pytest.raises(ValueError, match="packed"):
        layer(query, key, value, np.zeros((1, 1, 9, 9), np.float32))


@pytest.mark.parametrize("jit_compile", [False, True])
def test_lengths_may_be_unknown_or_compiled(jit_compile):
    layer = LocalAttention(NEIGHBOURHOODS["local_unmasked"], BLOCK)
    spec = tf.TensorSpec([None, 2, 11 if jit_compile else None, 5])
    function = tf.function(
        lambda x: layer(x, x, x).output, input_signature=[spec], jit_compile=jit_compile
    )
    x = keras.random.normal((1, 2, 11, 5))
    np.testing.assert_allclose(function(x), layer(x, x, x).output, atol=1e-5)
    if not jit_compile:
        short = x[:, :, : BLOCK - 1]
        np.testing.assert_allclose(function(short), layer(short, short, short).output, atol=1e-5)


def test_block_length_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        LocalAttention(NEIGHBOURHOODS["local_unmasked"], 0)
