"""A model of numbers learns by the mean squared error."""

import types

import numpy as np
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.step import TrainStep


def test_the_regressor_learns_a_number():
    hparams = registry.hparams("transformer_tiny")
    hparams.parse("num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2")
    hparams.parse(
        "learning_rate_schedule=constant,learning_rate_constant=0.02,attention_dropout=0.0,"
        "layer_prepostprocess_dropout=0.0,relu_dropout=0.0"
    )
    hparams.add_hparam(
        "problem_hparams",
        types.SimpleNamespace(
            modality={"inputs": "symbol", "targets": "real"},
            vocab_size={"inputs": 11},
            input_space_id=0,
            target_space_id=0,
            loss_multiplier=1.0,
        ),
    )
    model = registry.model("transformer_regressor").from_hparams(hparams)
    optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    step = TrainStep(model, optimizer, hparams)
    features = {
        "inputs": tf.constant([[3, 4, 1], [5, 6, 1]]),
        # A target of 0 counts like any other.
        "targets": tf.constant([[0.0], [4.0]]),
    }
    first = step(features)
    losses = [float(step(features).loss) for _ in range(100)]
    assert float(first.token_count) == 2.0
    # The best constant, 2, has a loss of 4.
    assert losses[-1] < 0.4 < float(first.loss)
    assert np.abs(model(features) - features["targets"]).max() < 1.0
