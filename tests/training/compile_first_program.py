"""Compiles a step for its shapes, then trains; prints what XLA compiled at which time.

Run in a process of its own, with a directory for what XLA writes: its flags are read once, and
logical CPU devices must be made before TensorFlow starts.
"""

import json
import os
import pathlib
import sys

import tensorflow as tf

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.training.distribution import make_strategy
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.step import TrainStep

SHAPES = [(4, 3), (2, 6)]
NUM_REPLICAS = 2


def features(rows, length, token):
    return {name: tf.fill([rows, length], token) for name in ("inputs", "targets")}


def make_step(num_micro_batches):
    hparams = registry.hparams("transformer_tiny")
    hparams.parse("num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2")
    hparams.problem_hparams = HParams(loss_multiplier=1.0)
    strategy = make_strategy(NUM_REPLICAS)
    with strategy.scope():
        model = registry.model("transformer")(hparams, input_vocab_size=11, target_vocab_size=11)
        optimizer = registry.optimizer(hparams.optimizer)(learning_rate_schedule(hparams), hparams)
    options = {"strategy": strategy, "num_micro_batches": num_micro_batches, "jit_compile": True}
    return TrainStep(model, optimizer, hparams, **options), model


def run(xla_directory, num_micro_batches):
    def num_compiled():
        modules = pathlib.Path(xla_directory).glob("*loss_and_gradients*after_optimizations.txt")
        return len(list(modules))

    step, model = make_step(num_micro_batches)
    before = [variable.value.numpy() for variable in model.variables]
    for shape in SHAPES:
        step.compile_for(features(*shape, 0))
    report = {"compiled_first": num_compiled(), "traces_first": step.num_traces}
    after = [variable.value.numpy() for variable in model.variables]
    report["unchanged"] = all((a == b).all() for a, b in zip(after, before, strict=True))
    results = [step(*[features(*shape, 7)] * num_micro_batches) for shape in SHAPES]
    report["losses"] = [float(result.loss) for result in results]
    report["compiled"], report["traces"] = num_compiled(), step.num_traces
    after = [variable.value.numpy() for variable in model.variables]
    report["trained"] = any((a != b).any() for a, b in zip(after, before, strict=True))
    return report


if __name__ == "__main__":
    os.environ["XLA_FLAGS"] = f"--xla_dump_to={sys.argv[1]} --xla_dump_hlo_as_text"
    print(json.dumps(run(sys.argv[1], int(sys.argv[2]))))
