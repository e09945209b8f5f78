"""The class of every text of a batch, where targets are class labels: nothing is searched."""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from t2t_keras.decoding.sampling import Sampling, choose


def classify(
    model: Any,
    inputs: tf.Tensor,
    sampling: Sampling = Sampling(),  # noqa: B008 (immutable)
    seed: tf.Tensor | None = None,
) -> dict[str, tf.Tensor]:
    """The classes of a batch, in the form of `search.infer`.

    Args:
        model: a `Transformer` or `TransformerEncoder` made with `predicts_class`.
        inputs: int32 `[batch, input_length]`, right-padded with 0.
        sampling: how classes are chosen; the most likely ones by default.
        seed: int32 `[2]`, makes random choices repeatable.

    Returns:
        `outputs`: int32 `[batch, 1]`; `scores`: float32 `[batch]`, their log probabilities.
    """
    logits = model({"inputs": inputs})[:, 0]  # [batch, classes]
    if seed is None:
        seed = tf.random.uniform([2], maxval=tf.int32.max, dtype=tf.int32)
    chosen = choose(logits, sampling, seed)
    scores = tf.gather(tf.nn.log_softmax(logits), chosen, axis=1, batch_dims=1)
    return {"outputs": chosen[:, tf.newaxis], "scores": scores}
