"""The encoder and decoder stacks of the Transformer."""

from typing import Any

import keras
from keras import ops

from t2t_keras.layers.attention import MultiHeadAttention, MultiHeadAttention3D
from t2t_keras.layers.dot_product import DotProductAttention
from t2t_keras.layers.dropout import parse_broadcast_dims
from t2t_keras.layers.feed_forward_types import make_feed_forward
from t2t_keras.layers.initializers import initializer_factory
from t2t_keras.layers.self_attention_types import make_dot_product, make_self_attention
from t2t_keras.layers.sublayer import Processing, SubLayer


def make_processing(hparams: Any) -> Processing:
    """The pre- and postprocessing the hparams ask for."""
    return Processing(
        size=hparams.hidden_size,
        preprocess=hparams.layer_preprocess_sequence,
        postprocess=hparams.layer_postprocess_sequence,
        norm_type=hparams.norm_type,
        norm_epsilon=hparams.norm_epsilon,
        dropout=hparams.layer_prepostprocess_dropout,
        dropout_broadcast_dims=parse_broadcast_dims(
            hparams.layer_prepostprocess_dropout_broadcast_dims
        ),
    )


class AttentionSubLayer(SubLayer):
    """Multi-head attention with what happens before and after it.

    Args:
      hparams: the model's hyperparameters.
      processing: the pre- and postprocessing.
      inner: what happens inside the heads.
      name: `self_attention` or `encdec_attention`.
    """

    def __init__(
        self, hparams: Any, processing: Processing, inner: DotProductAttention, name: str
    ) -> None:
        super().__init__(processing, name)
        three_axes = getattr(hparams, "attention_variables_3d", False)
        attention_class = MultiHeadAttention3D if three_axes else MultiHeadAttention
        self.attention = attention_class(
            hparams.hidden_size,
            hparams.num_heads,
            key_depth=hparams.attention_key_channels,
            value_depth=hparams.attention_value_channels,
            inner=inner,
            initializer=initializer_factory(hparams.initializer, hparams.initializer_gain),
        )

    def build_transform(self) -> None:
        """Creates the kernels."""
        self.attention.build()

    def transform(self, x: Any, memory: Any, bias: Any, dropout_seed: Any = None) -> Any:
        """`x` `[batch, length, size]` -> the same shape; see `MultiHeadAttention`."""
        return self.attention(x, memory, bias, dropout_seed=dropout_seed)

    def step(
        self, x: Any, step: Any, cache: dict[str, Any], bias: Any
    ) -> tuple[Any, dict[str, Any]]:
        """One new position of self-attention; see `MultiHeadAttention.attend_step`."""
        output, cache = self.attention.attend_step(self.preprocess(x), step, cache, bias)
        return self.postprocess(output, residual=x), cache

    def attend_projected(self, x: Any, memory: dict[str, Any], bias: Any) -> Any:
        """Attention to keys and values projected before, beams in the place of positions."""
        output = self.attention.attend_projected(self.preprocess(x), memory["k"], memory["v"], bias)
        return self.postprocess(output, residual=x)


class EncoderLayer(keras.layers.Layer):
    """Self-attention, then feed-forward."""

    def __init__(self, hparams: Any, processing: Processing, name: str) -> None:
        super().__init__(name=name)
        inner = make_self_attention(
            hparams, next(processing.sites), causal=bool(hparams.unidirectional_encoder)
        )
        self.self_attention = AttentionSubLayer(hparams, processing, inner, "self_attention")
        self.ffn = make_feed_forward(hparams, processing, padding="SAME")

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        self.self_attention.build()
        self.ffn.build()

    def call(self, x: Any, bias: Any, real: Any = None, dropout_seed: Any = None) -> Any:
        """See `Encoder`."""
        x = self.self_attention(x, None, bias, dropout_seed=dropout_seed)
        return self.ffn(x, real, dropout_seed=dropout_seed)


class DecoderLayer(keras.layers.Layer):
    """Masked self-attention, attention to the encoder if there is one, then feed-forward."""

    def __init__(
        self, hparams: Any, processing: Processing, attends_encoder: bool, name: str
    ) -> None:
        super().__init__(name=name)
        inner = make_self_attention(
            hparams, next(processing.sites), causal=bool(hparams.causal_decoder_self_attention)
        )
        self.self_attention = AttentionSubLayer(hparams, processing, inner, "self_attention")
        self.encdec_attention = None
        if attends_encoder:
            inner = make_dot_product(hparams, next(processing.sites))
            self.encdec_attention = AttentionSubLayer(
                hparams, processing, inner, "encdec_attention"
            )
        self.ffn = make_feed_forward(hparams, processing, padding="LEFT")

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        self.self_attention.build()
        if self.encdec_attention is not None:
            self.encdec_attention.build()
        self.ffn.build()

    def call(
        self,
        x: Any,
        bias: Any,
        encoder_output: Any = None,
        encdec_bias: Any = None,
        dropout_seed: Any = None,
    ) -> Any:
        """See `Decoder`."""
        x = self.self_attention(x, None, bias, dropout_seed=dropout_seed)
        if self.encdec_attention is not None:
            x = self.encdec_attention(x, encoder_output, encdec_bias, dropout_seed=dropout_seed)
        return self.ffn(x, dropout_seed=dropout_seed)

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> dict[str, Any]:
        """Empty cache of `step`: tensors `[batch, beam, …, max_length, depth]`."""
        sizes = batch_size, beam_size, max_length
        return self.self_attention.attention.init_cache(*sizes) | self.ffn.init_cache(*sizes)

    def fill_cache(self, x: Any, cache: dict[str, Any], bias: Any) -> tuple[Any, dict[str, Any]]:
        """Positions of all hypotheses at once, `x` `[batch, length, size]` -> output, cache."""
        sub_layer = self.self_attention
        key, value = sub_layer.attention.project_memory(sub_layer.preprocess(x))
        x = sub_layer(x, None, bias)
        filled = {"k": key, "v": value} | self.ffn.memory_of(x)
        x = self.ffn(x)
        return x, {name: _fill_start(cache[name], filled[name]) for name in cache}

    def step(
        self,
        x: Any,
        step: Any,
        cache: dict[str, Any],
        bias: Any,
        memory: Any,
        memory_bias: Any,
    ) -> tuple[Any, dict[str, Any]]:
        """One new position of every hypothesis: `x` `[batch, beam, size]` -> output, cache."""
        x, new_cache = self.self_attention.step(x, step, cache, bias)
        if self.encdec_attention is not None:
            x = self.encdec_attention.attend_projected(x, memory, memory_bias)
        x, ffn_cache = self.ffn.step(x, step, cache)
        return x, new_cache | ffn_cache


class Encoder(keras.layers.Layer):
    """`num_encoder_layers` layers, then the preprocessing once more (the final norm)."""

    def __init__(self, hparams: Any, processing: Processing) -> None:
        super().__init__(name="encoder")
        count = hparams.num_encoder_layers or hparams.num_hidden_layers
        self.stack = [EncoderLayer(hparams, processing, f"layer_{i}") for i in range(count)]
        self.final = processing.make_preprocess()

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables of all layers."""
        for layer in self.stack:
            layer.build()
        self.final.build()

    def call(self, x: Any, bias: Any, real: Any = None, dropout_seed: Any = None) -> Any:
        """Runs the stack.

        Args:
          x: `[batch, length, size]`.
          bias: broadcasts to `[batch, heads, length, length]`.
          real: `[batch, length, 1]`, 1 at real positions, 0 at padding, for the feed-forward
            sub-layers that need it; None otherwise.
          dropout_seed: int32 `[2]`, None for no dropout.

        Returns:
          `[batch, length, size]`.
        """
        for layer in self.stack:
            x = layer(x, bias, real, dropout_seed=dropout_seed)
        return self.final(x, dropout_seed=dropout_seed)


class Decoder(keras.layers.Layer):
    """`num_decoder_layers` layers, then the preprocessing once more (the final norm)."""

    def __init__(self, hparams: Any, processing: Processing, attends_encoder: bool) -> None:
        super().__init__(name="decoder")
        count = hparams.num_decoder_layers or hparams.num_hidden_layers
        self.stack: list[Any] = [
            DecoderLayer(hparams, processing, attends_encoder, f"layer_{i}") for i in range(count)
        ]
        self.final = processing.make_preprocess()

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables of all layers."""
        for layer in self.stack:
            layer.build()
        self.final.build()

    def call(
        self,
        x: Any,
        bias: Any,
        encoder_output: Any = None,
        encdec_bias: Any = None,
        dropout_seed: Any = None,
    ) -> Any:
        """Runs the stack.

        Args:
          x: `[batch, target_length, size]`.
          bias: broadcasts to `[batch, heads, target_length, target_length]`.
          encoder_output: `[batch, input_length, size]`, None without encoder.
          encdec_bias: broadcasts to `[batch, heads, target_length, input_length]`.
          dropout_seed: int32 `[2]`, None for no dropout.

        Returns:
          the shape of `x`.
        """
        for layer in self.stack:
            x = layer(x, bias, encoder_output, encdec_bias, dropout_seed=dropout_seed)
        return self.final(x, dropout_seed=dropout_seed)

    def project_memory(self, encoder_output: Any) -> dict[str, dict[str, Any]]:
        """Keys and values of the encoder output `[batch, length, size]`, per layer.

        Returns:
          {"layer_0": {"k": `[batch, heads, length, depth]`, "v": the same}, …}.
        """
        memory = {}
        for layer in self.stack:
            key, value = layer.encdec_attention.attention.project_memory(encoder_output)
            memory[layer.name] = {"k": key, "v": value}
        return memory

    def init_cache(
        self, batch_size: Any, beam_size: Any, max_length: Any
    ) -> dict[str, dict[str, Any]]:
        """Empty caches of all layers; see `DecoderLayer.init_cache`."""
        return {
            layer.name: layer.init_cache(batch_size, beam_size, max_length) for layer in self.stack
        }

    def fill_cache(
        self, x: Any, cache: dict[str, dict[str, Any]], bias: Any
    ) -> dict[str, dict[str, Any]]:
        """Puts positions that see each other, `x` `[batch, length, size]`, into an empty cache."""
        filled = {}
        for layer in self.stack:
            x, filled[layer.name] = layer.fill_cache(x, cache[layer.name], bias)
        return filled

    def step(
        self,
        x: Any,
        step: Any,
        cache: dict[str, dict[str, Any]],
        bias: Any,
        memory: dict[str, Any] | None,
    ) -> tuple[Any, dict[str, dict[str, Any]]]:
        """One new position of every hypothesis.

        Args:
          x: `[batch, beam, size]`.
          step: int scalar, the position.
          cache: see `init_cache`.
          bias: `[max_length]`, hides later positions.
          memory: `project_memory` plus "bias" `[batch, 1, 1, input_length]`; None without encoder.

        Returns:
          output `[batch, beam, size]`, new cache.
        """
        new_cache = {}
        for layer in self.stack:
            layer_memory, memory_bias = (
                (None, None) if memory is None else (memory[layer.name], memory["bias"])
            )
            x, new_cache[layer.name] = layer.step(
                x, step, cache[layer.name], bias, layer_memory, memory_bias
            )
        return self.final(x), new_cache


def _fill_start(cache: Any, new: Any) -> Any:
    """Puts `new` `[batch, heads, length, depth]` first in a cache, in every beam's.

    The cache is `[batch, beam, heads, max_length, depth]`.
    """
    _, beam, _, _, _ = ops.shape(cache)
    new = ops.repeat(new[:, None], beam, axis=1)
    return ops.slice_update(cache, (0, 0, 0, 0, 0), ops.cast(new, cache.dtype))
