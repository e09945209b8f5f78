"""The float type that activations have in a model (T2T's hparam `activation_dtype`).

Weights are always float32. In a model of float16 or bfloat16 activations, matrix products, dropout,
residual sums and caches are of that type; weights are rounded to it where they are used. Statistics
of norms, the softmax of attention, biases of attention and what follows the logits stay float32.

The vectors of symbols are where the type comes in; every later layer goes by its input's type.
"""

from typing import Any

import keras

__all__ = ["ACTIVATION_DTYPES", "activation_dtype", "set_activation_dtype"]

ACTIVATION_DTYPES = ("float32", "bfloat16", "float16")


def activation_dtype(hparams: Any) -> str:
    """The type hparams ask for.

    `gpu_automatic_mixed_precision`, which in T2T made TensorFlow 1 rewrite the graph to float16,
    means float16 activations.

    Raises:
      ValueError: `activation_dtype` is none of `ACTIVATION_DTYPES`, or both hparams are given.
    """
    dtype = getattr(hparams, "activation_dtype", None) or "float32"
    if dtype not in ACTIVATION_DTYPES:
        raise ValueError(
            f"hparam activation_dtype must be one of {', '.join(ACTIVATION_DTYPES)}. "
            f"Received: {dtype!r}"
        )
    if getattr(hparams, "gpu_automatic_mixed_precision", False):
        if dtype != "float32":
            raise ValueError(
                "gpu_automatic_mixed_precision takes the place of activation_dtype: give one of "
                f"them. Received: gpu_automatic_mixed_precision=True, activation_dtype={dtype!r}"
            )
        return "float16"
    return str(dtype)


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
