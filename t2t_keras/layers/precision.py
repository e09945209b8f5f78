"""The float type that activations have in a model (T2T's hparam `activation_dtype`).

Weights are always float32. In a model of float16 or bfloat16 activations, matrix products, dropout,
residual sums and caches are of that type; weights are rounded to it where they are used. Statistics
of norms, the softmax of attention, biases of attention and what follows the logits stay float32.

The vectors of symbols are where the type comes in; every later layer goes by its input's type.
"""

import keras

from t2t_keras.hparam_checks import ACTIVATION_DTYPES, activation_dtype

__all__ = ["ACTIVATION_DTYPES", "activation_dtype", "set_activation_dtype"]


def set_activation_dtype(model: keras.Model, dtype: str) -> None:
    """Makes all layers that a model has by now compute in a type.

    They see their inputs as they are: Keras' automatic casts would round the biases of attention,
    of which float16 would make infinities.
    """
    if dtype == "float32":
        return
    policy = keras.DTypePolicy(f"mixed_{dtype}")
    for layer in model._flatten_layers():
        layer.dtype_policy = policy
        layer.autocast = False
