"""Trains a tiny model on one batch with 1, 2 and 8 replicas; prints the largest differences.

Run in a process of its own: logical CPU devices must be made before TensorFlow starts.
"""

import json
import sys

import numpy as np
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.training import step as step_module
from t2t_keras.training.distribution import make_strategy
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.step import TrainStep

NUM_STEPS = 5
VOCAB_SIZE = 11


def make_features():
    """Eight rows, of 7 tokens down to 1; the last is padding only, so one of 8 replicas is idle."""
    rng = np.random.default_rng(0)
    features = {n: rng.integers(2, VOCAB_SIZE, size=(8, 7)) for n in ("inputs", "targets")}
    for row in range(8):
        features["targets"][row, 7 - row :] = 0
        features["inputs"][row, max(1, 6 - row) :] = 0
    features["targets"][7] = features["inputs"][7] = 0
    return {name: tf.constant(value, tf.int32) for name, value in features.items()}


def train(num_replicas, overrides, jit_compile):
    hparams = registry.hparams("transformer_tiny")
    hparams.parse(
        "num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2,"
        "layer_prepostprocess_dropout=0.0,attention_dropout=0.0,relu_dropout=0.0,"
        "learning_rate_warmup_steps=2,learning_rate_constant=0.1" + overrides
    )
    hparams.problem_hparams = HParams(loss_multiplier=1.0)
    strategy = make_strategy(num_replicas)
    with strategy.scope():
        model = registry.model("transformer")(
            hparams, input_vocab_size=VOCAB_SIZE, target_vocab_size=VOCAB_SIZE
        )
        optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    for number, variable in enumerate(model.variables):
        count = np.prod(variable.shape)
        values = 0.3 * np.sin(0.37 * np.arange(count) + 1.3 * number)
        if variable.path.endswith("layer_norm_scale"):
            values += 1.0
        variable.assign(values.reshape(variable.shape))
    step = TrainStep(model, optimizer, hparams, strategy=strategy, jit_compile=jit_compile)
    losses = [float(step(make_features()).loss) for _ in range(NUM_STEPS)]
    assert step.num_traces == 1, step.num_traces
    assert int(optimizer.iterations.numpy()) == NUM_STEPS
    return losses, {v.path: v.numpy() for v in model.variables}


def main():
    make_strategy(8)
    overrides, jit_compile = sys.argv[1], sys.argv[2] in ("jit", "tensor")
    if sys.argv[2] == "tensor":
        # As on a TPU, where one program serves all replicas.
        static_number = step_module._replica_number
        step_module._replica_number = lambda: tf.convert_to_tensor(static_number())
    counts = [int(count) for count in sys.argv[3].split(",")]
    results = {count: train(count, overrides, jit_compile) for count in counts}
    losses, weights = results[1]
    report = {}
    for count in counts[1:]:
        report[count] = {
            "loss": float(np.abs(np.subtract(results[count][0], losses)).max()),
            "weights": max(float(np.abs(results[count][1][n] - weights[n]).max()) for n in weights),
        }
    print(json.dumps({"losses": losses, "differences": report}))


if __name__ == "__main__":
    main()
