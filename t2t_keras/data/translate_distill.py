"""TranslateDistillProblem: translation in which a student learns a teacher's translations."""

from collections.abc import Iterator
from typing import Any

from t2t_keras.data import sources
from t2t_keras.data.problem import ReadingSpec
from t2t_keras.data.text_iterators import text2text_distill_iterator
from t2t_keras.data.translate import TranslateProblem
from t2t_keras.text import encoders

_FEATURES = ("inputs", "targets", "dist_targets")


class TranslateDistillProblem(TranslateProblem):
    """Base class of problems with three line-aligned files: inputs, targets, a teacher's outputs.

    Records hold all three (`inputs`, `targets`, `dist_targets`); what a model reads as `targets`
    are the teacher's outputs. `source_data_files` gives `[address, (inputs, targets, teacher's)]`.
    """

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the triples of the split's corpora."""
        del data_dir
        for url, files in self.source_data_files(dataset_split):
            if len(files) != len(_FEATURES):
                raise ValueError(
                    f"{type(self).__name__}.source_data_files must name three files a corpus: "
                    f"inputs, targets, and a teacher's outputs. Received: {files!r}"
                )
            yield from text2text_distill_iterator(*sources.fetch_members(tmp_dir, url, files))

    def generate_encoded_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields triples of ids with EOS."""
        encoder = self.get_or_create_vocab(data_dir, tmp_dir)
        for sample in self.generate_samples(data_dir, tmp_dir, dataset_split):
            yield {name: [*encoder.encode(sample[name]), encoders.EOS_ID] for name in _FEATURES}

    def example_reading_spec(self) -> ReadingSpec:
        """Inputs, and the teacher's outputs under the name they have in the records."""
        import tensorflow as tf

        spec = {name: tf.io.VarLenFeature(tf.int64) for name in ("inputs", "dist_targets")}
        return spec, None

    def preprocess_example(self, example: dict[str, Any], mode: str, hparams: Any) -> Any:
        """Calls the teacher's outputs `targets`."""
        example = {"inputs": example["inputs"], "targets": example["dist_targets"]}
        return super().preprocess_example(example, mode, hparams)
