"""Multi-head dot-product attention ("Attention Is All You Need", section 3.2)."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.dense import Dense, matmul_last_axis
from t2t_keras.layers.dot_product import DotProductAttention
from t2t_keras.layers.initializers import InitializerFactory, default_initializer


def split_heads(x: Any, num_heads: int) -> Any:
    """`[batch, length, depth]` -> `[batch, heads, length, depth / heads]`; head 0 is first."""
    batch, length, depth = ops.shape(x)
    x = ops.reshape(x, (batch, length, num_heads, depth // num_heads))
    return ops.transpose(x, (0, 2, 1, 3))


def combine_heads(x: Any) -> Any:
    """`[batch, heads, length, depth]` -> `[batch, length, heads · depth]`."""
    batch, heads, length, depth = ops.shape(x)
    return ops.reshape(ops.transpose(x, (0, 2, 1, 3)), (batch, length, heads * depth))


class MultiHeadAttention(keras.layers.Layer):
    """Projections q, k, v, attention in each head, and a projection of the joined heads.

    Args:
      size: last axis of query, memory and output.
      num_heads: number of heads; divides both depths.
      key_depth: total depth of q and k over all heads, 0 for `size`.
      value_depth: total depth of v over all heads, 0 for `size`.
      output_size: last axis of the output, 0 for `size`.
      inner: what happens inside the heads; plain dot-product attention by default.
      initializer: makes the kernels' initialisers.
      name: scope of `q`, `k`, `v`, `output_transform` and of what `inner` has.

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
        output_size: int = 0,
        inner: DotProductAttention | None = None,
        initializer: InitializerFactory = default_initializer,
        name: str = "multihead_attention",
    ) -> None:
        super().__init__(name=name)
        key_depth, value_depth = key_depth or size, value_depth or size
        for what, depth in (("key", key_depth), ("value", value_depth)):
            if num_heads < 1 or depth % num_heads:
                raise ValueError(
                    f"The attention {what} depth must be divisible by the number of heads. "
                    f"Received: {what} depth {depth}, {num_heads} heads"
                )
        self.size, self.output_size = size, output_size or size
        self.num_heads = num_heads
        self.key_depth_per_head = key_depth // num_heads
        self.value_depth_per_head = value_depth // num_heads
        self.initializer = initializer
        self.inner = inner or DotProductAttention()
        self.make_projections()

    def make_projections(self) -> None:
        """Makes the layers of the four projections."""

        def dense(input_size: int, units: int, name: str) -> Dense:
            return Dense(input_size, units, use_bias=False, initializer=self.initializer, name=name)

        key_depth = self.num_heads * self.key_depth_per_head
        value_depth = self.num_heads * self.value_depth_per_head
        self.q = dense(self.size, key_depth, "q")
        self.k = dense(self.size, key_depth, "k")
        self.v = dense(self.size, value_depth, "v")
        self.output_transform = dense(value_depth, self.output_size, "output_transform")

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        for projection in (self.q, self.k, self.v, self.output_transform, self.inner):
            projection.build()

    def queries(self, x: Any) -> Any:
        """`[…, size]` -> scaled queries of all heads, `[…, key_depth]`."""
        return self.q(x) * self.key_depth_per_head**-0.5

    def keys(self, x: Any) -> Any:
        """`[…, size]` -> keys of all heads, `[…, key_depth]`."""
        return self.k(x)

    def values(self, x: Any) -> Any:
        """`[…, size]` -> values of all heads, `[…, value_depth]`."""
        return self.v(x)

    def output_of_heads(self, x: Any) -> Any:
        """Joined results of the heads, `[…, value_depth]` -> `[…, output_size]`."""
        return self.output_transform(x)

    def project_query(self, query: Any) -> Any:
        """`[batch, length, size]` -> scaled `[batch, heads, length, depth]`."""
        return split_heads(self.queries(query), self.num_heads)

    def project_memory(self, memory: Any) -> tuple[Any, Any]:
        """`[batch, length, size]` -> keys and values, each `[batch, heads, length, depth]`."""
        return (
            split_heads(self.keys(memory), self.num_heads),
            split_heads(self.values(memory), self.num_heads),
        )

    def call(
        self, query: Any, memory: Any = None, bias: Any = None, dropout_seed: Any = None
    ) -> Any:
        """Attends from every query position.

        Args:
          query: `[batch, query_length, size]`.
          memory: `[batch, key_length, size]`, None for self-attention.
          bias: see `DotProductAttention.call`.
          dropout_seed: int32 `[2]`, None for no dropout.

        Returns:
          `[batch, query_length, output_size]`.
        """
        key, value = self.project_memory(query if memory is None else memory)
        return self.attend_projected(query, key, value, bias, dropout_seed)

    def attend_projected(
        self, query: Any, key: Any, value: Any, bias: Any, dropout_seed: Any = None
    ) -> Any:
        """Attends to keys and values projected before.

        Args:
          query: `[batch, query_length, size]`; beams may take the place of positions.
          key: `[batch, heads, key_length, depth]`.
          value: `[batch, heads, key_length, depth]`.
          bias: see `DotProductAttention.call`.
          dropout_seed: int32 `[2]`, None for no dropout.

        Returns:
          `[batch, query_length, output_size]`.
        """
        result = self.inner(self.project_query(query), key, value, bias, dropout_seed=dropout_seed)
        return self.output_of_heads(combine_heads(result.output))

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
          output `[batch, beam, output_size]`, and the cache filled up to `step` (inclusive).
        """
        cache = {
            "k": write_step(cache["k"], self._split_step(self.keys(x)), step),
            "v": write_step(cache["v"], self._split_step(self.values(x)), step),
        }
        query = self._split_step(self.queries(x))
        output = self.inner.attend_step(query, cache["k"], cache["v"], bias, step)
        batch, beam, heads, _, depth = ops.shape(output)
        return self.output_of_heads(ops.reshape(output, (batch, beam, heads * depth))), cache

    def _split_step(self, x: Any) -> Any:
        """`[batch, beam, depth]` -> `[batch, beam, heads, 1, depth / heads]`."""
        batch, beam, depth = ops.shape(x)
        return ops.reshape(x, (batch, beam, self.num_heads, 1, depth // self.num_heads))


class MultiHeadAttention3D(MultiHeadAttention):
    """The same function with one variable of three axes for each projection.

    `q`, `k`, `v` are `[size, heads, depth]`, `o` is `[heads, depth, output_size]`. The queries are
    not scaled: the initial values of `q` are smaller instead (T2T's `attention_variables_3d`).
    """

    def make_projections(self) -> None:
        """There are no layers: the variables are this layer's own."""

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        heads, key_depth, value_depth = (
            self.num_heads,
            self.key_depth_per_head,
            self.value_depth_per_head,
        )
        stddev = self.size**-0.5

        def weight(name: str, shape: tuple[int, ...], initializer: Any) -> Any:
            return self.add_weight(name=name, shape=shape, initializer=initializer)

        normal = keras.initializers.RandomNormal
        self.q = weight("q", (self.size, heads, key_depth), normal(0.0, stddev * key_depth**-0.5))
        self.k = weight("k", (self.size, heads, key_depth), normal(0.0, stddev))
        self.v = weight("v", (self.size, heads, value_depth), normal(0.0, stddev))
        self.o = weight("o", (heads, value_depth, self.output_size), self.initializer())
        self.inner.build()

    def queries(self, x: Any) -> Any:
        """See the base class."""
        return matmul_last_axis(x, ops.reshape(self.q, (self.size, -1)))

    def keys(self, x: Any) -> Any:
        """See the base class."""
        return matmul_last_axis(x, ops.reshape(self.k, (self.size, -1)))

    def values(self, x: Any) -> Any:
        """See the base class."""
        return matmul_last_axis(x, ops.reshape(self.v, (self.size, -1)))

    def output_of_heads(self, x: Any) -> Any:
        """See the base class."""
        return matmul_last_axis(x, ops.reshape(self.o, (-1, self.output_size)))


def write_step(cache: Any, new: Any, step: Any) -> Any:
    """Puts `new` `[batch, beam, heads, 1, depth]` at position `step` of the cache's axis 3."""
    return ops.slice_update(cache, (0, 0, 0, step, 0), new)
