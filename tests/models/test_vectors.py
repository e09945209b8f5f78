"""Losses and logits of tiny models, computed once with tensor2tensor itself."""

import numpy as np
import pytest

from t2t_keras.training.losses import padded_loss_terms
from tests.models.tiny import FEATURES, PACKED_FEATURES, VOCAB, tiny_model

NO_DROPOUT = "layer_prepostprocess_dropout=0.0,attention_dropout=0.0,relu_dropout=0.0"

# set, overrides, target vocabulary, variables, loss, first 4 logits of [0,0], [0,3], [1,1].
UNSHARED = [
    [0.864086, -0.745921, 0.603225, -0.440693],
    [0.126383, -0.275440, 0.415440, -0.541777],
    [0.841156, -0.814723, 0.761497, -0.683228],
]
CASES = [
    (
        "transformer_base",
        "",
        VOCAB,
        66,
        3.0696886,
        [
            [-0.323515, 0.496368, -0.652898, 0.787957],
            [-0.303457, 0.490366, -0.661150, 0.810191],
            [0.635080, -0.633940, 0.611953, -0.569842],
        ],
    ),
    (
        "transformer_base_v1",
        "",
        VOCAB,
        62,
        3.4191270,
        [
            [0.727282, -0.394224, 0.048202, 0.299406],
            [0.677816, -0.444963, 0.197478, 0.056501],
            [0.295788, -0.428225, 0.546580, -0.646961],
        ],
    ),
    (
        "transformer_base",
        "self_attention_type=dot_product_relative,max_relative_position=2,pos=none",
        VOCAB,
        74,
        2.1342585,
        [
            [-0.365478, 0.175949, 0.019367, -0.214046],
            [-0.530034, 0.429512, -0.314866, 0.189866],
            [-0.432722, 0.245027, -0.049274, -0.148099],
        ],
    ),
    (
        "transformer_base",
        "shared_embedding_and_softmax_weights=False",
        VOCAB,
        68,
        3.0386596,
        UNSHARED,
    ),
    # Vocabularies of different size cannot share; the table of the softmax has other values.
    ("transformer_base", "", 13, 68, 3.2141471, None),
    (
        "transformer_base",
        "attention_key_channels=4,attention_value_channels=6",
        VOCAB,
        66,
        3.0595851,
        [
            [-0.286418, 0.449453, -0.597708, 0.726308],
            [-0.348777, 0.535628, -0.704863, 0.850920],
            [0.632283, -0.657937, 0.661954, -0.644203],
        ],
    ),
    (
        "transformer_base",
        "pos=none",
        VOCAB,
        66,
        3.3052588,
        [
            [-0.207780, 0.411732, -0.602145, 0.772755],
            [-0.595936, 0.788390, -0.954917, 1.090041],
            [0.969397, -1.155396, 1.303399, -1.408539],
        ],
    ),
]


def loss_of(logits, targets, label_smoothing=0.0):
    total, count = padded_loss_terms(logits, targets, label_smoothing, 1.0)
    return float(total) / float(count)


@pytest.mark.parametrize(
    ("hparams_set", "overrides", "target_vocab_size", "num_variables", "loss", "rows"), CASES
)
def test_logits_and_loss(
    hparams_set, overrides, target_vocab_size, num_variables, loss, rows
) -> None:
    model = tiny_model(hparams_set, overrides, target_vocab_size=target_vocab_size)
    logits = model(FEATURES)
    assert len(model.trainable_variables) == num_variables
    np.testing.assert_allclose(loss_of(logits, FEATURES["targets"]), loss, rtol=1e-5)
    if rows is not None:
        found = np.stack([logits[0, 0, :4], logits[0, 3, :4], logits[1, 1, :4]])
        np.testing.assert_allclose(found, rows, atol=1e-5)


def test_train_mode_without_dropout_has_the_same_logits_and_a_smoothed_loss() -> None:
    model = tiny_model(overrides=NO_DROPOUT)
    logits = model(FEATURES, training=True)
    np.testing.assert_allclose(logits, model(FEATURES), atol=1e-6)
    np.testing.assert_allclose(loss_of(logits, FEATURES["targets"], 0.1), 2.4703240, rtol=1e-5)


def test_packed_batch() -> None:
    logits = tiny_model()(PACKED_FEATURES)
    np.testing.assert_allclose(loss_of(logits, PACKED_FEATURES["targets"]), 3.3274872, rtol=1e-5)
    expected = {
        1: [0.913630, -0.919293, 0.894724, -0.840732],
        2: [-0.574723, 0.753582, -0.907660, 1.031888],
        4: [0.823264, -0.821149, 0.792030, -0.736865],
    }
    for position, row in expected.items():
        np.testing.assert_allclose(logits[0, position, :4], row, atol=1e-5)
