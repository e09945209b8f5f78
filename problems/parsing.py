"""Constituency parsing as translation of sentences into linearised trees (T2T's wsj_parsing).

"Attention Is All You Need", section 6.3, follows Vinyals et al. (2015), "Grammar as a Foreign
Language": the tree is written depth-first as a sequence of symbols.
"""

import os
from collections.abc import Iterator
from typing import Any

from absl import logging

from t2t_keras import registry
from t2t_keras.data import text_lines, text_problems
from t2t_keras.data.problem import DatasetSplit

_TRAIN_TREES = "wsjTrain.trees"
_EVAL_TREES = "wsjEval.trees"


def words_and_tags_from_wsj_tree(tree: str) -> tuple[str, str]:
    """Linearises one bracketed tree.

    `(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits))))` gives "the cat sits" and
    "S NP DT NN /NP VP VBZ /VP /S": part-of-speech tags are opened only, other symbols are opened
    and closed, and the outermost symbol is left out.

    Args:
        tree: one tree, all on one line, every word in a bracket with its tag.

    Returns:
        The words and the symbols, each joined by blanks.

    Raises:
        ValueError: if the brackets do not match.
    """
    open_symbols: list[str] = []
    words: list[str] = []
    tags: list[str] = []
    for token in tree.split():
        if token.startswith("("):
            open_symbols.append(token[1:])
            tags.append(token[1:])
            continue
        word = token.rstrip(")")
        closing = len(token) - len(word)
        # A tag and its word need one bracket; each further one closes a constituent.
        if not word or not closing or closing > len(open_symbols):
            raise _bracket_error(tree)
        words.append(word)
        open_symbols.pop()
        tags += [f"/{open_symbols.pop()}" for _ in range(closing - 1)]
    if open_symbols or len(tags) < 2:
        raise _bracket_error(tree)
    return " ".join(words), " ".join(tags[1:-1])


def _bracket_error(tree: str) -> ValueError:
    return ValueError(
        "A tree must be on one line with balanced brackets, such as "
        f"(TOP (S (NP (DT the) (NN cat)) (VP (VBZ sits)))). Received: {tree!r}"
    )


def samples_from_trees(
    tmp_dir: str, dataset_split: str, problem_name: str
) -> Iterator[dict[str, Any]]:
    """Yields sentences and linearised trees from `wsjTrain.trees` or `wsjEval.trees`.

    Args:
        tmp_dir: folder of the files: one bracketed tree a line; empty lines are left out.
        dataset_split: TRAIN reads the first file, all else the second.
        problem_name: for messages.

    Raises:
        FileNotFoundError: if the file is missing.
        ValueError: if brackets do not match; the message names file and line.
    """
    is_training = dataset_split == DatasetSplit.TRAIN
    path = os.path.join(tmp_dir, _TRAIN_TREES if is_training else _EVAL_TREES)
    if not os.path.exists(path):
        raise FileNotFoundError(
            f"Problem {problem_name} reads {_TRAIN_TREES} and {_EVAL_TREES} "
            f"(one bracketed tree a line) from --tmp_dir. Missing: {path}"
        )
    for number, tree in enumerate(text_lines.stripped_lines(path), start=1):
        if not tree:
            continue
        try:
            words, tags = words_and_tags_from_wsj_tree(tree)
        except ValueError as error:
            raise ValueError(f"{path}, line {number}: {error}") from error
        yield {"inputs": words, "targets": tags}


@registry.register_problem
class WsjParsing(text_problems.Text2textTmpdir):
    """Sentences to linearised trees, from `wsjTrain.trees` and `wsjEval.trees` in tmp_dir.

    Both files hold one bracketed tree a line. The shared vocabulary is built from 1,000 pairs: as
    in tensor2tensor those of `wsj.train.text.txt` and `wsj.train.tags.txt`, one sentence or
    linearised tree a line, if these files are in tmp_dir; otherwise those of the first 1,000 trees.
    """

    TRAIN_FILES = ("wsj.train.text.txt", "wsj.train.tags.txt")
    TRAIN_FILES_TREE = _TRAIN_TREES
    EVAL_FILES_TREE = _EVAL_TREES
    max_samples_for_vocab = 1000

    def generate_samples(
        self, data_dir: str, tmp_dir: str, dataset_split: str
    ) -> Iterator[dict[str, Any]]:
        """Yields the linearised trees of the split's file; empty lines are left out."""
        del data_dir
        return samples_from_trees(tmp_dir, dataset_split, self.name)

    def generate_text_for_vocab(self, data_dir: str, tmp_dir: str) -> Iterator[str]:
        """Yields sentences and linearised trees in turn, `max_samples_for_vocab` of each."""
        paths = [os.path.join(tmp_dir, name) for name in self.TRAIN_FILES]
        if not all(os.path.exists(path) for path in paths):
            logging.info("The vocabulary is built from the trees of %s", self.TRAIN_FILES_TREE)
            yield from super().generate_text_for_vocab(data_dir, tmp_dir)
            return
        logging.info("The vocabulary is built from %s and %s", *paths)
        pairs = text_lines.parallel_lines(*paths)
        for _, (words, tags) in zip(range(self.max_samples_for_vocab), pairs, strict=False):
            yield words
            yield tags
