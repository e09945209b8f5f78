"""Running out of memory in a step."""

import re

import pytest
import tensorflow as tf

from t2t_keras.data import bucketing
from t2t_keras.training.faults import BatchTooLargeError, StepFaults
from t2t_keras.training.step import TrainStep
from tests.training import runs, toy


def exhausted():
    return tf.errors.ResourceExhaustedError(None, None, "OOM when allocating [9,9]\n\tnode x")


def test_the_message_has_bucket_batch_and_checkpoint(data_dir, tmp_path, monkeypatch):
    original = TrainStep.__call__
    calls = []

    def call(self, *batches):
        calls.append(batches)
        if len(calls) == 6:
            raise exhausted()
        return original(self, *batches)

    monkeypatch.setattr(TrainStep, "__call__", call)
    with pytest.raises(BatchTooLargeError) as error:
        runs.train(tmp_path, data_dir)
    message = str(error.value)
    shape = list(calls[-1][0]["inputs"].shape)
    assert f"Out of memory in step 6 (batch: inputs {shape}" in message
    assert "Longest bucket of a replica: 32 x " in message
    assert f"goes on from {tmp_path}/model.ckpt-4" in message
    assert "Received: batch_size=128; OOM when allocating [9,9]" in message
    assert runs.newest(tmp_path).endswith("model.ckpt-4")


def failure(faults, shape):
    """The message at a batch of a shape that doesn't fit."""
    features = {"inputs": tf.ones([shape[0], 1], tf.int32), "targets": tf.ones(shape, tf.int32)}
    with pytest.raises(BatchTooLargeError) as error, faults.of_training([features], 3, None):
        raise exhausted()
    return str(error.value)


def suggestion(message):
    return int(re.search(r"batch_size=(\d+) needs", message)[1])


def largest_batch(hparams, num_replicas):
    """Tokens of a replica's largest batch."""
    scheme = bucketing.hparams_to_batching_scheme(hparams, drop_long_sequences=True)
    return max(s * n for s, n in zip(scheme.batch_sizes, scheme.bucket_lengths, strict=True))


@pytest.mark.parametrize("num_replicas", [1, 2])
def test_the_suggested_batch_size_makes_batches_of_half_the_size(data_dir, num_replicas):
    hparams = toy.make_hparams(data_dir)
    hparams.batch_size, hparams.max_length = 4096, 64
    faults = StepFaults(hparams, data_dir, num_replicas)
    message = failure(faults, [64 * num_replicas, 60])
    suggested = suggestion(message)
    assert 1024 <= suggested < 4096
    hparams.batch_size = suggested
    assert largest_batch(hparams, num_replicas) <= 64 * 60 // 2


def test_what_has_fitted_before_may_be_as_large_again(data_dir):
    hparams = toy.make_hparams(data_dir)
    hparams.batch_size, hparams.max_length = 4096, 64
    faults = StepFaults(hparams, data_dir, 1)
    with faults.of_training([{"targets": tf.ones([60, 59], tf.int32)}], 2, None):
        pass
    message = failure(faults, [64, 60])
    assert "at most 3540 tokens" in message
    before = suggestion(message)
    assert suggestion(failure(StepFaults(hparams, data_dir, 1), [64, 60])) < before < 4096


def batch(rows, length):
    return {"targets": tf.ones([rows, length], tf.int32), "weight": tf.ones([rows])}


def test_of_several_micro_batches_the_largest_counts(data_dir):
    hparams = toy.make_hparams(data_dir)
    hparams.batch_size, hparams.max_length = 4096, 64
    faults = StepFaults(hparams, data_dir, 1)
    with faults.of_training([batch(60, 59), batch(3, 3)], 2, None):
        pass
    micro_batches = [batch(60, 60), batch(64, 60), batch(2, 60)]
    with pytest.raises(BatchTooLargeError) as error, faults.of_training(micro_batches, 3, None):
        raise exhausted()
    assert "(batch: targets [64, 60], weight [64]; 1 replica(s), 3840 tokens" in str(error.value)
    assert "at most 3540 tokens" in str(error.value)


def test_the_shape_that_is_compiled_is_named(data_dir, tmp_path, monkeypatch):
    compiled = []

    def compile_for(self, features):
        compiled.append(list(features["targets"].shape))
        if len(compiled) == 2:
            raise exhausted()

    monkeypatch.setattr(TrainStep, "compile_for", compile_for)
    settings = {"jit_compile": True, "compile_all_shapes_first": True}
    with pytest.raises(BatchTooLargeError) as error:
        runs.train(tmp_path, data_dir, **settings)
    assert f"targets {compiled[1]};" in str(error.value) and compiled[0] != compiled[1]


def test_other_errors_stay_as_they_are(data_dir):
    faults = StepFaults(toy.make_hparams(data_dir), data_dir, 1)
    with pytest.raises(tf.errors.InvalidArgumentError), faults.of_training([], 0, None):
        raise tf.errors.InvalidArgumentError(None, None, "shapes")
    with pytest.raises(ValueError, match="^another$"), faults.of_reading(0, None):
        raise ValueError("another")
