"""Activation functions of T2T's that Keras computes otherwise by default."""

from typing import Any

from keras import ops


def gelu(x: Any) -> Any:
    """The Gaussian error linear unit in its tanh form (Hendrycks and Gimpel, 2016, section 2).

    x/2 · (1 + tanh(sqrt(2/π)·(x + 0.044715·x³))), which is T2T's; Keras' default is the exact form
    with the error function, up to 5e-4 apart.

    Args:
      x: any shape.

    Returns:
      the shape of `x`.
    """
    return ops.gelu(x, approximate=True)
