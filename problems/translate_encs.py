"""English-Czech translation on CzEng and the WMT corpora (T2T's translate_encs)."""

from collections.abc import Iterator

from t2t_keras import registry
from t2t_keras.data import backtranslation, text_problems, translate
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.vocabularies import vocabulary_of
from t2t_keras.problems import wmt_corpora as wmt

# Columns: id, score, Czech, English.
_CZENG = [
    "https://lindat.mff.cuni.cz/repository/xmlui/bitstream/handle/11234/1-1458/"
    "data-plaintext-format.tar",
    ("tsv", 3, 2, "data.plaintext-format/*train.gz"),
]
_WMT = [wmt.news_commentary13("cs"), wmt.common_crawl("cs"), wmt.europarl7("cs")]


@registry.register_problem
class TranslateEncsWmt32k(translate.CorporaProblem):
    """CzEng 1.6 and WMT English-Czech, shared vocabulary of about 32,768 subwords."""

    train_sources = [_CZENG, *_WMT]
    dev_sources = [wmt.newstest2013("cs")]

    def vocab_data_files(self) -> list[translate.Source]:
        """The training corpora; CzEng's tables are represented by the compiled corpus.

        It holds all training pairs (so those of WMT are there twice, as in tensor2tensor).
        """
        compiled = f"{self.name}-compiled-train"
        return [[_CZENG[0], (f"{compiled}.lang1", f"{compiled}.lang2")], *_WMT]

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yields sampled lines, after compiling the training corpora."""
        self.compile_split(tmp_dir, DatasetSplit.TRAIN)
        yield from super().generate_text_for_vocab(data_dir, tmp_dir)


@registry.register_problem
class TranslateEncsWmtCharacters(translate.CorporaProblem):
    """CzEng 1.6 and WMT English-Czech in bytes.

    T2T's problem of this name can't be generated: it names no corpora.
    """

    train_sources = TranslateEncsWmt32k.train_sources
    dev_sources = TranslateEncsWmt32k.dev_sources
    vocab_type = text_problems.VocabType.CHARACTER


@registry.register_problem
class TranslateEncsCubbitt(backtranslation.BacktranslationProblem):
    """Three blocks: Czech text with machine-made English, then CzEng and WMT English-Czech.

    `cs_mono_en.txt0`, `cs_mono_cs.txt0`, …`1` and …`2` must be in tmp_dir.
    """

    train_sources = TranslateEncsWmt32k.train_sources
    dev_sources = TranslateEncsWmt32k.dev_sources
    use_vocab_from_other_problem = vocabulary_of("translate_encs_wmt32k")
    synthetic_files = [(f"cs_mono_en.txt{part}", f"cs_mono_cs.txt{part}") for part in range(3)]
