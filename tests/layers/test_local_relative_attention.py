"""Local relative attention against full attention with mask and distances written out."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.layers.local_relative_attention import LocalRelativeAttention

BLOCK, HEADS, DEPTH = 4, 3, 5


def make(**options):
    layer = LocalRelativeAttention(HEADS, DEPTH, BLOCK, **options)
    layer.build()
    for number, variable in enumerate(layer.weights):
        variable.assign(keras.random.normal(variable.shape, seed=7 + number))
    return layer


def of_heads(table):
    return np.broadcast_to(np.asarray(table), (HEADS, *table.shape[-2:]))


def expected_output(layer, query, key, value):
    length = query.shape[2]
    output = np.zeros(value.shape)
    for i in range(length):
        keys = range(max(0, i // BLOCK - 1) * BLOCK, i + 1)
        rows = [j - i - 1 for j in keys]  # The last row is distance 0.
        vectors = of_heads(layer.keys)[:, rows]
        logits = np.einsum("bhd,bhkd->bhk", query[:, :, i], key[:, :, keys] + vectors)
        weights = tf.nn.softmax(logits).numpy()
        if layer.values is not None:
            values = value[:, :, keys] + of_heads(layer.values)[:, rows]
        else:
            values = value[:, :, keys]
        output[:, :, i] = np.einsum("bhk,bhkd->bhd", weights, values)
    return output


@pytest.mark.parametrize("length", [1, 4, 7, 21])
@pytest.mark.parametrize(
    "options", [{}, {"heads_share_embeddings": True}, {"add_to_values": True}], ids=str
)
def test_is_relative_attention_with_a_mask(length, options):
    layer = make(**options)
    inputs = [keras.random.normal((2, HEADS, length, DEPTH), seed=n).numpy() for n in range(3)]
    np.testing.assert_allclose(layer(*inputs).output, expected_output(layer, *inputs), atol=1e-5)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_lengths_may_be_unknown_or_compiled(jit_compile):
    layer = make(add_to_values=True)
    spec = tf.TensorSpec([None, HEADS, 11 if jit_compile else None, DEPTH])
    function = tf.function(
        lambda x: layer(x, x, x).output, input_signature=[spec], jit_compile=jit_compile
    )
    x = keras.random.normal((1, HEADS, 11, DEPTH))
    np.testing.assert_allclose(function(x), layer(x, x, x).output, atol=1e-5)
    if not jit_compile:
        short = x[:, :, : BLOCK - 1]
        np.testing.assert_allclose(function(short), layer(short, short, short).output, atol=1e-5)


def test_weights_are_dropped():
    layer = make(dropout=0.5)
    x = keras.random.normal((1, HEADS, 9, DEPTH))
    dropped = layer(x, x, x, dropout_seed=tf.constant([1, 2])).output
    assert np.abs(dropped - layer(x, x, x).output).max() > 1e-3
