"""Losses, gradients and weights that are NaN or infinite."""

import json
import os

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training.nonfinite import DivergedError, NonfiniteSteps, StepRecord
from t2t_keras.training.step import StepResult, TrainStep
from t2t_keras.training.training_loss import TrainingLoss
from tests.training import runs, toy


@pytest.fixture
def lose_loss(monkeypatch):
    """A function after which given steps have a loss of NaN, as if the model had made it."""

    def lose(*steps):
        original = TrainingLoss.sum

        def lossy(self, features, seed):
            loss = original(self, features, seed)
            is_lost = tf.reduce_any([tf.equal(seed[0], step - 1) for step in steps])
            return tf.where(is_lost, np.nan, 1.0) * loss

        monkeypatch.setattr(TrainingLoss, "sum", lossy)

    return lose


def test_stopping_names_step_replica_batch_and_records(data_dir, tmp_path, lose_loss):
    lose_loss(7)
    settings = dict(log_step_count_steps=0, save_summary_steps=0)
    with pytest.raises(DivergedError) as error:
        runs.train(tmp_path, data_dir, **settings)
    message = str(error.value)
    assert "nan at step 7, at replica 0 of 1 (batch: inputs [" in message
    assert "record" in message and "toy_reverse_words-train-0000" in message
    assert f"last checkpoint {tmp_path}/model.ckpt-4" in message
    assert runs.newest(tmp_path).endswith("model.ckpt-4")
    # Step 8 had been done too, with weights of NaN, when losses were fetched for its checkpoint.
    assert not os.path.exists(tmp_path / "model.ckpt-8.index")


def test_the_dump_holds_batch_records_and_norms(data_dir, tmp_path, lose_loss):
    lose_loss(6)
    with pytest.raises(DivergedError, match="nan_step_6.json"):
        runs.train(tmp_path, data_dir)
    dump = json.loads((tmp_path / "nan_step_6.json").read_text("utf-8"))
    assert dump["loss"] == "nan" and dump["replica_losses"] == ["nan"]
    assert dump["last_checkpoint"] == str(tmp_path / "model.ckpt-4")
    for example in dump["examples"]:
        if example["inputs"]:
            # "abc<EOS>" -> "cba<EOS>"
            assert example["inputs"][:-1] == example["targets"][-2::-1]
            assert example["targets_text"].startswith(example["inputs_text"][-6:-5])
            source, record = example["record"].split(" record ")
            stored = list(tf.data.TFRecordDataset(source).as_numpy_iterator())[int(record)]
            parsed = tf.train.Example.FromString(stored).features.feature
            assert list(parsed["inputs"].int64_list.value) == example["inputs"]
    assert {v["name"] for v in dump["variables"]} <= set(runs.values_of(tmp_path))
    assert all(v["nonfinite"] and v["norm_in_checkpoint"] >= 0.0 for v in dump["variables"])


def test_skipping_leaves_the_step_out_and_goes_on(data_dir, tmp_path, lose_loss):
    lose_loss(5, 6)
    runs.train(tmp_path, data_dir, on_nan="skip", train_steps=9)
    assert all(np.isfinite(value).all() for value in runs.values_of(tmp_path).values())
    assert runs.values_of(tmp_path)["global_step"] == 9
    assert sorted(p.name for p in tmp_path.glob("nan_*")) == ["nan_step_5.json", "nan_step_6.json"]
    losses = list(runs.losses_of(tmp_path).values())
    assert losses and np.isfinite(losses).all()


def test_a_skipped_step_changes_no_weight(data_dir, tmp_path, lose_loss):
    lose_loss(4)
    runs.train(tmp_path, data_dir, on_nan="skip", train_steps=3)
    before = runs.values_of(tmp_path)
    runs.train(tmp_path, data_dir, on_nan="skip", train_steps=4)
    after = runs.values_of(tmp_path)
    assert after.pop("global_step") == before.pop("global_step") + 1
    for name, value in before.items():
        np.testing.assert_array_equal(after[name], value, err_msg=name)


def test_weights_that_the_last_update_has_spoiled_are_not_saved(data_dir, tmp_path, monkeypatch):
    original = TrainStep._gradient_function

    def spoiling(self):
        compute = original(self)

        def spoiled(features, seed, denominator):
            loss, gradients = compute(features, seed, denominator)
            factor = tf.where(seed[0] == 3, np.inf, 1.0)
            return loss, [gradients[0] * factor, *gradients[1:]]

        return spoiled

    monkeypatch.setattr(TrainStep, "_gradient_function", spoiling)
    with pytest.raises(DivergedError, match="after step 4, though the loss was"):
        runs.train(tmp_path, data_dir)
    assert runs.newest(tmp_path).endswith("model.ckpt-0")


def test_unknown_policies_are_refused(data_dir, tmp_path):
    with pytest.raises(ValueError, match="stop, skip. Received: 'ignore'"):
        toy.make_config(tmp_path, data_dir, on_nan="ignore")


class WithFloats:
    def decode(self, ids):
        return "".join(chr(96 + number) for number in ids)


def record(step, replica_losses, is_finite=None):
    features = {"inputs": tf.constant([[1, 2, 0], [3, 0, 0], [4, 5, 6], [7, 0, 0]])}
    losses = tf.constant(replica_losses, tf.float32)
    is_finite = None if is_finite is None else tf.constant(is_finite)
    result = StepResult(tf.reduce_sum(losses), tf.constant(9.0), None, losses, is_finite)
    return StepRecord(step, result, features, lambda rows: [f"r{row}" for row in rows])


def make_steps(directory, **settings):
    variable = keras.Variable(np.ones([2, 2], np.float32), name="weights")
    return NonfiniteSteps(str(directory), [variable], {"inputs": WithFloats()}, **settings)


def test_the_replica_is_named_and_only_its_examples_quoted(tmp_path):
    steps = make_steps(tmp_path, total_replicas=2)
    with pytest.raises(DivergedError) as error:
        steps.check(record(3, [1.0, np.inf]), None)
    message = str(error.value)
    assert "inf at step 3, at replica 1 of 2" in message
    assert "row 2 (r2) 'def'; row 3 (r3) 'g'" in message and "row 0" not in message
    dump = json.loads((tmp_path / "nan_step_3.json").read_text())
    assert [example["replica"] for example in dump["examples"]] == [0, 0, 1, 1]
    assert dump["variables"][0]["norm"] == 2.0


def test_a_second_worker_names_its_replica_and_writes_nothing():
    steps = make_steps("", total_replicas=4, first_replica=2, local_replicas=2)
    with pytest.raises(DivergedError, match="replica 3 of 4"):
        steps.check(record(3, [1.0, np.nan]), None)


def test_skipping_for_ever_ends(tmp_path):
    steps = make_steps(tmp_path, on_nan="skip")
    for step in range(1, 100):
        assert steps.check(record(step, [np.nan], is_finite=False), "model.ckpt-0") is None
    with pytest.raises(DivergedError, match="no step succeeds any more"):
        steps.check(record(100, [np.nan], is_finite=False), "model.ckpt-0")
    assert len(os.listdir(tmp_path)) == 10  # not a dump for each


def test_a_good_step_between_starts_the_count_anew(tmp_path):
    steps = make_steps(tmp_path, on_nan="skip")
    for step in range(300):
        good = step % 60 == 0
        loss = steps.check(record(step, [1.5 if good else np.nan], is_finite=good), None)
        assert loss == (1.5 if good else None)
    assert steps.num_skipped == 295
