"""Cleaning of web-crawled parallel text: what is no plain sentence goes (T2T's cleaner_en_xx).

Sentences are judged on the English side only, by their form: a sentence begins with a capital,
ends with a full stop, and has no stray quotes, brackets, labels, datelines or layout in it. Lines
that hold several sentences are split if both sides split alike.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

Pair = tuple[str, str]

_BEGINS_LIKE_A_SENTENCE: Final = re.compile(r'"?[A-Z]')
_ENDS_LIKE_A_SENTENCE: Final = re.compile(r'\w[.?!]"?$')
_UNWANTED: Final = re.compile(
    r"""
      ^ \w+ \.? (\ \w+)? :\s            # A label: "Mr. Smith: …".
    | \d \s+ \d                         # Numbers side by side: a table, or a broken number.
    | ^ "[^"]*" $                       # The whole line is a quotation.
    | ["'] \s* ["']                     # Quotation marks side by side.
    | \s ["',:;] \s                     # Punctuation on its own.
    | ©
    | ^ (Copyright | \(C\))
    | ^ [A-Z]{3,} \b .{0,40}? \s[-–—]   # A dateline: "LONDON (Reuters) - …".
    | ^ [A-Z]+ _                        # A variable or template name.
    """,
    re.VERBOSE,
)
_APOSTROPHE_NOT_IN_A_WORD: Final = re.compile(r"'(?![st])")
_MAX_APOSTROPHES: Final = 2

# Not after "U." or "J.", which shorten a word; nor, on the other side, after "3.", an ordinal.
_ENGLISH_BREAK: Final = re.compile(r"(?:(?<=\w[A-Z][.!?])|(?<=[0-9a-z][.!?])) (?=[A-Z])")
_OTHER_BREAK: Final = re.compile(r"(?<=\D[.!?]) (?=[A-Z])")


def is_clean(english: str) -> bool:
    """Whether an English line looks like a plain sentence (or several)."""
    return bool(
        _BEGINS_LIKE_A_SENTENCE.match(english)
        and _ENDS_LIKE_A_SENTENCE.search(english)
        and not _UNWANTED.search(english)
        and english.count('"') in (0, 2)
        and len(_APOSTROPHE_NOT_IN_A_WORD.findall(english)) <= _MAX_APOSTROPHES
        and _brackets_match(english)
    )


def _brackets_match(text: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == "(") - (character == ")")
        if depth < 0:
            return False
    return depth == 0


def split_sentences(english: str, other: str) -> list[Pair]:
    """The sentences of a pair of lines, in pairs; none if the two sides split differently.

    Args:
        english: English line.
        other: the same in another language.
    """
    first = _ENGLISH_BREAK.split(english)
    second = _OTHER_BREAK.split(other)
    return list(zip(first, second, strict=True)) if len(first) == len(second) else []


def clean_pairs(pairs: Iterable[Pair]) -> Iterator[Pair]:
    """Yields the clean sentence pairs among pairs of lines; see the module's description.

    Args:
        pairs: (English line, line in the other language), stripped.
    """
    for english, other in pairs:
        if not is_clean(english):
            continue
        sentences = split_sentences(english, other)
        if len(sentences) == 1:
            yield english, other
            continue
        yield from (sentence for sentence in sentences if is_clean(sentence[0]))
