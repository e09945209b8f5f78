"""English-French translation on the WMT corpora (T2T's translate_enfr).

The large set is WMT's of 2014: Common Crawl, Europarl 7, News Commentary 9, the 10^9 corpus (giga)
and the United Nations corpus, about 36 million pairs (the corpus of "Attention Is All You Need",
section 5.1). The small set is OpenNMT's one million pairs.
"""

from typing import Any, ClassVar

from t2t_keras import registry
from t2t_keras.data import backtranslation, text_problems, translate
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.vocabularies import vocabulary_of
from t2t_keras.problems import wmt_corpora as wmt

_SMALL = "https://s3.amazonaws.com/opennmt-trainingdata/baseline-1M-enfr.tgz"
_SMALL_NAMES = "baseline-1M-enfr/baseline-1M"
_VOCABULARY = vocabulary_of("translate_enfr_wmt32k")


class EnfrProblem(translate.CorporaProblem):
    """Base class: the large set, or the small one if `use_small_dataset`."""

    train_sources = [
        wmt.common_crawl("fr"),
        wmt.europarl7("fr"),
        wmt.news_commentary9("fr"),
        wmt.giga_french(),
        wmt.united_nations("fr"),
    ]
    dev_sources = [wmt.newstest2013("fr")]
    tfds_data_set = "wmt14_translate/fr-en:source=en:target=fr"
    use_small_dataset: ClassVar[Any] = False

    def equal_tfds_data_set(self) -> str | None:
        """Only the large set is in TFDS."""
        return None if self.use_small_dataset else super().equal_tfds_data_set()

    def source_data_files(self, dataset_split: str) -> list[translate.Source]:
        """The corpora of the set; newstest2013 evaluates the large one."""
        if not self.use_small_dataset:
            return super().source_data_files(dataset_split)
        part = "train" if dataset_split == DatasetSplit.TRAIN else "valid"
        return [[_SMALL, (f"{_SMALL_NAMES}_{part}.en", f"{_SMALL_NAMES}_{part}.fr")]]


@registry.register_problem
class TranslateEnfrWmtSmall8k(EnfrProblem):
    """English-French, one million pairs, shared vocabulary of about 8,192 subwords."""

    approx_vocab_size = 2**13
    use_small_dataset = True


@registry.register_problem
class TranslateEnfrWmtSmall32k(TranslateEnfrWmtSmall8k):
    """English-French, one million pairs, shared vocabulary of about 32,768 subwords."""

    approx_vocab_size = 2**15


@registry.register_problem
class TranslateEnfrWmtSmallCharacters(EnfrProblem):
    """English-French, one million pairs, in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER
    use_small_dataset = True


@registry.register_problem
class TranslateEnfrWmt8k(TranslateEnfrWmtSmall8k):
    """WMT English-French, shared vocabulary of about 8,192 subwords."""

    use_small_dataset = False


@registry.register_problem
class TranslateEnfrWmt32k(TranslateEnfrWmtSmall32k):
    """WMT English-French, shared vocabulary of about 32,768 subwords."""

    use_small_dataset = False


@registry.register_problem
class TranslateEnfrWmtCharacters(TranslateEnfrWmtSmallCharacters):
    """WMT English-French in bytes."""

    use_small_dataset = False


@registry.register_problem
class TranslateEnfrWmt32kPacked(TranslateEnfrWmt32k):
    """`translate_enfr_wmt32k` with several pairs packed into records of 256 ids a side."""

    packed_length = 256
    use_vocab_from_other_problem = _VOCABULARY


@registry.register_problem
class TranslateEnfrWmt32kWithBacktranslateFr(backtranslation.BacktranslationProblem):
    """Blocks: French text translated to English by a machine, then WMT English-French.

    `fr_mono_en.txt` and `fr_mono_fr.txt` must be in tmp_dir.
    """

    train_sources = EnfrProblem.train_sources
    dev_sources = EnfrProblem.dev_sources
    use_small_dataset: ClassVar[bool] = False
    use_vocab_from_other_problem = _VOCABULARY
    synthetic_files = [("fr_mono_en.txt", "fr_mono_fr.txt")]


@registry.register_problem
class TranslateEnfrWmt32kWithBacktranslateEn(TranslateEnfrWmt32kWithBacktranslateFr):
    """Three blocks: English text with machine-made French, then WMT English-French.

    `en_mono_en.txt0`, `en_mono_fr.txt0`, …`1` and …`2` must be in tmp_dir.
    """

    synthetic_files = [(f"en_mono_en.txt{part}", f"en_mono_fr.txt{part}") for part in range(3)]


@registry.register_problem
class TranslateEnfrWmtMulti64k(TranslateEnfrWmt32k):
    """WMT English-French with the subwords of `languagemodel_de_en_fr_ro_wiki64k`."""

    use_vocab_from_other_problem = vocabulary_of("languagemodel_de_en_fr_ro_wiki64k")


@registry.register_problem
class TranslateEnfrWmtMulti64kPacked1k(TranslateEnfrWmtMulti64k):
    """The same, packed into records of 1,024 ids; prefixes tell the task."""

    packed_length = 1024
    num_training_examples = 1760600
    inputs_prefix = "translate English French "
    targets_prefix = "translate French English "


@registry.register_problem
class TranslateEnfrWmt14Wordpiece32k(EnfrProblem):
    """WMT 2014 English-French, shared vocabulary of about 32,000 subwords; test: newstest2014.

    The data of "Attention Is All You Need", section 5.1.
    """

    test_sources = [wmt.newstest2014("fren", "fr")]
    approx_vocab_size = 32000
