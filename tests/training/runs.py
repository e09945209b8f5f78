"""Trains on the toy problem, and reads what a run has left behind."""

import numpy as np
import tensorflow as tf

from t2t_keras.training import checkpoints
from t2t_keras.training.event_files import read_events
from t2t_keras.training.trainer import Trainer
from tests.training import toy


def train(
    output_dir,
    data_dir,
    overrides="",
    *,
    hparams=None,
    schedule="train",
    callbacks=(),
    translation_check=None,
    **settings,
):
    """Trains, or whatever the schedule says; `settings` are those of `RunConfig`."""
    trainer = Trainer(
        hparams or toy.make_hparams(data_dir, overrides),
        "transformer",
        toy.make_config(output_dir, data_dir, **settings),
        callbacks,
        translation_check=translation_check,
    )
    return trainer.run(schedule)


def newest(directory):
    """The newest checkpoint."""
    return checkpoints.latest_checkpoint(str(directory))


def last_step(directory):
    return checkpoints.step_of(newest(directory))


def values_of(directory_or_checkpoint):
    """The variables of a checkpoint by name; of the newest where a directory is given."""
    reader = tf.train.load_checkpoint(checkpoints.resolve(str(directory_or_checkpoint)))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def assert_same_values(one, other):
    """That two checkpoints, or the newest of two directories, are the same bit for bit."""
    values, expected = values_of(one), values_of(other)
    assert set(values) == set(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(values[name], value, err_msg=name)


def curve(directory, tag="loss"):
    """Steps and values of a curve, in the order they were written."""
    return [(step, value) for step, name, value in read_events(str(directory)) if name == tag]


def losses_of(directory):
    return dict(curve(directory))
