"""Gradients of several micro-batches summed into one update."""

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from absl import logging

__all__ = ["GradientAccumulator", "accumulation_factor", "nominal_token_count"]


class GradientAccumulator:
    """Sums of gradients, losses and token counts since the last update.

    Every replica has sums of its own, so that replicas exchange gradients once an update. They are
    empty between updates: a checkpoint doesn't need them. Make it in the strategy's scope.

    Args:
        variables: the Keras variables of the gradients.
    """

    def __init__(self, variables: Sequence[Any]) -> None:
        self._gradients = [_sum(variable.shape, variable.dtype) for variable in variables]
        self._loss, self._count = _sum([], "float32"), _sum([], "float32")

    def add(self, gradients: Sequence[tf.Tensor], loss: tf.Tensor, count: tf.Tensor) -> None:
        """Adds a micro-batch's, in a replica."""
        for total, gradient in zip(self._gradients, gradients, strict=True):
            total.assign_add(gradient)
        self._loss.assign_add(loss)
        self._count.assign_add(count)

    def take(self) -> tuple[list[tf.Tensor], tf.Tensor, tf.Tensor]:
        """Gradients, loss and count of a replica; afterwards the sums are zero."""
        totals = [*self._gradients, self._loss, self._count]
        values = [total.read_value() for total in totals]
        for total, value in zip(totals, values, strict=True):
            total.assign(tf.zeros_like(value))
        return values[:-2], values[-2], values[-1]


def _sum(shape: Any, dtype: str) -> tf.Variable:
    return tf.Variable(
        tf.zeros(shape, dtype),
        trainable=False,
        synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )


def nominal_token_count(batch_size: int, num_replicas: int, num_micro_batches: int) -> float:
    """About as many tokens as an update has, as a power of two.

    The true count is known only when all micro-batches are in. Dividing the losses by this number
    meanwhile keeps gradients of low precision in range; as a power of two, it rounds nothing.
    """
    count = max(batch_size, 1) * num_replicas * num_micro_batches
    return float(2 ** (count.bit_length() - 1))


def accumulation_factor(hparams: Any, num_replicas: int, effective_batch_tokens: int) -> int:
    """How many micro-batches make an update of about `effective_batch_tokens` tokens.

    `batch_size * num_replicas` is what a micro-batch has, counted as `batch_size` counts: the
    longer side of each sentence pair, padding included.

    Args:
        hparams: `batch_size`, `optimizer`.
        num_replicas: of the run, on all machines.
        effective_batch_tokens: as asked for; 0 for no accumulation.

    Raises:
        ValueError: it is negative, or the optimizer accumulates by itself.
    """
    if not effective_batch_tokens:
        return 1
    if effective_batch_tokens < 0:
        raise ValueError(
            f"effective_batch_tokens must not be negative. Received: {effective_batch_tokens}"
        )
    if hparams.optimizer == "multistep_adam":
        raise ValueError(
            "effective_batch_tokens and optimizer multistep_adam both accumulate gradients. Use "
            "optimizer=adam with effective_batch_tokens, or multistep_adam without. "
            f"Received: effective_batch_tokens={effective_batch_tokens}"
        )
    tokens = hparams.batch_size * num_replicas
    factor = max(1, round(effective_batch_tokens / tokens))
    logging.info(
        "effective_batch_tokens=%d: %d micro-batch(es) of %d x %d tokens an update, %d tokens",
        effective_batch_tokens, factor, num_replicas, hparams.batch_size, factor * tokens,
    )  # fmt: skip
    return factor
