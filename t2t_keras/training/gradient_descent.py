"""Optimizers of TensorFlow 1 that T2T offers besides Adam and Adafactor, by its fused operations.

Where T2T takes the framework's defaults, these are TensorFlow 1's, which Keras' often aren't.
"""

from typing import Any

import tensorflow as tf

from t2t_keras.training.slots import Slot, SlotOptimizer

__all__ = ["Adagrad", "Ftrl", "Momentum", "RMSProp", "SGD"]


class SGD(SlotOptimizer):
    """Plain gradient descent: `w <- w - lr g`."""

    def make_slots(self, variable: Any) -> list[Slot]:
        """None."""
        del variable
        return []

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        dtype = variable.dtype
        variable.assign_sub(tf.cast(learning_rate, dtype) * tf.cast(gradient, dtype))


class Momentum(SlotOptimizer):
    """Gradient descent with momentum.

    `a <- mu a + g` and `w <- w - lr a`, or with Nesterov's variant `w <- w - lr (g + mu a)`. The
    learning rate multiplies the accumulator only when it is applied; in Keras' SGD it goes into it,
    which differs as soon as the rate changes.

    Args:
        learning_rate: a number or a schedule.
        momentum: mu.
        nesterov: see above.
    """

    slot_name = "Momentum"

    def __init__(self, learning_rate: Any, momentum: float, nesterov: bool = False) -> None:
        super().__init__(learning_rate=learning_rate, name="momentum")
        self.momentum, self.nesterov = momentum, nesterov

    def make_slots(self, variable: Any) -> list[Slot]:
        """The accumulator."""
        return [Slot(variable.shape)]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        dtype = variable.dtype
        tf.raw_ops.ResourceApplyMomentum(
            var=variable.handle,
            accum=self.slots_of(variable)[0].handle,
            lr=tf.cast(learning_rate, dtype),
            grad=tf.cast(gradient, dtype),
            momentum=tf.cast(self.momentum, dtype),
            use_nesterov=self.nesterov,
        )


class Adagrad(SlotOptimizer):
    """Adagrad (Duchi et al., 2011): `a <- a + g^2`, `w <- w - lr g / sqrt(a)`; a starts at 0.1."""

    slot_name = "Adagrad"

    def make_slots(self, variable: Any) -> list[Slot]:
        """The sum of squares."""
        return [Slot(variable.shape, 0.1)]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        dtype = variable.dtype
        tf.raw_ops.ResourceApplyAdagrad(
            var=variable.handle,
            accum=self.slots_of(variable)[0].handle,
            lr=tf.cast(learning_rate, dtype),
            grad=tf.cast(gradient, dtype),
        )


class RMSProp(SlotOptimizer):
    """RMSProp (Tieleman and Hinton, 2012) with decay 0.9 and epsilon 1e-10 inside the root.

    `s <- 0.9 s + 0.1 g^2`, `w <- w - lr g / sqrt(s + epsilon)`; s starts at 1.
    """

    slot_name = "RMSProp"

    def make_slots(self, variable: Any) -> list[Slot]:
        """Mean square and (unused) momentum."""
        return [Slot(variable.shape, 1.0), Slot(variable.shape)]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        dtype = variable.dtype
        mean_square, momentum = self.slots_of(variable)
        tf.raw_ops.ResourceApplyRMSProp(
            var=variable.handle,
            ms=mean_square.handle,
            mom=momentum.handle,
            lr=tf.cast(learning_rate, dtype),
            rho=tf.cast(0.9, dtype),
            momentum=tf.cast(0.0, dtype),
            epsilon=tf.cast(1e-10, dtype),
            grad=tf.cast(gradient, dtype),
        )


class Ftrl(SlotOptimizer):
    """Follow the regularized leader (McMahan et al., 2013), without regularization.

    `a' = a + g^2`, `z <- z + g - (sqrt(a') - sqrt(a)) w / lr`, `w <- -z lr / sqrt(a')`, `a <- a'`;
    a starts at 0.1. Weights start from 0 whatever they were: w only follows from z. A learning rate
    of 0 makes them NaN.
    """

    slot_name = "Ftrl"

    def make_slots(self, variable: Any) -> list[Slot]:
        """The sum of squares and z."""
        return [Slot(variable.shape, 0.1), Slot(variable.shape)]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        dtype = variable.dtype
        accumulator, linear = self.slots_of(variable)
        tf.raw_ops.ResourceApplyFtrl(
            var=variable.handle,
            accum=accumulator.handle,
            linear=linear.handle,
            grad=tf.cast(gradient, dtype),
            lr=tf.cast(learning_rate, dtype),
            l1=tf.cast(0.0, dtype),
            l2=tf.cast(0.0, dtype),
            lr_power=tf.cast(-0.5, dtype),
        )
