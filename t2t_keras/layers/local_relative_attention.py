"""Causal local attention that knows how far back a key is."""

from typing import Any

from keras import ops

from t2t_keras.layers.local_attention import (
    DEFAULT_BLOCK_LENGTH,
    NEIGHBOURHOODS,
    LocalAttention,
)
from t2t_keras.layers.relative_attention import RelativeAttentionV2

# T2T's tables hold this many blocks of distances, of which two can occur.
_BLOCKS_OF_DISTANCES = 4


class LocalRelativeAttention(LocalAttention, RelativeAttentionV2):
    """A block's attention to itself and the block before, with a learned vector a distance.

    logits(i, j) = qᵢ·(kⱼ + a(j−i)) + bias for j ≤ i: the distances of "Music Transformer" (Huang et
    al., 2018) in T2T's `local_relative_mask_right`. Whole sequences go by `LocalAttention`, tables
    and single steps by `RelativeAttentionV2`. Unlike in the other local kinds there is dropout on
    the weights.

    Args:
      num_heads: number of heads.
      depth: key and value depth of a head.
      block_length: positions in a block.
      options: see `RelativeAttentionV2`.
    """

    scope = "masked_relative_local_attention_1d"

    def __init__(
        self,
        num_heads: int,
        depth: int,
        block_length: int = DEFAULT_BLOCK_LENGTH,
        **options: Any,
    ) -> None:
        super().__init__(
            NEIGHBOURHOODS["local_relative_mask_right"],
            block_length,
            name=self.scope,
            num_heads=num_heads,
            depth=depth,
            max_relative_position=_BLOCKS_OF_DISTANCES * block_length,
            **options,
        )

    def compare(self, query: Any, key: Any) -> Any:
        """See the base class."""
        vectors = self._near_vectors(self.keys, ops.shape(key)[3])
        by_distance = ops.matmul(query, ops.swapaxes(vectors, -1, -2))
        return super().compare(query, key) + self.by_key(by_distance)

    def apply_weights(self, weights: Any, value: Any, dropout_seed: Any = None) -> Any:
        """See the base class."""
        weights = self.dropout(weights, dropout_seed=dropout_seed)
        output = super().apply_weights(weights, value)
        if self.values is not None:
            vectors = self._near_vectors(self.values, ops.shape(value)[3])
            output = output + ops.matmul(self.by_distance(weights), vectors)
        return output

    def _near_vectors(self, table: Any, count: Any) -> Any:
        """Vectors of the distances −(count − 1) … 0: `[heads or 1, 1, count, depth]`."""
        return self._rows(table, count)[..., None, :, :]

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
