"""Forward pass, loss and gradients against recorded tensor2tensor models."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.models.t2t_names import join_shards
from t2t_keras.training.losses import loss_weights, padded_loss_terms
from tests.models.golden_cases import case_names, golden_case, names_with

pytestmark = pytest.mark.reference


def loss_parts(case, logits, label_smoothing, training=False):
    """Sum over tokens, number of tokens, and the loss, which alone has the problem's multiplier."""
    targets = case.features["targets"]
    weights = loss_weights(targets, case.hparams.prepend_mode, training)
    total, count = padded_loss_terms(logits, targets, label_smoothing, 1.0, weights)
    return total, count, case.problem.get("loss_multiplier", 1.0) * total / count


@pytest.mark.parametrize("name", case_names())
def test_evaluation(name: str) -> None:
    case = golden_case(name)
    logits = case.model(case.features)
    np.testing.assert_allclose(logits, case.logits("eval"), rtol=1e-4, atol=1e-5)
    total, count, loss = loss_parts(case, logits, 0.0)
    np.testing.assert_allclose(total, case.arrays["eval|loss_num"], rtol=1e-4)
    np.testing.assert_allclose(count, case.arrays["eval|loss_den"])
    np.testing.assert_allclose(loss, case.arrays["eval|loss"], rtol=1e-4)


@pytest.mark.parametrize("name", case_names())
def test_training(name: str) -> None:
    case = golden_case(name)
    with tf.GradientTape() as tape:
        logits = case.model(case.features, training=True)
        _, _, loss = loss_parts(case, logits, case.hparams.label_smoothing, True)
    np.testing.assert_allclose(logits, case.logits("train"), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(loss, case.arrays["train|loss"], rtol=1e-4)

    variables = case.model.trainable_variables
    gradients = tape.gradient(loss, [variable.value for variable in variables])
    gradients = [tf.convert_to_tensor(gradient) for gradient in gradients]
    expected = join_shards(case.part("grad"))
    assert {variable.path for variable in variables} == set(expected)
    for variable, gradient in zip(variables, gradients, strict=True):
        # Rounding is relative to the largest entries: sums of many terms may nearly cancel.
        tolerance = 1e-5 * max(np.abs(expected[variable.path]).max(), 1e-2)
        np.testing.assert_allclose(
            gradient, expected[variable.path], rtol=1e-4, atol=tolerance, err_msg=variable.path
        )
    norm = tf.linalg.global_norm(gradients)
    np.testing.assert_allclose(norm, case.arrays["train|grad_global_norm"], rtol=1e-4)


@pytest.mark.parametrize("name", names_with("eval|attention"))
def test_attention_weights(name: str) -> None:
    case = golden_case(name)
    expected = case.part("eval|attention")
    found = case.model.attention_weights(case.features)
    assert set(found) == set(expected)
    for scope, values in expected.items():
        # What the encoder computes at padding, T2T's pad remover throws away; nothing here does.
        feature = "inputs" if "/encoder/" in scope else "targets"
        real = np.not_equal(case.features[feature], 0)
        ours, theirs = (np.moveaxis(x, 1, 2)[real] for x in (found[scope], values))
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=scope)
