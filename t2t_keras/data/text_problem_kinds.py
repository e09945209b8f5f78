"""Text problems that are not translation-like: language models, classification, regression, QA."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from t2t_keras.data.modes import DatasetSplit, ModalityType
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

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yield questions, targets and contexts of the training samples."""
        samples = self.generate_samples(data_dir, tmp_dir, DatasetSplit.TRAIN)
        for count, sample in enumerate(samples, start=1):
            yield sample["inputs"]
            yield sample["context"]
            yield sample["targets"]
            if self.max_samples_for_vocab and count >= self.max_samples_for_vocab:
                return

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
            raise NotImplementedError(
                f"Problem {self.name}: questions with context can't be packed."
            )


class Text2SelfProblem(Text2TextProblem):
    """Language modelling: samples are `{"targets": text}`."""

    @property
    def has_inputs(self) -> bool:
        """No inputs."""
        return False


class Text2ClassProblem(Text2TextProblem):
    """Classification: samples are `{"inputs": text, "label": int}`."""

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        raise NotImplementedError(f"{type(self).__name__} does not define num_classes.")

    def class_labels(self, data_dir: str | None) -> list[str]:
        """Names of the classes, by number."""
        del data_dir
        return [f"ID_{number}" for number in range(self.num_classes)]

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yield the inputs of the training samples."""
        samples = self.generate_samples(data_dir, tmp_dir, DatasetSplit.TRAIN)
        for count, sample in enumerate(samples, start=1):
            yield sample["inputs"]
            if self.max_samples_for_vocab and count >= self.max_samples_for_vocab:
                return

    def generate_encoded_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[Sample]:
        """Yield `{"inputs": ids with EOS, "targets": [label]}`."""
        encoder = self.get_or_create_vocab(data_dir, tmp_dir)
        for sample in self.generate_samples(data_dir, tmp_dir, dataset_split):
            inputs = encoder.encode(sample["inputs"])
            inputs.append(encoders.EOS_ID)
            yield {"inputs": inputs, "targets": [sample["label"]]}

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """Text for inputs, class names for targets."""
        return {
            "inputs": self.get_or_create_vocab(data_dir or "", "", force_get=True),
            "targets": encoders.ClassLabelEncoder(self.class_labels(data_dir)),
        }

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols in, a class label out."""
        del model_hparams
        assert self._encoders is not None
        defaults.modality = {"inputs": ModalityType.SYMBOL, "targets": ModalityType.CLASS_LABEL}
        defaults.vocab_size = {
            "inputs": self._encoders["inputs"].vocab_size,
            "targets": self.num_classes,
        }

    def example_reading_spec(self) -> ReadingSpec:
        """Inputs of any length, one target."""
        import tensorflow as tf

        features = {
            "inputs": tf.io.VarLenFeature(tf.int64),
            "targets": tf.io.FixedLenFeature([1], tf.int64),
        }
        return features, None


class Text2RealProblem(Text2TextProblem):
    """Regression: samples are `{"inputs": text, "targets": list of ntasks floats}`."""

    @property
    def ntasks(self) -> int:
        """Number of values to predict."""
        raise NotImplementedError(f"{type(self).__name__} does not define ntasks.")

    def max_length(self, model_hparams: Any) -> int:
        """T2T's limit: batch_size × ntasks."""
        return model_hparams.batch_size * self.ntasks

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yield the inputs of the training samples."""
        samples = self.generate_samples(data_dir, tmp_dir, DatasetSplit.TRAIN)
        for count, sample in enumerate(samples, start=1):
            yield sample["inputs"]
            if self.max_samples_for_vocab and count >= self.max_samples_for_vocab:
                return

    def generate_encoded_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[Sample]:
        """Yield `{"inputs": ids with EOS, "targets": floats}`."""
        encoder = self.get_or_create_vocab(data_dir, tmp_dir)
        for sample in self.generate_samples(data_dir, tmp_dir, dataset_split):
            inputs = encoder.encode(sample["inputs"])
            inputs.append(encoders.EOS_ID)
            yield {"inputs": inputs, "targets": [float(value) for value in sample["targets"]]}

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """Text for inputs, numbers for targets."""
        return {
            "inputs": self.get_or_create_vocab(data_dir or "", "", force_get=True),
            "targets": encoders.RealEncoder(),
        }

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols in, `ntasks` numbers out."""
        del model_hparams
        assert self._encoders is not None
        defaults.modality = {"inputs": ModalityType.SYMBOL, "targets": ModalityType.REAL}
        defaults.vocab_size = {
            "inputs": self._encoders["inputs"].vocab_size,
            "targets": self.ntasks,
        }

    def example_reading_spec(self) -> ReadingSpec:
        """Inputs of any length, `ntasks` targets."""
        import tensorflow as tf

        features = {
            "inputs": tf.io.VarLenFeature(tf.int64),
            "targets": tf.io.FixedLenFeature([self.ntasks], tf.float32),
        }
        return features, None
