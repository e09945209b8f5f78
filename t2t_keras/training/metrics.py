"""Evaluation metrics on teacher-forced outputs, with T2T's definitions (`utils.metrics`).

A metric gives scores and weights; over an evaluation it is the sum of scores times weights divided
by the sum of weights. Token metrics are TensorFlow functions of the logits and run inside the
evaluation graph. Sequence metrics (BLEU, ROUGE, edit distance) are plain Python on the arg-max ids:
they need no logits, which would be far larger to fetch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.evaluation import bleu, rouge
from t2t_keras.metric_names import Metrics
from t2t_keras.names import did_you_mean
from t2t_keras.training.losses import loss_weights, pad_to_same_length

__all__ = [
    "METRICS_FNS",
    "SEQUENCE_METRICS",
    "TOKEN_METRICS",
    "check_metric_names",
    "classes_as_symbols",
]

TokenMetric = Callable[[tf.Tensor, tf.Tensor], tuple[tf.Tensor, tf.Tensor]]
SequenceMetric = Callable[[np.ndarray, np.ndarray], tuple[float, float]]

_NUM_TOP = 5
_IMPOSSIBLE = -1e9


def output_ids(logits: tf.Tensor) -> tf.Tensor:
    """The best id of each position, int32 `[batch, length]`."""
    return tf.argmax(logits, axis=-1, output_type=tf.int32)


def classes_as_symbols(logits: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Logits and labels of classes for the metrics, to which id 0 is padding that doesn't count.

    Every class becomes the symbol after it, and symbol 0 is impossible: no metric changes by that.

    Args:
        logits: `[batch, 1, classes]`.
        labels: integers `[batch, length]`, of which the first of each row counts.

    Returns:
        `[batch, 1, classes + 1]`, `[batch, 1]`.
    """
    logits = tf.pad(logits, [[0, 0], [0, 0], [1, 0]], constant_values=_IMPOSSIBLE)
    return logits, labels[:, :1] + 1


def padded_accuracy(logits: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Share of tokens whose best id is the label, padding aside."""
    logits, labels = pad_to_same_length(logits, labels)
    right = tf.equal(output_ids(logits), tf.cast(labels, tf.int32))
    return tf.cast(right, tf.float32), loss_weights(labels)


def padded_accuracy_top5(logits: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Share of tokens whose label is among the five best ids, padding aside."""
    logits, labels = pad_to_same_length(logits, labels)
    best = tf.math.top_k(logits, k=min(_NUM_TOP, logits.shape[-1])).indices  # [b, t, 5]
    right = tf.reduce_any(tf.equal(best, tf.cast(labels, tf.int32)[..., None]), axis=-1)
    return tf.cast(right, tf.float32), loss_weights(labels)


def padded_sequence_accuracy(logits: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Share of sequences without a wrong token, padding aside."""
    logits, labels = pad_to_same_length(logits, labels)
    wrong = tf.not_equal(output_ids(logits), tf.cast(labels, tf.int32))
    num_wrong = tf.reduce_sum(tf.cast(wrong, tf.float32) * loss_weights(labels), axis=1)
    return tf.cast(tf.equal(num_wrong, 0.0), tf.float32), tf.constant(1.0)


def padded_neg_log_perplexity(logits: tf.Tensor, labels: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
    """Mean log-probability of the labels (natural logarithm, never above 0), padding aside."""
    logits, labels = pad_to_same_length(logits, labels)
    weights = loss_weights(labels)
    cross_entropy = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=tf.cast(logits, tf.float32)
    )
    return -cross_entropy * weights, weights


def approx_bleu(outputs: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """BLEU of id rows as they are: padding counts, and each batch counts alike (T2T's quirk)."""
    return float(bleu.compute_bleu(labels.tolist(), outputs.tolist())), 1.0


def rouge_2_fscore(outputs: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """ROUGE-2 of id rows as they are: padding counts, and each batch counts alike."""
    return float(rouge.rouge_n(outputs.tolist(), labels.tolist(), n=2)), 1.0


def rouge_l_fscore(outputs: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """ROUGE-L of id rows as they are: padding counts, and each batch counts alike."""
    return float(rouge.rouge_l_sentence_level(outputs.tolist(), labels.tolist())), 1.0


def sequence_edit_distance(outputs: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Edits per label token, with all ids 0 taken out of both rows."""
    distance, length = 0, 0
    for output_row, label_row in zip(outputs, labels, strict=True):
        reference = label_row[label_row != 0].tolist()
        distance += rouge.edit_distance(output_row[output_row != 0].tolist(), reference)
        length += len(reference)
    return distance / max(length, 1), float(length)


TOKEN_METRICS: dict[str, TokenMetric] = {
    Metrics.ACC: padded_accuracy,
    Metrics.ACC_TOP5: padded_accuracy_top5,
    Metrics.ACC_PER_SEQ: padded_sequence_accuracy,
    Metrics.NEG_LOG_PERPLEXITY: padded_neg_log_perplexity,
}

SEQUENCE_METRICS: dict[str, SequenceMetric] = {
    Metrics.APPROX_BLEU: approx_bleu,
    Metrics.ROUGE_2_F: rouge_2_fscore,
    Metrics.ROUGE_L_F: rouge_l_fscore,
    Metrics.EDIT_DISTANCE: sequence_edit_distance,
}


def _on_logits(metric: SequenceMetric) -> Callable[[Any, Any], tuple[Any, Any]]:
    """A sequence metric as a function of logits `[batch, t, vocab]` and labels `[batch, t]`."""

    def metric_on_logits(logits: Any, labels: Any) -> tuple[Any, Any]:
        score, weight = metric(output_ids(logits).numpy(), np.asarray(labels))
        return np.float32(score), np.float32(weight)

    metric_on_logits.__doc__ = metric.__doc__
    return metric_on_logits


METRICS_FNS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    **TOKEN_METRICS,
    **{name: _on_logits(metric) for name, metric in SEQUENCE_METRICS.items()},
}


def check_metric_names(names: list[str]) -> None:
    """Raises `ValueError`, with near matches, if a metric isn't available."""
    for name in names:
        if name not in METRICS_FNS:
            raise ValueError(
                f"Unknown evaluation metric.{did_you_mean(name, METRICS_FNS)} "
                f"Received: {name!r}; available: {', '.join(METRICS_FNS)}"
            )
