"""English to Estonian, Indonesian, Macedonian, Tswana and Vietnamese.

One or two problems each (T2T's translate_enet, _enid, _enmk, _entn, _envi).
"""

from t2t_keras import registry
from t2t_keras.data import text_problems, translate
from t2t_keras.problems import wmt_corpora as wmt

_INDONESIAN = "https://github.com/prasastoadi/parallel-corpora-en-id/raw/master"
_VIETNAMESE = "https://github.com/stefan-it/nmt-en-vi/raw/master/data"
_IWSLT_TEST = "IWSLT17.TED.tst2017plus.en-id"


def _bppt(topic: str, words: str) -> translate.Source:
    """A corpus of the Indonesian agency BPPT: topic and size as in its file names."""
    return [
        f"{_INDONESIAN}/PANL-BPPT-{topic}-EN-ID-{words}.tgz",
        (f"PANL-BPPT-{topic}-EN-{words}.txt", f"PANL-BPPT-{topic}-ID-{words}.txt"),
    ]


@registry.register_problem
class TranslateEnetWmt32k(translate.CorporaProblem):
    """WMT English-Estonian (2018), shared vocabulary of about 32,768 subwords."""

    train_sources = [wmt.europarl8("et"), wmt.paracrawl1("et"), wmt.rapid2016("en-et", "et")]
    dev_sources = [
        [
            "https://github.com/stefan-it/nmt-en-et/raw/master/data/newsdev2018-enet.tar.gz",
            ("newsdev2018-enet-src.en", "newsdev2018-enet-ref.et"),
        ]
    ]
    tfds_data_set = "wmt18_translate/et-en:source=en:target=et"


@registry.register_problem
class TranslateEnetWmtCharacters(TranslateEnetWmt32k):
    """WMT English-Estonian (2018) in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER


@registry.register_problem
class TranslateEnidIwslt32k(translate.CorporaProblem):
    """English-Indonesian on TED talks and BPPT's corpora, vocabulary of about 32,768 subwords."""

    train_sources = [
        [
            f"{_INDONESIAN}/IWSLT17.train.en-id.tgz",
            ("IWSLT17.train.en-id.en", "IWSLT17.train.en-id.id"),
        ],
        _bppt("ECO", "150Kw"),
        _bppt("INT", "150Kw"),
        _bppt("SCI", "100Kw"),
        _bppt("SPO", "100Kw"),
    ]
    dev_sources = [[f"{_INDONESIAN}/{_IWSLT_TEST}.tgz", (f"{_IWSLT_TEST}.en", f"{_IWSLT_TEST}.id")]]


@registry.register_problem
class TranslateEnmkSetimes32k(translate.CorporaProblem):
    """English-Macedonian on the Southeast European Times, vocabulary of about 32,768 subwords."""

    train_sources = [
        [
            "http://nlp.ffzg.hr/data/corpora/setimes/setimes.en-mk.txt.tgz",
            ("setimes.en-mk.en.txt", "setimes.en-mk.mk.txt"),
        ]
    ]
    dev_sources = [
        [
            "https://github.com/stefan-it/nmt-en-mk/raw/master/data/MTE-1984-dev.enmk.tgz",
            ("MTE1984-dev.en", "MTE1984-dev.mk"),
        ]
    ]


@registry.register_problem
class TranslateEnmkSetimesCharacters(TranslateEnmkSetimes32k):
    """English-Macedonian on the Southeast European Times in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER


@registry.register_problem
class TranslateEntnRma(translate.CorporaProblem):
    """English-Tswana on the Autshumato corpus as the project Ukuxhumana split it.

    Put `eng_tswane.train.en`, `.tn`, `eng_tswane.dev.en` and `.tn` into tmp_dir; see
    https://github.com/LauraMartinus/ukuxhumana.
    """

    train_sources = [["", ("eng_tswane.train.en", "eng_tswane.train.tn")]]
    dev_sources = [["", ("eng_tswane.dev.en", "eng_tswane.dev.tn")]]
    vocab_filename = "vocab.entn.32768"


@registry.register_problem
class TranslateEnviIwslt32k(translate.CorporaProblem):
    """English-Vietnamese on TED talks (IWSLT 2015), vocabulary of about 32,768 subwords."""

    train_sources = [[f"{_VIETNAMESE}/train-en-vi.tgz", ("train.en", "train.vi")]]
    dev_sources = [[f"{_VIETNAMESE}/dev-2012-en-vi.tgz", ("tst2012.en", "tst2012.vi")]]
