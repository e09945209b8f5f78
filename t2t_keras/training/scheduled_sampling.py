"""Training on targets that are in part the model's own ("Scheduled Sampling", Bengio et al. 2015).

The parallel method: the model reads the gold targets, symbols are drawn from its predictions at all
positions at once, and then it reads a mix of both. The loss is that of the last reading, with the
gold targets as labels.
"""

from collections.abc import Callable
from typing import Any

import tensorflow as tf

__all__ = ["ScheduledSampling"]

_SPREAD_PASS = 0x632BE5AB


class ScheduledSampling:
    """Mixes what the model would say into what it reads.

    Args:
        hparams: `scheduled_sampling_prob` 0 or 1 says whether; `scheduled_sampling_gold_mixin_prob`
            is how many of the gold symbols are replaced in the end, reached over
            `scheduled_sampling_warmup_steps`; `scheduled_sampling_num_passes` how often.

    Raises:
        ValueError: another method or schedule than `parallel` and `exp`, or a probability of
            sampling that is neither 0 nor 1.
    """

    def __init__(self, hparams: Any) -> None:
        probability = hparams.get("scheduled_sampling_prob") or 0.0
        if probability not in (0.0, 1.0):
            raise ValueError(
                f"hparam scheduled_sampling_prob must be 0 or 1. Received: {probability!r}"
            )
        self.is_on = bool(probability)
        if not self.is_on:
            return
        for name, supported in (
            ("scheduled_sampling_method", "parallel"),
            ("scheduled_sampling_warmup_schedule", "exp"),
        ):
            if hparams.get(name) != supported:
                raise ValueError(
                    f"hparam {name} must be {supported}. Received: {hparams.get(name)!r}"
                )
        self._mixin = float(hparams.scheduled_sampling_gold_mixin_prob)
        self._warmup_steps = float(hparams.scheduled_sampling_warmup_steps)
        self._num_passes = int(hparams.scheduled_sampling_num_passes)

    def replacement_probability(self, step: tf.Tensor) -> tf.Tensor:
        """How likely a gold symbol is replaced: mixin · 0.001^(max(warmup − step, 0) / warmup)."""
        remaining = tf.maximum(self._warmup_steps - tf.cast(step, tf.float32), 0.0)
        return self._mixin * tf.pow(0.001, remaining / max(self._warmup_steps, 1.0))

    def mixed_features(
        self,
        logits_of: Callable[[dict[str, tf.Tensor]], tf.Tensor],
        features: dict[str, tf.Tensor],
        step: tf.Tensor,
        seed: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """The features that the model is to read in the last pass.

        Args:
            logits_of: the model: features -> logits `[batch, length, vocab]`.
            features: with gold `targets`, int32 `[batch, length]`; padding stays.
            step: the global step.
            seed: int32 `[2]`.
        """
        gold = mixed = features["targets"]
        probability = self.replacement_probability(step)
        for number in range(self._num_passes):
            logits = tf.stop_gradient(logits_of({**features, "targets": mixed}))
            draw = seed + tf.constant([0, (number + 1) * _SPREAD_PASS % (1 << 31)], tf.int32)
            length = tf.shape(gold)[1]
            # The largest of logits plus Gumbel noise is a draw from their softmax.
            uniform = tf.random.stateless_uniform(tf.shape(logits), draw, minval=1e-10)
            sampled = tf.argmax(
                logits - tf.math.log(-tf.math.log(uniform)), axis=-1, output_type=gold.dtype
            )
            replaced = tf.random.stateless_uniform(tf.shape(gold), draw + 1) < probability
            new = tf.where(replaced & (gold != 0), sampled, gold)
            # Symbols before the pass's number were mixed from predictions that can't improve.
            mixed = tf.where(tf.range(length)[None, :] < number, mixed, new)
        return {**features, "targets": mixed}
