"""Mixed precision in training: which numbers a run uses, and the loss scale that float16 needs."""

from typing import Any

import keras
import tensorflow as tf
from absl import logging

from t2t_keras.layers.precision import activation_dtype
from t2t_keras.training.t2t_loss_scale import BAD_STEPS, GOOD_STEPS, LOSS_SCALE

__all__ = ["DynamicLossScale", "describe_precision", "loss_scale_for"]

_DEFAULT_SCALE = 2.0**15
_GOOD_STEPS_TO_DOUBLE = 2000
# T2T's loss scaling halves the scale after two bad steps, TensorFlow 1's graph rewrite after each.
_BAD_STEPS_TO_HALVE = 2
_BAD_STEPS_TO_HALVE_AUTOMATIC = 1


class DynamicLossScale:
    """A factor of the loss that keeps float16 gradients from becoming zero.

    The loss is multiplied by it and the gradients, in float32, are divided by it. It doubles after
    `good_steps_to_double` steps with finite gradients on end, and halves, down to 1, after
    `bad_steps_to_halve` steps whose gradients weren't finite since it last changed ("Mixed
    Precision Training", Micikevicius et al., 2018, section 3.2; the numbers are T2T's). The factors
    are powers of two, so that scaling rounds nothing.

    Make it in the scope of the strategy that trains.

    Args:
        initial_scale: T2T's hparam `mixed_precision_optimizer_init_loss_scale`.
        good_steps_to_double: see above.
        bad_steps_to_halve: see above.

    Attributes:
        variables: its state, Keras variables by name in a checkpoint.

    Raises:
        ValueError: the initial scale is below 1.
    """

    def __init__(
        self,
        initial_scale: float = _DEFAULT_SCALE,
        good_steps_to_double: int = _GOOD_STEPS_TO_DOUBLE,
        bad_steps_to_halve: int = _BAD_STEPS_TO_HALVE,
    ) -> None:
        if not initial_scale >= 1.0:
            raise ValueError(
                "hparam mixed_precision_optimizer_init_loss_scale must be at least 1. "
                f"Received: {initial_scale!r}"
            )
        self._good_steps_to_double = good_steps_to_double
        self._bad_steps_to_halve = bad_steps_to_halve

        def variable(value: Any, dtype: str, name: str) -> Any:
            return keras.Variable(value, dtype=dtype, trainable=False, name=name)

        self._scale = variable(float(initial_scale), "float32", "loss_scale")
        self._good_steps = variable(0, "int32", "loss_scale_good_steps")
        self._bad_steps = variable(0, "int32", "loss_scale_bad_steps")
        self.variables = {
            LOSS_SCALE: self._scale,
            GOOD_STEPS: self._good_steps,
            BAD_STEPS: self._bad_steps,
        }

    def value(self) -> tf.Tensor:
        """The scale of the next step, a float32 scalar."""
        return tf.convert_to_tensor(self._scale.value)

    def update(self, is_finite: tf.Tensor) -> None:
        """Counts a step; in a strategy's scope, outside its replicas.

        Args:
            is_finite: bool scalar, whether the step's gradients were all finite.
        """
        scale = self.value()
        good = tf.where(is_finite, self._good_steps.value + 1, 0)
        bad = self._bad_steps.value + tf.cast(~is_finite, tf.int32)
        doubled = tf.where(tf.math.is_finite(2.0 * scale), 2.0 * scale, scale)
        grows = good >= self._good_steps_to_double
        shrinks = bad >= self._bad_steps_to_halve
        new = tf.where(grows, doubled, tf.where(shrinks, tf.maximum(0.5 * scale, 1.0), scale))
        self._scale.value.assign(new)
        self._good_steps.value.assign(tf.where(grows | shrinks, 0, good))
        self._bad_steps.value.assign(tf.where(grows | shrinks, 0, bad))


def loss_scale_for(hparams: Any) -> DynamicLossScale | None:
    """The loss scale hparams ask for; None where activations aren't float16 or it is turned off.

    Raises:
        ValueError: `mixed_precision_optimizer_loss_scaler` is neither `exponential` nor empty.
    """
    if activation_dtype(hparams) != "float16":
        return None
    if hparams.get("gpu_automatic_mixed_precision"):
        return DynamicLossScale(bad_steps_to_halve=_BAD_STEPS_TO_HALVE_AUTOMATIC)
    scaler = hparams.get("mixed_precision_optimizer_loss_scaler", "exponential")
    if scaler not in ("exponential", "", None):
        raise ValueError(
            "hparam mixed_precision_optimizer_loss_scaler must be 'exponential', or empty for no "
            f"loss scaling. Received: {scaler!r}"
        )
    if not scaler:
        logging.warning("float16 activations without loss scaling: small gradients become zero.")
        return None
    initial = hparams.get("mixed_precision_optimizer_init_loss_scale")
    return DynamicLossScale(_DEFAULT_SCALE if initial is None else float(initial))


def describe_precision(hparams: Any) -> str:
    """One line for the log."""
    dtype = activation_dtype(hparams)
    if dtype == "float32":
        return "float32 throughout"
    return f"{dtype} activations, float32 weights, gradients and optimizer"
