"""Attention to learned vectors in the place of a feed-forward layer."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.attention import combine_heads, split_heads
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.dropout import Dropout
from t2t_keras.layers.feed_forward import FeedForward
from t2t_keras.layers.initializers import InitializerFactory, default_initializer
from t2t_keras.layers.sublayer import Processing


class _ParameterAttention(keras.layers.Layer):
    """The attention proper, below a scope of its own."""

    def __init__(
        self,
        size: int,
        slots: int,
        num_heads: int,
        key_depth: int,
        value_depth: int,
        dropout: Dropout,
        initializer: InitializerFactory,
    ) -> None:
        super().__init__(name="parameter_attention")
        for what, depth in (("key", key_depth), ("value", value_depth)):
            if depth % num_heads:
                raise ValueError(
                    f"The parameter attention's {what} depth must be divisible by the number of "
                    f"heads. Received: {what} depth {depth}, {num_heads} heads"
                )
        self.size, self.slots, self.num_heads = size, slots, num_heads
        self.key_depth, self.value_depth = key_depth, value_depth
        self.dropout = dropout

        def dense(input_size: int, units: int, name: str) -> Dense:
            return Dense(input_size, units, use_bias=False, initializer=initializer, name=name)

        self.q_transform = dense(size, key_depth, "q_transform")
        self.output_transform = dense(value_depth, size, "output_transform")

    def build(self, input_shape: Any = None) -> None:
        heads = self.num_heads

        def table(name: str, depth: int, stddev: float) -> Any:
            initializer = keras.initializers.RandomNormal(0.0, stddev)
            return self.add_weight(
                name=name, shape=(heads, self.slots, depth // heads), initializer=initializer
            )

        self.q_transform.build()
        self.k = table("k", self.key_depth, self.size**-0.5 * heads**0.5)
        self.v = table("v", self.value_depth, 1.0)
        self.output_transform.build()

    def call(self, x: Any, dropout_seed: Any = None) -> Any:
        """`x` `[batch, length, size]` -> the same shape."""
        query = split_heads(self.q_transform(x), self.num_heads)
        logits = ops.matmul(query, ops.cast(ops.swapaxes(self.k, -1, -2), x.dtype))
        weights = ops.cast(ops.softmax(ops.cast(logits, "float32"), axis=-1), x.dtype)
        weights = self.dropout(weights, dropout_seed=dropout_seed)
        return self.output_transform(combine_heads(ops.matmul(weights, ops.cast(self.v, x.dtype))))


class ParameterAttention(FeedForward):
    """Multi-head attention whose keys and values are variables (T2T's `parameter_attention`).

    The queries are not scaled.

    Args:
      processing: width of the model, what happens before and after.
      slots: number of keys and values, T2T's `filter_size`.
      num_heads: number of heads; divides both depths.
      key_depth: total depth of the keys, 0 for the width of the model.
      value_depth: total depth of the values, 0 for the width of the model.
      dropout: rate on the attention weights.
      dropout_broadcast_dims: axes of the weights that share one decision.
      initializer: makes the kernels' initialisers.
      name: scope of the variables.

    Raises:
      ValueError: a depth is not divisible by the number of heads.
    """

    def __init__(
        self,
        processing: Processing,
        slots: int,
        num_heads: int,
        *,
        key_depth: int = 0,
        value_depth: int = 0,
        dropout: float = 0.0,
        dropout_broadcast_dims: tuple[int, ...] = (),
        initializer: InitializerFactory = default_initializer,
        name: str = "ffn",
    ) -> None:
        super().__init__(processing, name)
        self.attention = _ParameterAttention(
            processing.size,
            slots,
            num_heads,
            key_depth or processing.size,
            value_depth or processing.size,
            Dropout(dropout, next(processing.sites), dropout_broadcast_dims),
            initializer,
        )

    def build_transform(self) -> None:
        """Creates the variables."""
        self.attention.build()

    def transform(self, x: Any, real: Any = None, dropout_seed: Any = None) -> Any:
        """See the base class; padding needs no care."""
        return self.attention(x, dropout_seed=dropout_seed)
