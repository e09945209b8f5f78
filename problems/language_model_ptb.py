"""Language modelling on the Penn Treebank as Mikolov prepared it (T2T's ptb)."""

import collections
import itertools
import os
from collections.abc import Iterator
from typing import Any

from t2t_keras import registry
from t2t_keras.data import sources, text_lines, text_problems
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.text import encoders

_ARCHIVE = "http://www.fit.vutbr.cz/~imikolov/rnnlm/simple-examples.tgz"
_FILES = {
    DatasetSplit.TRAIN: "simple-examples/data/ptb.train.txt",
    DatasetSplit.EVAL: "simple-examples/data/ptb.valid.txt",
    DatasetSplit.TEST: "simple-examples/data/ptb.test.txt",
}
_NUM_WORDS = 10000


def _sentences(tmp_dir: str, dataset_split: str) -> Iterator[str]:
    (path,) = sources.fetch_members(tmp_dir, _ARCHIVE, [_FILES[dataset_split]])
    return (line for line in text_lines.stripped_lines(path) if line)


@registry.register_problem
class LanguagemodelPtb10k(text_problems.Text2SelfProblem):
    """Sentences of the Penn Treebank in words; rare ones are `<unk>` in the corpus already.

    The vocabulary holds `<pad>`, `<EOS>` and the 10,000 most frequent words. That of tensor2tensor
    lacks the first two: the most frequent word has the id of the padding there, and never counts.
    Put its file `vocab.lmptb.10000` into data_dir to have its ids.
    """

    is_generate_per_split = True
    vocab_type = text_problems.VocabType.TOKEN
    vocab_filename = "vocab.lmptb.10000"
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 10},
        {"split": DatasetSplit.EVAL, "shards": 1},
    ]

    def get_or_create_vocab(self, data_dir: str, tmp_dir: str, force_get: bool = False) -> Any:
        """The words as an encoder; they are counted in the training text if need be."""
        path = os.path.join(data_dir, self.vocab_filename)
        is_needed = self.vocab_type == text_problems.VocabType.TOKEN and not force_get
        if is_needed and not os.path.exists(path):
            words = most_frequent_words(_sentences(tmp_dir, DatasetSplit.TRAIN), _NUM_WORDS)
            os.makedirs(data_dir or ".", exist_ok=True)
            encoders.TokenTextEncoder(None, vocab_list=words).store_to_file(path)
        return super().get_or_create_vocab(data_dir, tmp_dir, force_get)

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the sentences of a split."""
        del data_dir
        for sentence in _sentences(tmp_dir, dataset_split):
            yield {"targets": sentence}


@registry.register_problem
class LanguagemodelPtbCharacters(LanguagemodelPtb10k):
    """Sentences of the Penn Treebank in bytes."""

    vocab_type = text_problems.VocabType.CHARACTER


def most_frequent_words(sentences: Iterator[str], count: int) -> list[str]:
    """The `count` most frequent words, the most frequent first, equally frequent ones sorted."""
    counts = collections.Counter(itertools.chain.from_iterable(map(str.split, sentences)))
    return sorted(counts, key=lambda word: (-counts[word], word))[:count]
