import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training import losses
from tests.reference_data import golden_path, load_golden_json

WEIGHTS_FUNCTIONS = {
    "weights_nonzero": losses.loss_weights,
    "weights_all": lambda labels: tf.ones_like(labels, tf.float32),
}


def layer_cases(prefix):
    names = load_golden_json("layers.json.gz")["cases"]
    return {name: case for name, case in names.items() if name.startswith(prefix)}


def squeeze(array, rank):
    return array.reshape(array.shape[:2] + array.shape[-1:] if rank == 3 else array.shape[:2])


@pytest.fixture(scope="module")
def arrays():
    with np.load(golden_path("layers.npz")) as archive:
        return dict(archive)


@pytest.mark.reference
def test_smoothing_cross_entropy_is_tensor2tensors(arrays):
    cases = layer_cases("smoothing_cross_entropy/")
    assert cases
    for name, case in cases.items():
        value = losses.label_smoothed_cross_entropy(
            arrays[f"{name}|in|logits"],
            arrays[f"{name}|in|labels"],
            round(1.0 - case["meta"]["confidence"], 6),
        )
        np.testing.assert_allclose(value, arrays[f"{name}|out|out"], rtol=1e-4, atol=1e-6)


@pytest.mark.reference
def test_padded_cross_entropy_and_its_gradient_are_tensor2tensors(arrays):
    cases = layer_cases("padded_cross_entropy/")
    assert cases
    compared = 0
    for name, case in cases.items():
        if "cutoff" in case["meta"]:
            continue  # Compared with the layers; its gradient isn't recorded.
        logits = tf.constant(squeeze(arrays[f"{name}|in|logits"], 3))
        labels = tf.constant(squeeze(arrays[f"{name}|in|labels"], 2))
        with tf.GradientTape() as tape:
            tape.watch(logits)
            padded_logits, padded_labels = losses.pad_to_same_length(logits, labels)
            weights = WEIGHTS_FUNCTIONS[case["meta"]["weights_fn"]](padded_labels)
            numerator, denominator = losses.padded_loss_terms(
                logits, labels, case["meta"]["label_smoothing"], weights=weights
            )
            loss = numerator / denominator
        gradient = tape.gradient(loss, logits)
        np.testing.assert_allclose(numerator, arrays[f"{name}|out|num"], rtol=1e-4)
        np.testing.assert_allclose(denominator, arrays[f"{name}|out|den"], rtol=1e-6)
        expected = squeeze(arrays[f"{name}|out|grad_logits"], 3)
        np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-7)
        compared += 1
    assert compared


@pytest.mark.reference
def test_weights_are_tensor2tensors(arrays):
    labels = arrays["weights_fn/weights_nonzero|in|labels"]
    labels = squeeze(labels, 2)
    np.testing.assert_array_equal(
        losses.loss_weights(labels), squeeze(arrays["weights_fn/weights_nonzero|out|out"], 2)
    )
    prepended = squeeze(arrays["weights_fn/weights_prepend_inputs_to_targets|in|labels"], 2)
    np.testing.assert_array_equal(
        losses.loss_weights(prepended, "prepend_inputs_full_attention"),
        squeeze(arrays["weights_fn/weights_prepend_inputs_to_targets|out|out"], 2),
    )


@pytest.mark.reference
def test_smoothing_constants_are_tensor2tensors():
    constants = load_golden_json("layers.json.gz")["smoothing_constants"]
    assert constants
    for name, expected in constants.items():
        vocab_size, confidence = name.removeprefix("vocab").split("_conf")
        smoothing = round(1.0 - float(confidence), 6)
        _, low = losses.smoothed_confidences(int(vocab_size), smoothing)
        np.testing.assert_allclose(low, expected["low_confidence"], rtol=1e-6, atol=1e-12)
        value = losses.label_smoothed_cross_entropy(
            tf.zeros([1, 1, int(vocab_size)]), tf.zeros([1, 1], tf.int32), smoothing
        )
        np.testing.assert_allclose(
            value, [[expected["value_with_uniform_logits"]]], rtol=1e-4, atol=1e-5
        )


def test_two_tokens_worked_out_by_hand():
    logits = tf.constant([[[1.0, 2.0, 3.0, 0.0], [0.0, 0.0, 1.0, 0.0]]])
    numerator, denominator = losses.padded_loss_terms(logits, tf.constant([[2, 0]]), 0.1)
    np.testing.assert_allclose(numerator, 0.2052454, rtol=1e-5)
    assert float(denominator) == 1.0


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.4])
def test_value_and_gradient_equal_the_definition(smoothing):
    rng = np.random.default_rng(0)
    logits = tf.constant(rng.normal(size=(3, 4, 9)).astype(np.float32) * 3)
    labels = tf.constant(rng.integers(0, 9, size=(3, 4)), tf.int32)
    upstream = tf.constant(rng.normal(size=(3, 4)).astype(np.float32))
    confidence, low = losses.smoothed_confidences(9, smoothing)
    target = tf.one_hot(labels, 9, on_value=confidence, off_value=low)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(logits)
        value = losses.label_smoothed_cross_entropy(logits, labels, smoothing)
        defined = -tf.reduce_sum(target * tf.nn.log_softmax(logits), axis=-1)
        defined -= losses.normalizing_constant(9, smoothing)
    np.testing.assert_allclose(value, defined, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(
        tape.gradient(value, logits, upstream),
        tape.gradient(defined, logits, upstream),
        rtol=1e-4,
        atol=1e-6,
    )


def test_a_perfect_model_has_loss_zero():
    confidence, low = losses.smoothed_confidences(5, 0.1)
    logits = tf.math.log(tf.one_hot([[2]], 5, on_value=confidence, off_value=low))
    value = losses.label_smoothed_cross_entropy(logits, tf.constant([[2]]), 0.1)
    np.testing.assert_allclose(value, [[0.0]], atol=1e-6)


def test_masked_prepended_inputs_count_in_training_only():
    labels = tf.constant([[5, 0, 7, 1, 0]])
    mode = "prepend_inputs_masked_attention"
    np.testing.assert_array_equal(losses.loss_weights(labels, mode, True), [[1, 0, 1, 1, 0]])
    np.testing.assert_array_equal(losses.loss_weights(labels, mode, False), [[0, 0, 1, 1, 0]])


def test_loss_multiplier_scales_the_numerator_only():
    logits, labels = tf.random.stateless_normal([2, 3, 7], [1, 2]), tf.constant([[1, 2, 0]] * 2)
    plain = losses.padded_loss_terms(logits, labels, 0.1)
    doubled = losses.padded_loss_terms(logits, labels, 0.1, loss_multiplier=2.0)
    np.testing.assert_allclose(doubled[0], 2 * plain[0], rtol=1e-6)
    assert float(doubled[1]) == float(plain[1]) == 4.0


def test_squared_error_terms():
    total, count = losses.squared_error_terms(np.array([[1.0], [3.0]]), np.array([[0.0], [5.0]]))
    assert (float(total), float(count)) == (5.0, 2.0)
