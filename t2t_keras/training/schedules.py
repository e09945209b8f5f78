"""Learning-rate schedules: a product of named factors, or the older `legacy` schemes.

The hparam `learning_rate_schedule` names the factors, joined by `*`, for instance
`constant*linear_warmup*rsqrt_decay*rsqrt_hidden_size`, which is the schedule of "Attention Is All
You Need" (section 5.3). The numbers are T2T's (`utils.learning_rate`).

The first update of a run sees step 0. With gradients accumulated over n steps
(`optimizer_multistep_accumulate_steps`), schedules count updates: the step is divided by n.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import keras
import tensorflow as tf
from absl import logging

from t2t_keras.names import did_you_mean

__all__ = ["FACTORS", "LEGACY_SCHEMES", "LearningRate", "learning_rate_schedule"]


def _warmup_steps(hparams: Any) -> float:
    return float(hparams.learning_rate_warmup_steps)


def _decay_steps(hparams: Any) -> float:
    return float(hparams.learning_rate_decay_steps)


def _train_steps(hparams: Any) -> float:
    train_steps = hparams.get("train_steps", None)
    if not train_steps:
        raise ValueError(
            "This learning-rate schedule needs hparams.train_steps, the total number of steps. "
            f"Received: train_steps={train_steps!r}"
        )
    return float(train_steps)


def _constant(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    del step
    return tf.constant(hparams.learning_rate_constant, tf.float32)


def _linear_warmup(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    warmup = _warmup_steps(hparams)
    if warmup <= 0.0:
        return tf.constant(1.0)  # T2T divides by zero here, which gives NaN at step 0.
    return tf.minimum(1.0, step / warmup)


def _linear_decay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    remaining = (_train_steps(hparams) - step) / _decay_steps(hparams)
    return tf.clip_by_value(remaining, 0.0, 1.0)


def _cosdecay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    # The phase counts from step 0, so the value jumps where the warm-up ends.
    phase = math.pi * step / _decay_steps(hparams)
    return tf.where(step <= _warmup_steps(hparams), 1.0, 0.5 * (1.0 + tf.cos(phase)))


def _single_cycle_cos_decay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    warmup, total = _warmup_steps(hparams), _train_steps(hparams)
    if total <= warmup:
        raise ValueError(
            "single_cycle_cos_decay needs more train_steps than learning_rate_warmup_steps. "
            f"Received: train_steps={total:.0f}, learning_rate_warmup_steps={warmup:.0f}"
        )
    return 0.5 * tf.cos(math.pi * (tf.maximum(step, warmup) - warmup) / (total - warmup)) + 0.5


def _multi_cycle_cos_decay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    warmup = _warmup_steps(hparams)
    # Multiplied in this order, float32 gives T2T's digits.
    phase = (math.pi / _decay_steps(hparams)) * (tf.maximum(step, warmup) - warmup)
    return 0.5 * tf.cos(phase) + 0.5


def _rsqrt_decay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    return tf.math.rsqrt(tf.maximum(step, _warmup_steps(hparams)))


def _rsqrt_normalized_decay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    warmup = _warmup_steps(hparams)
    return math.sqrt(warmup) * tf.math.rsqrt(tf.maximum(step, warmup))


def _exp_decay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    exponent = (step - _warmup_steps(hparams)) / _decay_steps(hparams)
    if hparams.learning_rate_decay_staircase:
        exponent = tf.floor(exponent)
    return tf.pow(hparams.learning_rate_decay_rate, tf.maximum(0.0, exponent))


def _rsqrt_hidden_size(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    del step
    return tf.constant(hparams.hidden_size**-0.5, tf.float32)


def _noam(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    """5000 times the learning rate of Vaswani et al. (2017), equation 3."""
    warmup = _warmup_steps(hparams)
    scale = 5000.0 * hparams.hidden_size**-0.5
    count = step + 1.0
    if warmup <= 0.0:
        return scale * tf.math.rsqrt(count)
    return scale * tf.minimum(count * warmup**-1.5, tf.math.rsqrt(count))


def _no_decay(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    del step, hparams
    return tf.constant(1.0)


def _legacy_exp(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    exponent = (step - _warmup_steps(hparams)) / _decay_steps(hparams)
    if hparams.learning_rate_decay_staircase:
        exponent = tf.floor(exponent)
    return tf.pow(hparams.learning_rate_decay_rate, exponent)


def _legacy_sqrt(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    return 500.0 * tf.math.rsqrt(tf.maximum(step - _warmup_steps(hparams), 1.0))


def _legacy_cosine(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    cycle = float(hparams.learning_rate_cosine_cycle_steps)
    position = cycle - tf.abs(cycle - tf.math.floormod(step, 2.0 * cycle))
    return 0.5 * (1.0 + tf.cos(math.pi * position / cycle))


def _legacy_cyclelinear10x(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    cycle = _warmup_steps(hparams)
    position = 1.0 - tf.abs(tf.math.floormod(step, 2.0 * cycle) - cycle) / cycle
    return (position + 0.1) * 3.0


def _legacy_piecewise(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    boundaries = [float(boundary) for boundary in hparams.learning_rate_boundaries]
    multiples = [1.0, *(float(multiple) for multiple in hparams.learning_rate_multiples)]
    if len(multiples) != len(boundaries) + 1:
        raise ValueError(
            "The scheme piecewise needs as many learning_rate_multiples as "
            f"learning_rate_boundaries. Received: {multiples[1:]}, {boundaries}"
        )
    passed = tf.reduce_sum(tf.cast(step >= tf.constant(boundaries), tf.int32))
    return tf.gather(tf.constant(multiples), passed)


LEGACY_SCHEMES: dict[str, Callable[[tf.Tensor, Any], tf.Tensor]] = {
    "noam": _noam,
    "none": _no_decay,
    "": _no_decay,
    "exp": _legacy_exp,
    "sqrt": _legacy_sqrt,
    "cosine": _legacy_cosine,
    "cyclelinear10x": _legacy_cyclelinear10x,
    "piecewise": _legacy_piecewise,
}


def _legacy(step: tf.Tensor, hparams: Any) -> tf.Tensor:
    """The schedules of T2T's first sets: one scheme, scaled for the optimizer."""
    scheme = hparams.learning_rate_decay_scheme or ""
    if scheme not in LEGACY_SCHEMES:
        raise ValueError(
            f"Unknown learning_rate_decay_scheme.{did_you_mean(scheme, LEGACY_SCHEMES)} "
            f"Received: {scheme!r}"
        )
    value = LEGACY_SCHEMES[scheme](step, hparams)
    warmup = _warmup_steps(hparams)
    if scheme != "noam" and warmup > 0.0:
        # Through a rounded base, as in T2T: that is some 1e-4 off 0.01^((W - step) / W).
        growth = tf.exp(tf.math.log(0.01) / warmup)
        exponential_warmup = tf.pow(growth, warmup - step)
        value = tf.where(step < warmup, exponential_warmup, value)
    # T2T looks for lower-case "adam": the old optimizer name "Adam" isn't scaled down.
    correction = 0.002 if "adam" in hparams.optimizer else 1.0
    return value * correction * hparams.learning_rate


FACTORS: dict[str, Callable[[tf.Tensor, Any], tf.Tensor]] = {
    "constant": _constant,
    "linear_warmup": _linear_warmup,
    "linear_decay": _linear_decay,
    "cosdecay": _cosdecay,
    "single_cycle_cos_decay": _single_cycle_cos_decay,
    "multi_cycle_cos_decay": _multi_cycle_cos_decay,
    "rsqrt_decay": _rsqrt_decay,
    "rsqrt_normalized_decay": _rsqrt_normalized_decay,
    "exp_decay": _exp_decay,
    "rsqrt_hidden_size": _rsqrt_hidden_size,
    "legacy": _legacy,
}


class LearningRate(keras.optimizers.schedules.LearningRateSchedule):
    """Learning rate as a function of the global step, before its increment.

    Args:
        hparams: with `learning_rate_schedule` and what the named factors read.

    Raises:
        ValueError: unknown factor or scheme, with near matches.
    """

    def __init__(self, hparams: Any) -> None:
        super().__init__()
        self._hparams = hparams
        names = [name.strip() for name in hparams.learning_rate_schedule.split("*")]
        self.factor_names = [name for name in names if name]
        for name in self.factor_names:
            if name not in FACTORS:
                raise ValueError(
                    f"Unknown factor in learning_rate_schedule.{did_you_mean(name, FACTORS)} "
                    f"Received: {name!r} in {hparams.learning_rate_schedule!r}; "
                    f"available: {', '.join(FACTORS)}"
                )
        if "legacy" not in self.factor_names and hparams.get("learning_rate", None):
            logging.debug(
                "hparam learning_rate is read only by the legacy schedule; %s ignores it.",
                hparams.learning_rate_schedule,
            )
        # Fail now, not in the first training step, if a factor misses something.
        self(0)

    def __call__(self, step: Any) -> tf.Tensor:
        """Float32 scalar: the learning rate of the update that starts at global step `step`."""
        step = tf.cast(step, tf.float32)
        accumulated = self._hparams.get("optimizer_multistep_accumulate_steps", 0) or 0
        if accumulated > 0:
            step /= float(accumulated)
        values = (FACTORS[name](step, self._hparams) for name in self.factor_names)
        return functools.reduce(tf.multiply, values, tf.constant(1.0))

    def get_config(self) -> dict[str, Any]:
        """Not serialisable beyond its description: the hparams are kept in hparams.json."""
        return {"learning_rate_schedule": self._hparams.learning_rate_schedule}


def learning_rate_schedule(hparams: Any) -> LearningRate:
    """The schedule that `hparams.learning_rate_schedule` describes."""
    return LearningRate(hparams)
