"""ROUGE and edit distance on id sequences (Lin, 2004, https://aclanthology.org/W04-1013).

Pure Python on sequences, no TensorFlow; the numbers equal T2T's ``utils.rouge``. Rows are taken as
they are: padding, where present, counts as tokens, as in T2T's evaluation metrics.
"""

from collections.abc import Hashable, Sequence

import numpy as np

__all__ = [
    "edit_distance",
    "longest_common_subsequence",
    "rouge_l_sentence_level",
    "rouge_n",
]


def _check_same_number(hypotheses: Sequence[object], references: Sequence[object]) -> None:
    if len(hypotheses) != len(references):
        raise ValueError(
            "ROUGE needs one reference per hypothesis. "
            f"Received: {len(references)} references, {len(hypotheses)} hypotheses"
        )


def _ngrams(row: Sequence[Hashable], order: int) -> set[tuple[Hashable, ...]]:
    """The distinct n-grams of a row."""
    return {tuple(row[start : start + order]) for start in range(len(row) - order + 1)}


def _mean(scores: Sequence[float]) -> np.float32:
    return np.float32(np.mean(scores)) if scores else np.float32(0.0)


def rouge_n(
    eval_sentences: Sequence[Sequence[Hashable]],
    ref_sentences: Sequence[Sequence[Hashable]],
    n: int = 2,
) -> np.float32:
    """Mean ROUGE-N F-score over rows, from the *sets* of n-grams of each row.

    ``F = 2PR / (P + R + 1e-8)`` with precision P and recall R of the distinct n-grams.

    Args:
        eval_sentences: the hypotheses, rows of ids or tokens.
        ref_sentences: as many references.
        n: length of the n-grams.

    Returns:
        The mean F-score, a float32 in [0, 1].

    Raises:
        ValueError: different numbers of rows.
    """
    _check_same_number(eval_sentences, ref_sentences)
    scores = []
    for hypothesis, reference in zip(eval_sentences, ref_sentences, strict=True):
        hypothesis_ngrams, reference_ngrams = _ngrams(hypothesis, n), _ngrams(reference, n)
        shared = len(hypothesis_ngrams & reference_ngrams)
        precision = shared / len(hypothesis_ngrams) if hypothesis_ngrams else 0.0
        recall = shared / len(reference_ngrams) if reference_ngrams else 0.0
        scores.append(2.0 * precision * recall / (precision + recall + 1e-8))
    return _mean(scores)


def longest_common_subsequence(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Length of the longest (not necessarily contiguous) common subsequence."""
    previous = [0] * (len(second) + 1)
    for item in first:
        current = [0]
        for column, other in enumerate(second):
            longer = (
                previous[column] + 1 if item == other else max(previous[column + 1], current[-1])
            )
            current.append(longer)
        previous = current
    return previous[-1]


def rouge_l_sentence_level(
    eval_sentences: Sequence[Sequence[Hashable]],
    ref_sentences: Sequence[Sequence[Hashable]],
) -> np.float32:
    """Mean ROUGE-L F-score over rows, from the longest common subsequence of each pair.

    With recall r and precision p of the subsequence, ``beta = p / (r + 1e-12)`` and
    ``F = (1 + beta^2) r p / (r + beta^2 p + 1e-12)``.

    Args:
        eval_sentences: the hypotheses, rows of ids or tokens.
        ref_sentences: as many references.

    Returns:
        The mean F-score, a float32 in [0, 1].

    Raises:
        ValueError: different numbers of rows.
    """
    _check_same_number(eval_sentences, ref_sentences)
    scores = []
    for hypothesis, reference in zip(eval_sentences, ref_sentences, strict=True):
        common = longest_common_subsequence(reference, hypothesis)
        recall = common / len(reference) if len(reference) else 0.0
        precision = common / len(hypothesis) if len(hypothesis) else 0.0
        squared_beta = (precision / (recall + 1e-12)) ** 2
        denominator = recall + squared_beta * precision + 1e-12
        scores.append((1.0 + squared_beta) * recall * precision / denominator)
    return _mean(scores)


def edit_distance(first: Sequence[Hashable], second: Sequence[Hashable]) -> int:
    """Levenshtein distance: fewest insertions, deletions and replacements between two rows."""
    previous = list(range(len(second) + 1))
    for row, item in enumerate(first):
        current = [row + 1]
        for column, other in enumerate(second):
            replaced = previous[column] + (item != other)
            current.append(min(replaced, previous[column + 1] + 1, current[column] + 1))
        previous = current
    return previous[-1]
