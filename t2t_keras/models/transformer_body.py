"""What lies between embedding and softmax: positions, biases, encoder and decoder."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import keras
import tensorflow as tf
from keras import ops

from t2t_keras.layers import feed_forward_types, masks, positions
from t2t_keras.layers.dropout import Dropout
from t2t_keras.layers.given_positions import GivenPositions
from t2t_keras.layers.initializers import InitializerFactory, initializer_factory
from t2t_keras.layers.manual_gradients import add_vector
from t2t_keras.layers.self_attention_types import is_local
from t2t_keras.layers.shifting import shift_right
from t2t_keras.models.transformer_stacks import Decoder, Encoder, make_processing

NUM_TARGET_SPACES = 32


class Packing(NamedTuple):
    """Where the examples of a packed row are; all int `[batch, length]`.

    Attributes:
      segments: number of the example at each position, 0 for padding.
      positions: position within the example.
    """

    segments: Any
    positions: Any


def packing_of(features: Mapping[str, Any] | None, side: str) -> Packing | None:
    """The packing of a batch's `inputs` or `targets`; None if they are not packed."""
    if features is None or f"{side}_segmentation" not in features:
        return None
    return Packing(
        ops.convert_to_tensor(features[f"{side}_segmentation"], dtype="int32"),
        ops.convert_to_tensor(features[f"{side}_position"], dtype="int32"),
    )


class EncoderOutput(NamedTuple):
    """What the decoder needs to know about the inputs.

    Attributes:
      output: `[batch, input_length, hidden_size]`.
      bias: hides input padding, `[batch, 1, 1, input_length]`.
    """

    output: Any
    bias: Any


class SpaceEmbedding(keras.layers.Layer):
    """A learned vector for each target space, `kernel` `[32, hidden_size]`."""

    def __init__(self, size: int, initializer: InitializerFactory) -> None:
        super().__init__(name="target_space_embedding")
        self.size = size
        self.initializer = initializer

    def build(self, input_shape: Any = None) -> None:
        """Creates the table."""
        self.kernel = self.add_weight(
            name="kernel", shape=(NUM_TARGET_SPACES, self.size), initializer=self.initializer()
        )

    def call(self, space_id: int) -> Any:
        """The vector `[hidden_size]` of one space."""
        return self.kernel[space_id]


class TransformerBody(keras.layers.Layer):
    """Encoder and decoder with their inputs prepared.

    Args:
      hparams: the model's hyperparameters.
      has_inputs: whether there is an encoder.
      target_space_id: the kind of target, for the target-space embedding.
      has_decoder: whether there is a decoder.
    """

    def __init__(
        self, hparams: Any, has_inputs: bool, target_space_id: int, has_decoder: bool = True
    ) -> None:
        super().__init__(name="body")
        self.pos = hparams.pos
        self.size = hparams.hidden_size
        self.given_positions: GivenPositions | None = None
        if self.pos == "timing_from_features":
            self.given_positions = GivenPositions(hparams.position_features, has_inputs, self.size)
        self.max_length = hparams.max_length
        self.local = is_local(hparams)
        self.proximity = bool(hparams.proximity_bias)
        self.unidirectional_encoder = bool(hparams.unidirectional_encoder)
        self.causal_decoder = bool(hparams.causal_decoder_self_attention)
        self.use_pad_remover = bool(hparams.use_pad_remover)
        self.ffn_sees_padding = hparams.ffn_layer in feed_forward_types.SEE_PADDING
        self.prepended_inputs_see_all = (
            getattr(hparams, "prepend_mode", "none") == "prepend_inputs_full_attention"
        )
        self.target_space_id = target_space_id
        self.initializer = initializer_factory(hparams.initializer, hparams.initializer_gain)
        processing = make_processing(hparams)
        self.space_embedding = (
            SpaceEmbedding(self.size, self.initializer)
            if has_inputs and hparams.use_target_space_embedding
            else None
        )
        self.input_dropout = Dropout(hparams.layer_prepostprocess_dropout, next(processing.sites))
        self.target_dropout = Dropout(hparams.layer_prepostprocess_dropout, next(processing.sites))
        self.encoder: Any = Encoder(hparams, processing) if has_inputs else None
        self.decoder: Any = None
        if has_decoder:
            self.decoder = Decoder(hparams, processing, attends_encoder=has_inputs)

    def build(self, input_shape: Any = None) -> None:
        """Creates all variables of the body."""
        self.inputs_positions = self.targets_positions = None
        if self.encoder is not None:
            if self.space_embedding is not None:
                self.space_embedding.build()
            self.inputs_positions = self._build_positions("inputs_positional_embedding")
            self.encoder.build()
        if self.decoder is not None:
            self.targets_positions = self._build_positions("targets_positional_embedding")
            self.decoder.build()

    def _build_positions(self, name: str) -> Any:
        if self.pos != "emb":
            return None
        return self.add_weight(
            name=name, shape=(self.max_length, self.size), initializer=self.initializer()
        )

    def encode(
        self,
        ids: Any,
        embedded: Any,
        features: Mapping[str, Any] | None = None,
        dropout_seed: Any = None,
    ) -> EncoderOutput:
        """Runs the encoder.

        Args:
          ids: int `[batch, length]`; id 0 is padding.
          embedded: the ids' vectors, `[batch, length, hidden_size]`.
          features: of the batch, for the packing of packed rows and for given positions.
          dropout_seed: int32 `[2]`, None for no dropout.
        """
        length = ops.shape(ids)[1]
        packing = packing_of(features, "inputs")
        padding_bias = masks.padding_bias(ids)
        bias = padding_bias
        if packing is not None:
            bias = masks.same_segment_bias(packing.segments, packing.segments)
        if self.unidirectional_encoder and not self.local:
            causal = masks.causal_bias(length)
            # Padding comes last and is thus already hidden from every real position; the examples
            # of a packed row must still not see each other.
            bias = causal if packing is None else bias + causal
        if self.proximity:
            bias = bias + masks.proximity_bias(length)
        x = embedded
        if self.space_embedding is not None:
            vector = ops.cast(self.space_embedding(space_id=self.target_space_id), x.dtype)
            x = add_vector(x, tf.reshape(vector, [-1]))
        x = self._add_positions(x, "inputs", self.inputs_positions, features)
        x = self.input_dropout(x, dropout_seed=dropout_seed)
        # The pad remover matters in packed rows, where padding is seen by padding, and without a
        # decoder, where the outputs at padding are part of the result. Elsewhere no position
        # attends to padding, so what is computed there has no effect.
        shows_padding = packing is not None or self.decoder is None
        removes_padding = shows_padding and self.use_pad_remover
        real = None
        if self.ffn_sees_padding or removes_padding:
            real = _real_positions(ids, packing)
        output = self.encoder(x, bias, real, dropout_seed=dropout_seed)
        return EncoderOutput(output, padding_bias)

    def decode(
        self,
        ids: Any,
        embedded: Any,
        encoder_output: EncoderOutput | None = None,
        features: Mapping[str, Any] | None = None,
        dropout_seed: Any = None,
    ) -> Any:
        """Runs the decoder on given targets.

        The targets are shifted right after embedding. In packed rows the shift ignores where
        examples begin, as in T2T: the first position of a later example sees the end symbol of the
        one before.

        Args:
          ids: int `[batch, length]`.
          embedded: the ids' vectors, `[batch, length, hidden_size]`.
          encoder_output: None without inputs.
          features: see `encode`.
          dropout_seed: int32 `[2]`, None for no dropout.

        Returns:
          `[batch, length, hidden_size]`.
        """
        packing = packing_of(features, "targets")
        input_packing = packing_of(features, "inputs")
        bias = self._decoder_bias(ids, packing)
        x = shift_right(embedded)
        x = self._add_positions(x, "targets", self.targets_positions, features)
        x = self.target_dropout(x, dropout_seed=dropout_seed)
        if encoder_output is None:
            return self.decoder(x, bias, dropout_seed=dropout_seed)
        encdec_bias = encoder_output.bias
        if packing is not None and input_packing is not None:
            encdec_bias = masks.same_segment_bias(packing.segments, input_packing.segments)
        return self.decoder(x, bias, encoder_output.output, encdec_bias, dropout_seed=dropout_seed)

    def _decoder_bias(self, ids: Any, packing: Packing | None) -> Any:
        length = ops.shape(ids)[1]
        if self.local:
            if packing is not None:
                raise ValueError(
                    "Local self-attention can't keep the examples of packed rows apart. Received: "
                    "features *_segmentation"
                )
            # Local attention hides later positions itself: a bias of length² would cost more.
            return None if self.causal_decoder else masks.padding_bias(ids)
        if not self.causal_decoder:
            bias = masks.padding_bias(ids)
        elif self.prepended_inputs_see_all:
            bias = masks.prepended_inputs_bias(ids)
        else:
            bias = masks.causal_bias(length)
        if packing is not None:
            bias = bias + masks.same_segment_bias(packing.segments, packing.segments)
        if self.proximity:
            bias = bias + masks.proximity_bias(length)
        return bias

    def fill_cache(
        self, cache: dict[str, dict[str, Any]], embedded: Any, lengths: Any
    ) -> dict[str, dict[str, Any]]:
        """Runs the decoder on prefixes `[batch, length, hidden_size]` whose positions see all.

        Args:
          cache: see `Decoder.init_cache`, of at least that length.
          embedded: the prefixes' vectors; what follows a prefix is hidden from it.
          lengths: int32 `[batch]`, of the prefixes.

        Returns:
          the cache, filled.
        """
        length = ops.shape(embedded)[1]
        beyond = ops.arange(length, dtype="int32")[None, :] >= lengths[:, None]
        bias = masks.hide(beyond)[:, None, None, :]
        if self.proximity:
            bias = bias + masks.proximity_bias(length)
        x = self._add_positions(shift_right(embedded), "targets", self.targets_positions)
        return self.decoder.fill_cache(x, cache, bias)

    def decode_step(
        self,
        embedded: Any,
        step: Any,
        cache: dict[str, dict[str, Any]],
        memory: dict[str, Any] | None,
    ) -> tuple[Any, dict[str, dict[str, Any]]]:
        """Runs the decoder on one new position of every hypothesis.

        Args:
          embedded: vectors of the last ids, `[batch, beam, hidden_size]`.
          step: int32 scalar, number of ids so far; at 0 the vectors are replaced by zeros.
          cache: see `Decoder.init_cache`.
          memory: see `Decoder.step`.

        Returns:
          `[batch, beam, hidden_size]`, new cache.
        """
        x = embedded * ops.cast(ops.greater(step, 0), embedded.dtype)
        if self.given_positions is not None:
            signal = self.given_positions.signal_at("targets", step)
        else:
            signal = self._signal_at(step, self.targets_positions)
        if signal is not None:
            x = x + ops.cast(signal, x.dtype)
        max_length = ops.shape(cache[self.decoder.stack[0].name]["k"])[3]
        bias = masks.decode_step_bias(step, max_length, self.proximity)
        return self.decoder.step(x, step, cache, bias, memory)

    def _add_positions(
        self, x: Any, side: str, table: Any, features: Mapping[str, Any] | None = None
    ) -> Any:
        """`x` `[batch, length, hidden_size]` with the signal of where each vector is."""
        length = ops.shape(x)[1]
        if self.given_positions is not None:
            signal = self.given_positions.signal(side, features, length)
        else:
            packing = packing_of(features, side)
            counted = ops.arange(length, dtype="int32")[None]  # [1, length]
            signal = self._signal_at(counted if packing is None else packing.positions, table)
        return x if signal is None else x + ops.cast(signal, x.dtype)

    def _signal_at(self, where: Any, table: Any) -> Any:
        """The signal at int positions `[…]`: `[…, hidden_size]`; None if the model has none."""
        if self.pos == "timing":
            return positions.timing_signal_at(where, self.size)
        return None if table is None else positions.learned_signal_at(table, where)


def _real_positions(ids: Any, packing: Packing | None) -> Any:
    """1 at real positions, 0 at padding: float32 `[batch, length, 1]`."""
    marks = ids if packing is None else packing.segments
    return ops.cast(ops.not_equal(marks, 0), "float32")[..., None]
