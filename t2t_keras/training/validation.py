"""Evaluations in the course of a run, and what follows from them: best checkpoint and early end."""

import os
from collections.abc import Callable
from typing import Any, Protocol

from absl import logging

from t2t_keras.training.best_checkpoint import BestCheckpoints
from t2t_keras.training.early_stopping import EarlyStopping
from t2t_keras.training.evaluation_history import HISTORY_FILE, EvaluationHistory
from t2t_keras.training.run_config import RunConfig
from t2t_keras.training.validation_metrics import ChosenMetric, choose_metric

__all__ = [
    "EvaluateModel",
    "TranslationCheck",
    "Validation",
    "ValidationRules",
    "forget_evaluations",
]

# Curves and history of evaluations while training, and of those by a process of its own.
TRAINING_FOLDER = "eval"
SEPARATE_FOLDER = "eval_eval"

# model, step, whether to translate -> results by tag.
EvaluateModel = Callable[[Any, int, bool], dict[str, float]]


class TranslationCheck(Protocol):
    """Translates with a model as it stands and scores the translations."""

    metric_names: tuple[str, ...]

    def __call__(self, model: Any, step: int) -> dict[str, float]:
        """The scores by name, all of `metric_names`."""


class ValidationRules:
    """Which results of evaluations count, and for what.

    Args:
        config: settings of the run.
        problem: gives `eval_metrics()`.
        prefix: `metrics-<problem>/targets/`.
        translation_check: None if nothing is translated.

    Raises:
        ValueError: a metric that evaluations don't report, or numbers that make no sense.
    """

    def __init__(
        self,
        config: RunConfig,
        problem: Any,
        prefix: str,
        translation_check: TranslationCheck | None = None,
    ) -> None:
        self.translate_every = config.translate_every_evaluations if translation_check else 0
        names = tuple(translation_check.metric_names) if translation_check else ()

        def choose(name: str) -> ChosenMetric:
            return choose_metric(
                name,
                prefix=prefix,
                problem_metrics=problem.eval_metrics(),
                translation_metrics=names,
            )

        self.best_metric = None
        if config.best_checkpoint_metric:
            self.best_metric = choose(config.best_checkpoint_metric)
        self.early_stopping = None
        if config.early_stopping_steps is not None:
            metric = choose(config.early_stopping_metric)
            _check_early_stopping(config, metric)
            self.early_stopping = EarlyStopping(
                metric.tag, config.early_stopping_steps, config.early_stopping_delta,
                metric.minimize,
            )  # fmt: skip

    @property
    def any(self) -> bool:
        """Whether evaluations have any consequence beside their curves."""
        return bool(self.translate_every or self.best_metric or self.early_stopping)


class Validation:
    """Evaluates again and again, remembers the results and draws the conclusions.

    Args:
        rules: what counts.
        config: settings of the run.
        evaluate: evaluates a model.
        folder: below the output directory, for the history.
        first_step: step at which this process goes on.
        is_new_run: the run begins; best checkpoints of an older one are put aside.
    """

    def __init__(
        self,
        rules: ValidationRules,
        config: RunConfig,
        evaluate: EvaluateModel,
        *,
        folder: str,
        first_step: float,
        is_new_run: bool = False,
    ) -> None:
        self._rules = rules
        self._config = config
        self._evaluate = evaluate
        self._history = EvaluationHistory(os.path.join(config.output_dir, folder), first_step)
        self._best = None
        if rules.best_metric is not None:
            self._best = BestCheckpoints(
                config.output_dir, rules.best_metric, config.best_checkpoints_to_keep, is_new_run
            )
            # An earlier process may have been killed between the evaluation and its conclusion.
            self._best.make_up(self._history.points(rules.best_metric.tag))
        self.reason_to_stop = self._reason_to_stop()

    def is_missing(self, step: int) -> bool:
        """Whether this step, at which the run goes on, wasn't evaluated although it counts."""
        return self._rules.any and step > 0 and step not in self._history.steps

    def __call__(self, model: Any, step: int) -> dict[str, float]:
        """Evaluates and draws the conclusions; returns the results."""
        results = self._evaluate(model, step, self._translates_at(step))
        if self._rules.any:
            self._history.record(step, results)
            self._update_best(model, step)
            self.reason_to_stop = self._reason_to_stop()
        return results

    def _translates_at(self, step: int) -> bool:
        every = self._rules.translate_every
        if not every:
            return False
        number = 1 + sum(1 for other in self._history.steps if other < step)
        return number % every == 0 or step >= self._config.train_steps

    def _update_best(self, model: Any, step: int) -> None:
        metric = self._rules.best_metric
        if self._best is None or metric is None:
            return
        points = self._history.points(metric.tag)
        if not points or points[-1][0] != step:
            return
        if self._best.update(points, model) and self._best.best is not None:
            best_step, value = self._best.best
            logging.info(
                "Best checkpoint so far: step %d, %s = %.6g, kept in %s",
                best_step, metric.tag, value, self._best.directory,
            )  # fmt: skip

    def _reason_to_stop(self) -> str | None:
        rule = self._rules.early_stopping
        if rule is None:
            return None
        points = self._history.points(rule.tag)
        return rule.explain(points) if rule.is_plateau(points) else None


def separate_reason_to_stop(rules: ValidationRules, config: RunConfig, step: int) -> str | None:
    """Why training should end at `step` by the evaluations of a process of its own, or None."""
    rule = rules.early_stopping
    if rule is None:
        return None
    folder = os.path.join(config.output_dir, SEPARATE_FOLDER)
    points = EvaluationHistory(folder, step).points(rule.tag)
    return rule.explain(points) if rule.is_plateau(points) else None


def forget_evaluations(output_dir: str) -> None:
    """Removes the histories of a run that begins anew in its directory."""
    for folder in (TRAINING_FOLDER, SEPARATE_FOLDER):
        path = os.path.join(output_dir, folder, HISTORY_FILE)
        if os.path.exists(path):
            os.remove(path)


def _check_early_stopping(config: RunConfig, metric: ChosenMetric) -> None:
    steps, delta = config.early_stopping_steps, config.early_stopping_delta
    if steps is not None and steps <= 0:
        raise ValueError(f"eval_early_stopping_steps must be above 0. Received: {steps}")
    if not delta >= 0.0:
        raise ValueError(f"eval_early_stopping_metric_delta must be 0 or more. Received: {delta}")
    wanted = config.early_stopping_minimize
    if wanted is not None and wanted != metric.minimize:
        logging.info(
            "%s is better when it is %s: eval_early_stopping_metric_minimize=%s is ignored.",
            metric.tag, "smaller" if metric.minimize else "larger", wanted,
        )  # fmt: skip
