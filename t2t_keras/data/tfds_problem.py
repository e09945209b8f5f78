"""Problems made of TensorFlow Datasets, one for every parallel text that TFDS has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from t2t_keras.data import source_report, tfds_text, vocabularies
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.text2text import Text2TextProblem

_VOCABULARY_ARGUMENT = "vocab"


class TfdsTranslateProblem(Text2TextProblem):
    """Translation between two languages of a TFDS data set.

    Inputs are the first language that the data set names (`de` of "wmt19_translate/de-en"), or its
    `source`; the suffix `_rev` of the problem's name turns it round. Training, validation and test
    splits are TFDS's; see `tfds_text.TfdsCorpus` about sets without validation split.

    The vocabulary is shared, of about 32,768 subwords, from 6 MB of training text taken evenly: as
    much as `translate_ende_wmt32k` takes.
    """

    data_set: ClassVar[str] = ""
    is_generate_per_split = True
    vocabulary_bytes: ClassVar[float] = 6e6

    def __init__(self, was_reversed: bool = False, was_copy: bool = False) -> None:
        super().__init__(was_reversed, was_copy)
        self._corpus = tfds_text.TfdsCorpus(tfds_text.parse_name(self.data_set))

    @property
    def dataset_splits(self) -> list[dict[str, Any]]:
        """100 shards for training, one for dev, and one for test if the set has that split."""
        splits: list[dict[str, Any]] = [
            {"split": DatasetSplit.TRAIN, "shards": 100},
            {"split": DatasetSplit.EVAL, "shards": 1},
        ]
        if self._corpus.has_split(DatasetSplit.TEST):
            splits.append({"split": DatasetSplit.TEST, "shards": 1})
        return splits

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the pairs of a split."""
        del data_dir, tmp_dir
        for first, second in self._corpus.pairs(dataset_split):
            yield {"inputs": first, "targets": second}

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yields training pairs taken evenly."""
        del data_dir, tmp_dir
        return self._corpus.vocabulary_lines(self.vocabulary_bytes)

    def describe_sources(self, tmp_dir: str) -> str:
        """Where TFDS has or will get the data set."""
        del tmp_dir
        return source_report.describe_tfds(tfds_text.parse_name(self.data_set))


def problem_class(arguments: str) -> type[TfdsTranslateProblem]:
    """The class that the name `tfds:<arguments>` stands for.

    Args:
        arguments: a data set's name, see `tfds_text`; `:vocab=<size>` at its end chooses the size
            of the vocabulary.

    Raises:
        ValueError: the arguments have another form.
    """
    data_set, is_sized, size = arguments.partition(f":{_VOCABULARY_ARGUMENT}=")
    tfds_text.parse_name(data_set)
    made = type(
        "TfdsProblem",
        (TfdsTranslateProblem,),
        {
            "__module__": __name__,
            "__doc__": f"Translation on the TFDS data set {data_set}.",
            "data_set": data_set,
            "name": f"tfds:{data_set}",
        },
    )
    if not is_sized:
        return made
    return vocabularies.with_vocab_size(made, vocabularies.parse_size(size))
