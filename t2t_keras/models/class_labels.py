"""Targets that are one of a few classes instead of a sequence of symbols."""

from collections.abc import Mapping
from typing import Any

import keras
from keras import ops

from t2t_keras.data.modes import ModalityType
from t2t_keras.layers.dense import Dense
from t2t_keras.layers.initializers import InitializerFactory
from t2t_keras.models.transformer_support import UnsupportedHparams, prepends_inputs


class ClassLabelModality(keras.layers.Layer):
    """A dense layer `softmax` from vectors to logits over classes.

    Its variables are `class_label_modality_<classes>_<depth>/softmax/{kernel,bias}`.

    Args:
      num_classes: number of classes.
      depth: width of a vector.
      initializer: makes the kernel's initialiser.
    """

    def __init__(self, num_classes: int, depth: int, initializer: InitializerFactory) -> None:
        super().__init__(name=f"class_label_modality_{num_classes}_{depth}")
        self.softmax = Dense(depth, num_classes, initializer=initializer, name="softmax")

    def build(self, input_shape: Any = None) -> None:
        """Creates the variables."""
        self.softmax.build()

    def call(self, x: Any) -> Any:
        """The same as `logits`."""
        return self.logits(x)

    def logits(self, x: Any) -> Any:
        """Vectors `[batch, 1, depth]` -> float32 logits `[batch, 1, num_classes]`."""
        return ops.cast(self.softmax(x), "float32")


def mean_over_real_positions(x: Any, ids: Any) -> Any:
    """The mean of the vectors at real positions.

    Args:
      x: `[batch, length, depth]`.
      ids: int `[batch, length]`; id 0 is padding, on which the result doesn't depend.

    Returns:
      `[batch, 1, depth]`; zeros for a row without a real position.
    """
    real = ops.cast(ops.not_equal(ids, 0), x.dtype)[..., None]  # [batch, length, 1]
    count = ops.maximum(ops.sum(real, axis=1, keepdims=True), 1.0)
    return ops.sum(x * real, axis=1, keepdims=True) / count


def class_count(problem_hparams: Any) -> int | None:
    """Number of classes that a problem's targets are of, None if they aren't classes."""
    if problem_hparams.modality.get("targets") != ModalityType.CLASS_LABEL:
        return None
    return int(problem_hparams.vocab_size["targets"])


def check_goes_with_classes(hparams: Any, features: Mapping[str, Any]) -> None:
    """Refuses what means nothing for classes.

    Args:
      hparams: the model's.
      features: the problem's, by name.

    Raises:
      UnsupportedHparams: names each hparam.
      ValueError: there are no inputs to tell the class of.
    """
    if "inputs" not in features:
        raise ValueError(f"Class labels need inputs. Received features: {sorted(features)}")
    given = {
        "factored_logits": hparams.get("factored_logits"),
        "scheduled_sampling_prob": hparams.get("scheduled_sampling_prob"),
        "prepend_mode": prepends_inputs(hparams) and hparams.prepend_mode,
    }
    problems = {
        name: f"doesn't go with targets that are class labels. Received: {value!r}"
        for name, value in given.items()
        if value
    }
    if problems:
        raise UnsupportedHparams(problems)
