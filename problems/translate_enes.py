"""English-Spanish translation on the WMT corpora and ParaCrawl (T2T's translate_enes)."""

from t2t_keras import registry
from t2t_keras.data import text_problems, translate
from t2t_keras.data.vocabularies import vocabulary_of
from t2t_keras.problems import wmt_corpora as wmt


@registry.register_problem
class TranslateEnesWmt32k(translate.CorporaProblem):
    """WMT English-Spanish, shared vocabulary of about 32,768 subwords."""

    train_sources = [
        wmt.common_crawl("es"),
        wmt.europarl7("es"),
        wmt.united_nations("es"),
        wmt.paracrawl1("es"),
    ]
    dev_sources = [wmt.newstest2013("es")]


@registry.register_problem
class TranslateEnesWmtClean32k(TranslateEnesWmt32k):
    """WMT English-Spanish, cleaned, with the vocabulary of `translate_enes_wmt32k`."""

    use_vocab_from_other_problem = vocabulary_of("translate_enes_wmt32k")
    datatypes_to_clean = ["txt"]


@registry.register_problem
class TranslateEnesWmt32kPacked(TranslateEnesWmt32k):
    """`translate_enes_wmt32k` with several pairs packed into records of 256 ids a side."""

    packed_length = 256
    use_vocab_from_other_problem = vocabulary_of("translate_enes_wmt32k")


@registry.register_problem
class TranslateEnesWmt8k(TranslateEnesWmt32k):
    """WMT English-Spanish, shared vocabulary of about 8,192 subwords."""

    approx_vocab_size = 2**13


@registry.register_problem
class TranslateEnesWmt8kPacked(TranslateEnesWmt8k):
    """`translate_enes_wmt8k` with several pairs packed into records of 256 ids a side."""

    packed_length = 256
    use_vocab_from_other_problem = vocabulary_of("translate_enes_wmt8k")


@registry.register_problem
class TranslateEnesWmtCharacters(TranslateEnesWmt8k):
    """WMT English-Spanish in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER
