"""What happens inside each attention head: weights from queries and keys, applied to values."""

from typing import Any, NamedTuple

import keras
import tensorflow as tf
from keras import ops

from t2t_keras.layers.attention_recording import keep_attention
from t2t_keras.layers.dropout import Dropout, gumbel_noise


class AttentionResult(NamedTuple):
    """What dot-product attention computes.

    Attributes:
      output: `[batch, heads, query_length, value_depth]`.
      weights: before dropout, `[batch, heads, query_length, key_length]`.
      logits: bias included, the same shape.
    """

    output: Any
    weights: Any
    logits: Any


def harden(weights: Any, k: int) -> Any:
    """Subtracts the k-th largest weight, zeroes what is not positive, and renormalises.

    So the k − 1 largest weights remain (more where some are equal to the largest ones), and with
    k = 1 none. T2T's hparam `hard_attention_k`.

    Args:
      weights: `[…, key_length]`, non-negative.
      k: at least 1; more than key_length is as if it were key_length.

    Returns:
      the shape of `weights`.
    """
    k = min(k, weights.shape[-1] or k)
    threshold = ops.top_k(weights, k)[0][..., -1:]
    kept = ops.relu(weights - threshold)
    return kept / ops.maximum(ops.sum(kept, axis=-1, keepdims=True), 1e-6)


class DotProductAttention(keras.layers.Layer):
    """Scaled dot-product attention, the Transformer's ("Attention Is All You Need", 3.2.1).

    Args:
      dropout: rate on the weights.
      dropout_broadcast_dims: axes of the weights that share one decision.
      site: dropout site number.
      hard_k: if positive, see `harden`.
      gumbel_noise_weight: with `hard_k`, factor of Gumbel noise added to the weights in training,
        so that other keys get a chance.
      name: scope, under which the weights are recorded.
    """

    def __init__(
        self,
        *,
        dropout: float = 0.0,
        dropout_broadcast_dims: tuple[int, ...] = (),
        site: int = 0,
        hard_k: int = 0,
        gumbel_noise_weight: float = 0.0,
        name: str = "dot_product_attention",
    ) -> None:
        super().__init__(name=name)
        self.dropout = Dropout(dropout, site, dropout_broadcast_dims)
        self.hard_k = hard_k
        self.gumbel_noise_weight = gumbel_noise_weight

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables, of which the plain dot product has none."""

    def call(
        self, query: Any, key: Any, value: Any, bias: Any = None, dropout_seed: Any = None
    ) -> AttentionResult:
        """softmax(query·keyᵀ + bias)·value; the caller has already scaled the query.

        Args:
          query: `[batch, heads, query_length, key_depth]`.
          key: `[batch, heads, key_length, key_depth]`.
          value: `[batch, heads, key_length, value_depth]`.
          bias: broadcasts to `[batch, heads, query_length, key_length]`.
          dropout_seed: int32 `[2]`, None for no dropout of the weights.
        """
        logits = self._with_bias(tf.matmul(query, key, transpose_b=True), bias)
        weights = self.weigh(logits, dropout_seed)
        return AttentionResult(
            ops.matmul(self.dropout(weights, dropout_seed=dropout_seed), value), weights, logits
        )

    def attend_step(self, query: Any, key: Any, value: Any, bias: Any, step: Any) -> Any:
        """Attends from one position to the cached ones.

        Args:
          query: `[batch, beam, heads, 1, depth]`.
          key: `[batch, beam, heads, max_length, depth]`.
          value: `[batch, beam, heads, max_length, depth]`.
          bias: `[max_length]`, hides the positions after `step`.
          step: int scalar, the position of the query.

        Returns:
          `[batch, beam, heads, 1, depth]`.
        """
        logits = self._with_bias(tf.matmul(query, key, transpose_b=True), bias)
        return ops.matmul(self.weigh(logits), value)

    def weigh(self, logits: Any, dropout_seed: Any = None) -> Any:
        """The weights `[…, key_length]` of logits of that shape, recorded where asked for.

        They are computed in float32 and returned in the type of the activations.
        """
        logits = ops.cast(logits, "float32")
        weights = ops.softmax(logits, axis=-1)
        if self.hard_k:
            if dropout_seed is not None and self.gumbel_noise_weight:
                noise = gumbel_noise(ops.shape(weights), dropout_seed, self.dropout.site)
                weights = weights + self.gumbel_noise_weight * noise
            weights = harden(weights, self.hard_k)
        keep_attention(self.path, weights, logits)
        return ops.cast(weights, self.compute_dtype)

    @staticmethod
    def _with_bias(logits: Any, bias: Any) -> Any:
        """Logits plus bias, if there is one, in float32: the bias may be too large for others."""
        logits = ops.cast(logits, "float32")
        return logits if bias is None else logits + bias
