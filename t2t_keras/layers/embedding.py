"""Symbol tables: ids to vectors, and vectors to logits over symbols.

T2T calls the pair the symbol modality (`layers.modalities`). It stores a table as several shards;
here a table is one variable.
"""

from typing import Any

import keras
import tensorflow as tf
from keras import ops

from t2t_keras.layers.manual_gradients import linear_transposed


class SymbolTable(keras.layers.Layer):
    """One table `weights` `[vocab_size, depth]`, initially normal(0, depth^-0.5).

    Args:
      vocab_size: number of symbols.
      depth: width of a vector.
      multiply_by_sqrt_depth: whether `embed` scales the vectors by sqrt(depth).
      name: scope: `shared`, `input_emb`, `target_emb` or `softmax`.
    """

    def __init__(
        self, vocab_size: int, depth: int, multiply_by_sqrt_depth: bool = True, name: str = "shared"
    ) -> None:
        super().__init__(name=name)
        self.vocab_size = vocab_size
        self.depth = depth
        self.multiply_by_sqrt_depth = multiply_by_sqrt_depth

    def build(self, input_shape: Any = None) -> None:
        """Creates the table."""
        self.table = self.add_weight(
            name="weights",
            shape=(self.vocab_size, self.depth),
            initializer=keras.initializers.RandomNormal(0.0, self.depth**-0.5),
        )

    def call(self, ids: Any) -> Any:
        """The same as `embed`."""
        return self.embed(ids)

    def embed(self, ids: Any) -> Any:
        """Ids, int `[…]`, to vectors `[…, depth]`; id 0, padding, becomes the zero vector."""
        vectors = ops.take(self.table, ids, axis=0)
        real = ops.cast(ops.not_equal(ids, 0), vectors.dtype)
        if self.multiply_by_sqrt_depth:
            real = real * (self.depth**0.5)
        return ops.cast(vectors * real[..., None], self.compute_dtype)

    def logits(self, x: Any) -> Any:
        """Vectors `[…, depth]` -> float32 logits `[…, vocab_size]`: x·tableᵀ, no bias."""
        table = ops.cast(tf.convert_to_tensor(self.table), x.dtype)
        flat = linear_transposed(ops.reshape(x, (-1, self.depth)), table)
        logits = ops.reshape(flat, (*ops.shape(x)[:-1], self.vocab_size))
        return ops.cast(logits, "float32")

    def logits_of_few(self, x: Any) -> Any:
        """The same as `logits`, for few vectors, as in one step of decoding.

        Computed as (table·xᵀ)ᵀ: with up to about a hundred vectors this is twice as fast on CPU.
        """
        leading = ops.shape(x)[:-1]
        table = ops.cast(self.table, x.dtype)
        columns = ops.matmul(table, ops.transpose(ops.reshape(x, (-1, self.depth))))
        logits = ops.reshape(ops.transpose(columns), (*leading, self.vocab_size))
        return ops.cast(logits, "float32")


class SymbolModality(keras.layers.Layer):
    """The tables of one vocabulary size, below the scope `symbol_modality_<vocab_size>_<depth>`."""

    def __init__(self, vocab_size: int, depth: int, multiply_by_sqrt_depth: bool = True) -> None:
        super().__init__(name=f"symbol_modality_{vocab_size}_{depth}")
        self.vocab_size = vocab_size
        self.depth = depth
        self.multiply_by_sqrt_depth = multiply_by_sqrt_depth
        self.tables: dict[str, SymbolTable] = {}

    def table(self, name: str) -> SymbolTable:
        """The table of that name, made on first request (before `build`)."""
        if name not in self.tables:
            self.tables[name] = SymbolTable(
                self.vocab_size, self.depth, self.multiply_by_sqrt_depth, name=name
            )
        return self.tables[name]

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables of all requested tables."""
        for table in self.tables.values():
            table.build()
