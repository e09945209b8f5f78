"""Trains a tiny model in one go and in two halves; says whether both end the same.

Run in a process of its own: logical CPU devices must be made before TensorFlow starts.

    python -m tests.training.resume_program FOLDER STEPS REPLICAS jit|plain
"""

import hashlib
import json
import pathlib
import sys

import numpy as np
import tensorflow as tf

from t2t_keras.training import checkpoints
from t2t_keras.training.distribution import make_strategy
from t2t_keras.training.event_files import read_events
from t2t_keras.training.step import TrainStep
from t2t_keras.training.trainer import Trainer
from tests.training import toy


def recording(batches):
    """A step that also notes a digest of each batch."""
    original = TrainStep.__call__

    def call(self, *features):
        for batch in features:
            digest = hashlib.sha256()
            for name in sorted(batch):
                digest.update(batch[name].numpy().tobytes())
            batches.append(digest.hexdigest())
        return original(self, *features)

    return call


def train(directory, data_dir, steps, num_replicas, jit_compile):
    """Trains to a step; returns digests of the batches."""
    batches = []
    original = TrainStep.__call__
    TrainStep.__call__ = recording(batches)
    try:
        config = toy.make_config(
            directory, data_dir, train_steps=steps, num_replicas=num_replicas,
            jit_compile=jit_compile, max_xla_shapes=2, iterations_per_loop=1000,
            local_eval_frequency=1000,
        )  # fmt: skip
        Trainer(toy.make_hparams(data_dir), "transformer", config).train()
    finally:
        TrainStep.__call__ = original
    return batches


def values(directory):
    reader = tf.train.load_checkpoint(checkpoints.latest_checkpoint(str(directory)))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def main():
    folder, steps, num_replicas = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    settings = (num_replicas, sys.argv[4] == "jit")
    make_strategy(num_replicas)
    (folder / "data").mkdir()
    data_dir = toy.make_data(folder / "data")
    whole = train(folder / "whole", data_dir, steps, *settings)
    halves = train(folder / "halves", data_dir, steps // 2, *settings)
    halves += train(folder / "halves", data_dir, steps, *settings)
    expected, found = values(folder / "whole"), values(folder / "halves")
    losses = [
        {step: value for step, tag, value in read_events(str(folder / name)) if tag == "loss"}
        for name in ("whole", "halves")
    ]
    report = {
        "steps": len(whole),
        "different_batches": len(set(whole)),
        "same_order": whole == halves,
        "same_losses": losses[0] == losses[1],
        "differing": [
            name
            for name in sorted(set(expected) | set(found))
            if not np.array_equal(expected.get(name), found.get(name))
        ],
        "variables": len(expected),
    }
    print(json.dumps(report))


if __name__ == "__main__":
    main()
