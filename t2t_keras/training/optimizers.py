"""Optimizers by T2T's names, as functions `(learning_rate, hparams) -> keras optimizer`.

The learning rate may be a schedule: Keras evaluates it at `iterations`, which is the global step
before its increment, as T2T does.
"""

from typing import Any

import keras

from t2t_keras import registry
from t2t_keras.training.adafactor import Adafactor
from t2t_keras.training.adam import Adam, AdamW, MultistepAdam
from t2t_keras.training.gradient_descent import SGD, Adagrad, Ftrl, Momentum, RMSProp


def _adam_arguments(hparams: Any) -> dict[str, Any]:
    return {
        "beta_1": hparams.optimizer_adam_beta1,
        "beta_2": hparams.optimizer_adam_beta2,
        "epsilon": hparams.optimizer_adam_epsilon,
    }


@registry.register_optimizer
def adam(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Adam with hparams `optimizer_adam_beta1`, `optimizer_adam_beta2`, `optimizer_adam_epsilon`.

    T2T's is "lazy" Adam; on dense gradients, as here, lazy and plain Adam are the same.
    """
    return Adam(learning_rate, **_adam_arguments(hparams))


@registry.register_optimizer
def true_adam(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """The same as `adam`, by T2T's name for the plain variant."""
    return adam(learning_rate, hparams)


@registry.register_optimizer
def multistep_adam(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """`adam` on gradients of `optimizer_multistep_accumulate_steps` steps."""
    # In a set the hparam may be None, which stands for 0.
    num_steps = int(hparams.optimizer_multistep_accumulate_steps or 0)
    return MultistepAdam(learning_rate, num_steps, **_adam_arguments(hparams))


@registry.register_optimizer
def adam_w(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """`adam` with decoupled weight decay, hparam `weight_decay`.

    As in T2T, the same hparam also adds the square of the weights to the loss.
    """
    return AdamW(learning_rate, hparams.weight_decay, **_adam_arguments(hparams))


@registry.register_optimizer
def adafactor(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Adafactor: hparams `optimizer_adafactor_*`, and `symbol_modality_num_shards`."""
    return Adafactor(
        learning_rate,
        num_shards=hparams.symbol_modality_num_shards,
        beta_1=hparams.optimizer_adafactor_beta1,
        beta_2=hparams.optimizer_adafactor_beta2,
        factored=hparams.optimizer_adafactor_factored,
        decay_type=hparams.optimizer_adafactor_decay_type,
        memory_exponent=hparams.optimizer_adafactor_memory_exponent,
        clipping_threshold=hparams.optimizer_adafactor_clipping_threshold,
        multiply_by_parameter_scale=hparams.optimizer_adafactor_multiply_by_parameter_scale,
    )


@registry.register_optimizer
def momentum(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Momentum: hparams `optimizer_momentum_momentum`, `optimizer_momentum_nesterov`."""
    return Momentum(
        learning_rate,
        momentum=hparams.optimizer_momentum_momentum,
        nesterov=hparams.optimizer_momentum_nesterov,
    )


@registry.register_optimizer
def yellow_fin(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Not available; raises `ValueError`."""
    del learning_rate, hparams
    raise ValueError(
        "Optimizer yellow_fin isn't available; momentum with a learning rate of your choice, or "
        "adam, takes its place. Received: optimizer='yellow_fin'"
    )


@registry.register_optimizer
def adagrad(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Adagrad with TensorFlow 1's defaults."""
    del hparams
    return Adagrad(learning_rate, name="adagrad")


@registry.register_optimizer
def ftrl(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """FTRL with TensorFlow 1's defaults."""
    del hparams
    return Ftrl(learning_rate, name="ftrl")


@registry.register_optimizer
def rms_prop(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """RMSProp with TensorFlow 1's defaults."""
    del hparams
    return RMSProp(learning_rate, name="rms_prop")


@registry.register_optimizer
def sgd(learning_rate: Any, hparams: Any) -> keras.optimizers.Optimizer:
    """Plain gradient descent."""
    del hparams
    return SGD(learning_rate, name="sgd")
