"""TensorFlow, loaded at first use, with the names that only TensorFlow 1 had (`tf.gfile`, …).

A name that TensorFlow 2 has means what it means there; any other is taken from
`tensorflow.compat.v1`.
"""

from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("__path__", "__all__"):
        raise AttributeError(name)
    import tensorflow as tf

    for module in (tf, tf.compat.v1):
        try:
            value = getattr(module, name)
        except AttributeError:
            continue
        globals()[name] = value
        return value
    raise AttributeError(
        f"Neither tensorflow nor tensorflow.compat.v1 (version {tf.__version__}) has {name!r}."
        + _hint(name)
    )


def _hint(name: str) -> str:
    if name == "contrib":
        return " tf.contrib has gone; HParams, for one, are in tensor2tensor.utils.hparam."
    return ""
