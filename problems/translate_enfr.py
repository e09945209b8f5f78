"""English-French translation on the WMT corpora (T2T's translate_enfr).

The large set is WMT's of 2014: Common Crawl, Europarl 7, News Commentary 9, the 10^9 corpus (giga)
and the United Nations corpus, about 36 million pairs (the corpus of "Attention Is All You Need",
section 5.1). The small set is OpenNMT's one million pairs.
"""

from t2t_keras import registry
from t2t_keras.data import text_problems, translate
from t2t_keras.data.problem import DatasetSplit, Problem

_TRAIN_SMALL_DATASETS = [
    [
        "https://s3.amazonaws.com/opennmt-trainingdata/baseline-1M-enfr.tgz",
        ("baseline-1M-enfr/baseline-1M_train.en", "baseline-1M-enfr/baseline-1M_train.fr"),
    ],
]
_EVAL_SMALL_DATASETS = [
    [
        "https://s3.amazonaws.com/opennmt-trainingdata/baseline-1M-enfr.tgz",
        ("baseline-1M-enfr/baseline-1M_valid.en", "baseline-1M-enfr/baseline-1M_valid.fr"),
    ],
]
_TRAIN_LARGE_DATASETS = [
    [
        "http://www.statmt.org/wmt13/training-parallel-commoncrawl.tgz",
        ("commoncrawl.fr-en.en", "commoncrawl.fr-en.fr"),
    ],
    [
        "http://www.statmt.org/wmt13/training-parallel-europarl-v7.tgz",
        ("training/europarl-v7.fr-en.en", "training/europarl-v7.fr-en.fr"),
    ],
    [
        "http://www.statmt.org/wmt14/training-parallel-nc-v9.tgz",
        (
            "training/news-commentary-v9.fr-en.en",
            "training/news-commentary-v9.fr-en.fr",
        ),
    ],
    [
        "http://www.statmt.org/wmt10/training-giga-fren.tar",
        ("giga-fren.release2.fixed.en.gz", "giga-fren.release2.fixed.fr.gz"),
    ],
    [
        "http://www.statmt.org/wmt13/training-parallel-un.tgz",
        ("un/undoc.2000.fr-en.en", "un/undoc.2000.fr-en.fr"),
    ],
]
_EVAL_LARGE_DATASETS = [
    [
        "http://data.statmt.org/wmt17/translation-task/dev.tgz",
        ("dev/newstest2013.en", "dev/newstest2013.fr"),
    ],
]


@registry.register_problem
class TranslateEnfrWmtSmall8k(translate.TranslateProblem):
    """English-French, one million pairs, shared vocabulary of about 8,192 subwords."""

    @property
    def approx_vocab_size(self) -> int:
        """2^13."""
        return 2**13

    @property
    def use_small_dataset(self) -> bool:
        """Whether the corpus is OpenNMT's million pairs rather than WMT's 36."""
        return True

    def source_data_files(self, dataset_split: str) -> list[translate.Source]:
        """The small or the large set; newstest2013 evaluates the large one."""
        is_training = dataset_split == DatasetSplit.TRAIN
        if self.use_small_dataset:
            return list(_TRAIN_SMALL_DATASETS if is_training else _EVAL_SMALL_DATASETS)
        return list(_TRAIN_LARGE_DATASETS if is_training else _EVAL_LARGE_DATASETS)

    def vocab_data_files(self) -> list[translate.Source]:
        """The training corpora."""
        return list(_TRAIN_SMALL_DATASETS if self.use_small_dataset else _TRAIN_LARGE_DATASETS)


@registry.register_problem
class TranslateEnfrWmtSmall32k(TranslateEnfrWmtSmall8k):
    """English-French, one million pairs, shared vocabulary of about 32,768 subwords."""

    @property
    def approx_vocab_size(self) -> int:
        """2^15."""
        return 2**15


@registry.register_problem
class TranslateEnfrWmtSmallCharacters(translate.TranslateProblem):
    """English-French, one million pairs, in bytes."""

    @property
    def vocab_type(self) -> str:
        """Bytes of UTF-8; no vocabulary file."""
        return text_problems.VocabType.CHARACTER

    @property
    def use_small_dataset(self) -> bool:
        """Whether the corpus is OpenNMT's million pairs rather than WMT's 36."""
        return True

    source_data_files = TranslateEnfrWmtSmall8k.source_data_files
    vocab_data_files = TranslateEnfrWmtSmall8k.vocab_data_files


@registry.register_problem
class TranslateEnfrWmt8k(TranslateEnfrWmtSmall8k):
    """WMT English-French, shared vocabulary of about 8,192 subwords."""

    @property
    def use_small_dataset(self) -> bool:
        """WMT's 36 million pairs."""
        return False


@registry.register_problem
class TranslateEnfrWmt32k(TranslateEnfrWmtSmall32k):
    """WMT English-French, shared vocabulary of about 32,768 subwords."""

    @property
    def use_small_dataset(self) -> bool:
        """WMT's 36 million pairs."""
        return False


@registry.register_problem
class TranslateEnfrWmtCharacters(TranslateEnfrWmtSmallCharacters):
    """WMT English-French in bytes."""

    @property
    def use_small_dataset(self) -> bool:
        """WMT's 36 million pairs."""
        return False


@registry.register_problem
class TranslateEnfrWmt32kPacked(TranslateEnfrWmt32k):
    """`translate_enfr_wmt32k` with several pairs packed into records of 256 ids a side."""

    @property
    def packed_length(self) -> int:
        """256 ids a side."""
        return 256

    @property
    def use_vocab_from_other_problem(self) -> Problem:
        """The unpacked problem's."""
        return TranslateEnfrWmt32k()
