"""Teacher-forced evaluation of a model: loss and metrics over the batches of a data set."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import keras
import numpy as np
import tensorflow as tf

from t2t_keras.training import metrics
from t2t_keras.training.training_loss import LossSettings, loss_terms

__all__ = ["Evaluator", "metric_prefix"]


class Evaluator:
    """Evaluates a model as it stands; compiled once, for all batch shapes.

    Args:
        model: built; called as `model(features, training=False)`.
        hparams: the loss's hparams, with `problem_hparams`.
        problem: gives `eval_metrics()` and the name in `metrics-<problem>/targets/<metric>`.

    Raises:
        ValueError: the problem names an unknown metric.
    """

    def __init__(self, model: keras.Model, hparams: Any, problem: Any) -> None:
        self._model = model
        self._settings = LossSettings.from_hparams(hparams, training=False)
        names = list(problem.eval_metrics())
        metrics.check_metric_names(names)
        self._token_metrics = {n: m for n, m in metrics.TOKEN_METRICS.items() if n in names}
        self._sequence_metrics = {n: m for n, m in metrics.SEQUENCE_METRICS.items() if n in names}
        self._prefix = metric_prefix(problem, hparams)
        self._step: Any = None

    def _batch(self, features: dict[str, tf.Tensor]) -> tuple[Any, ...]:
        """Loss, sums of the token metrics, best ids int32 `[batch, length]`, and their labels."""
        logits = self._model(features, training=False)
        loss_sum, count = loss_terms(logits, features, self._settings, training=False)
        labels = features["targets"]
        if self._settings.predicts_classes:
            logits, labels = metrics.classes_as_symbols(logits, labels)
        totals = {}
        for name, metric in self._token_metrics.items():
            scores, weights = metric(logits, labels)
            weights = weights * tf.ones_like(scores)
            totals[name] = (tf.reduce_sum(scores * weights), tf.reduce_sum(weights))
        return loss_sum / tf.maximum(count, 1.0), totals, metrics.output_ids(logits), labels

    def _compiled(self, features: dict[str, tf.Tensor]) -> Any:
        signature = {
            name: tf.TensorSpec([None] * len(value.shape), value.dtype, name)
            for name, value in features.items()
        }
        return tf.function(self._batch, input_signature=[signature], autograph=False)

    def evaluate(
        self, batches: Iterable[dict[str, tf.Tensor]], max_batches: int | None = None
    ) -> dict[str, float]:
        """Loss and metrics over all batches, or the first `max_batches`.

        Returns:
            `loss` and `metrics-<problem>/targets/<metric>`; sorted by name. `loss` is the mean over
            batches of each batch's mean (as TensorFlow's estimators have it), metrics weigh tokens,
            sequences or batches as each metric says.

        Raises:
            ValueError: there is no batch.
        """
        losses: list[float] = []
        totals: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(2))
        for number, features in enumerate(batches):
            if max_batches is not None and number >= max_batches:
                break
            if self._step is None:
                self._step = self._compiled(features)
            loss, token_totals, outputs, labels = self._step(features)
            losses.append(float(loss))
            for name, pair in token_totals.items():
                totals[name] += [float(value) for value in pair]
            self._add_sequence_metrics(totals, outputs.numpy(), labels.numpy())
        if not losses:
            raise ValueError(
                "The evaluation data is empty. Check data_dir and the problem's dev split, and "
                f"that eval_steps isn't 0. Received: eval_steps={max_batches}"
            )
        results = {
            self._prefix + name: float(s / w) if w else 0.0 for name, (s, w) in totals.items()
        }
        results["loss"] = float(np.mean(losses))
        return dict(sorted(results.items()))

    def _add_sequence_metrics(
        self, totals: dict[str, np.ndarray], outputs: np.ndarray, labels: np.ndarray
    ) -> None:
        for name, metric in self._sequence_metrics.items():
            score, weight = metric(outputs, labels)
            totals[name] += [score * weight, weight]


def metric_prefix(problem: Any, hparams: Any) -> str:
    """What the names of a problem's metrics begin with: `metrics-<problem>/targets/`."""
    return f"metrics-{_metric_name_of_problem(problem, hparams)}/targets/"


def _metric_name_of_problem(problem: Any, hparams: Any) -> str:
    """The problem's name with `_rev`, but without `_copy` (T2T's choice)."""
    overload = hparams.get("overload_eval_metric_name")
    if overload:
        return str(overload)
    return f"{problem.name}_rev" if problem.was_reversed else str(problem.name)
