"""Relative attention against its definition, pair of positions by pair."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.layers.relative_attention import (
    RelativeAttention,
    RelativeAttentionV2,
    UnmaskedRelativeAttentionV2,
)

HEADS, LENGTH, DEPTH = 2, 6, 3


def by_definition(query, key, value, key_vectors, value_vectors):
    """Output and weights; vectors `[heads, length, length, depth]` for each pair."""
    logits = np.einsum("bhid,bhjd->bhij", query, key)
    logits += np.einsum("bhid,hijd->bhij", query, key_vectors)
    weights = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    output = np.einsum("bhij,bhjd->bhid", weights, value)
    return output + np.einsum("bhij,hijd->bhid", weights, value_vectors), weights


def vectors(table, limit, earliest, latest):
    """Vectors of all pairs: zeros for distances outside [earliest, latest]."""
    table = np.broadcast_to(table, (HEADS, *table.shape[-2:]))
    found = np.zeros((HEADS, LENGTH, LENGTH, DEPTH), np.float32)
    for i in range(LENGTH):
        for j in range(LENGTH):
            if earliest <= j - i <= latest:
                found[:, i, j] = table[:, j - i + limit - 1]
    return found


@pytest.mark.parametrize("share", [False, True])
@pytest.mark.parametrize("limit", [1, 3, 6, 9])
@pytest.mark.parametrize("both_ways", [False, True])
def test_shifting_is_looking_up(both_ways, limit, share):
    kind = UnmaskedRelativeAttentionV2 if both_ways else RelativeAttentionV2
    layer = kind(HEADS, DEPTH, limit, heads_share_embeddings=share, add_to_values=True)
    layer.build()
    query, key, value = (keras.random.normal((2, HEADS, LENGTH, DEPTH), seed=n) for n in range(3))
    latest = limit - 1 if both_ways else 0
    tables = [
        vectors(np.array(table), limit, 1 - limit, latest) for table in (layer.keys, layer.values)
    ]
    # Without a bias: nothing is masked, so later keys count, too.
    output, weights = by_definition(np.array(query), np.array(key), np.array(value), *tables)
    result = layer(query, key, value)
    np.testing.assert_allclose(result.weights, weights, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(result.output, output, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_lengths_may_be_unknown_or_compiled(jit_compile):
    layer = RelativeAttentionV2(HEADS, DEPTH, 4)
    layer.build()
    size = LENGTH if jit_compile else None
    spec = tf.TensorSpec([None, HEADS, size, DEPTH])
    function = tf.function(
        lambda x: layer(x, x, x).output, input_signature=[spec], jit_compile=jit_compile
    )
    x = keras.random.normal((1, HEADS, LENGTH, DEPTH))
    np.testing.assert_allclose(function(x), layer(x, x, x).output, atol=1e-5)


def test_range_must_be_positive():
    with pytest.raises(ValueError, match="max_relative_position"):
        RelativeAttention(DEPTH, 0)
    with pytest.raises(ValueError, match="max_relative_position"):
        RelativeAttentionV2(HEADS, DEPTH, 0)
