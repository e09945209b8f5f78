"""The results an evaluation reports, by the names users give them, and which way is better."""

import dataclasses
from collections.abc import Iterable

from t2t_keras.metric_names import Metrics
from t2t_keras.names import did_you_mean

__all__ = ["LOSS", "ChosenMetric", "choose_metric"]

LOSS = "loss"

_LESS_IS_BETTER = frozenset(
    {
        LOSS,
        Metrics.EDIT_DISTANCE,
        Metrics.WORD_ERROR_RATE,
        Metrics.RMSE,
        Metrics.IMAGE_RMSE,
        Metrics.UNPADDED_MSE,
        Metrics.MEAN_ABSOLUTE_ERROR,
        Metrics.LOG_POISSON,
        Metrics.SIGMOID_CROSS_ENTROPY_ONE_HOT,
        Metrics.SOFTMAX_CROSS_ENTROPY_ONE_HOT,
    }
)


@dataclasses.dataclass(frozen=True)
class ChosenMetric:
    """A result of evaluations.

    Attributes:
        tag: its full name, as in TensorBoard.
        minimize: whether smaller values are better.
    """

    tag: str
    minimize: bool


def choose_metric(
    name: str,
    *,
    prefix: str,
    problem_metrics: Iterable[str],
    translation_metrics: Iterable[str] = (),
) -> ChosenMetric:
    """The result that a user means.

    Args:
        name: `loss`, one of the problem's metrics (`accuracy`, with or without the prefix), or one
            of the translations; case doesn't matter if that isn't ambiguous.
        prefix: `metrics-<problem>/targets/`.
        problem_metrics: names as `Problem.eval_metrics` lists them.
        translation_metrics: of translated sentences, e.g. `BLEU_cased`; empty if none are made.

    Raises:
        ValueError: there is no such result; the message has near matches.
    """
    tags = {LOSS: LOSS, **{metric: prefix + metric for metric in problem_metrics}}
    tags |= {metric: metric for metric in translation_metrics}
    short = name.removeprefix(prefix)
    if short not in tags:
        alike = [known for known in tags if known.lower() == short.lower()]
        if len(alike) != 1:
            raise ValueError(
                f"No evaluation reports this.{did_you_mean(short, tags)} Received: {name!r}; "
                f"available: {', '.join(tags)}{_hint(short, translation_metrics)}"
            )
        short = alike[0]
    return ChosenMetric(tags[short], short in _LESS_IS_BETTER)


def _hint(name: str, translation_metrics: Iterable[str]) -> str:
    if tuple(translation_metrics) or not any(part in name.lower() for part in ("bleu", "chrf")):
        return ""
    return ". Scores of translations need --translate_every_evaluations=1 (or more)."
