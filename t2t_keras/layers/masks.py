"""Attention biases: what a query must not see gets a large negative logit.

Every bias is a float32 tensor that broadcasts to attention logits
`[batch, heads, query_length, key_length]`. Forbidden pairs carry `MASKED`, others 0
(T2T's `layers.common_attention`).
"""

from typing import Any

from keras import ops

MASKED = -1e9


def hide(hidden: Any) -> Any:
    """Bool of any shape -> the bias that hides where it is true: float32 of that shape."""
    return ops.cast(hidden, "float32") * MASKED


def padding_bias(ids: Any) -> Any:
    """Hides padding, id 0: int `[batch, key_length]` -> `[batch, 1, 1, key_length]`."""
    return hide(ops.equal(ids, 0))[:, None, None, :]


def causal_bias(length: Any) -> Any:
    """Hides later positions: `[1, 1, length, length]`, masked where key index > query index."""
    positions = ops.arange(length, dtype="int32")
    later = ops.greater(positions[None, :], positions[:, None])
    return hide(later)[None, None, :, :]


def same_segment_bias(query_segments: Any, key_segments: Any) -> Any:
    """Hides other examples of a packed row.

    Args:
      query_segments: int `[batch, query_length]`, the number of the example at each position; the
        padding segment 0 sees itself.
      key_segments: int `[batch, key_length]`.

    Returns:
      `[batch, 1, query_length, key_length]`.
    """
    differ = ops.not_equal(query_segments[:, :, None], key_segments[:, None, :])
    return hide(differ)[:, None, :, :]


def prepended_inputs_bias(ids: Any) -> Any:
    """Hides later positions, except within inputs that were put in front of the targets.

    Args:
      ids: int `[batch, length]`: inputs, a 0, targets. The inputs and the 0 see each other.

    Returns:
      `[batch, 1, length, length]`.
    """
    padding = ops.cast(ops.equal(ids, 0), "int32")
    # The number of zeros before a position is above 0 in the targets.
    in_targets = ops.greater(ops.cumsum(padding, axis=1) - padding, 0)
    positions = ops.arange(ops.shape(ids)[1], dtype="int32")
    later = ops.greater(positions[None, :], positions[:, None])
    hidden = ops.logical_and(later[None], in_targets[:, None, :])
    return hide(hidden)[:, None, :, :]


def local_bias(length: Any, max_backward: int, max_forward: int) -> Any:
    """Hides what is more than so many positions away: `[1, 1, length, length]`.

    Args:
      length: number of positions.
      max_backward: how far a query may see to earlier positions, −1 for no limit.
      max_forward: how far to later ones, −1 for no limit.
    """
    positions = ops.arange(length, dtype="int32")
    distance = positions[None, :] - positions[:, None]
    hidden = ops.zeros_like(distance, dtype="bool")
    if max_backward >= 0:
        hidden = ops.less(distance, -max_backward)
    if max_forward >= 0:
        hidden = ops.logical_or(hidden, ops.greater(distance, max_forward))
    return hide(hidden)[None, None, :, :]


def proximity_bias(length: Any) -> Any:
    """Favours near positions: −ln(1 + |query − key|), `[1, 1, length, length]`."""
    positions = ops.arange(length, dtype="float32")
    distance = ops.abs(positions[None, :] - positions[:, None])
    return -ops.log1p(distance)[None, None, :, :]


def decode_step_bias(step: Any, max_length: Any, proximity: bool = False) -> Any:
    """One row of the causal bias, for the query at position `step`.

    Args:
      step: int scalar, the position of the query.
      max_length: number of key positions.
      proximity: adds that row of `proximity_bias`.

    Returns:
      `[max_length]`.
    """
    positions = ops.arange(max_length, dtype="int32")
    bias = hide(ops.greater(positions, step))
    if proximity:
        bias = bias - ops.log1p(ops.cast(ops.abs(positions - step), "float32"))
    return bias
