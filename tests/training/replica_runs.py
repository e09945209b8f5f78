"""Trains a tiny model on one batch with several numbers of replicas, and compares."""

from unittest import mock

import numpy as np
import tensorflow as tf

from t2t_keras.training import step as step_module
from tests.training import tiny_step

NUM_STEPS = 5


def train(num_replicas, overrides, jit_compile):
    """Losses, and the weights afterwards."""
    step, model, optimizer = tiny_step.make_step(
        "layer_prepostprocess_dropout=0.0,attention_dropout=0.0,relu_dropout=0.0,"
        "learning_rate_warmup_steps=2,learning_rate_constant=0.1" + overrides,
        num_replicas=num_replicas,
        jit_compile=jit_compile,
    )
    tiny_step.set_weights(model)
    losses = [float(step(tiny_step.uneven_batch()).loss) for _ in range(NUM_STEPS)]
    assert step.num_traces == 1, step.num_traces
    assert int(optimizer.iterations.numpy()) == NUM_STEPS
    return losses, tiny_step.weights_of(model)


def compare(overrides="", compiler="plain", counts=(1, 2)):
    """Losses of one replica, and the largest differences of other numbers from it.

    Args:
        overrides: of hparams.
        compiler: plain; jit for XLA; tensor as on a TPU, where one program serves all replicas.
        counts: numbers of replicas, the first of them 1.
    """
    with mock.patch.object(step_module, "_replica_number", _replica_number(compiler == "tensor")):
        losses, weights = train(counts[0], overrides, compiler != "plain")
        others = {count: train(count, overrides, compiler != "plain") for count in counts[1:]}
    return {
        "losses": losses,
        "differences": {
            count: {
                "loss": float(np.abs(np.subtract(other_losses, losses)).max()),
                "weights": tiny_step.largest_difference(weights, other_weights),
            }
            for count, (other_losses, other_weights) in others.items()
        },
    }


def _replica_number(as_tensor):
    static_number = step_module._replica_number
    return (lambda: tf.convert_to_tensor(static_number())) if as_tensor else static_number
