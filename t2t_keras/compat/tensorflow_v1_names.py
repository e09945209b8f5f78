"""`tensorflow.compat.v1`, loaded at first use."""

from typing import Any


def __getattr__(name: str) -> Any:
    if name in ("__path__", "__all__"):
        raise AttributeError(name)
    import tensorflow as tf

    value = getattr(tf.compat.v1, name)
    globals()[name] = value
    return value
