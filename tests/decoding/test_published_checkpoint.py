"""The checkpoint shipped in T2T's test data decodes to T2T's ids and scores."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import hparams_lib
from t2t_keras.decoding.search import infer, row_limits
from t2t_keras.models.transformer import Transformer
from t2t_keras.training import checkpoints
from t2t_keras.training.losses import padded_loss_terms
from tests.reference_data import golden_path, load_golden_json

# How the recorded decodes were made.
EXTRA_LENGTH = 10
ALPHA = 0.6

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def recorded():
    return dict(np.load(golden_path("published_ckpt", "logits.npz")))


@pytest.fixture(scope="module")
def model():
    facts = load_golden_json("published_ckpt", "logits.json")
    # Its hparams.json is older than some hyperparameters; those have the set's values.
    hparams = hparams_lib.create_hparams(
        facts["hparams_set"], hparams_path=str(golden_path("published_ckpt", "hparams.json"))
    )
    model = Transformer(
        hparams,
        input_vocab_size=facts["vocab_size"],
        target_vocab_size=facts["vocab_size"],
        target_space_id=facts["target_space_id"],
    )
    checkpoints.load_model_variables(model, str(golden_path("published_ckpt")))
    return model


def test_logits_and_loss_equal_recorded_ones(model, recorded):
    count = len(recorded["logits"])
    targets = tf.constant(recorded["targets"])
    logits = model({"inputs": recorded["inputs"], "targets": targets})
    np.testing.assert_allclose(logits[:count], recorded["logits"], rtol=1e-4, atol=1e-4)
    total, tokens = padded_loss_terms(logits, targets, label_smoothing=0.0)
    loss = load_golden_json("published_ckpt", "logits.json")["loss"]["training"]
    assert float(total / tokens) == pytest.approx(loss, rel=1e-4)


def test_decodes_equal_recorded_ones(model, recorded):
    inputs = tf.constant(recorded["inputs"])
    limits = row_limits(inputs, EXTRA_LENGTH, limit_by_longest_input=True)
    for name, beam_size in (("greedy", 1), ("beam4", 4)):
        result = tf.function(infer)(
            model,
            inputs,
            beam_size=beam_size,
            alpha=ALPHA,
            decode_length=limits,
            zero_after_eos=False,
        )
        np.testing.assert_array_equal(result["outputs"], recorded[f"{name}|outputs"], err_msg=name)
        np.testing.assert_allclose(
            result["scores"], recorded[f"{name}|scores"], rtol=1e-4, err_msg=name
        )
