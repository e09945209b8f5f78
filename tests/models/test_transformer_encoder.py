"""Models without a decoder, and the scorer."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.models.transformer import Transformer
from t2t_keras.models.transformer_encoder import TransformerEncoder, TransformerRegressor
from t2t_keras.models.transformer_scorer import TransformerScorer
from tests.models.tiny import FEATURES, VOCAB, fill_by_formula, tiny_hparams, tiny_model


def test_a_symbol_for_every_input() -> None:
    model = TransformerEncoder(tiny_hparams(), input_vocab_size=VOCAB, target_vocab_size=7)
    assert model({"inputs": FEATURES["inputs"]}).shape == (2, 5, 7)
    assert not [v.path for v in model.variables if "/decoder/" in v.path]
    assert all(v.path.startswith("transformer_encoder/") for v in model.variables)
    with pytest.raises(TypeError, match="has no decoder"):
        model.init_cache(1, 1, 4)
    with pytest.raises(ValueError, match="reads inputs"):
        TransformerEncoder(tiny_hparams(), input_vocab_size=None, target_vocab_size=7)


def test_one_number() -> None:
    model = TransformerRegressor(tiny_hparams(), input_vocab_size=VOCAB)
    fill_by_formula(model)
    numbers = model({"inputs": FEATURES["inputs"]})
    assert numbers.shape == (2, 1)
    # The mean of what the encoder gives, through one dense layer.
    encoded = model.encode(FEATURES["inputs"]).output
    kernel, bias = (v for v in model.variables if "/reg_top_ffn/model_top/" in v.path)
    expected = np.mean(encoded, axis=1) @ kernel.numpy() + bias.numpy()
    np.testing.assert_allclose(numbers, expected, rtol=1e-5)


def test_scores_are_log_probabilities_of_targets() -> None:
    model = TransformerScorer(tiny_hparams(), input_vocab_size=VOCAB, target_vocab_size=VOCAB)
    fill_by_formula(model)
    plain = tiny_model()
    assert {v.path for v in plain.variables} == {v.path for v in model.variables}
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(FEATURES["targets"], plain(FEATURES))
    real = FEATURES["targets"] != 0
    np.testing.assert_allclose(model.score(FEATURES), -(losses * real).numpy().sum(1), rtol=1e-5)
    whole = model.score(FEATURES, count_padding=True)
    np.testing.assert_allclose(whole, -losses.numpy().sum(1), rtol=1e-5)


def test_they_are_registered() -> None:
    for name in ("transformer_encoder", "transformer_regressor", "transformer_scorer"):
        assert registry.model(name).REGISTERED_NAME == name


@pytest.mark.parametrize("base", [Transformer, TransformerEncoder])
def test_losses_beside_the_output_are_refused(base) -> None:
    class WithLosses(base):
        def body(self, features):
            return super().body(features), {"more": 1.0}

    model = WithLosses(tiny_hparams(), input_vocab_size=VOCAB, target_vocab_size=VOCAB)
    with pytest.raises(TypeError, match="a tuple of 2"):
        model(FEATURES)
