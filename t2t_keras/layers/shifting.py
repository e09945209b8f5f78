"""Moving a sequence one position to the right: what a decoder is fed in training."""

from typing import Any

from keras import ops


def shift_right(x: Any, first: Any = None) -> Any:
    """Puts one position first and drops the last one.

    Args:
      x: ids `[batch, length]`, vectors `[batch, length, depth]`, or with more axes.
      first: what is put first, `[batch, 1, …]` with the axes of `x`; zeros by default.

    Returns:
      the shape of `x`.
    """
    if first is not None:
        return ops.concatenate([first, x[:, :-1]], axis=1)
    axes = len(x.shape)
    return ops.pad(x, ((0, 0), (1, 0), *((0, 0) for _ in range(axes - 2))))[:, :-1]
