"""Transformers without a decoder: a symbol for every input position, or one number."""

from typing import Any

import keras
from keras import ops

from t2t_keras import registry
from t2t_keras.data.modes import ModalityType
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.initializers import InitializerFactory, initializer_factory
from t2t_keras.models.class_labels import mean_over_real_positions
from t2t_keras.models.transformer import Features, Transformer, seed_for
from t2t_keras.models.transformer_problem import (
    check_modality,
    problem_hparams_of,
    symbol_vocab_size,
)


@registry.register_model("transformer_encoder")
class TransformerEncoder(Transformer):
    """The encoder, and a softmax over target symbols at every input position.

    Arguments as `Transformer`'s; the inputs are needed. The targets are as long as the inputs.

    Call result: logits, float32 `[batch, input_length, target vocabulary size]`. Where the targets
    are class labels: of the mean over the real positions, `[batch, 1, number of classes]`.

    Raises:
      ValueError: there are no inputs.
    """

    has_decoder = False

    def __init__(self, hparams: Any, *, input_vocab_size: int | None, **options: Any) -> None:
        if input_vocab_size is None:
            raise ValueError(
                f"The model {self.REGISTERED_NAME} reads inputs, and its hparam prepend_mode must "
                "be 'none'. Received: input_vocab_size=None"
            )
        options = {"name": self.REGISTERED_NAME} | options
        super().__init__(hparams, input_vocab_size=input_vocab_size, **options)

    def hidden(self, features: Features, training: bool = False, dropout_seed: Any = None) -> Any:
        """The encoder's output, `[batch, input_length, hidden_size]`, or of classes, the mean."""
        seed = seed_for(training, dropout_seed)
        ids, vectors = self._embed("inputs", self.input_table, features["inputs"], seed)
        embedded = {**features, "inputs": vectors, "inputs_raw": ids, "dropout_seed": seed}
        output = self.output_of_body(embedded)
        return mean_over_real_positions(output, ids) if self.predicts_class else output

    def body(self, features: Features) -> Any:
        """The encoder; see `Transformer.body`. Result `[batch, input_length, hidden_size]`."""
        return self.encode_embedded(features).output

    def decoder_memory(self, encoder_output: Any) -> Any:
        """Not available: raises `TypeError`."""
        raise self._no_decoder()

    def init_cache(self, batch_size: Any, beam_size: Any, max_length: Any) -> Any:
        """Not available: raises `TypeError`."""
        raise self._no_decoder()

    def decode_step(self, ids: Any, step: Any, cache: Any, memory: Any = None) -> Any:
        """Not available: raises `TypeError`."""
        raise self._no_decoder()

    def _no_decoder(self) -> TypeError:
        return TypeError(
            f"The model {self.REGISTERED_NAME} has no decoder, so nothing can be searched: call it "
            "with the inputs instead."
        )


class _RegressionTop(keras.layers.Layer):
    """A dense layer `model_top` to one number."""

    def __init__(self, size: int, initializer: InitializerFactory) -> None:
        super().__init__(name="reg_top_ffn")
        self.model_top = Dense(size, 1, initializer=initializer, name="model_top")

    def build(self, input_shape: Any = None) -> None:
        self.model_top.build()

    def call(self, x: Any) -> Any:
        """`[batch, size]` -> `[batch, 1]`."""
        return self.model_top(x)


@registry.register_model("transformer_regressor")
class TransformerRegressor(TransformerEncoder):
    """The encoder, the mean over all its positions, and a dense layer to one number.

    As in T2T the mean is over padding, too. The loss is the squared difference from `targets`,
    float32 `[batch, 1]`.

    Call result: float32 `[batch, 1]`.
    """

    predicts_numbers = True

    def __init__(
        self,
        hparams: Any,
        *,
        input_vocab_size: int | None,
        target_vocab_size: int | None = None,
        **options: Any,
    ) -> None:
        # There is no table of targets.
        super().__init__(
            hparams,
            input_vocab_size=input_vocab_size,
            target_vocab_size=input_vocab_size,
            **options,
        )

    @classmethod
    def from_hparams(cls, hparams: Any) -> "TransformerRegressor":
        """The model for `hparams.problem_hparams`, whose targets must be real numbers.

        Raises:
          UnsupportedHparams: the targets are something else.
          ValueError: hparams hold no problem.
        """
        problem_hparams = problem_hparams_of(hparams)
        check_modality(problem_hparams, "targets", ModalityType.REAL)
        return cls(
            hparams,
            input_vocab_size=symbol_vocab_size(problem_hparams, "inputs"),
            input_space_id=int(problem_hparams.input_space_id),
            target_space_id=int(problem_hparams.target_space_id),
        )

    def build(self, input_shape: Any = None) -> None:
        """Creates all variables."""
        initializer = initializer_factory(self.hparams.initializer, self.hparams.initializer_gain)
        self.top_layer = _RegressionTop(self.hidden_size, initializer)
        super().build(input_shape)
        self.top_layer.build()

    def call(self, features: Features, training: bool = False, dropout_seed: Any = None) -> Any:
        """One number for each input; see the class."""
        return self.top_layer(ops.mean(self.hidden(features, training, dropout_seed), axis=1))
