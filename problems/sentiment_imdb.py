"""Sentiment of film reviews (T2T's imdb).

Maas et al. (2011), "Learning Word Vectors for Sentiment Analysis": 25,000 reviews for training and
as many for evaluation, half of them positive.
"""

import itertools
from collections.abc import Iterator
from typing import Any

from t2t_keras import registry
from t2t_keras.data import sources, text_problems
from t2t_keras.data.modes import DatasetSplit

_ARCHIVE = "http://ai.stanford.edu/~amaas/data/sentiment/aclImdb_v1.tar.gz"
_LABELS = ("neg", "pos")


@registry.register_problem
class SentimentImdb(text_problems.Text2ClassProblem):
    """Whether a review is positive (1) or negative (0); about 8,192 subwords."""

    is_generate_per_split = True
    approx_vocab_size = 2**13
    num_classes = 2
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 10},
        {"split": DatasetSplit.EVAL, "shards": 1},
    ]

    def class_labels(self, data_dir: str | None) -> list[str]:
        """The labels by number."""
        del data_dir
        return list(_LABELS)

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields negative and positive reviews in turn, without HTML's line breaks."""
        del data_dir
        part = "train" if dataset_split == DatasetSplit.TRAIN else "test"
        by_label = (
            sources.fetch_matching(tmp_dir, _ARCHIVE, f"aclImdb/{part}/{label}/*.txt")
            for label in _LABELS
        )
        for group in itertools.zip_longest(*by_label):
            for label, path in enumerate(group):
                if path is not None:
                    yield {"inputs": _review(path), "label": label}


def _review(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return " ".join(stream.read().replace("<br />", " ").split())


@registry.register_problem
class SentimentImdbCharacters(SentimentImdb):
    """Whether a review is positive, in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER
