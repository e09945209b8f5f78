"""Data that can't be read any more, noticed while the batch after the next is prepared."""

import shutil
import signal

import keras
import pytest

from t2t_keras.data import training_input
from t2t_keras.training import session
from t2t_keras.training.faults import InputLostError
from tests.training import runs


@pytest.fixture
def own_data(data_dir, tmp_path, monkeypatch):
    # Several reads a pass, so that what is missing is soon noticed.
    monkeypatch.setattr(training_input, "_CHUNK", 64)
    return shutil.copytree(data_dir, tmp_path / "own_data")


def delete(directory):
    shutil.rmtree(directory)


def damage(directory):
    for path in directory.glob("*-train-*"):
        contents = bytearray(path.read_bytes())
        contents[len(contents) // 2] ^= 255
        path.write_bytes(contents)


class AtStep(keras.callbacks.Callback):
    """Does something to the data after a step; counts the steps."""

    def __init__(self, step, action, directory):
        super().__init__()
        self.step, self.action, self.directory = step, action, directory
        self.done = 0

    def on_train_batch_end(self, batch, logs=None):
        self.done = batch + 1
        if self.done == self.step:
            self.action(self.directory)


@pytest.mark.parametrize(
    ("action", "cause"),
    [(delete, "own_data is gone"), (damage, r"of-00002 is (damaged:|cut off within) ")],
)
def test_the_last_step_is_saved_and_the_error_is_one_of_the_data(
    action, cause, own_data, data_dir, tmp_path
):
    breaks = AtStep(3, action, own_data)
    with pytest.raises(InputLostError, match=cause) as error:
        runs.train(
            tmp_path / "run", str(own_data), callbacks=[breaks], train_steps=1000,
            iterations_per_loop=1, local_eval_frequency=1,
        )  # fmt: skip
    assert runs.last_step(tmp_path / "run") == breaks.done > 3
    assert f"after step {breaks.done}: " in str(error.value)
    assert f"goes on from {tmp_path}/run/model.ckpt-{breaks.done} " in str(error.value)


def test_a_signal_still_ends_in_a_checkpoint(own_data, data_dir, tmp_path, monkeypatch):
    inputs, open_batches = [], session.open_training_batches
    monkeypatch.setattr(
        session,
        "open_training_batches",
        lambda *a, **k: inputs.append(open_batches(*a, **k)) or inputs[-1],
    )

    class SignalOnceReadingFailed(AtStep):
        def on_train_batch_end(self, batch, logs=None):
            super().on_train_batch_end(batch, logs)
            inputs[-1].state()  # Waits for the batch that is prepared.
            if inputs[-1]._ahead.exception() is not None:
                signal.raise_signal(signal.SIGTERM)

    breaks = SignalOnceReadingFailed(3, delete, own_data)
    settings = {"train_steps": 1000, "iterations_per_loop": 1000}
    ended = runs.train(tmp_path / "run", str(own_data), callbacks=[breaks], **settings)
    assert ended.exit_status == 0 and ended.requested
    assert runs.last_step(tmp_path / "run") == breaks.done > 3
    shutil.copytree(data_dir, own_data)
    for directory in ("run", "whole"):
        settings["train_steps"] = breaks.done + 3
        runs.train(tmp_path / directory, str(own_data), **settings)
    runs.assert_same_values(tmp_path / "run", tmp_path / "whole")
