"""The training loss: label-smoothed cross-entropy, summed over tokens.

Losses are returned as a sum and a count, never as a mean: only so can the replicas of a
data-parallel step be joined into the mean over *all* tokens of the global batch.
"""

import math
from typing import Any

import tensorflow as tf

__all__ = [
    "label_smoothed_cross_entropy",
    "loss_weights",
    "normalizing_constant",
    "pad_to_same_length",
    "padded_loss_terms",
    "smoothed_confidences",
    "squared_error_terms",
]


def smoothed_confidences(vocab_size: int, label_smoothing: float) -> tuple[float, float]:
    """The target distribution of label smoothing (Szegedy et al., 2016, section 7).

    Returns:
        The probability of the right label and that of each of the other `vocab_size - 1` entries.
    """
    confidence = 1.0 - label_smoothing
    low_confidence = (1.0 - confidence) / (vocab_size - 1) if vocab_size > 1 else 0.0
    return confidence, low_confidence


def normalizing_constant(vocab_size: int, label_smoothing: float) -> float:
    """Entropy of the smoothed target distribution: the least cross-entropy any model can reach.

    T2T's `padded_cross_entropy` subtracts it, so that a perfect model has loss 0.
    """
    confidence, low_confidence = smoothed_confidences(vocab_size, label_smoothing)
    if label_smoothing == 0.0:
        return 0.0
    return -(
        confidence * math.log(confidence + (0.0 if confidence > 0.0 else 1e-20))
        + (vocab_size - 1) * low_confidence * math.log(low_confidence + 1e-20)
    )


def label_smoothed_cross_entropy(
    logits: tf.Tensor, labels: tf.Tensor, label_smoothing: float
) -> tf.Tensor:
    """Cross-entropy of every token against its smoothed label, less the normalising constant.

    With probability `c` on the label and `low` on each other entry this is
    `-sum_v q(v) log softmax(logits)(v) - N`. It is computed, and differentiated, from the plain
    cross-entropy and the sum of the logits, without a `[batch, length, vocab]` target distribution.

    Args:
        logits: `[batch, length, vocab]`, any float type; computed in float32.
        labels: integers `[batch, length]`.
        label_smoothing: probability taken off the label; 0 for none.

    Returns:
        float32 `[batch, length]`.
    """
    logits = tf.cast(logits, tf.float32)
    vocab_size = logits.shape[-1]
    if vocab_size is None:
        raise ValueError(
            "The vocabulary size must be known when the graph is built. "
            f"Received: logits of shape {logits.shape}"
        )
    if label_smoothing == 0.0:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    constant = normalizing_constant(vocab_size, label_smoothing)
    return _smoothed_cross_entropy(label_smoothing)(logits, labels) - constant


def _smoothed_cross_entropy(label_smoothing: float) -> Any:
    """The cross-entropy `(logits, labels) -> [batch, length]` with its gradient by hand.

    The kernel for plain cross-entropy yields loss and gradient in one pass over the logits;
    automatic differentiation of the smoothed part would add several passes over this largest
    tensor of the model.
    """

    @tf.custom_gradient
    def cross_entropy(logits: tf.Tensor, labels: tf.Tensor) -> Any:
        vocab_size = logits.shape[-1]
        confidence, low_confidence = smoothed_confidences(vocab_size, label_smoothing)
        flat_labels = tf.reshape(labels, [-1])  # [batch * length]
        flat_logits = tf.reshape(logits, [-1, vocab_size])  # [batch * length, vocab]
        plain, softmax_minus_label = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(
            features=flat_logits, labels=flat_labels
        )
        rows = tf.range(tf.shape(flat_labels)[0], dtype=flat_labels.dtype)
        label_indices = tf.stack([rows, flat_labels], axis=1)  # [batch * length, 2]
        # log softmax(v) = logit(v) - log_sum, and plain = log_sum - logit(label).
        log_sum = plain + tf.gather_nd(flat_logits, label_indices)
        sum_of_log_softmax = tf.reduce_sum(flat_logits, axis=-1) - vocab_size * log_sum
        loss = (confidence - low_confidence) * plain - low_confidence * sum_of_log_softmax

        def gradient(upstream: tf.Tensor) -> tuple[tf.Tensor, None]:
            # d loss / d logits = softmax - q, where q = low + (c - low) * one_hot(label).
            upstream = tf.reshape(upstream, [-1, 1])  # [batch * length, 1]
            flat = upstream * (softmax_minus_label - low_confidence)
            correction = (1.0 - confidence + low_confidence) * tf.squeeze(upstream, axis=1)
            flat = tf.tensor_scatter_nd_add(flat, label_indices, correction)
            return tf.reshape(flat, tf.shape(logits)), None

        return tf.reshape(loss, tf.shape(labels)), gradient

    return cross_entropy


def loss_weights(labels: tf.Tensor, prepend_mode: str = "none", training: bool = True) -> tf.Tensor:
    """Which tokens count in the loss.

    Padding (id 0) never does. Where the inputs were prepended to the targets with a 0 between them
    (hparam `prepend_mode`), the inputs part doesn't count either, except in training with
    `prepend_inputs_masked_attention`.

    Args:
        labels: integers `[batch, length]`.
        prepend_mode: `none`, `prepend_inputs_masked_attention` or `prepend_inputs_full_attention`.
        training: whether this is a training step.

    Returns:
        float32 `[batch, length]` of ones and zeros.
    """
    nonpadding = tf.cast(tf.not_equal(labels, 0), tf.float32)
    whole = prepend_mode in (None, "", "none")
    if whole or (prepend_mode == "prepend_inputs_masked_attention" and training):
        return nonpadding
    past_first_zero = tf.cumsum(1.0 - nonpadding, axis=1) > 0.0
    return tf.where(past_first_zero, nonpadding, 0.0)


def pad_to_same_length(logits: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Appends zeros to the shorter of logits `[batch, t, vocab]` and labels `[batch, t]`.

    Lengths that aren't known when the graph is built are taken as equal.
    """
    logits_length, labels_length = logits.shape[1], labels.shape[1]
    if logits_length is None or labels_length is None or logits_length == labels_length:
        return logits, labels
    length = max(logits_length, labels_length)
    logits = tf.pad(logits, [[0, 0], [0, length - logits_length], [0, 0]])
    labels = tf.pad(labels, [[0, 0], [0, length - labels_length]])
    return logits, labels


def padded_loss_terms(
    logits: tf.Tensor,
    labels: tf.Tensor,
    label_smoothing: float,
    loss_multiplier: float = 1.0,
    weights: tf.Tensor | None = None,
    cutoff: float = 0.0,
) -> tuple[tf.Tensor, tf.Tensor]:
    """Numerator and denominator of the loss (T2T's `padded_cross_entropy`).

    Args:
        logits: `[batch, length, vocab]`.
        labels: integers `[batch, length]`, 0 where padded.
        label_smoothing: see `label_smoothed_cross_entropy`.
        loss_multiplier: factor of the numerator; a problem's, 2.0 for byte vocabularies.
        weights: float32 `[batch, length]`; by default 1 where the label isn't 0.
        cutoff: if positive, taken off every token's loss, of which no less than 0 remains: what is
            predicted well enough teaches no more.

    Returns:
        The weighted sum of the token losses times the multiplier, and the sum of the weights.
    """
    logits, labels = pad_to_same_length(logits, labels)
    if weights is None:
        weights = loss_weights(labels)
    token_losses = label_smoothed_cross_entropy(logits, labels, label_smoothing)
    if cutoff > 0.0:
        token_losses = tf.nn.relu(token_losses - cutoff)
    loss_sum = tf.reduce_sum(token_losses * weights)
    if loss_multiplier != 1.0:
        loss_sum *= loss_multiplier
    return loss_sum, tf.reduce_sum(weights)


def squared_error_terms(predictions: tf.Tensor, targets: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Numerator and denominator of the mean squared error of `[batch, 1]` numbers."""
    difference = tf.cast(predictions, tf.float32) - tf.cast(targets, tf.float32)
    return tf.reduce_sum(tf.square(difference)), tf.cast(tf.size(difference), tf.float32)
