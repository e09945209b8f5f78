"""Problems over text files that the user puts into tmp_dir: no code to write."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from t2t_keras.data import text_lines
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.data.text2text import Text2TextProblem, VocabType
from t2t_keras.data.text_iterators import text2text_txt_iterator, txt_line_iterator
from t2t_keras.text import encoders

Sample = dict[str, Any]


class Text2textTmpdir(Text2TextProblem):
    """Pairs of lines from `inputs.{train,eval}.txt` and `targets.{train,eval}.txt` in tmp_dir."""

    TRAIN_FILES = ("inputs.train.txt", "targets.train.txt")
    EVAL_FILES = ("inputs.eval.txt", "targets.eval.txt")

    @property
    def is_generate_per_split(self) -> bool:
        """The splits have files of their own."""
        return True

    def describe_sources(self, tmp_dir: str) -> str:
        """The files and whether they are there."""
        lines = []
        for name in (*self.TRAIN_FILES, *self.EVAL_FILES):
            path = os.path.join(tmp_dir, name)
            lines.append(f"  {path}: {'there' if os.path.isfile(path) else 'absent'}")
        return "\n".join(lines)

    def generate_samples(self, data_dir: str, tmp_dir: str, dataset_split: str) -> Iterator[Sample]:
        """Yield pairs of lines; every split but TRAIN reads the eval files."""
        del data_dir
        is_train = dataset_split == DatasetSplit.TRAIN
        names = self.TRAIN_FILES if is_train else self.EVAL_FILES
        paths = [os.path.join(tmp_dir, name) for name in names]
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            raise FileNotFoundError(
                f"Problem {self.name} reads {', '.join(names)} from --tmp_dir. Missing: "
                f"{', '.join(missing)}"
            )
        return text2text_txt_iterator(*paths)

    def num_samples(self, data_dir: str, tmp_dir: str, dataset_split: str) -> int | None:
        """Number of lines of the targets' file."""
        del data_dir
        names = self.TRAIN_FILES if dataset_split == DatasetSplit.TRAIN else self.EVAL_FILES
        path = os.path.join(tmp_dir, names[1])
        return text_lines.count_lines(path) if os.path.exists(path) else None


class Text2textTmpdirTokens(Text2textTmpdir):
    """The same, with a vocabulary of white-space separated tokens, `vocab.txt` in tmp_dir."""

    UNKNOWN_TOKEN = "<UNK>"

    @property
    def vocab_type(self) -> str:
        """A given list of tokens."""
        return VocabType.TOKEN

    @property
    def oov_token(self) -> str:
        """Stands for every token that is not in vocab.txt."""
        return self.UNKNOWN_TOKEN

    def get_or_create_vocab(self, data_dir: str, tmp_dir: str, force_get: bool = False) -> Any:
        """Make data_dir's vocabulary from tmp_dir's vocab.txt if there is none yet."""
        path = os.path.join(data_dir, self.vocab_filename)
        source = os.path.join(tmp_dir, "vocab.txt")
        if not force_get and not os.path.exists(path):
            if not os.path.exists(source):
                raise FileNotFoundError(
                    f"Problem {self.name} needs {source}: one token a line, without <pad>, <EOS> "
                    f"and {self.UNKNOWN_TOKEN}."
                )
            tokens = [*encoders.RESERVED_TOKENS, self.UNKNOWN_TOKEN, *txt_line_iterator(source)]
            os.makedirs(data_dir or ".", exist_ok=True)
            encoders.TokenTextEncoder(None, vocab_list=tokens).store_to_file(path)
        return super().get_or_create_vocab(data_dir, tmp_dir, force_get)
