"""Multi-head dot-product attention ("Attention Is All You Need", section 3.2)."""

from typing import Any, NamedTuple

import keras
from keras import ops

from t2t_keras.layers.dense import Dense
from t2t_keras.layers.dropout import Dropout
from t2t_keras.layers.initializers import InitializerFactory, default_initializer


class AttentionResult(NamedTuple):
    """What dot-product attention computes.

    Attributes:
      output: `[batch, heads, query_length, value_depth]`.
      weights: softmax before dropout, `[batch, heads, query_length, key_length]`.
      logits: bias included, the same shape.
    """

    output: Any
    weights: Any
    logits: Any


def split_heads(x: Any, num_heads: int) -> Any:
    """`[batch, length, depth]` -> `[batch, heads, length, depth / heads]`; head 0 is first."""
    batch, length, depth = ops.shape(x)
    x = ops.reshape(x, (batch, length, num_heads, depth // num_heads))
    return ops.transpose(x, (0, 2, 1, 3))


def combine_heads(x: Any) -> Any:
    """`[batch, heads, length, depth]` -> `[batch, length, heads · depth]`."""
    batch, heads, length, depth = ops.shape(x)
    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (batch, length, heads * depth))


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    dropout: Dropout | None = None,
    dropout_seed: Any = None,
) -> AttentionResult:
    """softmax(query·keyᵀ + bias)·value; the caller has already scaled the query.

    Args:
      query: `[batch, heads, query_length, key_depth]`.
      key: `[batch, heads, key_length, key_depth]`.
      value: `[batch, heads, key_length, value_depth]`.
      bias: broadcasts to `[batch, heads, query_length, key_length]`.
      dropout: of the weights.
      dropout_seed: int32 `[2]`, None for no dropout.
    """
    logits = ops.matmul(query, ops.swapaxes(key, -1, -2))
    if bias is not None:
        logits = logits + bias
    weights = ops.softmax(logits, axis=-1)
    dropped = weights if dropout is None else dropout(weights, dropout_seed=dropout_seed)
    return AttentionResult(ops.matmul(dropped, value), weights, logits)


class MultiHeadAttention(keras.layers.Layer):
    """Projections q, k, v, attention in each head, and a projection of the joined heads.

    Args:
      size: last axis of query, memory and output.
      num_heads: number of heads; divides both depths.
      key_depth: total depth of q and k over all heads, 0 for `size`.
      value_depth: total depth of v over all heads, 0 for `size`.
      dropout: rate on the attention weights.
      dropout_broadcast_dims: axes of the weights that share one decision.
      site: dropout site number.
      initializer: makes the kernels' initialisers.
      name: scope of `q`, `k`, `v` and `output_transform`.

    Raises:
      ValueError: a depth is not divisible by the number of heads.
    """

    def __init__(
        self,
        size: int,
        num_heads: int,
        *,
        key_depth: int = 0,
        value_depth: int = 0,
        dropout: float = 0.0,
        dropout_broadcast_dims: tuple[int, ...] = (),
        site: int = 0,
        initializer: InitializerFactory = default_initializer,
        name: str = "multihead_attention",
    ) -> None:
        super().__init__(name=name)
        key_depth, value_depth = key_depth or size, value_depth or size
        for what, depth in (("key", key_depth), ("value", value_depth)):
            if depth % num_heads:
                raise ValueError(
                    f"The attention {what} depth must be divisible by the number of heads. "
                    f"Received: {what} depth {depth}, {num_heads} heads"
                )
        self.num_heads = num_heads
        self.key_depth_per_head = key_depth // num_heads
        self.value_depth_per_head = value_depth // num_heads

        def dense(input_size: int, units: int, name: str) -> Dense:
            return Dense(input_size, units, use_bias=False, initializer=initializer, name=name)

        self.q = dense(size, key_depth, "q")
        self.k = dense(size, key_depth, "k")
        self.v = dense(size, value_depth, "v")
        self.output_transform = dense(value_depth, size, "output_transform")
        self.dropout = Dropout(dropout, site, dropout_broadcast_dims)

    def build(self, input_shape: Any = None) -> None:
        """Creates the four kernels."""
        for projection in (self.q, self.k, self.v, self.output_transform):
            projection.build()

    def project_query(self, query: Any) -> Any:
        """`[batch, length, size]` -> scaled `[batch, heads, length, depth]`."""
        return split_heads(self.q(query) * self.key_depth_per_head**-0.5, self.num_heads)

    def project_memory(self, memory: Any) -> tuple[Any, Any]:
        """`[batch, length, size]` -> keys and values, each `[batch, heads, length, depth]`."""
        return split_heads(self.k(memory), self.num_heads), split_heads(
            self.v(memory), self.num_heads
        )

    def call(
        self, query: Any, memory: Any = None, bias: Any = None, dropout_seed: Any = None
    ) -> Any:
        """Attends from every query position.

        Args:
          query: `[batch, query_length, size]`.
          memory: `[batch, key_length, size]`, None for self-attention.
          bias: see `dot_product_attention`.
          dropout_seed: int32 `[2]`, None for no dropout.

        Returns:
          `[batch, query_length, size]`.
        """
        key, value = self.project_memory(query if memory is None else memory)
        result = dot_product_attention(
            self.project_query(query), key, value, bias, self.dropout, dropout_seed
        )
        return self.output_transform(combine_heads(result.output))

    def attend_projected(self, query: Any, key: Any, value: Any, bias: Any) -> Any:
        """Attends to keys and values projected before, without dropout.

        Args:
          query: `[batch, query_length, size]`; beams may take the place of positions.
          key: `[batch, heads, key_length, depth]`.
          value: `[batch, heads, key_length, depth]`.
          bias: see `dot_product_attention`.

        Returns:
          `[batch, query_length, size]`.
        """
        result = dot_product_attention(self.project_query(query), key, value, bias)
        return self.output_transform(combine_heads(result.output))

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> dict[str, Any]:
        """Empty cache of self-attention: `k` and `v` `[batch, beam, heads, max_length, depth]`."""
        leading = (batch_size, beam_size, self.num_heads, max_length)
        return {
            "k": ops.zeros((*leading, self.key_depth_per_head), self.compute_dtype),
            "v": ops.zeros((*leading, self.value_depth_per_head), self.compute_dtype),
        }

    def attend_step(
        self, x: Any, step: Any, cache: dict[str, Any], bias: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Self-attention of one new position per hypothesis.

        Args:
          x: `[batch, beam, size]`.
          step: int scalar, its position.
          cache: see `init_cache`, filled up to `step` (exclusive).
          bias: `[max_length]`, hides the positions after `step`.

        Returns:
          output `[batch, beam, size]`, and the cache filled up to `step` (inclusive).
        """
        cache = {
            "k": _write_step(cache["k"], self._split_step(self.k(x)), step),
            "v": _write_step(cache["v"], self._split_step(self.v(x)), step),
        }
        query = self._split_step(self.q(x) * self.key_depth_per_head**-0.5)
        # [batch, beam, heads, 1, max_length]
        logits = ops.matmul(query, ops.swapaxes(cache["k"], -1, -2)) + bias
        output = ops.matmul(ops.softmax(logits, axis=-1), cache["v"])
        batch, beam, heads, _, depth = ops.shape(output)
        return self.output_transform(ops.reshape(output, (batch, beam, heads * depth))), cache

    def _split_step(self, x: Any) -> Any:
        """`[batch, beam, depth]` -> `[batch, beam, heads, 1, depth / heads]`."""
        batch, beam, depth = ops.shape(x)
        return ops.reshape(x, (batch, beam, self.num_heads, 1, depth // self.num_heads))


def _write_step(cache: Any, new: Any, step: Any) -> Any:
    """Puts `new` `[batch, beam, heads, 1, depth]` at position `step` of the cache's axis 3."""
    return ops.slice_update(cache, (0, 0, 0, step, 0), new)
