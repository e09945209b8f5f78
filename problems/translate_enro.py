"""English-Romanian translation on the WMT corpora (T2T's translate_enro)."""

import itertools
import random
from collections.abc import Iterator
from typing import Any, ClassVar

from t2t_keras import registry
from t2t_keras.data import text_problems, translate
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.vocabularies import vocabulary_of

# About as many pairs as the training corpora hold.
_NUM_PAIRS = 614000


@registry.register_problem
class TranslateEnroWmt8k(translate.CorporaProblem):
    """WMT English-Romanian (2016), shared vocabulary of about 8,192 subwords."""

    approx_vocab_size = 2**13
    train_sources = [
        [
            "http://www.statmt.org/europarl/v7/ro-en.tgz",
            ("europarl-v7.ro-en.en", "europarl-v7.ro-en.ro"),
        ],
        [
            "http://opus.nlpl.eu/download.php?f=SETIMES/v2/moses/en-ro.txt.zip",
            ("SETIMES.en-ro.en", "SETIMES.en-ro.ro"),
        ],
    ]
    dev_sources = [
        [
            "http://data.statmt.org/wmt16/translation-task/dev-romanian-updated.tgz",
            ("dev/newsdev2016-roen-ref.en.sgm", "dev/newsdev2016-roen-src.ro.sgm"),
        ]
    ]


@registry.register_problem
class TranslateEnroWmt32k(TranslateEnroWmt8k):
    """WMT English-Romanian (2016), shared vocabulary of about 32,768 subwords."""

    approx_vocab_size = 2**15


@registry.register_problem
class TranslateEnroWmtCharacters(TranslateEnroWmt8k):
    """WMT English-Romanian (2016) in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER


@registry.register_problem
class TranslateEnroWmtMulti64k(TranslateEnroWmt8k):
    """WMT English-Romanian with the subwords of `languagemodel_de_en_fr_ro_wiki64k`."""

    use_vocab_from_other_problem = vocabulary_of("languagemodel_de_en_fr_ro_wiki64k")


@registry.register_problem
class TranslateEnroWmtMultiSmall64k(TranslateEnroWmtMulti64k):
    """A random 6,000 pairs of it, to study training on little data."""

    train_shards = 16
    num_sampled_pairs: ClassVar[int] = 6000

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields `num_sampled_pairs` random training pairs, or all pairs of another split.

        The corpus is passed over until there are enough, each time taking as large a share as
        gives the wanted number on average; so a pair may occur twice, but seldom does.
        """
        if dataset_split != DatasetSplit.TRAIN:
            return super().generate_samples(data_dir, tmp_dir, dataset_split)
        chosen = self._random_pairs(data_dir, tmp_dir)
        return itertools.islice(chosen, self.num_sampled_pairs)

    def _random_pairs(self, data_dir: str, tmp_dir: str) -> Iterator[dict[str, Any]]:
        share = self.num_sampled_pairs / _NUM_PAIRS
        while True:
            is_empty = True
            for sample in super().generate_samples(data_dir, tmp_dir, DatasetSplit.TRAIN):
                is_empty = False
                if random.random() < share:
                    yield sample
            if is_empty:
                raise ValueError(f"The training corpora of {self.name} hold no pairs.")


@registry.register_problem
class TranslateEnroWmtMultiTiny64k(TranslateEnroWmtMultiSmall64k):
    """A random 600 pairs."""

    num_sampled_pairs = 600


@registry.register_problem
class TranslateEnroWmtMultiTiny64kPacked1k(TranslateEnroWmtMultiTiny64k):
    """The same, packed into records of 1,024 ids; prefixes tell the task."""

    packed_length = 1024
    num_training_examples = 32
    inputs_prefix = "translate English Romanian "
    targets_prefix = "translate Romanian English "
