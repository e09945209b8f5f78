"""The Transformer of "Attention Is All You Need" (Vaswani et al., 2017), with T2T's variants."""

from collections.abc import Mapping
from typing import Any

import keras
import tensorflow as tf
from keras import ops

from t2t_keras import registry
from t2t_keras.layers.attention_recording import record_attention
from t2t_keras.layers.dropout import keep_mask
from t2t_keras.layers.embedding import SymbolTable
from t2t_keras.layers.precision import activation_dtype, set_activation_dtype
from t2t_keras.models import class_labels
from t2t_keras.models.transformer_body import EncoderOutput, TransformerBody
from t2t_keras.models.transformer_problem import (
    check_one_vocabulary,
    problem_hparams_of,
    symbol_vocab_size,
)
from t2t_keras.models.transformer_support import (
    check_not_of_other_model,
    check_overrides,
    check_supported,
    prepends_inputs,
)
from t2t_keras.models.transformer_tables import make_tables

# Dropout sites of the body count up from 0; symbol dropout has its own.
_SYMBOL_SITES = {"inputs": 1_000_000, "targets": 1_000_001}

Features = Mapping[str, Any]


@registry.register_model("transformer")
class Transformer(keras.Model):
    """Encoder-decoder, or decoder only when there is no input vocabulary (a language model).

    All variables exist after construction. `variable.path` is the variable's name in a T2T
    checkpoint, except that T2T splits an embedding table into `weights_0`, `weights_1`, … and here
    it is one `weights`.

    Args:
      hparams: the hyperparameters of a `transformer_*` set, as attributes.
      input_vocab_size: number of input symbols, None for a model without inputs.
      target_vocab_size: number of target symbols.
      input_space_id: kind of the inputs (`SpaceID`); no variant of this model looks at it.
      target_space_id: kind of the targets, selects the vector of the target-space embedding.
      predicts_class: whether the targets, int32 `[batch, 1]`, are one of `target_vocab_size`
        classes. The decoder then has one position, whose input is the zero vector.
      name: first part of all variable names.

    Call arguments:
      features: `inputs` and `targets`, int32 `[batch, length]`, 0 is padding; for packed batches
        also `inputs_segmentation`, `inputs_position`, `targets_segmentation`,
        `targets_position`, int32 of the same shapes.
      training: whether dropout is on.
      dropout_seed: int32 `[2]`, to be different for every step and replica; drawn at random
        when missing.

    Call result: logits, float32 `[batch, target_length, target vocabulary size]`. The vocabulary
    sizes are rounded up to a multiple of the hparam `vocab_divisor`.

    Raises:
      UnsupportedHparams: hparams this model does not implement.
      ValueError: attention depths that the number of heads does not divide.

    Example:
      hparams = registry.hparams("transformer_tiny")
      model = Transformer(hparams, input_vocab_size=100, target_vocab_size=100)
      logits = model({"inputs": [[5, 6, 1]], "targets": [[7, 1]]})
    """

    # The registry sets it to the registered name.
    REGISTERED_NAME = "transformer"
    # First part of the variables' names; None for the registered name.
    scope: str | None = None
    has_decoder = True
    # Whether the results are numbers instead of logits.
    predicts_numbers = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Refuses methods that T2T would call and this package wouldn't."""
        super().__init_subclass__(**kwargs)
        check_overrides(cls)

    def __init__(
        self,
        hparams: Any,
        *,
        input_vocab_size: int | None,
        target_vocab_size: int,
        input_space_id: int = 0,
        target_space_id: int = 0,
        predicts_class: bool = False,
        name: str = "transformer",
    ) -> None:
        check_supported(hparams)
        if type(self).__module__.startswith("t2t_keras.models."):
            check_not_of_other_model(hparams)
        super().__init__(name=name)
        self.hparams = hparams
        self.hidden_size = hparams.hidden_size
        self.symbol_dropout = hparams.symbol_dropout
        self.input_space_id = input_space_id
        self.has_inputs = input_vocab_size is not None
        self.predicts_class = predicts_class
        divisor = 1 if predicts_class else hparams.vocab_divisor
        self.target_vocab_size = _round_up(target_vocab_size, divisor)
        self.input_vocab_size = (
            None if input_vocab_size is None else _round_up(input_vocab_size, hparams.vocab_divisor)
        )
        tables = make_tables(hparams, self.input_vocab_size, self.target_vocab_size, predicts_class)
        self.modalities = tables.modalities
        self.input_table = tables.inputs
        self.target_table: Any = tables.targets
        self.softmax_table: Any = tables.softmax
        # In these modes, sequences of a problem with inputs are inputs, a 0 and targets.
        self.prepends_inputs = not self.has_inputs and prepends_inputs(hparams)
        self._stacks = TransformerBody(
            hparams, self.has_inputs, target_space_id, has_decoder=self.has_decoder
        )
        self.build()
        set_activation_dtype(self, activation_dtype(hparams))

    @classmethod
    def from_hparams(cls, hparams: Any) -> "Transformer":
        """The model for `hparams.problem_hparams`.

        Raises:
          UnsupportedHparams: also for inputs or targets that are no symbols.
          ValueError: the problem has no targets, or hparams hold no problem.
        """
        problem_hparams = problem_hparams_of(hparams)
        classes = class_labels.class_count(problem_hparams)
        if classes is not None:
            class_labels.check_goes_with_classes(hparams, problem_hparams.modality)
        target_vocab_size = classes or symbol_vocab_size(problem_hparams, "targets")
        if target_vocab_size is None:
            raise ValueError(
                "The transformer model needs a problem with targets. "
                f"Received features: {sorted(problem_hparams.modality)}"
            )
        input_vocab_size = symbol_vocab_size(problem_hparams, "inputs")
        if prepends_inputs(hparams):
            check_one_vocabulary(input_vocab_size, target_vocab_size)
            input_vocab_size = None
        return cls(
            hparams,
            input_vocab_size=input_vocab_size,
            target_vocab_size=target_vocab_size,
            input_space_id=int(problem_hparams.input_space_id),
            target_space_id=int(problem_hparams.target_space_id),
            # Of a derived model, too, this is the first part of the variables' names, as in T2T.
            name=cls.scope or cls.REGISTERED_NAME,
            # A derived model need not know of classes.
            **({} if classes is None else {"predicts_class": True}),
        )

    def build(self, input_shape: Any = None) -> None:
        """Creates all variables."""
        for modality in self.modalities.values():
            modality.build()
        self._stacks.build()
        self.built = True

    def call(self, features: Features, training: bool = False, dropout_seed: Any = None) -> Any:
        """Logits of given targets; see the class."""
        return self.softmax_table.logits(self.hidden(features, training, dropout_seed))

    def hidden(self, features: Features, training: bool = False, dropout_seed: Any = None) -> Any:
        """What the softmax table is multiplied with: `[batch, target_length, hidden_size]`.

        Arguments as the call's.
        """
        seed = seed_for(training, dropout_seed)
        embedded = {**features, "dropout_seed": seed}
        if self.has_inputs:
            ids, vectors = self._embed("inputs", self.input_table, features["inputs"], seed)
            embedded.update(inputs=vectors, inputs_raw=ids)
        if self.predicts_class:
            # What the decoder reads is shifted right: of one target, it is the zero vector alone.
            ids = ops.ones_like(embedded["inputs_raw"][:, :1])
            vectors = ops.zeros_like(embedded["inputs"][:, :1])
        else:
            ids, vectors = self._embed("targets", self.target_table, features["targets"], seed)
        embedded.update(targets=vectors, targets_raw=ids)
        return self.output_of_body(embedded)

    def output_of_body(self, features: Features) -> Any:
        """What `body` returns.

        Raises:
          TypeError: a derived model's body returns losses, too, as it may in T2T.
        """
        output = self.body(features)
        if isinstance(output, tuple):
            raise TypeError(
                f"{type(self).__name__}.body must return one tensor; losses beside it are not "
                f"supported. Received: a tuple of {len(output)}"
            )
        return output

    def body(self, features: Features) -> Any:
        """Encoder and decoder: what lies between the vectors of the ids and the softmax.

        Training and evaluation go through it, so a derived model may override it, as in T2T;
        decoding uses `encode` and `decode_step`. There are no axes of size 1 here: T2T's are
        `[batch, length, 1, hidden_size]`.

        Args:
          features: `inputs` and `targets`, `[batch, length, hidden_size]`; their ids `inputs_raw`
            and `targets_raw`, int32 `[batch, length]`; the other features of the batch; and
            `dropout_seed`, int32 `[2]` or None for no dropout.

        Returns:
          `[batch, target_length, hidden_size]`.
        """
        return self._stacks.decode(
            features["targets_raw"],
            features["targets"],
            self.encode_embedded(features) if self.has_inputs else None,
            features=features,
            dropout_seed=features["dropout_seed"],
        )

    def encode_embedded(self, features: Features) -> EncoderOutput:
        """Runs the encoder on the features that `body` gets; result as of `encode`."""
        return self._stacks.encode(
            features["inputs_raw"],
            features["inputs"],
            features=features,
            dropout_seed=features["dropout_seed"],
        )

    def attention_weights(self, features: Features) -> dict[str, Any]:
        """Where every attention of the model looks, when it is given these inputs and targets.

        Args:
          features: see the class.

        Returns:
          weights and logits, `[batch, heads, query_length, key_length]`, keyed as in T2T; see
          `attention_recording.record_attention`.
        """
        with record_attention() as weights:
            self(features)
        return weights

    def encode(
        self, inputs: Any, training: bool = False, dropout_seed: Any = None
    ) -> EncoderOutput:
        """Runs the encoder on `inputs`, int32 `[batch, input_length]`.

        Returns:
          `output` `[batch, input_length, hidden_size]`, `bias` `[batch, 1, 1, input_length]`.
        """
        seed = seed_for(training, dropout_seed)
        ids, vectors = self._embed("inputs", self.input_table, inputs, seed)
        return self._stacks.encode(ids, vectors, dropout_seed=seed)

    def _embed(
        self, feature: str, table: SymbolTable | None, ids: Any, seed: Any
    ) -> tuple[Any, Any]:
        """The ids after symbol dropout, and their vectors."""
        if table is None:
            raise ValueError(
                "This model has no inputs: it was made with input_vocab_size=None, for a problem "
                f"without inputs. Received: {feature}"
            )
        ids = ops.convert_to_tensor(ids, dtype="int32")
        if seed is not None and self.symbol_dropout:
            keep = keep_mask(ops.shape(ids), self.symbol_dropout, seed, _SYMBOL_SITES[feature])
            ids = ids * ops.cast(keep, "int32")
        return ids, table.embed(ids)

    def decoder_memory(self, encoder_output: EncoderOutput) -> dict[str, Any]:
        """What `decode_step` reads of the encoder: projected once, shared by all beams.

        Returns:
          {"layer_0": {"k", "v": `[batch, heads, input_length, depth]`}, …,
          "bias": `[batch, 1, 1, input_length]`}.
        """
        memory: dict[str, Any] = self._stacks.decoder.project_memory(encoder_output.output)
        memory["bias"] = encoder_output.bias
        return memory

    def init_cache(
        self, batch_size: Any, beam_size: Any, max_length: Any
    ) -> dict[str, dict[str, Any]]:
        """An empty cache for `decode_step`.

        Args:
          batch_size: number of sentences, integer or scalar tensor, like the others.
          beam_size: hypotheses per sentence.
          max_length: largest number of steps.

        Returns:
          {"layer_0": {"k", "v": `[batch, beam, heads, max_length, depth]`}, …}, zeros.
        """
        return self._stacks.decoder.init_cache(batch_size, beam_size, max_length)

    @property
    def prefix_sees_itself(self) -> bool:
        """Whether the symbols of a prefix see later ones of it; see `fill_cache`."""
        return self._stacks.prepended_inputs_see_all

    def fill_cache(
        self, cache: dict[str, dict[str, Any]], prefix: Any, lengths: Any
    ) -> dict[str, dict[str, Any]]:
        """Runs the decoder on what every sequence begins with, all of it seeing all of it.

        `decode_step` lets a position see earlier ones only, so a model whose prepended inputs see
        each other needs this first.

        Args:
          cache: see `init_cache`; with room for the prefixes.
          prefix: int32 `[batch, prefix_length]`.
          lengths: int32 `[batch]`, how much of each row is the prefix.

        Returns:
          the cache with the prefixes' keys and values, for every hypothesis the same.
        """
        embedded = self.target_table.embed(ops.convert_to_tensor(prefix, dtype="int32"))
        return self._stacks.fill_cache(cache, embedded, lengths)

    def decode_step(
        self,
        ids: Any,
        step: Any,
        cache: dict[str, dict[str, Any]],
        memory: dict[str, Any] | None = None,
    ) -> tuple[Any, dict[str, dict[str, Any]]]:
        """Logits of the next symbol of every hypothesis.

        Args:
          ids: int32 `[batch, beam]`, the last symbols; ignored at step 0, where the decoder gets
            the zero vector.
          step: int32 scalar, number of symbols so far.
          cache: of the steps before; see `init_cache`.
          memory: see `decoder_memory`; None for a model without inputs.

        Returns:
          logits float32 `[batch, beam, target vocabulary size]`, and the new cache.
        """
        embedded = self.target_table.embed(ids)
        output, cache = self._stacks.decode_step(embedded, step, cache, memory)
        return self.softmax_table.logits_of_few(output), cache


def _round_up(size: int, divisor: int) -> int:
    return -(-size // divisor) * divisor


def seed_for(training: bool, dropout_seed: Any) -> Any:
    """The seed of this call, None when dropout is off."""
    if not training:
        return None
    if dropout_seed is None:
        return tf.random.uniform([2], tf.int32.min, tf.int32.max, tf.int32)
    return tf.cast(dropout_seed, tf.int32)
