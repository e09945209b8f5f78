"""Language modelling on the One Billion Word Benchmark (T2T's lm1b).

Chelba et al. (2013), "One Billion Word Benchmark for Measuring Progress in Statistical Language
Modeling": shuffled sentences of news, about 30 million for training.
"""

from collections.abc import Iterator
from typing import Any

from t2t_keras import registry
from t2t_keras.data import sources, text_lines, text_problems
from t2t_keras.data.modes import DatasetSplit

_NAME = "1-billion-word-language-modeling-benchmark-r13output"
_ARCHIVE = f"http://www.statmt.org/lm-benchmark/{_NAME}.tar.gz"
_TRAIN_PATTERN = f"{_NAME}/training-monolingual.tokenized.shuffled/news.en-*-of-00100"
# Of the 50 held-out parts, results are reported on the first.
_HELD_OUT = f"{_NAME}/heldout-monolingual.tokenized.shuffled"
_DEV_PATTERN = f"{_HELD_OUT}/news.en.heldout-00000-of-00050"


@registry.register_problem
class LanguagemodelLm1b32k(text_problems.Text2SelfProblem):
    """Sentences of news, about 32,768 subwords."""

    is_generate_per_split = True
    # About four megabytes of text.
    max_samples_for_vocab = 63000

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the sentences of a split, file by file."""
        del data_dir
        pattern = _TRAIN_PATTERN if dataset_split == DatasetSplit.TRAIN else _DEV_PATTERN
        for path in sources.fetch_matching(tmp_dir, _ARCHIVE, pattern):
            for line in text_lines.stripped_lines(path):
                if line:
                    yield {"targets": line}


@registry.register_problem
class LanguagemodelLm1b32kPacked(LanguagemodelLm1b32k):
    """The same, packed into records of 256 ids; the vocabulary is that of the unpacked problem."""

    packed_length = 256
    vocab_filename = "vocab.languagemodel_lm1b32k.32768.subwords"


@registry.register_problem
class LanguagemodelLm1b8k(LanguagemodelLm1b32k):
    """Sentences of news, about 8,192 subwords."""

    approx_vocab_size = 2**13


@registry.register_problem
class LanguagemodelLm1b8kPacked(LanguagemodelLm1b8k):
    """The same, packed into records of 256 ids; the vocabulary is that of the unpacked problem."""

    packed_length = 256
    vocab_filename = "vocab.languagemodel_lm1b8k.8192.subwords"


@registry.register_problem
class LanguagemodelLm1bCharacters(LanguagemodelLm1b32k):
    """Sentences of news in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER


@registry.register_problem
class LanguagemodelLm1bCharactersPacked(LanguagemodelLm1bCharacters):
    """The same, packed into records of 1,024 bytes."""

    packed_length = 1024
