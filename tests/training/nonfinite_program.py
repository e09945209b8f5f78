"""Steps with a NaN in the second replica's part of the batch; prints what became of the variables.

Run in a process of its own: logical CPU devices must be made before TensorFlow starts.
"""

import json
import sys

import numpy as np
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.training.distribution import make_strategy
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.slots import slot_variables
from t2t_keras.training.step import TrainStep

BAD_ID = 7
VOCAB_SIZE = 11


def make_features(bad):
    ids = np.array([[2, 3, 4], [5, 6, BAD_ID if bad else 8]])
    return {"inputs": tf.constant(ids, tf.int32), "targets": tf.constant(ids, tf.int32)}


def make_step(num_replicas, overrides="", **options):
    """A step of a tiny model whose vector of the input symbol `BAD_ID` is NaN."""
    hparams = registry.hparams("transformer_tiny")
    hparams.parse(
        "num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2,learning_rate_warmup_steps=2,"
        "shared_embedding_and_softmax_weights=False" + overrides
    )
    hparams.problem_hparams = HParams(loss_multiplier=1.0)
    strategy = make_strategy(num_replicas)
    with strategy.scope():
        model = registry.model("transformer")(
            hparams, input_vocab_size=VOCAB_SIZE, target_vocab_size=VOCAB_SIZE
        )
        optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    table = model.input_table.table
    table.assign(np.where(np.arange(VOCAB_SIZE)[:, None] == BAD_ID, np.nan, table.numpy()))
    step = TrainStep(model, optimizer, hparams, strategy=strategy, **options)
    return step, model, optimizer


def state_of(model, optimizer):
    slots = slot_variables(optimizer, model.trainable_variables)
    variables = {v.path: v for v in model.variables} | slots
    return {name: variable.numpy() for name, variable in variables.items()}


def is_same(old, new):
    return all(np.array_equal(old[name], new[name], equal_nan=True) for name in old)


def observe(step, model, optimizer):
    """What three steps do: a good one, one with a NaN, a good one."""
    reports = []
    for bad in (False, True, False):
        before = state_of(model, optimizer)
        result = step(make_features(bad))
        reports.append(
            {
                "changed": not is_same(before, state_of(model, optimizer)),
                "is_finite": None if result.is_finite is None else bool(result.is_finite),
                "loss_is_finite": bool(np.isfinite(result.loss)),
                "replica_is_finite": np.isfinite(result.replica_losses).tolist(),
                "replica_sum": float(np.sum(result.replica_losses)),
                "loss": float(result.loss),
                "step": int(optimizer.iterations.numpy()),
            }
        )
    return reports


def main():
    make_strategy(2)
    for_skip = observe(*make_step(2, skip_nonfinite=True, jit_compile=sys.argv[1] == "jit"))
    print(json.dumps(for_skip))


if __name__ == "__main__":
    main()
