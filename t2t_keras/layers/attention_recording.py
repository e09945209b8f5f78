"""Attention weights kept aside while a model runs, for pictures and inspection."""

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any

_recorded: contextvars.ContextVar[dict[str, Any] | None] = contextvars.ContextVar(
    "recorded_attention", default=None
)


@contextlib.contextmanager
def record_attention() -> Iterator[dict[str, Any]]:
    """Collects the weights and logits of all attentions that run inside the `with` block.

    Yields:
      a dict that is filled meanwhile, keyed as T2T keys `attention_weights`: the scope of an
      attention, such as `transformer/body/encoder/layer_0/self_attention/multihead_attention/`
      `dot_product_attention`, holds the weights after softmax and before dropout,
      `[batch, heads, query_length, key_length]`; the scope plus `/logits` the logits, bias
      included. Inside a `tf.function` these are tensors of that function.
    """
    weights: dict[str, Any] = {}
    token = _recorded.set(weights)
    try:
        yield weights
    finally:
        _recorded.reset(token)


def keep_attention(scope: str, weights: Any, logits: Any) -> None:
    """Files an attention's weights and logits under its scope, if anybody is recording."""
    recorded = _recorded.get()
    if recorded is not None:
        recorded[scope] = weights
        recorded[f"{scope}/logits"] = logits
