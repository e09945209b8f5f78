"""Greedy, sampled and beam decoding of a predictable model."""

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.decoding.sampling import Sampling, choose, sampling_from_hparams
from t2t_keras.decoding.search import infer, row_lengths, row_limits
from t2t_keras.hparam import HParams
from tests.decoding.fake_model import FakeModel

INPUTS = tf.constant([[3, 5, 2, 1], [4, 1, 0, 0], [6, 6, 1, 0]])


def padded(ids, length):
    return ids + [0] * (length - len(ids))


@pytest.mark.parametrize("seed", range(5))
def test_greedy_follows_the_most_likely_symbol(seed):
    model = FakeModel(seed=seed)
    limits = [40, 5, 20]
    result = infer(model, INPUTS, beam_size=1, alpha=0.6, decode_length=tf.constant(limits))
    for row, limit in enumerate(limits):
        ids, log_prob = model.greedy(INPUTS[row].numpy().tolist(), limit)
        outputs = result["outputs"][row].numpy().tolist()
        assert outputs == padded(ids, len(outputs))
        assert float(result["scores"][row]) == pytest.approx(log_prob, rel=1e-5)


def test_growing_and_fixed_caches_agree():
    model = FakeModel(seed=3)
    arguments = {"beam_size": 3, "alpha": 0.6, "top_beams": 3}
    limits = tf.constant([50, 30, 45])
    growing = infer(model, INPUTS, decode_length=limits, **arguments)

    @tf.function(jit_compile=True)
    def compiled(inputs, limits):
        return infer(
            model, inputs, decode_length=limits, max_decode_length=50, trim=False, **arguments
        )

    fixed = compiled(INPUTS, limits)
    produced = growing["outputs"].shape[2]
    assert produced > 32  # More than two blocks of the growing cache.
    np.testing.assert_array_equal(growing["outputs"], fixed["outputs"][:, :, :produced])
    np.testing.assert_array_equal(fixed["outputs"][:, :, produced:], 0)
    np.testing.assert_allclose(growing["scores"], fixed["scores"], rtol=1e-5)


@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_a_result_does_not_depend_on_its_neighbours(beam_size):
    model = FakeModel(seed=1)
    limits = row_limits(INPUTS, 10)
    together = infer(model, INPUTS, beam_size=beam_size, alpha=0.6, decode_length=limits)
    for row in range(INPUTS.shape[0]):
        length = int(row_lengths(INPUTS)[row])
        alone = infer(
            model,
            INPUTS[row : row + 1, :length],
            beam_size=beam_size,
            alpha=0.6,
            decode_length=limits[row : row + 1],
        )
        produced = alone["outputs"].shape[1]
        np.testing.assert_array_equal(together["outputs"][row, :produced], alone["outputs"][0])
        np.testing.assert_array_equal(together["outputs"][row, produced:], 0)
        np.testing.assert_allclose(together["scores"][row], alone["scores"][0], rtol=1e-6)


def test_limits_are_each_rows_own_unless_t2ts_rule_is_asked_for():
    np.testing.assert_array_equal(row_limits(INPUTS, 10), [14, 12, 13])
    np.testing.assert_array_equal(row_limits(INPUTS, 10, limit_by_longest_input=True), [14] * 3)
    np.testing.assert_array_equal(row_limits(INPUTS, tf.constant([1, 2, 3])), [5, 4, 6])


@pytest.mark.parametrize("beam_size", [1, 3])
def test_partial_targets_are_continued_and_cut_off(beam_size):
    model = FakeModel(seed=2)
    prefixes = [[2, 3, 4], [5], []]
    result = infer(
        model,
        None,
        beam_size=beam_size,
        alpha=0.0,
        decode_length=tf.constant([20, 20, 20]),
        partial_targets=tf.constant([padded(prefix, 3) for prefix in prefixes]),
    )
    for row, prefix in enumerate(prefixes):
        outputs = result["outputs"][row].numpy().tolist()
        if beam_size == 1:
            ids, log_prob = model.greedy([], 20, prefix)
        else:
            # Inputs that sum to the same number put the model into the same condition.
            alone = infer(
                model,
                tf.constant([prefix or [0]]),
                beam_size=beam_size,
                alpha=0.0,
                decode_length=tf.constant([20 - len(prefix)]),
            )
            ids = np.trim_zeros(alone["outputs"][0].numpy(), "b").tolist()
            log_prob = float(alone["scores"][0])
        assert outputs == padded(ids, len(outputs))
        assert float(result["scores"][row]) == pytest.approx(log_prob, rel=1e-4)


def test_forced_length_goes_on_after_the_end_symbol():
    result = infer(
        FakeModel(),
        INPUTS,
        beam_size=1,
        alpha=0.0,
        decode_length=tf.constant([30] * 3),
        force_decode_length=True,
    )
    assert result["outputs"].shape == (3, 30)


def test_more_beams_than_searched_are_refused():
    with pytest.raises(ValueError, match="Received: 3 and 2"):
        infer(
            FakeModel(), INPUTS, beam_size=2, alpha=0.0, decode_length=tf.constant(3), top_beams=3
        )


def test_random_choice_keeps_to_the_top_k_and_repeats_with_its_seed():
    logits = tf.tile(tf.constant([[0.0, 3.0, 2.0, 1.0, 2.5]]), [500, 1])
    sampling = Sampling("random", temperature=2.0, keep_top_k=2)
    drawn = choose(logits, sampling, tf.constant([1, 2])).numpy()
    assert set(drawn) == {1, 4}
    np.testing.assert_array_equal(drawn, choose(logits, sampling, tf.constant([1, 2])))
    assert (drawn != choose(logits, sampling, tf.constant([1, 3])).numpy()).any()


def test_temperature_sharpens_and_flattens():
    logits = tf.tile(tf.constant([[0.0, 1.0]]), [2000, 1])

    def share_of_best(temperature):
        drawn = choose(logits, Sampling("random", temperature), tf.constant([5, 6])).numpy()
        return drawn.mean()

    for temperature in (0.25, 1.0, 4.0):
        expected = 1 / (1 + np.exp(-1 / temperature))
        assert share_of_best(temperature) == pytest.approx(expected, abs=0.04)


def test_sampling_searches_differ_by_seed():
    model = FakeModel()

    def drawn(seed):
        result = infer(
            model,
            INPUTS,
            beam_size=1,
            alpha=0.0,
            decode_length=tf.constant([30] * 3),
            sampling=Sampling("random"),
            seed=tf.constant(seed),
        )
        return result["outputs"].numpy().tolist()

    assert drawn([1, 1]) == drawn([1, 1])
    assert drawn([1, 1]) != drawn([2, 1])


@pytest.mark.parametrize(
    "hparams",
    [
        {"sampling_keep_top_k": 0},
        {"sampling_keep_top_k": -2},
        {"sampling_method": "best"},
        {"sampling_method": "random", "sampling_temp": 0.0},
    ],
)
def test_senseless_sampling_is_refused(hparams):
    with pytest.raises(ValueError, match="Received"):
        sampling_from_hparams(HParams(**hparams))
