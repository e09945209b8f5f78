"""A training step of a model of a few hundred numbers, and batches for it."""

import numpy as np
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.training.distribution import make_strategy
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.slots import slot_variables
from t2t_keras.training.step import TrainStep

VOCAB_SIZE = 11


def make_hparams(overrides=""):
    hparams = registry.hparams("transformer_tiny")
    hparams.parse("num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2")
    hparams.parse(overrides.removeprefix(","))
    hparams.problem_hparams = HParams(loss_multiplier=1.0)
    return hparams


def make_step(overrides="", *, num_replicas=1, vocab_size=VOCAB_SIZE, **options):
    """A step, its model and its optimizer; `options` are those of `TrainStep`."""
    hparams = make_hparams(overrides)
    strategy = make_strategy(num_replicas)
    with strategy.scope():
        model = registry.model("transformer")(
            hparams, input_vocab_size=vocab_size, target_vocab_size=vocab_size
        )
        optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    return TrainStep(model, optimizer, hparams, strategy=strategy, **options), model, optimizer


def set_weights(model):
    """The same weights in every model of a shape, none like another and none near zero."""
    for number, variable in enumerate(model.variables):
        values = 0.3 * np.sin(0.37 * np.arange(np.prod(variable.shape)) + 1.3 * number)
        if variable.path.endswith("layer_norm_scale"):
            values += 1.0
        variable.assign(values.reshape(variable.shape))


def batch(rows=2, length=3):
    ids = tf.constant(np.arange(rows * length).reshape(rows, length) % 9 + 2, tf.int32)
    return {"inputs": ids, "targets": ids}


def uneven_batch():
    """Four rows of 7, 5, 3 and no tokens: one of four replicas is idle."""
    rng = np.random.default_rng(0)
    features = {n: rng.integers(2, VOCAB_SIZE, size=(4, 7)) for n in ("inputs", "targets")}
    for row, length in enumerate((7, 5, 3, 0)):
        features["targets"][row, length:] = 0
        features["inputs"][row, max(length - 1, 0) :] = 0
    return {name: tf.constant(value, tf.int32) for name, value in features.items()}


def weights_of(model):
    return {variable.path: variable.numpy() for variable in model.variables}


def state_of(model, optimizer):
    """Weights and the optimizer's slots by name."""
    slots = slot_variables(optimizer, model.trainable_variables)
    return weights_of(model) | {name: slot.numpy() for name, slot in slots.items()}


def largest_difference(values, others):
    return max(float(np.abs(others[name] - value).max()) for name, value in values.items())
