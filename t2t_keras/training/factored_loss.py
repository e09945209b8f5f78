"""The training loss without logits of the whole batch (T2T's hparam `factored_logits`).

The logits, `[tokens, vocab]`, and their gradient are by far the largest tensors of a training step
with a large vocabulary. Here a part of the tokens at a time is projected, its loss and gradients
are taken, and its logits are forgotten.
"""

from typing import Any

import tensorflow as tf

from t2t_keras.training.losses import label_smoothed_cross_entropy

__all__ = ["factored_loss_sum"]

# Tokens whose logits exist at one time.
_TOKENS = 512


def factored_loss_sum(
    hidden: tf.Tensor,
    table: tf.Tensor,
    labels: tf.Tensor,
    weights: tf.Tensor,
    label_smoothing: float,
    tokens_at_once: int = _TOKENS,
) -> tf.Tensor:
    """Σ weight · cross-entropy of logits hidden·tableᵀ: the numerator of the training loss.

    Gradients flow to `hidden` and `table`. They are computed together with the loss, so that logits
    are computed once.

    Args:
        hidden: `[batch, length, depth]`, the decoder's output; logits are computed in its type.
        table: `[vocab, depth]`, the softmax table.
        labels: integers `[batch, length]`.
        weights: float32 `[batch, length]`.
        label_smoothing: see `losses.label_smoothed_cross_entropy`.
        tokens_at_once: how many tokens' logits exist at one time.

    Returns:
        float32 scalar.
    """
    depth = hidden.shape[-1]
    filling = -tf.size(labels) % tokens_at_once

    def in_parts(x: tf.Tensor, shape: list[int]) -> tf.Tensor:
        """`[batch, length, …]` -> `[parts, tokens_at_once, …]`, filled up with zeros."""
        flat = tf.reshape(x, [-1, *shape])
        flat = tf.pad(flat, [[0, filling], *[[0, 0] for _ in shape]])
        return tf.reshape(flat, [-1, tokens_at_once, *shape])

    label_parts, weight_parts = in_parts(labels, []), in_parts(weights, [])

    @tf.custom_gradient
    def loss_sum(hidden_parts: tf.Tensor, table: tf.Tensor) -> Any:
        count = tf.shape(hidden_parts)[0]
        rounded = tf.cast(table, hidden_parts.dtype)

        def part(
            number: tf.Tensor, total: tf.Tensor, of_hidden: tf.TensorArray, of_table: tf.Tensor
        ) -> Any:
            vectors = hidden_parts[number]  # [tokens, depth]
            with tf.GradientTape() as tape:
                logits = tf.matmul(vectors, rounded, transpose_b=True)  # [tokens, vocab]
                tape.watch(logits)
                losses = label_smoothed_cross_entropy(
                    logits[None], label_parts[number][None], label_smoothing
                )
                loss = tf.reduce_sum(losses * weight_parts[number])
            gradient = tape.gradient(loss, logits)
            return (
                number + 1,
                total + loss,
                of_hidden.write(number, tf.matmul(gradient, rounded)),
                of_table + tf.cast(tf.matmul(gradient, vectors, transpose_a=True), table.dtype),
            )

        of_hidden = tf.TensorArray(hidden_parts.dtype, count, element_shape=[tokens_at_once, depth])
        _, total, of_hidden, of_table = tf.while_loop(
            lambda number, *_: number < count,
            part,
            (0, tf.zeros([]), of_hidden, tf.zeros_like(table)),
            parallel_iterations=1,
        )
        hidden_gradient = of_hidden.stack()

        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return tf.cast(upstream, hidden_gradient.dtype) * hidden_gradient, upstream * of_table

        return total, gradient

    return loss_sum(in_parts(hidden, [depth]), table)
