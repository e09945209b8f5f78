"""Names that problems, pipeline and models share: splits, modes, vocabularies, spaces, features."""


class DatasetSplit:
    """Parts of a data set. The value is the tag in T2T's shard file names."""

    TRAIN = "train"
    EVAL = "dev"
    TEST = "test"


class ModeKeys:
    """What a batch is read for; values as in tf.estimator, which T2T used."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class VocabType:
    """Kinds of vocabularies; the value ends the vocabulary's file name."""

    CHARACTER = "character"
    SUBWORD = "subwords"
    TOKEN = "tokens"


class SpaceID:
    """T2T's numbers for the space a symbol sequence lives in (row of the space embedding)."""

    GENERIC = 0
    IMAGE_LABEL = 1
    EN_CHR = 2
    EN_TOK = 3
    EN_BPE_TOK = 4
    FR_CHR = 5
    FR_TOK = 6
    DE_CHR = 7
    DE_TOK = 8
    DE_BPE_TOK = 9
    DIGIT_0 = 10
    DIGIT_1 = 11
    AUDIO_WAV = 12
    AUDIO_SPECTRAL = 13
    PARSE_CHR = 14
    PARSE_TOK = 15
    ZH_TOK = 16
    ICE_CHAR = 17
    ICE_TOK = 18
    ICE_PARSE_TOK = 19
    MK_TOK = 20
    CS_TOK = 21
    CS_CHR = 22
    DNA = 23
    REAL = 24
    IMAGE = 25
    PEPTIDE = 26
    PY_TOK = 27
    CPP_TOK = 28
    STROKES = 29
    PICKLED_PYTHON = 30


class ModalityType:
    """How a feature enters or leaves a model."""

    SYMBOL = "symbol"
    IDENTITY = "identity"
    CLASS_LABEL = "class_label"
    REAL = "real"


def split_of_mode(mode: str) -> str:
    """The split that is read in a mode: training reads TRAIN, everything else EVAL."""
    return DatasetSplit.TRAIN if mode == ModeKeys.TRAIN else DatasetSplit.EVAL
