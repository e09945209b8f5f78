"""Adam and its relatives (Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.training.slots import Slot, SlotOptimizer

__all__ = ["Adam", "AdamW", "MultistepAdam"]


class Adam(SlotOptimizer):
    """Adam with "epsilon hat".

    With t the number of updates, this one included,
    `lr_t = lr * sqrt(1 - beta_2^t) / (1 - beta_1^t)`, `m <- beta_1 m + (1 - beta_1) g`,
    `v <- beta_2 v + (1 - beta_2) g^2` and `w <- w - lr_t * m / (sqrt(v) + epsilon)`. That is the
    form at the end of the paper's section 2, TensorFlow 1's and Keras'.

    One fused operation updates a variable and both moments in a single pass over memory, where
    Keras' own update takes about ten.

    Args:
        learning_rate: a number or a schedule.
        beta_1: decay of the first moment.
        beta_2: decay of the second moment.
        epsilon: see above.
        name: of the optimizer.
    """

    slot_name = "Adam"

    def __init__(
        self,
        learning_rate: Any,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        name: str = "adam",
    ) -> None:
        super().__init__(learning_rate=learning_rate, name=name)
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon

    def make_slots(self, variable: Any) -> list[Slot]:
        """First and second moment."""
        return [Slot(variable.shape), Slot(variable.shape)]

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        update = tf.cast(self.iterations.value, variable.dtype) + 1.0
        self._apply(gradient, variable, learning_rate, update)

    def _apply(self, gradient: Any, variable: Any, learning_rate: Any, update: Any) -> None:
        """One update; `update` counts them from 1."""
        dtype = variable.dtype
        first, second = self.slots_of(variable)[:2]
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=first.handle,
            v=second.handle,
            beta1_power=tf.pow(tf.cast(self.beta_1, dtype), update),
            beta2_power=tf.pow(tf.cast(self.beta_2, dtype), update),
            lr=tf.cast(learning_rate, dtype),
            beta1=tf.cast(self.beta_1, dtype),
            beta2=tf.cast(self.beta_2, dtype),
            epsilon=tf.cast(self.epsilon, dtype),
            grad=tf.cast(gradient, dtype),
        )

    def num_updates(self, step: int) -> int:
        """How many updates the global step stands for."""
        return step

    def state_scalars(self, step: int) -> dict[str, np.ndarray]:
        """`beta1_power` and `beta2_power`: TensorFlow 1 keeps the running products."""
        updates = self.num_updates(step)
        return {
            "beta1_power": _running_product(self.beta_1, updates + 1),
            "beta2_power": _running_product(self.beta_2, updates + 1),
        }


def _running_product(factor: float, count: int) -> np.ndarray:
    """`factor^count` as float32 multiplications give it, tiny values flushed to 0."""
    products = np.multiply.accumulate(np.full([count], factor, np.float32))
    is_flushed = products[-1] < np.finfo(np.float32).tiny
    return np.array(0.0 if is_flushed else products[-1], np.float32)


class AdamW(Adam):
    """Adam with decoupled weight decay (Loshchilov and Hutter, https://arxiv.org/abs/1711.05101).

    Before Adam's update, `w <- w - weight_decay * w`; the learning rate has no part in it.

    Args:
        learning_rate: a number or a schedule.
        weight_decay: see above.
        **arguments: of `Adam`.
    """

    slot_name = "AdamW"

    def __init__(self, learning_rate: Any, weight_decay: float, **arguments: Any) -> None:
        super().__init__(learning_rate, **arguments)
        # Not `weight_decay`, by which Keras would do another decay.
        self.decoupled_weight_decay = weight_decay

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        if self.decoupled_weight_decay:
            variable.assign_sub(self.decoupled_weight_decay * variable)
        super().update_step(gradient, variable, learning_rate)


class MultistepAdam(Adam):
    """Adam on the mean gradient of every `num_steps` steps: a batch that many times as large.

    Steps number n, 2n, … (n is `num_steps`) update the variables, with the mean of n gradients;
    the others only add theirs to a third slot. The place in the cycle follows from the global step.

    Args:
        learning_rate: a number or a schedule; it is taken at the step of the update.
        num_steps: at least 1.
        **arguments: of `Adam`.
    """

    def __init__(self, learning_rate: Any, num_steps: int, **arguments: Any) -> None:
        if num_steps < 1:
            raise ValueError(
                "multistep_adam needs hparam optimizer_multistep_accumulate_steps, the number of "
                f"steps to an update, at least 1. Received: {num_steps}"
            )
        super().__init__(learning_rate, **arguments)
        self.num_steps = num_steps

    def make_slots(self, variable: Any) -> list[Slot]:
        """First and second moment, sum of gradients."""
        return [Slot(variable.shape)] * 3

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable or adds up its gradient (called by Keras for each)."""
        steps_done = self.iterations.value + 1
        gradient_sum = self.slots_of(variable)[2]

        def accumulate() -> tf.Tensor:
            gradient_sum.assign_add(tf.cast(gradient, gradient_sum.dtype))
            return tf.constant(False)

        def update() -> tf.Tensor:
            mean = (gradient_sum + tf.cast(gradient, gradient_sum.dtype)) / self.num_steps
            number = tf.cast(steps_done // self.num_steps, variable.dtype)
            self._apply(mean, variable, learning_rate, number)
            gradient_sum.assign(tf.zeros_like(mean))
            return tf.constant(True)

        tf.cond(steps_done % self.num_steps == 0, update, accumulate)

    def skip(self, variables: Sequence[Any]) -> None:
        """Lets a step pass as one without gradient: at the end of a cycle the others' are due."""
        self.apply([tf.zeros(variable.shape, variable.dtype) for variable in variables], variables)

    def num_updates(self, step: int) -> int:
        """How many updates the global step stands for."""
        return step // self.num_steps

    def state_scalars(self, step: int) -> dict[str, np.ndarray]:
        """Besides Adam's, `iter`: the next step's place in the cycle; 0 is the update's."""
        place = np.array((step + 1) % self.num_steps, np.int32)
        return {**super().state_scalars(step), "iter": place}
