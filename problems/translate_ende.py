"""English-German translation on the WMT corpora (T2T's translate_ende).

The training set is WMT's of 2018 without ParaCrawl: News Commentary 13, Common Crawl and Europarl
7, about 4.6 million pairs. Evaluation is on newstest2013, the development set of "Attention Is All
You Need", section 6.2; the paper's test set, newstest2014, is not a split: decode it from its file.
"""

from t2t_keras import registry
from t2t_keras.data import text_problems, translate
from t2t_keras.data.problem import DatasetSplit, Problem

_TRAIN_DATASETS = [
    [
        "http://data.statmt.org/wmt18/translation-task/training-parallel-nc-v13.tgz",
        (
            "training-parallel-nc-v13/news-commentary-v13.de-en.en",
            "training-parallel-nc-v13/news-commentary-v13.de-en.de",
        ),
    ],
    [
        "http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
        ("commoncrawl.de-en.en", "commoncrawl.de-en.de"),
    ],
    [
        "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
        ("training/europarl-v7.de-en.en", "training/europarl-v7.de-en.de"),
    ],
]
_PARACRAWL_DATASETS = [
    [
        "https://s3.amazonaws.com/web-language-models/paracrawl/release4/en-de.bicleaner07.tmx.gz",
        ("tmx", "en-de.bicleaner07.tmx.gz"),
    ],
]
_EVAL_DATASETS = [
    [
        "http://data.statmt.org/wmt17/translation-task/dev.tgz",
        ("dev/newstest2013.en", "dev/newstest2013.de"),
    ],
]


@registry.register_problem
class TranslateEndeWmt32k(translate.TranslateProblem):
    """WMT English-German, shared vocabulary of about 32,768 subwords."""

    @property
    def additional_training_datasets(self) -> list[translate.Source]:
        """Corpora that a subclass trains on besides WMT's."""
        return []

    def source_data_files(self, dataset_split: str) -> list[translate.Source]:
        """WMT's three corpora for training, newstest2013 for all else."""
        if dataset_split == DatasetSplit.TRAIN:
            return [*_TRAIN_DATASETS, *self.additional_training_datasets]
        return list(_EVAL_DATASETS)


@registry.register_problem
class TranslateEndeWmt8k(TranslateEndeWmt32k):
    """WMT English-German, shared vocabulary of about 8,192 subwords."""

    @property
    def approx_vocab_size(self) -> int:
        """2^13."""
        return 2**13


@registry.register_problem
class TranslateEndeWmtCharacters(TranslateEndeWmt8k):
    """WMT English-German in bytes."""

    @property
    def vocab_type(self) -> str:
        """Bytes of UTF-8; no vocabulary file."""
        return text_problems.VocabType.CHARACTER


@registry.register_problem
class TranslateEndeWmt32kPacked(TranslateEndeWmt32k):
    """`translate_ende_wmt32k` with several pairs packed into records of 256 ids a side."""

    @property
    def packed_length(self) -> int:
        """256 ids a side."""
        return 256

    @property
    def use_vocab_from_other_problem(self) -> Problem:
        """The unpacked problem's."""
        return TranslateEndeWmt32k()


@registry.register_problem
class TranslateEndeWmt8kPacked(TranslateEndeWmt8k):
    """`translate_ende_wmt8k` with several pairs packed into records of 256 ids a side."""

    @property
    def packed_length(self) -> int:
        """256 ids a side."""
        return 256

    @property
    def use_vocab_from_other_problem(self) -> Problem:
        """The unpacked problem's."""
        return TranslateEndeWmt8k()


@registry.register_problem
class TranslateEndePc32k(translate.TranslateProblem):
    """English-German on ParaCrawl alone, with the vocabulary of `translate_ende_wmt32k`."""

    @property
    def use_vocab_from_other_problem(self) -> Problem:
        """WMT's."""
        return TranslateEndeWmt32k()

    @property
    def additional_training_datasets(self) -> list[translate.Source]:
        """Corpora that a subclass trains on besides ParaCrawl."""
        return []

    def source_data_files(self, dataset_split: str) -> list[translate.Source]:
        """ParaCrawl for training, newstest2013 for all else."""
        if dataset_split == DatasetSplit.TRAIN:
            return [*_PARACRAWL_DATASETS, *self.additional_training_datasets]
        return list(_EVAL_DATASETS)


@registry.register_problem
class TranslateEndeWmtPc32k(TranslateEndeWmt32k):
    """WMT English-German and ParaCrawl, with the vocabulary of `translate_ende_wmt32k`."""

    @property
    def use_vocab_from_other_problem(self) -> Problem:
        """WMT's."""
        return TranslateEndeWmt32k()

    @property
    def additional_training_datasets(self) -> list[translate.Source]:
        """ParaCrawl."""
        return list(_PARACRAWL_DATASETS)
