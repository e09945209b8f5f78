"""English-German translation on the WMT corpora (T2T's translate_ende).

The training set is WMT's of 2018 without ParaCrawl: News Commentary 13, Common Crawl and Europarl
7, about 4.6 million pairs; evaluation is on newstest2013. `translate_ende_wmt14_bpe37k` has the
data of "Attention Is All You Need", section 5.1: WMT 2014's, tested on newstest2014.
"""

import os
from collections.abc import Iterator
from typing import Any

from t2t_keras import registry
from t2t_keras.data import archives, sources, text_lines, text_problems, translate
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.vocabularies import vocabulary_of
from t2t_keras.problems import wmt_corpora as wmt
from t2t_keras.text import encoders

_DEV = [wmt.newstest2013("de")]
_PARACRAWL = [wmt.paracrawl4("de")]
_VOCABULARY = vocabulary_of("translate_ende_wmt32k")


@registry.register_problem
class TranslateEndeWmt32k(translate.CorporaProblem):
    """WMT English-German, shared vocabulary of about 32,768 subwords."""

    train_sources = [wmt.news_commentary13("de"), wmt.common_crawl("de"), wmt.europarl7("de")]
    dev_sources = _DEV
    tfds_data_set = "wmt_t2t_translate/de-en:source=en:target=de"


@registry.register_problem
class TranslateEndeWmt8k(TranslateEndeWmt32k):
    """WMT English-German, shared vocabulary of about 8,192 subwords."""

    approx_vocab_size = 2**13


@registry.register_problem
class TranslateEndeWmtCharacters(TranslateEndeWmt8k):
    """WMT English-German in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER


@registry.register_problem
class TranslateEndeWmt32kPacked(TranslateEndeWmt32k):
    """`translate_ende_wmt32k` with several pairs packed into records of 256 ids a side."""

    packed_length = 256
    use_vocab_from_other_problem = _VOCABULARY


@registry.register_problem
class TranslateEndeWmt8kPacked(TranslateEndeWmt8k):
    """`translate_ende_wmt8k` with several pairs packed into records of 256 ids a side."""

    packed_length = 256
    use_vocab_from_other_problem = vocabulary_of("translate_ende_wmt8k")


@registry.register_problem
class TranslateEnde2018Wmt32k(TranslateEndeWmt32k):
    """WMT 2018: WMT English-German and the European Union's press releases.

    T2T's problem of this name can't be generated: it names no corpora but the press releases.
    """

    additional_training_datasets = [wmt.rapid2016("de-en", "de")]
    use_vocab_from_other_problem = _VOCABULARY


# ---- Cleaned text, ParaCrawl ----


@registry.register_problem
class TranslateEndeWmtClean32k(TranslateEndeWmt32k):
    """WMT English-German, cleaned, with the vocabulary of `translate_ende_wmt32k`."""

    use_vocab_from_other_problem = _VOCABULARY
    datatypes_to_clean = ["txt"]


@registry.register_problem
class TranslateEndePc32k(translate.CorporaProblem):
    """English-German on ParaCrawl alone, with the vocabulary of `translate_ende_wmt32k`."""

    train_sources = _PARACRAWL
    dev_sources = _DEV
    use_vocab_from_other_problem = _VOCABULARY


@registry.register_problem
class TranslateEndePcClean32k(TranslateEndePc32k):
    """English-German on ParaCrawl, cleaned."""

    datatypes_to_clean = ["tmx"]


@registry.register_problem
class TranslateEndeWmtPc32k(TranslateEndeWmt32k):
    """WMT English-German and ParaCrawl, with the vocabulary of `translate_ende_wmt32k`."""

    use_vocab_from_other_problem = _VOCABULARY
    additional_training_datasets = _PARACRAWL


@registry.register_problem
class TranslateEndeWmtCleanPc32k(TranslateEndeWmtPc32k):
    """WMT English-German, cleaned, and ParaCrawl as it is."""

    datatypes_to_clean = ["txt"]


@registry.register_problem
class TranslateEndeWmtPcClean32k(TranslateEndeWmtPc32k):
    """WMT English-German as it is, and ParaCrawl, cleaned."""

    datatypes_to_clean = ["tmx"]


@registry.register_problem
class TranslateEndeWmtCleanPcClean32k(TranslateEndeWmtPc32k):
    """WMT English-German and ParaCrawl, both cleaned."""

    datatypes_to_clean = ["txt", "tmx"]


# ---- The vocabulary of several languages ----


@registry.register_problem
class TranslateEndeWmtMulti64k(TranslateEndeWmt8k):
    """WMT English-German with the subwords of `languagemodel_de_en_fr_ro_wiki64k`."""

    use_vocab_from_other_problem = vocabulary_of("languagemodel_de_en_fr_ro_wiki64k")


@registry.register_problem
class TranslateEndeWmtMulti64kPacked1k(TranslateEndeWmtMulti64k):
    """The same, packed into records of 1,024 ids; prefixes tell the task."""

    packed_length = 1024
    num_training_examples = 173800
    inputs_prefix = "translate English German "
    targets_prefix = "translate German English "


# ---- The data of "Attention Is All You Need" ----


@registry.register_problem
class TranslateEndeWmt14Bpe37k(translate.CorporaProblem):
    """WMT 2014 English-German, shared vocabulary of about 37,000 subwords; test: newstest2014.

    The corpora of "Attention Is All You Need", section 5.1. Its byte-pair encoding is replaced by
    as many subwords of this package.
    """

    train_sources = [wmt.news_commentary9("de"), wmt.common_crawl("de"), wmt.europarl7("de")]
    dev_sources = _DEV
    test_sources = [wmt.newstest2014("deen", "de")]
    tfds_data_set = "wmt14_translate/de-en:source=en:target=de"
    approx_vocab_size = 37000


@registry.register_problem
class TranslateEndeWmtBpe32k(text_problems.Text2TextProblem):
    """English-German, tokenised, cleaned and byte-pair encoded by Google; test: newstest2014.

    It reads `wmt16_en_de.tar.gz`, or what it holds, from tmp_dir. Texts are tokens, with "@@" at
    the end of those that go on in the next one; join them after decoding:
    `sed "s/@@ //g"`.
    """

    ARCHIVE = "wmt16_en_de.tar.gz"
    ADDRESS = "https://drive.google.com/uc?export=download&id=0B_bZck-ksdkpM25jRUN2X2UxMm8"
    BASE_NAMES = {
        DatasetSplit.TRAIN: "train.tok.clean.bpe.32000",
        DatasetSplit.EVAL: "newstest2013.tok.bpe.32000",
        DatasetSplit.TEST: "newstest2014.tok.bpe.32000",
    }

    is_generate_per_split = True
    vocab_type = text_problems.VocabType.TOKEN
    vocab_filename = "vocab.bpe.32000"
    oov_token = "UNK"
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 100},
        {"split": DatasetSplit.EVAL, "shards": 1},
        {"split": DatasetSplit.TEST, "shards": 1},
    ]

    def fetch(self, tmp_dir: str, *names: str) -> list[str]:
        """Paths of files of the archive, unpacked if need be.

        Raises:
            SourceError: if the archive is missing; the message says where it is to be had.
        """
        paths = [os.path.join(tmp_dir, name) for name in names]
        if all(os.path.exists(path) for path in paths):
            return paths
        archive = os.path.join(tmp_dir, self.ARCHIVE)
        if not os.path.exists(archive):
            raise sources.SourceError(
                f"Problem {self.name} needs {archive}. Fetch it with a browser from {self.ADDRESS}"
            )
        archives.unpack(archive, tmp_dir)
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            raise sources.SourceError(f"{archive} does not hold {', '.join(missing)}.")
        return paths

    def get_or_create_vocab(self, data_dir: str, tmp_dir: str, force_get: bool = False) -> Any:
        """The archive's vocabulary between `<pad>`, `<EOS>` and `UNK`; stored in data_dir."""
        path = os.path.join(data_dir, self.vocab_filename)
        if not force_get and not os.path.exists(path):
            (source,) = self.fetch(tmp_dir, self.vocab_filename)
            tokens = [*text_lines.stripped_lines(source), self.oov_token]
            os.makedirs(data_dir or ".", exist_ok=True)
            encoders.TokenTextEncoder(None, vocab_list=tokens).store_to_file(path)
        return super().get_or_create_vocab(data_dir, tmp_dir, force_get)

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the encoded pairs of a split."""
        del data_dir
        base = self.BASE_NAMES[dataset_split]
        paths = self.fetch(tmp_dir, f"{base}.en", f"{base}.de")
        return text_problems.text2text_txt_iterator(*paths)
