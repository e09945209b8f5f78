"""The loss taken part by part is the loss of all logits, with the same gradients."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training.factored_loss import factored_loss_sum
from t2t_keras.training.losses import padded_loss_terms


@pytest.mark.parametrize("tokens_at_once", [4, 7, 100])
@pytest.mark.parametrize("jit_compile", [False, True])
def test_same_loss_and_gradients(tokens_at_once, jit_compile):
    rng = np.random.default_rng(0)
    hidden = tf.constant(rng.normal(size=(3, 7, 5)), tf.float32)
    table = tf.Variable(rng.normal(size=(11, 5)), dtype=tf.float32)
    labels = tf.constant(rng.integers(0, 11, size=(3, 7)), tf.int32)
    weights = tf.cast(labels != 0, tf.float32)

    def whole(hidden, table):
        logits = tf.einsum("btd,vd->btv", hidden, table)
        return padded_loss_terms(logits, labels, 0.1)[0]

    def factored(hidden, table):
        return factored_loss_sum(hidden, table, labels, weights, 0.1, tokens_at_once)

    results = []
    for loss_of in (whole, factored):

        @tf.function(jit_compile=jit_compile)
        def loss_and_gradients(loss_of=loss_of):
            with tf.GradientTape() as tape:
                tape.watch(hidden)
                loss = 3.0 * loss_of(hidden, tf.convert_to_tensor(table))
            return loss, *tape.gradient(loss, [hidden, table])

        results.append(loss_and_gradients())
    for expected, found in zip(*results, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
