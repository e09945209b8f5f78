"""Position signals: fixed sinusoids and learned tables.

The sinusoids are those of "Attention Is All You Need" (section 3.5), laid out as T2T lays them
out: all sines first, then all cosines, instead of alternating.
"""

import math
from typing import Any

from keras import ops


def timing_signal_at(
    positions: Any, channels: int, min_timescale: float = 1.0, max_timescale: float = 1e4
) -> Any:
    """Sinusoids at given positions.

    With n = channels // 2, channel k < n holds sin(p·r_k), channel n + k holds cos(p·r_k), where
    r_k = min · exp(−k·ln(max/min) / max(n−1, 1)). An odd last channel is zero.

    T2T's variant for given positions divides by n−1 without the lower bound, which makes channels
    < 4 not a number; the bound here gives the same values for all other sizes.

    Args:
      positions: int or float, any shape.
      channels: size of the new last axis.
      min_timescale: see the formula.
      max_timescale: see the formula.

    Returns:
      float32, the shape of `positions` plus `[channels]`.
    """
    timescales = channels // 2
    log_increment = math.log(max_timescale / min_timescale) / max(timescales - 1, 1)
    indices = ops.arange(timescales, dtype="float32")
    rates = min_timescale * ops.exp(indices * -log_increment)
    angles = ops.cast(positions, "float32")[..., None] * rates
    parts = [ops.sin(angles), ops.cos(angles)]
    if channels % 2:
        parts.append(ops.zeros_like(ops.cast(positions, "float32"))[..., None])
    return ops.concatenate(parts, axis=-1)


def learned_signal_at(table: Any, positions: Any) -> Any:
    """Rows of a learned table `[max_length, depth]` at int `positions`, zeros beyond its end.

    Returns:
      the shape of `positions` plus `[depth]`.
    """
    max_length = table.shape[0]
    rows = ops.take(table, ops.minimum(positions, max_length - 1), axis=0)
    inside = ops.cast(ops.less(positions, max_length), rows.dtype)
    return rows * inside[..., None]
