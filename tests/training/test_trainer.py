import os
import signal

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training import checkpoints
from t2t_keras.training.event_files import read_events
from t2t_keras.training.nonfinite import DivergedError
from tests.training import runs, toy


@pytest.fixture(scope="module")
def whole_run(data_dir, tmp_path_factory):
    """Output directory of a run that never stopped."""
    directory = tmp_path_factory.mktemp("whole")
    runs.train(directory, data_dir)
    return directory


def test_checkpoints_come_at_the_start_on_the_way_and_at_the_end(whole_run):
    steps = [checkpoints.step_of(p) for p in checkpoints.complete_checkpoints(str(whole_run))]
    assert steps == [0, 4, 8, 12]
    state = tf.train.get_checkpoint_state(str(whole_run))
    assert state.model_checkpoint_path.endswith("model.ckpt-12")
    assert runs.values_of(whole_run)["global_step"] == 12


def test_curves_have_every_second_step(whole_run):
    assert [step for step, _ in runs.curve(whole_run)] == [2, 4, 6, 8, 10, 12]
    tags = {tag for _, tag, _ in read_events(str(whole_run))}
    assert {"learning_rate", "losses/training", "input_stats/targets_nonpadding_tokens"} <= tags


class StopAt(keras.callbacks.Callback):
    """Ends training somehow after so many batches."""

    def __init__(self, batch, action):
        super().__init__()
        self._batch, self._action = batch, action

    def on_train_batch_end(self, batch, logs=None):
        assert np.isfinite(logs["loss"])
        if batch == self._batch:
            self._action(self.model)


def kill(model):
    raise RuntimeError("killed")


def terminate(model):
    os.kill(os.getpid(), signal.SIGTERM)


def stop(model):
    model.stop_training = True


@pytest.mark.parametrize("action", [kill, terminate, stop])
def test_a_stopped_run_ends_as_if_it_had_not_stopped(action, data_dir, whole_run, tmp_path):
    callbacks = [StopAt(6, action)]
    if action is kill:  # at step 7, last checkpoint at 4, curve already written to 6
        with pytest.raises(RuntimeError, match="killed"):
            runs.train(tmp_path, data_dir, callbacks=callbacks)
    else:
        interruption = runs.train(tmp_path, data_dir, callbacks=callbacks)
        assert interruption.requested == (action is terminate)
        assert runs.values_of(tmp_path)["global_step"] == 7
    runs.train(tmp_path, data_dir)
    runs.assert_same_values(tmp_path, whole_run)
    assert runs.curve(tmp_path) == runs.curve(whole_run)


def test_a_finished_run_has_nothing_left_to_do(data_dir, tmp_path):
    runs.train(tmp_path, data_dir, train_steps=2)
    before = sorted(os.listdir(tmp_path))
    runs.train(tmp_path, data_dir, train_steps=2)
    assert sorted(os.listdir(tmp_path)) == before


def test_a_seed_that_was_drawn_is_kept(data_dir, tmp_path):
    runs.train(tmp_path / "whole", data_dir, random_seed=None, train_steps=4)
    for name in os.listdir(tmp_path / "whole"):
        if "ckpt-0" in name:
            (tmp_path / "part").mkdir(exist_ok=True)
            os.link(tmp_path / "whole" / name, tmp_path / "part" / name)
    runs.train(tmp_path / "part", data_dir, random_seed=None, train_steps=4)
    runs.assert_same_values(tmp_path / "part", tmp_path / "whole")


def test_evaluation_is_logged_and_drawn(data_dir, tmp_path):
    runs.train(tmp_path, data_dir, schedule="continuous_train_and_eval", train_steps=4)
    tags = {tag for step, tag, _ in read_events(str(tmp_path / "eval")) if step == 4}
    assert {"loss", "metrics-toy_reverse_words/targets/accuracy"} <= tags
    results = runs.train(tmp_path, data_dir, schedule="evaluate")
    assert results["global_step"] == 4
    drawn = dict(runs.curve(tmp_path / "eval"))
    np.testing.assert_allclose(results["loss"], drawn[4], rtol=1e-5)
    on_train = runs.train(tmp_path, data_dir, schedule="evaluate_on_train_data")
    assert on_train["loss"] != results["loss"]
    assert dict(runs.curve(tmp_path / "eval_eval_train"))


def test_throttle_and_delay_of_evaluations(data_dir, tmp_path):
    settings = dict(eval_start_delay_seconds=0, schedule="continuous_train_and_eval", train_steps=8)
    runs.train(tmp_path / "throttled", data_dir, eval_throttle_seconds=3600, **settings)
    assert [step for step, _ in runs.curve(tmp_path / "throttled" / "eval")] == [4, 8]
    runs.train(tmp_path / "free", data_dir, eval_throttle_seconds=0, **settings)
    assert [step for step, _ in runs.curve(tmp_path / "free" / "eval")] == [4, 8]


def test_validation_in_the_loop(data_dir, tmp_path):
    runs.train(tmp_path, data_dir, schedule="train_and_evaluate", train_steps=8)
    assert [step for step, _ in runs.curve(tmp_path / "eval")] == [4, 8]


def test_lost_loss_names_step_and_checkpoint(data_dir, tmp_path):
    with pytest.raises(DivergedError, match=r"nan at step \d+[\s\S]*model.ckpt-0"):
        runs.train(tmp_path, data_dir, overrides=",learning_rate_constant=1e30", train_steps=4)
    assert checkpoints.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-0")


def test_unknown_schedule_offers_near_matches_and_writes_nothing(data_dir, tmp_path):
    with pytest.raises(ValueError, match="continuous_train_and_eval"):
        runs.train(tmp_path, data_dir, schedule="continuous_train_and_evaluate")
    with pytest.raises(ValueError, match="t2t-decoder"):
        runs.train(tmp_path, data_dir, schedule="decode")
    assert not os.listdir(tmp_path)


def test_the_shortest_run(data_dir, tmp_path):
    results = runs.train(tmp_path, data_dir, schedule="test")
    assert results["global_step"] == 1


def test_evaluating_nothing_says_so(data_dir, tmp_path):
    with pytest.raises(ValueError, match="No checkpoint"):
        runs.train(tmp_path, data_dir, schedule="evaluate")


def test_warm_start_begins_at_step_0_with_the_given_weights(data_dir, whole_run, tmp_path):
    runs.train(tmp_path, data_dir, train_steps=0, warm_start_from=str(whole_run))
    values, source = runs.values_of(tmp_path), runs.values_of(whole_run)
    assert values["global_step"] == 0
    for name, value in values.items():
        if name.startswith("transformer/"):
            np.testing.assert_array_equal(value, source[name])
        elif name.startswith("training/"):
            assert not np.any(value)


def test_changed_batch_size_starts_the_input_anew(data_dir, tmp_path):
    smaller = toy.make_hparams(data_dir)
    smaller.batch_size = 64
    runs.train(tmp_path, data_dir, train_steps=4)
    runs.train(tmp_path, data_dir, train_steps=8, hparams=smaller)
    assert runs.values_of(tmp_path)["global_step"] == 8
    sizes = dict(runs.curve(tmp_path, "input_stats/targets_nonpadding_tokens"))
    assert sizes[8] <= 64 < sizes[4]
