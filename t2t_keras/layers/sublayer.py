"""What happens around a sub-layer: x ← post(x, sublayer(pre(x))).

The hparams `layer_preprocess_sequence` and `layer_postprocess_sequence` are read left to right:
`n` normalises, `d` is dropout, `a` adds the sub-layer's input (residual connection), `z` adds γ
times the output to the input, with γ initially 0; the word `none` means nothing happens. The
paper's post-norm model is pre "none", post "dan"; T2T's later pre-norm model is pre "n", post "da"
(T2T's `layers.common_layers.layer_prepostprocess`).
"""

import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import keras
from keras import ops

from t2t_keras.layers.dropout import Dropout
from t2t_keras.layers.normalization import make_norm

PREPROCESS_LETTERS = "nd"
POSTPROCESS_LETTERS = "nadz"


@dataclasses.dataclass(frozen=True)
class Processing:
    """How the sub-layers of a model are wrapped.

    Attributes:
      size: width of the model, the last axis of every activation.
      preprocess: some of `PREPROCESS_LETTERS`, or "none".
      postprocess: some of `POSTPROCESS_LETTERS`, or "none".
      norm_type: see `normalization.NORM_TYPES`.
      norm_epsilon: of the norm.
      dropout: rate of `d`.
      dropout_broadcast_dims: axes of `d` that share one decision.
      sites: source of fresh dropout site numbers.
    """

    size: int
    preprocess: str = "none"
    postprocess: str = "none"
    norm_type: str = "layer"
    norm_epsilon: float = 1e-6
    dropout: float = 0.0
    dropout_broadcast_dims: tuple[int, ...] = ()
    sites: Iterator[int] = dataclasses.field(default_factory=itertools.count)

    def make_preprocess(self) -> "ProcessSequence":
        """The layer before a sub-layer, and after the last layer of a stack."""
        return ProcessSequence(
            self.preprocess, self, PREPROCESS_LETTERS, name="layer_prepostprocess"
        )

    def make_postprocess(self) -> "ProcessSequence":
        """The layer after a sub-layer."""
        return ProcessSequence(
            self.postprocess, self, POSTPROCESS_LETTERS, name="layer_postprocess"
        )


class _ZeroAdd(keras.layers.Layer):
    """residual + γ·x with one trained number γ, initially 0."""

    def build(self, input_shape: Any = None) -> None:
        self.gamma = self.add_weight(name="gamma", shape=(), initializer="zeros")

    def call(self, x: Any, residual: Any) -> Any:
        return residual + ops.cast(self.gamma, x.dtype) * x


class ProcessSequence(keras.layers.Layer):
    """Runs the letters of a sequence on a sub-layer's input or output.

    Args:
      letters: the sequence, "none" or "" for nothing.
      processing: sizes and rates.
      allowed: letters valid here.
      name: scope of the variables: `layer_prepostprocess` before, `layer_postprocess` after.

    Raises:
      ValueError: a letter that is not allowed here.
    """

    def __init__(self, letters: str, processing: Processing, allowed: str, name: str) -> None:
        super().__init__(name=name)
        letters = "" if letters == "none" else letters
        unknown = sorted(set(letters) - set(allowed))
        if unknown:
            raise ValueError(
                f"A {name} sequence may hold the letters {', '.join(allowed)} or be 'none'. "
                f"Received: {letters!r}"
            )
        norm_numbers, add_numbers = itertools.count(), itertools.count()
        self.letters = letters
        self.steps: list[Any] = []
        for letter in letters:
            step: keras.layers.Layer | None = None
            if letter == "n":
                step = make_norm(
                    processing.norm_type,
                    processing.size,
                    processing.norm_epsilon,
                    next(norm_numbers),
                )
            elif letter == "d":
                step = Dropout(
                    processing.dropout, next(processing.sites), processing.dropout_broadcast_dims
                )
            elif letter == "z":
                number = next(add_numbers)
                step = _ZeroAdd(name=f"zero_add_{number}" if number else "zero_add")
            self.steps.append(step)

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables of norms and γ."""
        for step in self.steps:
            if step is not None and not step.built:
                step.build()

    def call(self, x: Any, residual: Any = None, dropout_seed: Any = None) -> Any:
        """Applies the letters to `x` `[batch, length, size]`.

        Args:
          x: input or output of the sub-layer.
          residual: the sub-layer's input; needed by `a` and `z`.
          dropout_seed: int32 `[2]`, None for no dropout.

        Returns:
          the shape of `x`.
        """
        for letter, step in zip(self.letters, self.steps, strict=True):
            if letter == "a":
                x = x + residual
            elif letter == "z":
                x = step(x, residual)
            elif letter == "d":
                x = step(x, dropout_seed=dropout_seed)
            elif step is not None:
                x = step(x)
        return x


class SubLayer(keras.layers.Layer):
    """Base of the wrapped sub-layers; a subclass builds its parts and defines `transform`.

    Args:
      processing: what to do before and after.
      name: scope of the variables.
    """

    def __init__(self, processing: Processing, name: str) -> None:
        super().__init__(name=name)
        self.preprocess = processing.make_preprocess()
        self.postprocess = processing.make_postprocess()

    def build(self, input_shape: Any = None) -> None:
        """Creates all variables, in the order of the data flow."""
        self.preprocess.build()
        self.build_transform()
        self.postprocess.build()

    def build_transform(self) -> None:
        """Creates the variables of the sub-layer proper."""
        raise NotImplementedError

    def transform(self, x: Any, *args: Any, **kwargs: Any) -> Any:
        """The sub-layer proper: `[batch, length, size]` -> the same shape.

        Beside what it needs it takes a `dropout_seed`, int32 `[2]`, None for no dropout.
        """
        raise NotImplementedError

    def call(self, x: Any, *args: Any, dropout_seed: Any = None) -> Any:
        """post(x, transform(pre(x), *args)); shapes as `transform`."""
        prepared = self.preprocess(x, dropout_seed=dropout_seed)
        output = self.transform(prepared, *args, dropout_seed=dropout_seed)
        return self.postprocess(output, residual=x, dropout_seed=dropout_seed)
