"""TranslateProblem: translation corpora given as lists of archives and of the files in them."""

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from absl import logging

from t2t_keras import names
from t2t_keras.data import (
    cleaner,
    source_options,
    source_report,
    sources,
    text_lines,
    tfds_text,
)
from t2t_keras.data.compiled_corpus import (
    LANGUAGE_SUFFIXES,
    Source,
    compile_data,
    is_tsv,
    names_of,
)
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.text2text import Text2TextProblem

__all__ = [
    "CorporaProblem",
    "Source",
    "TranslateProblem",
    "compile_data",
    "generate_lines_for_vocab",
]

# Who defines one of these has other text than the class it derives from.
_CORPUS_MEMBERS = (
    "additional_training_datasets",
    "dev_sources",
    "generate_samples",
    "source_data_files",
    "sources_at_hand",
    "train_sources",
)


class TranslateProblem(Text2TextProblem):
    """Base class of translation problems.

    A subclass gives its corpora; all else has defaults:

        @registry.register_problem
        class TranslateEndeNews(translate.TranslateProblem):
            def source_data_files(self, dataset_split):
                part = "train" if dataset_split == problem.DatasetSplit.TRAIN else "dev"
                return [["http://host/news.tgz", (f"news/{part}.en", f"news/{part}.de")]]

    Files that already lie in tmp_dir are used; for the rest the archive is looked for in tmp_dir,
    then downloaded. An address of "" says that the user puts the files there.

    The vocabulary is built from a sample of the corpora, `vocab_file_byte_budget` of each file.

    `tfds_data_set` names a data set of TensorFlow Datasets with the same text, from which it can
    be taken instead; see `source_options`.
    """

    tfds_data_set: ClassVar[str | None] = None

    @property
    def is_generate_per_split(self) -> bool:
        """The sources differ by split."""
        return True

    def source_data_files(self, dataset_split: str) -> list[Source]:
        """Corpora of a split: a list of `[address, files]`.

        `files` is `(first, second)` for two line-aligned files (sgm if both names end so),
        `("tsv", i, j, pattern)` for columns i and j of all files that match, or `("tmx", file)`.

        Args:
            dataset_split: one of `DatasetSplit`.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define source_data_files.")

    def vocab_data_files(self) -> list[Source]:
        """Corpora from which the vocabulary is built: by default the training corpora."""
        return self.source_data_files(DatasetSplit.TRAIN)

    @property
    def vocab_file_byte_budget(self) -> float:
        """How much of each file the vocabulary is built from, see `generate_lines_for_vocab`."""
        return 1e6

    @property
    def datatypes_to_clean(self) -> list[str] | None:
        """Kinds of training corpora to clean, of "txt", "tsv", "tmx"; None: none.

        The first language must be English; see `cleaner`.
        """
        return None

    @property
    def cut_to_shorter(self) -> bool:
        """Accept line-aligned files of different lengths, as tensor2tensor does silently.

        By default they are an error: such files are hardly ever aligned up to where one ends.
        """
        return False

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the pairs of the split's corpora, through one compiled pair of files."""
        del data_dir
        corpus = self._tfds_corpus(tmp_dir)
        if corpus is not None:
            pairs = corpus.pairs(dataset_split)
            if dataset_split == DatasetSplit.TRAIN and "txt" in (self.datatypes_to_clean or ()):
                pairs = cleaner.clean_pairs(pairs)
            for first, second in pairs:
                yield {"inputs": first, "targets": second}
            return
        compiled = self.compile_split(tmp_dir, dataset_split)
        first_path, second_path = (compiled + suffix for suffix in LANGUAGE_SUFFIXES)
        for first, second in text_lines.parallel_lines(first_path, second_path):
            yield {"inputs": first, "targets": second}

    def sources_at_hand(self, tmp_dir: str, dataset_split: str) -> list[Source]:
        """The corpora that a split is made of: `source_data_files`.

        To be overridden if some corpora are used only where they are there.

        Args:
            tmp_dir: folder for raw files.
            dataset_split: one of `DatasetSplit`.
        """
        del tmp_dir
        return self.source_data_files(dataset_split)

    def compile_split(self, tmp_dir: str, dataset_split: str) -> str:
        """Makes the compiled files of a split and returns their path without suffix."""
        is_training = dataset_split == DatasetSplit.TRAIN
        return compile_data(
            tmp_dir,
            self.sources_at_hand(tmp_dir, dataset_split),
            f"{_compiled_base(self.name)}-compiled-{self._compiled_tag(dataset_split)}",
            datatypes_to_clean=self.datatypes_to_clean if is_training else None,
            cut_to_shorter=self.cut_to_shorter,
        )

    def _compiled_tag(self, dataset_split: str) -> str:
        """The split's name; "dev" also for a test split without corpora of its own."""
        if dataset_split == DatasetSplit.TEST:
            test = self.source_data_files(DatasetSplit.TEST)
            if test == self.source_data_files(DatasetSplit.EVAL):
                return DatasetSplit.EVAL
        return dataset_split

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yields sampled lines of the vocabulary's corpora."""
        del data_dir
        corpus = self._tfds_corpus(tmp_dir)
        if corpus is not None:
            num_files = 2 * len(self.vocab_data_files())
            return corpus.vocabulary_lines(num_files * self.vocab_file_byte_budget)
        return generate_lines_for_vocab(
            tmp_dir, self.vocab_data_files(), self.vocab_file_byte_budget
        )

    # ---- TensorFlow Datasets ----

    def equal_tfds_data_set(self) -> str | None:
        """`tfds_data_set`, unless a subclass of the class that gives it has other text."""
        for owner in type(self).__mro__:
            if "tfds_data_set" in vars(owner):
                return self.tfds_data_set
            if any(name in vars(owner) for name in _CORPUS_MEMBERS):
                return None
        return None

    def _tfds_corpus(self, tmp_dir: str) -> tfds_text.TfdsCorpus | None:
        """The TFDS data set to take the text from; None: the archives; see `source_options`."""
        wanted = source_options.current().text_source
        data_set = None if wanted == source_options.ARCHIVES else self.equal_tfds_data_set()
        if data_set is None:
            if wanted == source_options.TFDS:
                raise ValueError(
                    f"Problem {self.name} has no TFDS data set of the same text. Received: "
                    "text_source=tfds. Any parallel text of TFDS is the problem tfds:<data set>."
                )
            return None
        name = tfds_text.parse_name(data_set)
        if wanted == source_options.AUTO and (
            self._archives_are_at_hand(tmp_dir) or tfds_text.prepared_directory(name) is None
        ):
            return None
        return tfds_text.TfdsCorpus(name)

    def _archives_are_at_hand(self, tmp_dir: str) -> bool:
        corpora = [*self.source_data_files(DatasetSplit.TRAIN), *self.vocab_data_files()]
        corpora += self.source_data_files(DatasetSplit.EVAL)
        return all(
            sources.is_at_hand(tmp_dir, url, names_of(files), files[3] if is_tsv(files) else "")
            for url, files in corpora
        )

    def describe_sources(self, tmp_dir: str) -> str:
        """The archives of all splits, and the TFDS data set of the same text, if any."""
        splits = (DatasetSplit.TRAIN, DatasetSplit.EVAL, DatasetSplit.TEST)
        corpora = {split: self.source_data_files(split) for split in splits}
        if corpora[DatasetSplit.TEST] == corpora[DatasetSplit.EVAL]:
            del corpora[DatasetSplit.TEST]
        vocabulary = self.vocab_data_files()
        if vocabulary != corpora[DatasetSplit.TRAIN]:
            corpora["vocabulary"] = vocabulary
        parts = [source_report.describe_archives(tmp_dir, corpora)]
        data_set = self.equal_tfds_data_set()
        if data_set is not None:
            parts.append("  The same text from TensorFlow Datasets (--text_source=tfds):")
            parts.append(source_report.describe_tfds(tfds_text.parse_name(data_set)))
        return "\n".join(parts)


class CorporaProblem(TranslateProblem):
    """A translation problem whose corpora are listed in class attributes.

        @registry.register_problem
        class TranslateEndeNews(translate.CorporaProblem):
            train_sources = [["http://host/news.tgz", ("news/train.en", "news/train.de")]]
            dev_sources = [["http://host/news.tgz", ("news/dev.en", "news/dev.de")]]

    `source_data_files` of `TranslateProblem` describes the lists. With `test_sources` there is a
    test split (`--eval_use_test_set`).
    """

    train_sources: ClassVar[Sequence[Source]] = ()
    dev_sources: ClassVar[Sequence[Source]] = ()
    test_sources: ClassVar[Sequence[Source]] = ()
    train_shards: ClassVar[int] = 100

    @property
    def additional_training_datasets(self) -> list[Source]:
        """Training corpora behind `train_sources`."""
        return []

    @property
    def dataset_splits(self) -> list[dict[str, Any]]:
        """`train_shards` shards for training, one for dev and one for test, if any."""
        splits: list[dict[str, Any]] = [
            {"split": DatasetSplit.TRAIN, "shards": self.train_shards},
            {"split": DatasetSplit.EVAL, "shards": 1},
        ]
        if self.test_sources:
            splits.append({"split": DatasetSplit.TEST, "shards": 1})
        return splits

    def source_data_files(self, dataset_split: str) -> list[Source]:
        """The listed corpora; those for dev are for test too if there are no others."""
        if dataset_split == DatasetSplit.TRAIN:
            return [*self.train_sources, *self.additional_training_datasets]
        if dataset_split == DatasetSplit.TEST and self.test_sources:
            return list(self.test_sources)
        return list(self.dev_sources)


def _compiled_base(problem_name: str) -> str:
    """A problem's name without arguments: they do not change its text."""
    return names.split_arguments(problem_name)[0]


def generate_lines_for_vocab(
    tmp_dir: str, vocab_sources: Sequence[Source], file_byte_budget: float = 1e6
) -> Iterator[str]:
    """Yields lines taken evenly from every file, about `file_byte_budget` characters of each.

    With s = int(file size in bytes / budget / 2), every (s + 1)-th line is taken until the budget
    is used up. The budget counts characters although it is compared with bytes: T2T does so, and
    it fixes the vocabularies.

    Args:
        tmp_dir: folder for raw files.
        vocab_sources: list of `[address, (file, …)]`.
        file_byte_budget: budget of each file.

    Raises:
        ValueError: if a source is of kind tsv or tmx.
    """
    for url, files in vocab_sources:
        if files[0] in ("tsv", "tmx"):
            raise ValueError(
                "A vocabulary can be sampled from line-aligned text files only. Received: "
                f"{files!r}. Override vocab_data_files, or use_vocab_from_other_problem."
            )
        for path in sources.fetch_members(tmp_dir, url, files):
            logging.info("Reading lines for the vocabulary from %s", path)
            yield from _sampled_lines(path, file_byte_budget)


def _sampled_lines(path: str, budget: float) -> Iterator[str]:
    step = int(os.path.getsize(path) / budget / 2) + 1
    for number, line in enumerate(text_lines.stripped_lines(path), start=1):
        if number % step:
            continue
        if budget <= 0:
            return
        budget -= len(line)
        yield line
