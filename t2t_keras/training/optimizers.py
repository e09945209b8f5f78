"""Optimizers by T2T's names, as functions `(learning_rate, hparams) -> keras optimizer`.

The learning rate may be a schedule: Keras evaluates it at `iterations`, which is the global step
before its increment, as T2T does.
"""

from typing import Any

import keras
import tensorflow as tf

from t2t_keras import registry

__all__ = ["Adam", "adam", "momentum", "sgd", "slot_variables", "true_adam"]


class Adam(keras.optimizers.Adam):
    """Adam (Kingma and Ba, 2015, https://arxiv.org/abs/1412.6980) with "epsilon hat".

    With t the number of updates, this one included,
    `lr_t = lr * sqrt(1 - beta_2^t) / (1 - beta_1^t)`, `m <- beta_1 m + (1 - beta_1) g`,
    `v <- beta_2 v + (1 - beta_2) g^2` and `w <- w - lr_t * m / (sqrt(v) + epsilon)`. That is the
    form at the end of the paper's section 2, TensorFlow 1's and Keras'.

    One fused operation updates a variable and both moments in a single pass over memory, where
    Keras' own update takes about ten.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        index = self._get_variable_index(variable)
        dtype = variable.dtype
        update = tf.cast(self.iterations.value, dtype) + 1.0
        tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=self._momentums[index].value.handle,
            v=self._velocities[index].value.handle,
            beta1_power=tf.pow(tf.cast(self.beta_1, dtype), update),
            beta2_power=tf.pow(tf.cast(self.beta_2, dtype), update),
            lr=tf.cast(learning_rate, dtype),
            beta1=tf.cast(self.beta_1, dtype),
            beta2=tf.cast(self.beta_2, dtype),
            epsilon=tf.cast(self.epsilon, dtype),
            grad=tf.cast(gradient, dtype),
        )

    def slot_variables(self, variable: Any) -> dict[str, Any]:
        """First and second moments of a trainable variable, by TensorFlow 1's slot names."""
        index = self._get_variable_index(variable)
        return {"Adam": self._momentums[index], "Adam_1": self._velocities[index]}


class Momentum(keras.optimizers.SGD):
    """Gradient descent with momentum as TensorFlow 1 has it.

    `a <- mu a + g` and `w <- w - lr a`, or with Nesterov's variant `w <- w - lr (g + mu a)`. The
    learning rate multiplies the accumulator only when it is applied; in Keras' SGD it goes into it,
    which differs as soon as the rate changes.
    """

    def update_step(self, gradient: Any, variable: Any, learning_rate: Any) -> None:
        """Updates one variable (called by Keras for each)."""
        dtype = variable.dtype
        tf.raw_ops.ResourceApplyMomentum(
            var=variable.handle,
            accum=self.momentums[self._get_variable_index(variable)].value.handle,
            lr=tf.cast(learning_rate, dtype),
            grad=tf.cast(gradient, dtype),
            momentum=tf.cast(self.momentum, dtype),
            use_nesterov=self.nesterov,
        )

    def slot_variables(self, variable: Any) -> dict[str, Any]:
        """The accumulator of a trainable variable, by TensorFlow 1's slot name."""
        return {"Momentum": self.momentums[self._get_variable_index(variable)]}


@registry.register_optimizer
def adam(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Adam with hparams `optimizer_adam_beta1`, `optimizer_adam_beta2`, `optimizer_adam_epsilon`.

    T2T's is "lazy" Adam; on dense gradients, as here, lazy and plain Adam are the same.
    """
    return Adam(
        learning_rate=learning_rate,
        beta_1=hparams.optimizer_adam_beta1,
        beta_2=hparams.optimizer_adam_beta2,
        epsilon=hparams.optimizer_adam_epsilon,
    )


@registry.register_optimizer
def true_adam(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """The same as `adam`, by T2T's name for the plain variant."""
    return adam(learning_rate, hparams)


@registry.register_optimizer
def momentum(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Momentum: hparams `optimizer_momentum_momentum`, `optimizer_momentum_nesterov`."""
    return Momentum(
        learning_rate=learning_rate,
        momentum=hparams.optimizer_momentum_momentum,
        nesterov=hparams.optimizer_momentum_nesterov,
    )


@registry.register_optimizer
def sgd(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Plain gradient descent: `w <- w - lr g`."""
    del hparams
    return keras.optimizers.SGD(learning_rate=learning_rate)


def slot_variables(
    optimizer: keras.optimizers.Optimizer, trainable_variables: list[Any]
) -> dict[str, Any]:
    """The optimizer's state by the name it has in a checkpoint.

    T2T's names, `training/<variable>/<slot>`, where the optimizer knows its slots; for any other
    Keras optimizer `training/<path of the optimizer's variable>`. The count of updates isn't among
    them: it is the global step.

    Args:
        optimizer: built.
        trainable_variables: the variables it was built on.
    """
    if hasattr(optimizer, "slot_variables"):
        return {
            f"training/{variable.path}/{slot}": slot_variable
            for variable in trainable_variables
            for slot, slot_variable in optimizer.slot_variables(variable).items()
        }
    own = {id(optimizer.iterations), id(getattr(optimizer, "_learning_rate", None))}
    return {f"training/{v.path}": v for v in optimizer.variables if id(v) not in own}
