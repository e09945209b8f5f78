import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training import metrics
from tests.reference_data import golden_path, load_golden_json

# Metrics of other kinds of problems, recorded beside those of text problems.
NOT_IN_THIS_PACKAGE = {"prefix_accuracy"}


@pytest.mark.reference
def test_scores_and_weights_are_tensor2tensors():
    records = load_golden_json("metrics.json")["metrics"]
    with np.load(golden_path("metrics.npz")) as archive:
        arrays = dict(archive)
    compared = set()
    for record in records:
        name, case = record["metric"], f"case{record['case']}"
        if name in NOT_IN_THIS_PACKAGE:
            continue
        logits = tf.constant(arrays[f"{case}|logits"][:, :, 0, 0, :])
        labels = tf.constant(arrays[f"{case}|labels"][:, :, 0, 0])
        scores, weights = metrics.METRICS_FNS[name](logits, labels)
        for value, kind in ((scores, "score"), (weights, "weight")):
            expected = arrays[f"{case}|{name}|{kind}"]
            expected = expected[:, :, 0, 0] if expected.ndim == 4 else expected
            np.testing.assert_allclose(
                value, expected, rtol=1e-5, atol=1e-6, err_msg=f"{case} {name} {kind}"
            )
        weights = np.broadcast_to(weights, np.shape(scores))
        mean = np.sum(scores * weights) / max(np.sum(weights), 1e-12)
        np.testing.assert_allclose(mean, record["mean"], rtol=1e-5, atol=1e-6)
        compared.add(name)
    assert compared


def test_accuracy_ignores_padding():
    labels = tf.constant([[1, 2, 0, 0]])
    logits = tf.one_hot([[1, 3, 0, 2]], 4)
    scores, weights = metrics.METRICS_FNS["accuracy"](logits, labels)
    assert float(tf.reduce_sum(scores * weights) / tf.reduce_sum(weights)) == 0.5
    scores, _ = metrics.METRICS_FNS["accuracy_per_sequence"](logits, labels)
    assert scores.numpy().tolist() == [0.0]


def test_edit_distance_of_one_replacement():
    outputs, labels = np.array([[4, 9, 6, 0]]), np.array([[4, 5, 6, 0]])
    assert metrics.sequence_edit_distance(outputs, labels) == (1 / 3, 3.0)


def test_unknown_metric_offers_near_matches():
    with pytest.raises(ValueError, match="accuracy_top5"):
        metrics.check_metric_names(["acuracy_top5"])
