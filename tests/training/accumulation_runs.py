"""Ten updates, with a batch's four parts on replicas or in micro-batches."""

import numpy as np

from tests.training import tiny_step

NUM_UPDATES = 10
NUM_PARTS = 4


def train(num_replicas, overrides, jit_compile):
    """Losses, losses of the parts, learning rate and weights after the updates."""
    num_micro_batches = NUM_PARTS // num_replicas
    step, model, optimizer = tiny_step.make_step(
        "learning_rate_warmup_steps=4,learning_rate_constant=0.1" + overrides,
        num_replicas=num_replicas,
        random_seed=5,
        jit_compile=jit_compile,
        num_micro_batches=num_micro_batches,
    )
    tiny_step.set_weights(model)
    batch = tiny_step.uneven_batch()
    parts = [
        {name: value[number * num_replicas :][:num_replicas] for name, value in batch.items()}
        for number in range(num_micro_batches)
    ]
    results = [step(*parts) for _ in range(NUM_UPDATES)]
    assert step.num_traces == 1, step.num_traces
    return {
        "losses": [float(result.loss) for result in results],
        "part_losses": np.array([result.replica_losses for result in results]),
        "token_count": float(results[-1].token_count),
        "step": int(optimizer.iterations.numpy()),
        "learning_rate": float(optimizer.learning_rate),
        "weights": tiny_step.weights_of(model),
    }


def train_all(overrides, compiler, counts):
    """`train` with each of these numbers of replicas."""
    return [train(count, overrides, compiler == "jit") for count in counts]
