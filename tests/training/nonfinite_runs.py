"""Steps with a NaN in the second half of the batch, and what becomes of the variables."""

import numpy as np
import tensorflow as tf

from tests.training import tiny_step

BAD_ID = 7


def make_features(bad):
    ids = np.array([[2, 3, 4], [5, 6, BAD_ID if bad else 8]])
    return {"inputs": tf.constant(ids, tf.int32), "targets": tf.constant(ids, tf.int32)}


def make_step(num_replicas, **options):
    """A step of a tiny model whose vector of the input symbol `BAD_ID` is NaN."""
    step, model, optimizer = tiny_step.make_step(
        "learning_rate_warmup_steps=2,shared_embedding_and_softmax_weights=False",
        num_replicas=num_replicas,
        **options,
    )
    table = model.input_table.table
    is_bad = np.arange(tiny_step.VOCAB_SIZE)[:, None] == BAD_ID
    table.assign(np.where(is_bad, np.nan, table.numpy()))
    return step, model, optimizer


def is_same(old, new):
    return all(np.array_equal(old[name], new[name], equal_nan=True) for name in old)


def observe(num_replicas, jit_compile):
    """What three steps do: a good one, one with a NaN, a good one."""
    step, model, optimizer = make_step(num_replicas, skip_nonfinite=True, jit_compile=jit_compile)
    reports = []
    for bad in (False, True, False):
        before = tiny_step.state_of(model, optimizer)
        result = step(make_features(bad))
        reports.append(
            {
                "changed": not is_same(before, tiny_step.state_of(model, optimizer)),
                "is_finite": None if result.is_finite is None else bool(result.is_finite),
                "loss_is_finite": bool(np.isfinite(result.loss)),
                "replica_is_finite": np.isfinite(result.replica_losses).tolist(),
                "replica_sum": float(np.sum(result.replica_losses)),
                "loss": float(result.loss),
                "step": int(optimizer.iterations.numpy()),
            }
        )
    return reports
