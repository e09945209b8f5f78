"""Causal local attention that knows how far back a key is."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.local_attention import (
    DEFAULT_BLOCK_LENGTH,
    NEIGHBOURHOODS,
    LocalAttention,
)

# T2T's tables hold this many blocks of distances, of which two can occur.
_BLOCKS_OF_DISTANCES = 4


class LocalRelativeAttention(LocalAttention):
    """A block's attention to itself and the block before, with a learned vector a distance.

    logits(i, j) = qᵢ·(kⱼ + a(j−i)) + bias for j ≤ i: the distances of "Music Transformer" (Huang et
    al., 2018) in T2T's `local_relative_mask_right`. Unlike in the other local kinds there is
    dropout on the weights.

    Args:
      num_heads: number of heads.
      depth: key and value depth of a head.
      block_length: positions in a block.
      heads_share_embeddings: one table `[distances, depth]` instead of one for each head,
        `[heads, distances, depth]`; four blocks of distances, the
        last row is that of distance 0.
      add_to_values: whether the values get vectors, too.
      options: see `DotProductAttention`.
    """

    def __init__(
        self,
        num_heads: int,
        depth: int,
        block_length: int = DEFAULT_BLOCK_LENGTH,
        *,
        heads_share_embeddings: bool = False,
        add_to_values: bool = False,
        name: str = "masked_relative_local_attention_1d",
        **options: Any,
    ) -> None:
        neighbourhood = NEIGHBOURHOODS["local_relative_mask_right"]
        super().__init__(neighbourhood, block_length, name=name, **options)
        rows = _BLOCKS_OF_DISTANCES * block_length
        self.shape = (rows, depth) if heads_share_embeddings else (num_heads, rows, depth)
        self.add_to_values = add_to_values

    def build(self, input_shape: Any = None) -> None:
        """Creates the tables, normal(0, depth^-0.5)."""
        self.keys = self._table("key_relative_embeddings")
        self.values = self._table("value_relative_embeddings") if self.add_to_values else None

    def _table(self, name: str) -> Any:
        initializer = keras.initializers.RandomNormal(0.0, self.shape[-1] ** -0.5)
        return self.add_weight(name=name, shape=self.shape, initializer=initializer)

    def compare(self, query: Any, key: Any) -> Any:
        """See the base class."""
        vectors = self._near_rows(self.keys, ops.shape(key)[3])
        by_distance = ops.matmul(query, ops.swapaxes(vectors, -1, -2))
        return super().compare(query, key) + self.by_key(by_distance)

    def apply_weights(self, weights: Any, value: Any, dropout_seed: Any = None) -> Any:
        """See the base class."""
        weights = self.dropout(weights, dropout_seed=dropout_seed)
        output = super().apply_weights(weights, value)
        if self.values is not None:
            vectors = self._near_rows(self.values, ops.shape(value)[3])
            output = output + ops.matmul(self.by_distance(weights), vectors)
        return output

    def attend_step(self, query: Any, key: Any, value: Any, bias: Any, step: Any) -> Any:
        """Attends from one position to the cached ones of its neighbourhood; see the base class."""
        max_length = ops.shape(key)[3]
        bias = bias + self.hides_earlier_blocks(step, max_length)
        rows = self.shape[-2]
        # Keys that the bias hides get any vector.
        index = ops.clip(ops.arange(max_length, dtype="int32") - step + (rows - 1), 0, rows - 1)

        def vectors(table: Any) -> Any:
            return ops.cast(ops.take(table, index, axis=-2), query.dtype)

        logits = self.compare_step(query, key) + self.compare_step(query, vectors(self.keys))
        weights = self.weigh(self._with_bias(logits, bias))
        output = ops.matmul(weights, value)
        if self.values is not None:
            output = output + ops.matmul(weights, vectors(self.values))
        return output

    @staticmethod
    def compare_step(query: Any, key: Any) -> Any:
        """Products of `[…, 1, depth]` and `[…, max_length, depth]`: `[…, 1, max_length]`."""
        return ops.matmul(query, ops.swapaxes(key, -1, -2))

    def _near_rows(self, table: Any, count: Any) -> Any:
        """Vectors of the distances −(count − 1) … 0: `[heads or 1, 1, count, depth]`."""
        rows = ops.cast(table, self.compute_dtype)[..., self.shape[-2] - count :, :]
        return rows[..., None, :, :]

    def by_key(self, x: Any) -> Any:
        """Moves column t of query r, its distance + 2B − 1, to the key's place r + t − B + 1.

        `[batch, heads, blocks, B, 2B]`, where B is the block length -> the same shape. Places
        without a column, keys later than the query, become zeros.
        """
        batch, heads, blocks, size, keys = ops.shape(x)
        width = 3 * size
        # In rows that are one shorter than they were, each row begins one later.
        x = ops.pad(x, ((0, 0),) * 4 + ((0, width - keys),))
        x = ops.reshape(x, (batch, heads, blocks, size * width))
        x = x[..., size - 1 : size * width - 1]
        return ops.reshape(x, (batch, heads, blocks, size, width - 1))[..., :keys]

    def by_distance(self, x: Any) -> Any:
        """The inverse of `by_key`; keys later than the query must be zeros."""
        batch, heads, blocks, size, keys = ops.shape(x)
        width = 3 * size
        x = ops.pad(x, ((0, 0),) * 4 + ((0, width - 1 - keys),))
        x = ops.reshape(x, (batch, heads, blocks, size * (width - 1)))
        x = ops.pad(x, ((0, 0),) * 3 + ((size - 1, 1),))
        return ops.reshape(x, (batch, heads, blocks, size, width))[..., :keys]
