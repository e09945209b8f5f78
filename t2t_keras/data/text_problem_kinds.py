"""Text problems that are not translation-like: language models, classification, regression, QA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from t2t_keras.data.modes import ModalityType
from t2t_keras.data.problem import ReadingSpec
from t2t_keras.data.text2text import Text2TextProblem
from t2t_keras.hparam import HParams
from t2t_keras.text import encoders

Sample = dict[str, Any]


class QuestionAndContext2TextProblem(Text2TextProblem):
    """Answers from a question and a context: inputs = context, `<EOQ>` (id 2), question.

    Samples are dicts of texts `inputs` (the question), `context` and `targets`.
    """

    QUESTION_SEPARATOR = "<EOQ>"
    QUESTION_SEPARATOR_ID = 2

    @property
    def additional_reserved_tokens(self) -> list[str]:
        """The separator of question and context."""
        return [self.QUESTION_SEPARATOR]

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """The shared encoder, for `context` too."""
        shared = super().feature_encoders(data_dir)
        shared["context"] = shared["inputs"]
        return shared

    @property
    def _text_features(self) -> list[str]:
        return ["inputs", "context", "targets"]

    def generate_encoded_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[Sample]:
        """Yield encoded samples; the context is in front of the question in `inputs` as well."""
        samples = super().generate_encoded_samples(data_dir, tmp_dir, dataset_split)
        vocabulary = self.get_or_create_vocab(data_dir, tmp_dir)
        for sample in samples:
            context = vocabulary.encode(sample["context"])
            context.append(self.QUESTION_SEPARATOR_ID)
            sample["context"] = context
            sample["inputs"] = context + sample["inputs"]
            yield sample

    def example_reading_spec(self) -> ReadingSpec:
        """Inputs and targets, and the context alone."""
        import tensorflow as tf

        features, decoders = super().example_reading_spec()
        features["context"] = tf.io.VarLenFeature(tf.int64)
        return features, decoders

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols for context, inputs and targets."""
        super().hparams(defaults, model_hparams)
        assert self._encoders is not None
        defaults.modality["context"] = ModalityType.SYMBOL
        defaults.vocab_size["context"] = self._encoders["context"].vocab_size
        if self.packed_length:
            raise ValueError(
                f"Questions with context can't be packed; leave packed_length of problem "
                f"{self.name} at None. Received: packed_length={self.packed_length}"
            )


class Text2SelfProblem(Text2TextProblem):
    """Language modelling: samples are `{"targets": text}`."""

    @property
    def has_inputs(self) -> bool:
        """No inputs."""
        return False


class _FromTextProblem(Text2TextProblem):
    """Texts with targets that are no texts: always the same number of values."""

    @property
    def _text_features(self) -> list[str]:
        return ["inputs"]

    def _target_values(self, sample: Sample) -> list[int] | list[float]:
        """The targets of a sample, as they are written."""
        raise NotImplementedError(f"{type(self).__name__} does not define _target_values.")

    def generate_encoded_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[Sample]:
        """Yield `{"inputs": ids with EOS, "targets": values}`."""
        encoder = self.get_or_create_vocab(data_dir, tmp_dir)
        for sample in self.generate_samples(data_dir, tmp_dir, dataset_split):
            inputs = encoder.encode(sample["inputs"])
            inputs.append(encoders.EOS_ID)
            yield {"inputs": inputs, "targets": self._target_values(sample)}

    def _encoders_with(self, data_dir: str | None, targets: Any) -> dict[str, Any]:
        """The vocabulary for inputs, another encoder for targets."""
        return {
            "inputs": self.get_or_create_vocab(data_dir or "", "", force_get=True),
            "targets": targets,
        }

    def _fill_in(self, defaults: HParams, modality: str, size: int) -> None:
        """Symbols in; out come targets of another modality, and of `size` values or classes."""
        assert self._encoders is not None
        defaults.modality = {"inputs": ModalityType.SYMBOL, "targets": modality}
        defaults.vocab_size = {"inputs": self._encoders["inputs"].vocab_size, "targets": size}


class Text2ClassProblem(_FromTextProblem):
    """Classification: samples are `{"inputs": text, "label": int}`."""

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        raise NotImplementedError(f"{type(self).__name__} does not define num_classes.")

    def class_labels(self, data_dir: str | None) -> list[str]:
        """Names of the classes, by number."""
        del data_dir
        return [f"ID_{number}" for number in range(self.num_classes)]

    def _target_values(self, sample: Sample) -> list[int]:
        return [sample["label"]]

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """Text for inputs, class names for targets."""
        labels = encoders.ClassLabelEncoder(self.class_labels(data_dir))
        return self._encoders_with(data_dir, labels)

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols in, a class label out."""
        del model_hparams
        self._fill_in(defaults, ModalityType.CLASS_LABEL, self.num_classes)

    def example_reading_spec(self) -> ReadingSpec:
        """Inputs of any length, one target."""
        import tensorflow as tf

        targets = tf.io.FixedLenFeature([1], tf.int64)
        return {"inputs": tf.io.VarLenFeature(tf.int64), "targets": targets}, None


class Text2RealProblem(_FromTextProblem):
    """Regression: samples are `{"inputs": text, "targets": list of ntasks floats}`."""

    @property
    def ntasks(self) -> int:
        """Number of values to predict."""
        raise NotImplementedError(f"{type(self).__name__} does not define ntasks.")

    def max_length(self, model_hparams: Any) -> int:
        """T2T's limit: batch_size × ntasks."""
        return model_hparams.batch_size * self.ntasks

    def _target_values(self, sample: Sample) -> list[float]:
        return [float(value) for value in sample["targets"]]

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """Text for inputs, numbers for targets."""
        return self._encoders_with(data_dir, encoders.RealEncoder())

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols in, `ntasks` numbers out."""
        del model_hparams
        self._fill_in(defaults, ModalityType.REAL, self.ntasks)

    def example_reading_spec(self) -> ReadingSpec:
        """Inputs of any length, `ntasks` targets."""
        import tensorflow as tf

        targets = tf.io.FixedLenFeature([self.ntasks], tf.float32)
        return {"inputs": tf.io.VarLenFeature(tf.int64), "targets": targets}, None
