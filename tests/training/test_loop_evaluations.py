"""When a training loop evaluates, with evaluations that only note their step."""

import errno
import os
import types

import pytest
import tensorflow as tf

from t2t_keras.training.faults import SavingError
from t2t_keras.training.interruption import Interruption
from t2t_keras.training.loop_evaluations import LoopEvaluations
from t2t_keras.training.session import TrainingSession
from tests.training import toy


class Notes:
    """A `Validation` that finds nothing."""

    reason_to_stop = None

    def __init__(self, evaluated=(), error=None):
        self.steps, self.error = list(evaluated), error

    def is_missing(self, step):
        return step > 0 and step not in self.steps

    def __call__(self, model, step):
        if self.error is not None:
            raise self.error
        self.steps.append(step)


def loop(output_dir, validation, step=0, every=0, **settings):
    session = types.SimpleNamespace(
        step=step, model=None, last_checkpoint=os.path.join(str(output_dir), "model.ckpt-4")
    )
    rules = types.SimpleNamespace(early_stopping=None)
    config = toy.make_config(output_dir, "data", **settings)
    return LoopEvaluations(session, config, rules, validation, every=every)


def test_a_step_is_evaluated_once_where_time_decides_about_checkpoints(tmp_path):
    validation = Notes()
    evaluations = loop(tmp_path, validation, every=4, save_checkpoints_secs=1)
    for step in range(1, 13):
        if step in (3, 4, 8):  # whenever a second has passed
            evaluations.at_checkpoint(step)
        evaluations.after_step(step)
    assert validation.steps == [4, 8, 12]


@pytest.mark.parametrize(
    ("step", "every", "settings", "expected"),
    [
        (8, 0, {}, [8]),
        (8, 4, {}, [8]),
        (8, 4, {"save_checkpoints_secs": 1}, [8]),
        # Saved after a signal: a run without it would not have evaluated either.
        (7, 0, {}, []),
        (8, 16, {}, []),
    ],
)
def test_a_missing_evaluation_is_made_up_for_at_once(step, every, settings, expected, tmp_path):
    """Neither the delay at the start nor the throttle, as they are by default, is in the way."""
    validation = Notes()
    loop(tmp_path, validation, step, every, **settings).at_start()
    assert validation.steps == expected
    repeated = Notes(evaluated=[step])
    loop(tmp_path, repeated, step, every, **settings).at_start()
    assert repeated.steps == [step]


def written(number, path):
    return OSError(number, os.strerror(number), path)


@pytest.mark.parametrize(
    "make_error",
    [
        lambda folder: written(errno.ENOSPC, None),
        lambda folder: written(errno.EACCES, f"{folder}/eval/history.json"),
        lambda folder: tf.errors.ResourceExhaustedError(None, None, "e; No space left on device"),
    ],
)
def test_what_an_evaluation_cannot_write_is_explained(make_error, tmp_path):
    evaluations = loop(tmp_path, Notes(error=make_error(tmp_path)), every=4)
    message = rf"Output can't be written into {tmp_path}[\s\S]*goes on from .*model.ckpt-4"
    with pytest.raises(SavingError, match=message):
        evaluations.at_checkpoint(4)


@pytest.mark.parametrize(
    "error",
    [
        written(errno.ENOENT, "/data/dev-00000-of-00001"),
        FileNotFoundError("There are no shards"),
        tf.errors.ResourceExhaustedError(None, None, "OOM when allocating"),
        ValueError("The evaluation data is empty"),
    ],
)
def test_other_errors_of_an_evaluation_stay_as_they_are(error, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(type(error)) as raised:
        loop(tmp_path, Notes(error=error), every=4).at_checkpoint(4)
    assert raised.value is error


def test_after_a_signal_nothing_is_evaluated_any_more(data_dir, tmp_path):
    interruption, called = Interruption(), []
    config = toy.make_config(tmp_path, data_dir, iterations_per_loop=2, local_eval_frequency=2)
    session = TrainingSession(toy.make_hparams(data_dir), "transformer", config)

    train_step = session._train_step

    def step_with_signal(*batches):
        if session.step == 3:  # The signal comes in the midst of step 4, which is to be saved.
            interruption.signal_number = 15
        return train_step(*batches)

    step_with_signal.num_micro_batches = 1
    session._train_step = step_with_signal
    session.train_until(
        12,
        interruption,
        on_checkpoint=lambda step: called.append(("checkpoint", step)),
        on_step=lambda step: called.append(("step", step)),
    )
    session.close()
    assert session.step == 4 and session.last_checkpoint.endswith("model.ckpt-4")
    assert called == [("step", 1), ("checkpoint", 2), ("step", 2), ("step", 3)]
