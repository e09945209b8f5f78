import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.hparam import HParams
from t2t_keras.training.evaluator import Evaluator

VOCAB_SIZE = 6


class Problem:
    name = "echo"
    was_reversed = True

    def eval_metrics(self):
        return ["accuracy", "approx_bleu_score", "accuracy_per_sequence"]


def echo(features, training):
    """A model that is sure of the inputs being the targets."""
    assert not training
    return tf.one_hot(features["inputs"], VOCAB_SIZE) * 50.0


def make(**hparams):
    return Evaluator(echo, HParams(label_smoothing=0.1, **hparams), Problem())


def batch(inputs, targets):
    return {"inputs": tf.constant(inputs), "targets": tf.constant(targets)}


GOOD = batch([[2, 3, 1]], [[2, 3, 1]])
HALF = batch([[2, 4, 0, 0], [5, 1, 0, 0]], [[2, 3, 0, 0], [5, 1, 0, 0]])


def test_tokens_weigh_alike_over_batches():
    results = make().evaluate([GOOD, HALF])
    np.testing.assert_allclose(results["metrics-echo_rev/targets/accuracy"], 6 / 7)
    np.testing.assert_allclose(results["metrics-echo_rev/targets/accuracy_per_sequence"], 2 / 3)
    assert 0 < results["metrics-echo_rev/targets/approx_bleu_score"] < 1


def test_loss_is_not_smoothed_and_averages_batches():
    results = make().evaluate([GOOD, HALF])
    np.testing.assert_allclose(results["loss"], (0.0 + 50.0 / 4) / 2, rtol=1e-4)


def test_only_so_many_batches():
    results = make().evaluate(iter([GOOD, HALF]), max_batches=1)
    assert results["metrics-echo_rev/targets/accuracy"] == 1.0


def test_name_can_be_overloaded():
    results = make(overload_eval_metric_name="mine").evaluate([GOOD])
    assert "metrics-mine/targets/accuracy" in results


def test_no_data_is_an_error():
    with pytest.raises(ValueError, match="empty"):
        make().evaluate([])
