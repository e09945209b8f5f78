"""English-German translation of sentences that a small grammar writes: the embedded demo corpus.

Nothing is downloaded. 50,000 training pairs, 500 for development, 500 for testing, always the same;
no sentence occurs in two splits. Every English sentence has one right translation, so BLEU close
to 100 is possible, and what is missing to it was not learnt.
"""

from collections.abc import Iterator
from typing import Any

from t2t_keras import registry
from t2t_keras.data import text_problems
from t2t_keras.data.problem import DatasetSplit


@registry.register_problem
class TranslateEndeDemo(text_problems.Text2TextProblem):
    """English to German, sentences of 2 to 22 words, a shared vocabulary of about 2,000 subwords.

    German asks for much that English does not show: gender and case in articles, adjectives and
    pronouns, the place of the verb, separable prefixes, haben or sein, nicht or kein.
    """

    @property
    def approx_vocab_size(self) -> int:
        """2^11."""
        return 2**11

    @property
    def is_generate_per_split(self) -> bool:
        """The grammar has split the corpus."""
        return True

    @property
    def dataset_splits(self) -> list[dict[str, Any]]:
        """Four shards to train on, one each for development and test."""
        return [
            {"split": DatasetSplit.TRAIN, "shards": 4},
            {"split": DatasetSplit.EVAL, "shards": 1},
            {"split": DatasetSplit.TEST, "shards": 1},
        ]

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, str]]:
        """Yields English `inputs` and German `targets`."""
        # The grammar's tables are read only when sentences are wanted.
        from t2t_keras.problems.demo_grammar import corpus

        split = {DatasetSplit.TRAIN: "train", DatasetSplit.EVAL: "dev"}.get(dataset_split, "test")
        for english, german in corpus.splits()[split]:
            yield {"inputs": english, "targets": german}

    def write_test_files(self, directory: str) -> tuple[str, str]:
        """Writes the held-out test sentences as `test.en` and `test.de`.

        Args:
            directory: where to; made if missing.

        Returns:
            The paths of source and reference.
        """
        from t2t_keras.problems.demo_grammar import corpus

        return corpus.write_text_files("test", directory)
