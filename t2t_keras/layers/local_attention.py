"""Self-attention within a neighbourhood, at a cost that grows linearly with the length.

The restricted self-attention of "Attention Is All You Need" (table 1 and section 4): queries come
in blocks, and a block sees whole blocks beside it (T2T's `local_*` and `*_dilated_1d`).
"""

from typing import Any, NamedTuple

from keras import ops

from t2t_keras.layers.dot_product import AttentionResult, DotProductAttention
from t2t_keras.layers.masks import hide

DEFAULT_BLOCK_LENGTH = 128


class Neighbourhood(NamedTuple):
    """What a block of queries sees beside itself.

    Attributes:
      blocks_before: number of whole blocks before it.
      blocks_after: number of whole blocks after it.
      causal: whether later positions of its own block are hidden, too.
    """

    blocks_before: int
    blocks_after: int
    causal: bool


NEIGHBOURHOODS = {
    "local_mask_right": Neighbourhood(1, 0, True),
    "local_relative_mask_right": Neighbourhood(1, 0, True),
    "local_within_block_mask_right": Neighbourhood(0, 0, True),
    "local_unmasked": Neighbourhood(1, 1, False),
    "masked_dilated_1d": Neighbourhood(2, 0, True),
    "unmasked_dilated_1d": Neighbourhood(2, 2, False),
}


class LocalAttention(DotProductAttention):
    """Dot-product attention of each block to its neighbourhood.

    As in T2T there is no dropout on the weights. Unlike T2T's, it does not look at padding that a
    bias hides, and what is only there to fill the last block is never seen.

    Args:
      neighbourhood: what a block sees.
      block_length: positions in a block.
      name: scope.
      options: see `DotProductAttention`; of use to derived layers only.

    Raises:
      ValueError: the block length is not positive.
    """

    def __init__(
        self,
        neighbourhood: Neighbourhood,
        block_length: int = DEFAULT_BLOCK_LENGTH,
        name: str = "local_attention",
        **options: Any,
    ) -> None:
        if block_length < 1:
            raise ValueError(
                f"The block length of local attention must be positive. Received: {block_length}"
            )
        super().__init__(name=name, **options)
        self.neighbourhood = neighbourhood
        self.block_length = block_length

    def call(
        self, query: Any, key: Any, value: Any, bias: Any = None, dropout_seed: Any = None
    ) -> AttentionResult:
        """Attends within the neighbourhoods.

        Args:
          query: scaled, `[batch, heads, length, depth]`.
          key: the same shape.
          value: `[batch, heads, length, value_depth]`.
          bias: `[batch or 1, 1, 1, length]`, hides keys from all queries.
          dropout_seed: int32 `[2]`; of use to derived layers only.

        Returns:
          output `[batch, heads, length, value_depth]`; weights and logits are by block,
          `[batch, heads, blocks, block_length, keys of the neighbourhood]`.

        Raises:
          ValueError: the bias depends on the query.
        """
        if bias is not None and bias.shape[2] != 1:
            raise ValueError(
                "Local attention can only hide keys from all queries alike: it can't keep the "
                "examples of packed rows apart. Received: a bias of shape "
                f"{tuple(bias.shape)}"
            )
        length = ops.shape(query)[2]
        # A short sequence is one block of its own length: what would fill the block is never seen.
        size = _smaller(length, self.block_length)
        query, key, value = (_in_blocks(x, size) for x in (query, key, value))
        # [batch, heads, blocks, block_length, keys]
        logits = self.compare(query, self._with_neighbours(key))
        logits = ops.cast(logits, "float32") + self._mask(length, ops.shape(query)[2], size)
        if bias is not None:
            hidden = self._with_neighbours(_in_blocks(bias[:, :, 0, :, None], size))
            logits = logits + ops.swapaxes(hidden, -1, -2)
        weights = self.weigh(logits)
        output = self.apply_weights(weights, self._with_neighbours(value), dropout_seed)
        batch, heads, blocks, size, depth = ops.shape(output)
        output = ops.reshape(output, (batch, heads, blocks * size, depth))[:, :, :length]
        return AttentionResult(output, weights, logits)

    def compare(self, query: Any, key: Any) -> Any:
        """Logits of queries `[batch, heads, blocks, block_length, depth]` and the keys they see.

        Args:
          query: of each block.
          key: `[batch, heads, blocks, keys, depth]`.

        Returns:
          `[batch, heads, blocks, block_length, keys]`.
        """
        return ops.matmul(query, ops.swapaxes(key, -1, -2))

    def apply_weights(self, weights: Any, value: Any, dropout_seed: Any = None) -> Any:
        """Sums of the values `[batch, heads, blocks, keys, depth]` by the weights of each block."""
        return ops.matmul(weights, value)

    def attend_step(self, query: Any, key: Any, value: Any, bias: Any, step: Any) -> Any:
        """Attends from one position to the cached ones of its neighbourhood; see the base class."""
        bias = bias + self.hides_earlier_blocks(step, ops.shape(key)[3])
        return super().attend_step(query, key, value, bias, step)

    def hides_earlier_blocks(self, step: Any, max_length: Any) -> Any:
        """A bias `[max_length]` on what is before the neighbourhood of the position `step`."""
        first = (step // self.block_length - self.neighbourhood.blocks_before) * self.block_length
        positions = ops.arange(max_length, dtype="int32")
        return hide(ops.less(positions, first))

    def _with_neighbours(self, x: Any) -> Any:
        """What each block sees: `[batch, heads, blocks, keys, depth]`, zeros beyond the ends."""
        before, after, _ = self.neighbourhood
        blocks = ops.shape(x)[2]
        x = ops.pad(x, ((0, 0), (0, 0), (before, after), (0, 0), (0, 0)))
        shifted = [x[:, :, i : i + blocks] for i in range(before + 1 + after)]
        return ops.concatenate(shifted, axis=3)

    def _mask(self, length: Any, blocks: Any, size: Any) -> Any:
        """Hides keys beyond the ends, and later ones if causal: `[blocks, size, keys]`."""
        before, after, causal = self.neighbourhood
        in_block = ops.arange(size, dtype="int32")
        # Positions relative to the first of the block.
        keys = ops.arange(size * (before + 1 + after), dtype="int32") - size * before
        starts = ops.arange(blocks, dtype="int32") * size
        absolute = starts[:, None] + keys[None, :]  # [blocks, keys]
        outside = ops.logical_or(ops.less(absolute, 0), ops.greater_equal(absolute, length))
        hidden = outside[:, None, :]
        if causal:
            hidden = ops.logical_or(hidden, (keys[None, :] > in_block[:, None])[None])
        return hide(hidden)


def _in_blocks(x: Any, size: Any) -> Any:
    """`[batch, heads, length, depth]` -> `[batch, heads, blocks, size, depth]`."""
    batch, heads, length, depth = ops.shape(x)
    x = ops.pad(x, ((0, 0), (0, 0), (0, -length % size), (0, 0)))
    return ops.reshape(x, (batch, heads, -1, size, depth))


def _smaller(length: Any, block_length: int) -> Any:
    """The smaller of two lengths, the first of which may be a tensor; at least 1."""
    if isinstance(length, int):
        return max(min(length, block_length), 1)
    return ops.clip(length, 1, block_length)
