"""Parsing with a vocabulary for sentences and another for trees (T2T's ice_parsing, and ptb).

Unlike `wsj_parsing`, these problems have the plain metrics, and inputs and targets carry the space
ids of a language and of its trees.
"""

import os
from collections.abc import Iterator
from typing import Any, ClassVar

from t2t_keras import registry
from t2t_keras.data import problem, records, text_iterators, vocabularies
from t2t_keras.data.modes import DatasetSplit, ModalityType, SpaceID
from t2t_keras.data.text2text import text2text_generate_encoded
from t2t_keras.hparam import HParams
from t2t_keras.problems.parsing import samples_from_trees

_SIDES = ("inputs", "targets")


class ParsingPairsProblem(problem.Problem):
    """Base class: a subclass gives samples, sizes, and names of the vocabularies.

    Each vocabulary is built from its side of the training samples.
    """

    source_vocab_size: ClassVar[int]
    targeted_vocab_size: ClassVar[int]
    source_vocab_name: ClassVar[str]
    target_vocab_name: ClassVar[str]
    input_space_id: ClassVar[int]
    target_space_id: ClassVar[int]
    loss_multiplier: ClassVar[float] = 1.0
    batch_size_multiplier: ClassVar[int] = 1
    num_shards: ClassVar[int] = 10

    def generate_samples(self, tmp_dir: str, dataset_split: str) -> Iterator[dict[str, Any]]:
        """Yields sentences and linearised trees of a split."""
        raise NotImplementedError(f"{type(self).__name__} does not define generate_samples.")

    @property
    def shares_vocabulary(self) -> bool:
        """Whether one vocabulary serves both sides."""
        return self.source_vocab_name == self.target_vocab_name

    def _vocabularies(self, data_dir: str, tmp_dir: str) -> list[Any]:
        """Encoders of both sides, built if their files are missing."""

        def texts(sides: tuple[str, ...]) -> Iterator[str]:
            for sample in self.generate_samples(tmp_dir, DatasetSplit.TRAIN):
                yield from (sample[side] for side in sides)

        parts = (
            (self.source_vocab_name, self.source_vocab_size, "inputs"),
            (self.target_vocab_name, self.targeted_vocab_size, "targets"),
        )
        return [
            vocabularies.load_or_build(
                os.path.join(data_dir, name),
                lambda side=side: texts(_SIDES if self.shares_vocabulary else (side,)),  # type: ignore[misc]
                size,
            )
            for name, size, side in parts
        ]

    def generate_data(self, data_dir: str, tmp_dir: str, task_id: int | None = -1) -> None:
        """Builds the vocabularies, then writes and shuffles training and dev shards."""
        del task_id
        source, target = self._vocabularies(data_dir, tmp_dir)
        parts = (
            (DatasetSplit.TRAIN, self.training_filepaths(data_dir, self.num_shards, False)),
            (DatasetSplit.EVAL, self.dev_filepaths(data_dir, 1, False)),
        )
        for dataset_split, paths in parts:
            samples = self.generate_samples(tmp_dir, dataset_split)
            records.generate_files(text2text_generate_encoded(samples, source, target), paths)
            records.shuffle_dataset(paths)

    def feature_encoders(self, data_dir: str | None) -> dict[str, Any]:
        """Subwords of sentences for inputs, of trees for targets."""
        names = (self.source_vocab_name, self.target_vocab_name)
        return {
            side: vocabularies.load_existing(data_dir, name, self.name)
            for side, name in zip(_SIDES, names, strict=True)
        }

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """Symbols on both sides, in the spaces of a language and of its trees."""
        del model_hparams
        assert self._encoders is not None
        defaults.modality = dict.fromkeys(_SIDES, ModalityType.SYMBOL)
        defaults.vocab_size = {side: self._encoders[side].vocab_size for side in _SIDES}
        defaults.input_space_id = self.input_space_id
        defaults.target_space_id = self.target_space_id
        defaults.loss_multiplier = self.loss_multiplier
        defaults.batch_size_multiplier = self.batch_size_multiplier


@registry.register_problem
class ParsingIcelandic16k(ParsingPairsProblem):
    """Icelandic sentences to trees, from `parsing_train.pairs` and `parsing_dev.pairs` in tmp_dir.

    A line holds a sentence, a tab and its linearised tree.
    """

    source_vocab_size = 2**14
    targeted_vocab_size = 2**8
    source_vocab_name = "ice_source.tokens.vocab.16384"
    target_vocab_name = "ice_target.tokens.vocab.256"
    input_space_id = SpaceID.ICE_TOK
    target_space_id = SpaceID.ICE_PARSE_TOK
    loss_multiplier = 2.5

    def generate_samples(self, tmp_dir: str, dataset_split: str) -> Iterator[dict[str, Any]]:
        """Yields the pairs of the split's file."""
        name = f"parsing_{'train' if dataset_split == DatasetSplit.TRAIN else 'dev'}.pairs"
        path = os.path.join(tmp_dir, name)
        if not os.path.exists(path):
            raise FileNotFoundError(
                f"Problem {self.name} reads parsing_train.pairs and parsing_dev.pairs (sentence, "
                f"tab, linearised tree on each line) from --tmp_dir. Missing: {path}"
            )
        return text_iterators.txt_tab_iterator(path)

    def hparams(self, defaults: HParams, model_hparams: HParams) -> None:
        """As T2T, declares 256 symbols for trees; the model gets as many as there are."""
        super().hparams(defaults, model_hparams)
        found = dict(defaults.vocab_size)
        defaults.vocab_size["targets"] = self.targeted_vocab_size
        defaults.add_hparam("least_vocab_size", found)


class ParsingEnglishPtb(ParsingPairsProblem):
    """Base class: the trees of `wsjTrain.trees` and `wsjEval.trees` in tmp_dir, see `wsj_parsing`.

    T2T's problems of these names can't be generated.
    """

    input_space_id = SpaceID.EN_TOK
    target_space_id = SpaceID.PARSE_TOK

    def generate_samples(self, tmp_dir: str, dataset_split: str) -> Iterator[dict[str, Any]]:
        """Yields the linearised trees of the split's file."""
        return samples_from_trees(tmp_dir, dataset_split, self.name)


@registry.register_problem
class ParsingEnglishPtb8k(ParsingEnglishPtb):
    """Penn Treebank, one vocabulary of about 8,192 subwords for sentences and trees.

    T2T's vocabulary `vocab.endefr.8192` is used if it is in data_dir, else built from the trees.
    """

    source_vocab_size = targeted_vocab_size = 2**13
    source_vocab_name = target_vocab_name = "vocab.endefr.8192"
    loss_multiplier = 2.0
    batch_size_multiplier = 256


@registry.register_problem
class ParsingEnglishPtb16k(ParsingEnglishPtb):
    """Penn Treebank, about 16,384 subwords for sentences and 512 for trees.

    The vocabulary of "Attention Is All You Need", section 6.3, for the WSJ alone. T2T's file names
    have the two sizes the wrong way round.
    """

    source_vocab_size = 2**14
    targeted_vocab_size = 2**9
    source_vocab_name = "wsj_source.vocab.16384"
    target_vocab_name = "wsj_target.vocab.512"
