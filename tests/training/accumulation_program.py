"""Ten updates, with a batch's eight parts on replicas or in micro-batches; prints differences.

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
from t2t_keras.training.step import TrainStep
from tests.training import replica_program

NUM_UPDATES = 10
NUM_PARTS = 8


def train(num_replicas, overrides, jit_compile):
    """Losses, losses of the parts, learning rate and weights after the updates."""
    hparams = registry.hparams("transformer_tiny")
    hparams.parse(
        "num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2,"
        "learning_rate_warmup_steps=4,learning_rate_constant=0.1" + overrides
    )
    hparams.problem_hparams = HParams(loss_multiplier=1.0)
    size = replica_program.VOCAB_SIZE
    strategy = make_strategy(num_replicas)
    schedule = learning_rate_schedule(hparams)
    with strategy.scope():
        model = registry.model("transformer")(
            hparams, input_vocab_size=size, target_vocab_size=size
        )
        optimizer = registry.optimizer(hparams.optimizer)(schedule, hparams)
    for number, variable in enumerate(model.variables):
        values = 0.3 * np.sin(0.37 * np.arange(np.prod(variable.shape)) + 1.3 * number)
        if variable.path.endswith("layer_norm_scale"):
            values += 1.0
        variable.assign(values.reshape(variable.shape))
    num_micro_batches = NUM_PARTS // num_replicas
    step = TrainStep(
        model,
        optimizer,
        hparams,
        strategy=strategy,
        random_seed=5,
        jit_compile=jit_compile,
        num_micro_batches=num_micro_batches,
    )
    batch = replica_program.make_features()
    parts = [
        {name: value[number * num_replicas :][:num_replicas] for name, value in batch.items()}
        for number in range(num_micro_batches)
    ]
    results = [step(*parts) for _ in range(NUM_UPDATES)]
    assert step.num_traces == 1, step.num_traces
    return {
        "losses": [float(result.loss) for result in results],
        "part_losses": np.array([result.replica_losses for result in results]).tolist(),
        "token_count": float(results[-1].token_count),
        "step": int(optimizer.iterations.numpy()),
        "learning_rate": float(schedule(optimizer.iterations.value - 1)),
        "weights": {v.path: v.numpy() for v in model.variables},
    }


def main():
    make_strategy(NUM_PARTS)
    overrides, jit_compile = sys.argv[1], sys.argv[2] == "jit"
    runs = [train(int(count), overrides, jit_compile) for count in sys.argv[3].split(",")]
    weights = [run.pop("weights") for run in runs]
    differences = [
        max(float(np.abs(other[name] - value).max()) for name, value in weights[0].items())
        for other in weights[1:]
    ]
    print(json.dumps({"runs": runs, "differences": differences}))


if __name__ == "__main__":
    tf.get_logger().setLevel("ERROR")
    main()
