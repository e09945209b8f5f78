"""The corpus the grammar writes: sentence pairs without repetition, split once and for all."""

import functools
import os
import random
from collections.abc import Callable

from t2t_keras.problems.demo_grammar.choices import Chooser
from t2t_keras.problems.demo_grammar.sentences import KINDS, Pair

NUM_TEST = 500
NUM_DEV = 500
NUM_TRAIN = 50_000

_SEED = 20170612  # The day the Transformer was published.
_MAX_WORDS = 22


def random_pair(chooser: Chooser) -> Pair:
    """One English sentence with its translation."""
    kinds = _weighted_kinds()
    return chooser.one_of(kinds)(chooser)


@functools.cache
def _weighted_kinds() -> tuple[Callable[[Chooser], Pair], ...]:
    return tuple(kind for kind, weight in KINDS for _ in range(weight))


@functools.cache
def splits() -> dict[str, tuple[Pair, ...]]:
    """The pairs of "test", "dev" and "train", always the same.

    No sentence of either language occurs twice, so nothing of test or dev is in train.
    """
    chooser = Chooser(random.Random(_SEED))
    wanted = NUM_TEST + NUM_DEV + NUM_TRAIN
    pairs: list[Pair] = []
    seen_english: set[str] = set()
    seen_german: set[str] = set()
    while len(pairs) < wanted:
        english, german = random_pair(chooser)
        if english in seen_english or german in seen_german:
            continue
        if max(english.count(" "), german.count(" ")) >= _MAX_WORDS:
            continue
        seen_english.add(english)
        seen_german.add(german)
        pairs.append((english, german))
    return {
        "test": tuple(pairs[:NUM_TEST]),
        "dev": tuple(pairs[NUM_TEST : NUM_TEST + NUM_DEV]),
        "train": tuple(pairs[NUM_TEST + NUM_DEV :]),
    }


def write_text_files(split: str, directory: str) -> tuple[str, str]:
    """Writes a split as two text files, ``<split>.en`` and ``<split>.de``, one sentence a line.

    Args:
        split: "test", "dev" or "train".
        directory: where to; made if missing.

    Returns:
        The paths of source and reference.
    """
    os.makedirs(directory, exist_ok=True)
    paths = []
    for side, language in enumerate(("en", "de")):
        path = os.path.join(directory, f"{split}.{language}")
        with open(path + ".incomplete", "w", encoding="utf-8") as stream:
            stream.writelines(pair[side] + "\n" for pair in splits()[split])
        os.replace(path + ".incomplete", path)
        paths.append(path)
    return paths[0], paths[1]
