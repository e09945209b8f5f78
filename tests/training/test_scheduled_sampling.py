"""What the model reads in training with scheduled sampling."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.training.scheduled_sampling import ScheduledSampling

GOLD = np.array([[3, 4, 5, 6, 0, 0]] * 200, np.int32)


def sampling(overrides=""):
    hparams = registry.hparams("transformer_base")
    hparams.parse("scheduled_sampling_prob=1.0,scheduled_sampling_warmup_steps=100")
    hparams.parse(overrides)
    return ScheduledSampling(hparams)


def sure_of(symbol, vocab=8):
    def logits_of(features):
        return tf.one_hot(tf.fill(tf.shape(features["targets"]), symbol), vocab) * 100.0

    return logits_of


def test_probability_grows_to_the_mixin():
    probabilities = [float(sampling().replacement_probability(step)) for step in (0, 50, 100, 500)]
    np.testing.assert_allclose(probabilities, [0.5 * 0.001, 0.5 * 0.001**0.5, 0.5, 0.5], rtol=1e-5)


@pytest.mark.parametrize("passes", [1, 3])
def test_so_many_gold_symbols_are_replaced(passes):
    overrides = f"scheduled_sampling_num_passes={passes}"
    features = sampling(overrides).mixed_features(
        sure_of(7), {"targets": tf.constant(GOLD)}, tf.constant(500), tf.constant([500, 3])
    )
    mixed = features["targets"].numpy()
    assert set(np.unique(mixed[:, :4])) == {3, 4, 5, 6, 7}
    assert 0.4 < np.mean(mixed[:, :4] == 7) < 0.6
    np.testing.assert_array_equal(mixed[:, 4:], 0)


def test_early_symbols_keep_their_mix():
    seen = []

    def logits_of(features):
        seen.append(features["targets"].numpy())
        return sure_of(7)(features)

    features = {"targets": tf.constant(GOLD)}
    last = sampling("scheduled_sampling_num_passes=2").mixed_features(
        logits_of, features, tf.constant(500), tf.constant([500, 3])
    )
    np.testing.assert_array_equal(seen[0], GOLD)
    np.testing.assert_array_equal(last["targets"][:, 0], seen[1][:, 0])
    assert (last["targets"][:, 1:].numpy() != seen[1][:, 1:]).any()


def test_what_it_refuses():
    assert not sampling("scheduled_sampling_prob=0.0").is_on
    with pytest.raises(ValueError, match="0 or 1"):
        sampling("scheduled_sampling_prob=0.5")
    with pytest.raises(ValueError, match="parallel"):
        sampling("scheduled_sampling_method=sequential")
