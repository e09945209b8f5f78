"""Corpus BLEU as tensor2tensor computes it (Papineni et al., 2002, https://aclanthology.org/P02-1040).

Pure Python on strings or ids, no TensorFlow. The numbers equal T2T's ``utils.bleu_hook``, including
its tokenisation and its smoothing; they differ a little from sacrebleu's, which ``t2t-bleu`` prints
beside them.
"""

import collections
import functools
import math
import os
import re
import sys
import unicodedata
from collections.abc import Hashable, Sequence

import numpy as np

__all__ = ["bleu_tokenize", "bleu_wrapper", "compute_bleu", "read_sentences"]

Counts = collections.Counter[tuple[Hashable, ...]]


def _characters_of_category(prefix: str, without: str = "") -> str:
    """A regular-expression class of the characters of a Unicode category (by its first letter)."""
    characters = (chr(code) for code in range(sys.maxunicode + 1))
    members = (c for c in characters if unicodedata.category(c).startswith(prefix))
    return "[" + "".join(re.escape(c) for c in members if c not in without) + "]"


@functools.cache
def _tokenize_patterns() -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Punctuation after a non-digit, punctuation before a non-digit, and symbols.

    Built on first use: scanning all of Unicode takes a good tenth of a second.
    """
    # T2T puts the characters between brackets unescaped, so that "\]" reads as an escaped bracket
    # and the backslash drops out of the punctuation. Scores depend on it.
    punctuation = _characters_of_category("P", without="\\")
    symbol = _characters_of_category("S")
    return (
        re.compile(rf"(\D)({punctuation})"),
        re.compile(rf"({punctuation})(\D)"),
        re.compile(rf"({symbol})"),
    )


def bleu_tokenize(text: str) -> list[str]:
    """Splits a sentence into the tokens BLEU counts (T2T's ``bleu_hook.bleu_tokenize``).

    Punctuation is set apart unless a digit stands on that side, symbols always. Thus ``1,000.5``
    stays whole, and so does a number with the full stop that ends the sentence (``2013.``).
    The backslash is not punctuation.

    Args:
        text: one sentence.

    Returns:
        The tokens, without white space.
    """
    before, after, symbol = _tokenize_patterns()
    text = before.sub(r"\1 \2 ", text)
    text = after.sub(r" \1 \2", text)
    text = symbol.sub(r" \1 ", text)
    return text.split()


def _ngram_counts(tokens: Sequence[Hashable], max_order: int) -> Counts:
    """How often each n-gram of up to ``max_order`` tokens occurs in one sentence."""
    counts: Counts = collections.Counter()
    for order in range(1, max_order + 1):
        for start in range(len(tokens) - order + 1):
            counts[tuple(tokens[start : start + order])] += 1
    return counts


def _brevity_penalty(translation_length: int, reference_length: int) -> float:
    """1 for translations at least as long as the reference, else exp(1 - reference/translation)."""
    if reference_length == 0:
        return 1.0
    ratio = translation_length / reference_length
    if ratio <= 0.0:
        return 0.0
    return 1.0 if ratio >= 1.0 else math.exp(1.0 - 1.0 / ratio)


def _smoothed_precisions(matches: Sequence[int], possible: Sequence[int]) -> list[float]:
    """The n-gram precisions; an order without a match counts 1/2, 1/4, … of one match."""
    smooth = 1.0
    precisions = []
    for matched, total in zip(matches, possible, strict=True):
        if total == 0:
            precisions.append(0.0)
        elif matched > 0:
            precisions.append(matched / total)
        else:
            smooth *= 2.0
            precisions.append(1.0 / (smooth * total))
    return precisions


def compute_bleu(
    reference_corpus: Sequence[Sequence[Hashable]],
    translation_corpus: Sequence[Sequence[Hashable]],
    max_order: int = 4,
    use_bp: bool = True,
) -> np.float32:
    """Corpus BLEU of tokenised sentences with one reference each (T2T's ``compute_bleu``).

    Clipped matches and possible n-grams are summed over the corpus, then
    ``BLEU = brevity penalty * exp(sum_n log(precision_n) / max_order)``.

    Args:
        reference_corpus: the reference sentences, each a list of tokens or ids.
        translation_corpus: as many translations.
        max_order: longest n-gram counted.
        use_bp: whether to apply the brevity penalty.

    Returns:
        The score in [0, 1], a float32.

    Raises:
        ValueError: the two corpora have different numbers of sentences.
    """
    if len(reference_corpus) != len(translation_corpus):
        raise ValueError(
            "BLEU needs one reference per translation. "
            f"Received: {len(reference_corpus)} references, {len(translation_corpus)} translations"
        )
    matches = [0] * max_order
    possible = [0] * max_order
    reference_length = translation_length = 0
    for reference, translation in zip(reference_corpus, translation_corpus, strict=True):
        reference_length += len(reference)
        translation_length += len(translation)
        reference_counts = _ngram_counts(reference, max_order)
        translation_counts = _ngram_counts(translation, max_order)
        for ngram, count in translation_counts.items():
            possible[len(ngram) - 1] += count
            matches[len(ngram) - 1] += min(count, reference_counts[ngram])

    precisions = _smoothed_precisions(matches, possible)
    if not any(precision > 0.0 for precision in precisions):
        return np.float32(0.0)
    # An order without any possible n-gram is left out of the sum, but the divisor stays: T2T's
    # corpora of very short sentences score higher for it.
    log_sum = sum(math.log(precision) for precision in precisions if precision > 0.0)
    score = math.exp(log_sum / max_order)
    if use_bp:
        score *= _brevity_penalty(translation_length, reference_length)
    return np.float32(score)


def _read_lines(path: str | os.PathLike[str]) -> list[str]:
    """The pieces between line feeds, and only those, with the empty one after the last."""
    with open(path, "rb") as stream:
        contents = stream.read()
    try:
        return contents.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        line = contents.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{os.fspath(path)}, line {line}: byte 0x{contents[error.start]:02x} is not UTF-8. "
            "Convert the file: a score of damaged text would mislead."
        ) from error


def bleu_wrapper(
    ref_filename: str | os.PathLike[str],
    hyp_filename: str | os.PathLike[str],
    case_sensitive: bool = False,
) -> np.float32:
    """BLEU of a file of translations against a file of references, line by line.

    Args:
        ref_filename: UTF-8 text, one reference sentence a line.
        hyp_filename: UTF-8 text, one translation a line.
        case_sensitive: whether ``The`` and ``the`` are different tokens.

    Returns:
        The score in [0, 1], a float32.

    Raises:
        ValueError: the files have different numbers of lines.
    """
    references, translations = read_parallel_lines(ref_filename, hyp_filename)
    if not case_sensitive:
        references = [line.lower() for line in references]
        translations = [line.lower() for line in translations]
    return compute_bleu(
        [bleu_tokenize(line) for line in references],
        [bleu_tokenize(line) for line in translations],
    )


def read_parallel_lines(
    ref_filename: str | os.PathLike[str], hyp_filename: str | os.PathLike[str]
) -> tuple[list[str], list[str]]:
    """Reads two files that must have as many lines, split at newlines only.

    A file that ends in a newline gives a last, empty piece, as in T2T; where only one of the two
    files ends so, the missing newline is supplied, because both hold the same number of sentences.

    Args:
        ref_filename: the references.
        hyp_filename: the translations.

    Returns:
        The pieces of both files, equally many.

    Raises:
        ValueError: the files have different numbers of lines (the message holds both), or one
            isn't UTF-8.
    """
    references, translations = _read_lines(ref_filename), _read_lines(hyp_filename)
    if references[-1] == "" and translations[-1] != "":
        translations.append("")
    elif translations[-1] == "" and references[-1] != "":
        references.append("")
    if len(references) != len(translations):
        raise ValueError(
            "Reference and translation must have one line per sentence, equally many. "
            f"Received: {len(references) - (references[-1] == '')} lines in {ref_filename}, "
            f"{len(translations) - (translations[-1] == '')} in {hyp_filename}"
        )
    return references, translations


def read_sentences(
    ref_filename: str | os.PathLike[str], hyp_filename: str | os.PathLike[str]
) -> tuple[list[str], list[str]]:
    """As `read_parallel_lines`, without the empty piece behind the last newline.

    Raises:
        ValueError: the files have different numbers of lines, or both none.
    """
    references, translations = read_parallel_lines(ref_filename, hyp_filename)
    if references[-1] == translations[-1] == "":
        del references[-1], translations[-1]
    if not references:
        raise ValueError(f"There is nothing to score: {ref_filename} and {hyp_filename} are empty.")
    return references, translations
