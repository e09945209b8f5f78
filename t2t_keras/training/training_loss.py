"""The loss of a model on a batch, as a sum over tokens and their number."""

from typing import Any, NamedTuple

import keras
import tensorflow as tf

from t2t_keras.training.factored_loss import factored_loss_sum
from t2t_keras.training.losses import (
    loss_weights,
    pad_to_same_length,
    padded_loss_terms,
    squared_error_terms,
)
from t2t_keras.training.scheduled_sampling import ScheduledSampling

__all__ = ["LossSettings", "TrainingLoss", "loss_terms", "token_weights"]

Features = dict[str, tf.Tensor]


class LossSettings(NamedTuple):
    """What turns logits and labels into a loss."""

    label_smoothing: float = 0.0
    loss_multiplier: float = 1.0
    prepend_mode: str = "none"
    predicts_numbers: bool = False  # Targets are real numbers, float32 `[batch, 1]`.
    predicts_classes: bool = False  # Targets are classes, the first of each row; 0 is one, too.

    @classmethod
    def from_hparams(cls, hparams: Any, training: bool) -> "LossSettings":
        """The settings of `hparams`; labels are smoothed in training only."""
        problem_hparams = getattr(hparams, "problem_hparams", None)
        return cls(
            label_smoothing=float(hparams.label_smoothing) if training else 0.0,
            loss_multiplier=float(getattr(problem_hparams, "loss_multiplier", 1.0) or 1.0),
            prepend_mode=hparams.get("prepend_mode") or "none",
            predicts_numbers=_kind_of_targets(problem_hparams) == "real",
            predicts_classes=_kind_of_targets(problem_hparams) == "class_label",
        )


def token_weights(features: Features, settings: LossSettings, training: bool) -> tf.Tensor:
    """Which target tokens count in the loss, float32 `[batch, length]`."""
    if settings.predicts_numbers:
        return tf.ones_like(features["targets"], tf.float32)
    if settings.predicts_classes:
        return tf.ones_like(features["targets"][:, :1], tf.float32)
    weights = loss_weights(features["targets"], settings.prepend_mode, training)
    if "targets_mask" in features:
        weights *= tf.cast(features["targets_mask"], tf.float32)
    return weights


def loss_terms(
    logits: tf.Tensor, features: Features, settings: LossSettings, training: bool
) -> tuple[tf.Tensor, tf.Tensor]:
    """Sum of the token losses and number of tokens of a batch, as `losses.padded_loss_terms`."""
    if settings.predicts_numbers:
        return squared_error_terms(logits, features["targets"])
    targets = features["targets"][:, :1] if settings.predicts_classes else features["targets"]
    logits, labels = pad_to_same_length(logits, targets)
    weights = token_weights({**features, "targets": labels}, settings, training)
    return padded_loss_terms(
        logits, labels, settings.label_smoothing, settings.loss_multiplier, weights
    )


class TrainingLoss:
    """The training loss of a model: smoothed labels, scheduled sampling, factored logits.

    Args:
        model: called as `model(features, training=True, dropout_seed=seed)`.
        hparams: `label_smoothing`, `scheduled_sampling_*`, `factored_logits`, ….
    """

    def __init__(self, model: keras.Model, hparams: Any) -> None:
        self._model = model
        self._settings = LossSettings.from_hparams(hparams, training=True)
        self._scheduled_sampling = ScheduledSampling(hparams)
        self._factored_logits = bool(hparams.get("factored_logits"))

    def token_count(self, features: Features) -> tf.Tensor:
        """How many target tokens count, a float32 scalar."""
        return tf.reduce_sum(token_weights(features, self._settings, training=True))

    def sum(self, features: Features, seed: tf.Tensor) -> tf.Tensor:
        """The sum of the token losses, a float32 scalar.

        Args:
            features: a batch, or a replica's part of one.
            seed: int32 `[2]`: global step and a number for everything else.
        """
        read = features
        if self._scheduled_sampling.is_on:
            read = self._scheduled_sampling.mixed_features(
                lambda mixed: self._model(mixed, training=True, dropout_seed=seed),
                features,
                step=seed[0],
                seed=seed,
            )
        if self._factored_logits:
            loss_sum = factored_loss_sum(
                self._model.hidden(read, training=True, dropout_seed=seed),
                tf.convert_to_tensor(self._model.softmax_table.table),
                features["targets"],
                token_weights(features, self._settings, training=True),
                self._settings.label_smoothing,
            )
            return loss_sum * self._settings.loss_multiplier
        logits = self._model(read, training=True, dropout_seed=seed)
        return loss_terms(logits, features, self._settings, training=True)[0]


def _kind_of_targets(problem_hparams: Any) -> str:
    kind = (getattr(problem_hparams, "modality", None) or {}).get("targets")
    return str(getattr(kind, "value", kind))
