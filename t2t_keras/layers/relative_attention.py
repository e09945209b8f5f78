"""Self-attention that knows how far apart two positions are.

"Self-Attention with Relative Position Representations" (Shaw et al., 2018), and the variant of
"Music Transformer" (Huang et al., 2018), which needs no tensor of size length² · depth.
"""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.dot_product import AttentionResult, DotProductAttention
from t2t_keras.layers.initializers import InitializerFactory, default_initializer


def relative_positions(query_positions: Any, key_positions: Any, max_relative_position: int) -> Any:
    """Distances key − query, cut off at ±max and counted from 0: int `[queries, keys]`."""
    distance = key_positions[None, :] - query_positions[:, None]
    limit = max_relative_position
    return ops.clip(distance, -limit, limit) + limit


def _check_range(max_relative_position: int) -> None:
    if not max_relative_position or max_relative_position < 0:
        raise ValueError(
            "Relative attention needs a max_relative_position above 0. "
            f"Received: {max_relative_position!r}"
        )


class _Embeddings(keras.layers.Layer):
    """A table `embeddings` `[rows, depth]`."""

    def __init__(self, rows: int, depth: int, initializer: InitializerFactory, name: str) -> None:
        super().__init__(name=name)
        self.shape = (rows, depth)
        self.initializer = initializer

    def build(self, input_shape: Any = None) -> None:
        self.embeddings = self.add_weight(
            name="embeddings", shape=self.shape, initializer=self.initializer()
        )


class RelativeAttention(DotProductAttention):
    """Adds a learned vector for each distance to the keys and one to the values.

    logits(i, j) = qᵢ·(kⱼ + aᴷ(j−i)) + bias, outputᵢ = Σ wᵢⱼ (vⱼ + aⱽ(j−i)); distances beyond
    ±max_relative_position share the vectors of the largest ones. The heads share the tables.

    Args:
      depth: key and value depth of a head.
      max_relative_position: above 0.
      initializer: of the tables.
      name: scope.
      options: see `DotProductAttention`.

    Raises:
      ValueError: max_relative_position is 0 or negative.
    """

    def __init__(
        self,
        depth: int,
        max_relative_position: int,
        *,
        initializer: InitializerFactory = default_initializer,
        name: str = "dot_product_attention_relative",
        **options: Any,
    ) -> None:
        super().__init__(name=name, **options)
        _check_range(max_relative_position)
        self.max_relative_position = max_relative_position
        rows = 2 * max_relative_position + 1
        self.keys = _Embeddings(rows, depth, initializer, "relative_positions_keys")
        self.values = _Embeddings(rows, depth, initializer, "relative_positions_values")

    def build(self, input_shape: Any = None) -> None:
        """Creates the two tables."""
        self.keys.build()
        self.values.build()

    def call(
        self, query: Any, key: Any, value: Any, bias: Any = None, dropout_seed: Any = None
    ) -> AttentionResult:
        """Attends; arguments as `DotProductAttention.call`."""
        index = relative_positions(
            ops.arange(ops.shape(query)[2], dtype="int32"),
            ops.arange(ops.shape(key)[2], dtype="int32"),
            self.max_relative_position,
        )
        key_vectors, value_vectors = self._vectors(index)  # [query_length, key_length, depth]
        logits = ops.matmul(query, ops.swapaxes(key, -1, -2))
        logits = logits + ops.einsum("bhid,ijd->bhij", query, key_vectors)
        logits = self._with_bias(logits, bias)
        weights = self.weigh(logits, dropout_seed)
        dropped = self.dropout(weights, dropout_seed=dropout_seed)
        output = ops.matmul(dropped, value) + ops.einsum("bhij,ijd->bhid", dropped, value_vectors)
        return AttentionResult(output, weights, logits)

    def attend_step(self, query: Any, key: Any, value: Any, bias: Any, step: Any) -> Any:
        """Attends from one position to the cached ones; see the base class."""
        positions = ops.arange(ops.shape(key)[3], dtype="int32")
        limit = self.max_relative_position
        index = relative_positions(ops.reshape(step, (1,)), positions, limit)[0]
        key_vectors, value_vectors = self._vectors(index)  # [max_length, depth]
        logits = ops.matmul(query, ops.swapaxes(key, -1, -2))
        logits = logits + ops.matmul(query, ops.transpose(key_vectors))
        weights = self.weigh(self._with_bias(logits, bias))
        return ops.matmul(weights, value) + ops.matmul(weights, value_vectors)

    def _vectors(self, index: Any) -> tuple[Any, Any]:
        keys, values = self.keys.embeddings, self.values.embeddings
        return (
            ops.cast(ops.take(keys, index, axis=0), self.compute_dtype),
            ops.cast(ops.take(values, index, axis=0), self.compute_dtype),
        )


class RelativeAttentionV2(DotProductAttention):
    """Learned vectors for distances, looked up by shifting instead of by gathering.

    Only distances −(max_relative_position − 1) … 0 have vectors, farther and later keys zeros.
    T2T's own layer leaves arbitrary numbers in the logits of later keys, as it is meant for masked
    attention only; here they are zeros, so that it works in an encoder, too.

    Args:
      num_heads: number of heads.
      depth: key and value depth of a head.
      max_relative_position: number of distances, above 0.
      heads_share_embeddings: one table `[distances, depth]` instead of one for each head,
        `[heads, distances, depth]`.
      add_to_values: whether the values get vectors, too.
      options: see `DotProductAttention`.

    Raises:
      ValueError: max_relative_position is 0 or negative.
    """

    scope = "dot_product_self_attention_relative_v2"

    def __init__(
        self,
        num_heads: int,
        depth: int,
        max_relative_position: int,
        *,
        heads_share_embeddings: bool = False,
        add_to_values: bool = False,
        **options: Any,
    ) -> None:
        super().__init__(**{"name": self.scope} | options)
        _check_range(max_relative_position)
        self.max_relative_position = max_relative_position
        rows = self._num_distances()
        self.shape = (rows, depth) if heads_share_embeddings else (num_heads, rows, depth)
        self.add_to_values = add_to_values

    def build(self, input_shape: Any = None) -> None:
        """Creates the tables, normal(0, depth^-0.5)."""
        self.keys = self._table("key_relative_embeddings")
        self.values = self._table("value_relative_embeddings") if self.add_to_values else None

    def _table(self, name: str) -> Any:
        initializer = keras.initializers.RandomNormal(0.0, self.shape[-1] ** -0.5)
        return self.add_weight(name=name, shape=self.shape, initializer=initializer)

    def call(
        self, query: Any, key: Any, value: Any, bias: Any = None, dropout_seed: Any = None
    ) -> AttentionResult:
        """Attends; arguments as `DotProductAttention.call`, query and key of one length."""
        length = ops.shape(query)[2]
        by_distance = ops.matmul(query, ops.swapaxes(self._rows(self.keys, length), -1, -2))
        logits = ops.matmul(query, ops.swapaxes(key, -1, -2)) + self.by_key(by_distance)
        logits = self._with_bias(logits, bias)
        weights = self.weigh(logits, dropout_seed)
        dropped = self.dropout(weights, dropout_seed=dropout_seed)
        output = ops.matmul(dropped, value)
        if self.values is not None:
            by_distance = self.by_distance(dropped)
            output = output + ops.matmul(by_distance, self._rows(self.values, length))
        return AttentionResult(output, weights, logits)

    def attend_step(self, query: Any, key: Any, value: Any, bias: Any, step: Any) -> Any:
        """Attends from one position to the cached ones; see the base class."""
        distances = ops.arange(ops.shape(key)[3], dtype="int32") - step
        key_vectors = self._at(self.keys, distances)
        logits = ops.matmul(query, ops.swapaxes(key, -1, -2))
        logits = logits + ops.matmul(query, ops.swapaxes(key_vectors, -1, -2))
        weights = self.weigh(self._with_bias(logits, bias))
        output = ops.matmul(weights, value)
        if self.values is not None:
            output = output + ops.matmul(weights, self._at(self.values, distances))
        return output

    def _at(self, table: Any, distances: Any) -> Any:
        """Vectors of int `distances` `[keys]`, zeros where there are none: `[…, keys, depth]`."""
        rows = self._num_distances()
        index = distances + (self.max_relative_position - 1)
        inside = ops.logical_and(ops.greater_equal(index, 0), ops.less(index, rows))
        vectors = ops.take(table, ops.clip(index, 0, rows - 1), axis=-2)
        vectors = ops.cast(vectors, self.compute_dtype)
        return vectors * ops.cast(inside, vectors.dtype)[:, None]

    def _num_distances(self) -> int:
        return self.max_relative_position

    def _rows(self, table: Any, length: Any) -> Any:
        """Vectors of the distances −(length − 1) … 0: `[…, length, depth]`."""
        earliest = 1 - length
        return self._at(table, ops.arange(length, dtype="int32") + earliest)

    def by_key(self, x: Any) -> Any:
        """Column r of query i is distance r − (length − 1); moves it to column i + distance.

        `[batch, heads, length, length]` -> the same shape, zeros at later keys.
        """
        batch, heads, length, _ = ops.shape(x)
        x = ops.pad(x, ((0, 0), (0, 0), (0, 0), (1, 0)))
        x = ops.reshape(x, (batch, heads, length + 1, length))[:, :, 1:]
        return ops.tril(x)

    def by_distance(self, x: Any) -> Any:
        """The inverse of `by_key`; later keys are ignored."""
        batch, heads, length, _ = ops.shape(x)
        x = ops.pad(ops.tril(x), ((0, 0), (0, 0), (1, 0), (0, 0)))
        return ops.reshape(x, (batch, heads, length, length + 1))[..., 1:]


class UnmaskedRelativeAttentionV2(RelativeAttentionV2):
    """The same with distances of both directions, −(max − 1) … max − 1."""

    scope = "dot_product_unmasked_self_attention_relative_v2"

    def _num_distances(self) -> int:
        return 2 * self.max_relative_position - 1

    def _rows(self, table: Any, length: Any) -> Any:
        earliest = 1 - length
        return self._at(table, ops.arange(2 * length - 1, dtype="int32") + earliest)

    def by_key(self, x: Any) -> Any:
        """Moves column r, distance r − (length − 1), to column i + distance.

        `[batch, heads, length, 2·length − 1]` -> `[batch, heads, length, length]`.
        """
        batch, heads, length, width = ops.shape(x)
        x = ops.pad(x, ((0, 0), (0, 0), (0, 0), (0, 1)))
        x = ops.reshape(x, (batch, heads, length * (width + 1)))
        x = ops.pad(x, ((0, 0), (0, 0), (0, length - 1)))
        return ops.reshape(x, (batch, heads, length + 1, width))[:, :, :length, length - 1 :]

    def by_distance(self, x: Any) -> Any:
        """The inverse of `by_key`."""
        batch, heads, length, _ = ops.shape(x)
        width = 2 * length - 1
        x = ops.pad(x, ((0, 0), (0, 0), (0, 0), (0, length - 1)))
        x = ops.reshape(x, (batch, heads, length * width))
        x = ops.pad(x, ((0, 0), (0, 0), (length, 0)))
        return ops.reshape(x, (batch, heads, length, width + 1))[..., 1:]
