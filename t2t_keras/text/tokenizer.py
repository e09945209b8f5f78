r"""Splits text into tokens that can be joined again without loss.

A token is a longest run of characters of one class: alphanumeric, which means that the Unicode
general category begins with L (letters) or N (numbers), or anything else. One space between two
runs is left out, since joining two alphanumeric tokens puts it back.

Python's `str.isalnum` and the regular expression class `[^\W_]` agree with those categories for
every code point, so neither a table of characters nor a loop over them is needed. The categories
are those of the running interpreter's Unicode version: text with letters that a newer Unicode
added can be split differently by another Python.

T2T leaves the last code point, U+10FFFF, out of its table; Unicode leaves it unassigned, so that
makes no difference.
"""

import collections
import glob
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from absl import logging

from t2t_keras import parallel

_RUNS = re.compile(r"[^\W_]+|[\W_]+")
# Characters whose tokens are counted at a time, and before other processes are started.
_BLOCK_SIZE = 2_000_000
_SERIAL_WEIGHT = 8_000_000


def encode(text: str) -> list[str]:
    """Splits a text into tokens.

    Args:
      text: any string.

    Returns:
      The tokens; none for the empty text. `decode(encode(text)) == text` for any text.
    """
    found = runs(text)
    if len(found) < 3:
        return found
    # A space at either end is kept: nothing would put it back.
    tokens = [found[0]]
    tokens.extend([run for run in found[1:-1] if run != " "])
    tokens.append(found[-1])
    return tokens


def decode(tokens: Sequence[str]) -> str:
    """Joins tokens to a text, with a space between two that both begin alphanumerically.

    Args:
      tokens: tokens as `encode` makes them; none may be empty.

    Returns:
      The text.

    Raises:
      IndexError: a token is empty.
    """
    parts: list[str] = []
    after_alphanumeric = False
    for token in tokens:
        alphanumeric = token[0].isalnum()
        if alphanumeric and after_alphanumeric:
            parts.append(" ")
        parts.append(token)
        after_alphanumeric = alphanumeric
    return "".join(parts)


def runs(text: str) -> list[str]:
    """All longest runs of one class: the tokens, and the single spaces left out between them."""
    return _RUNS.findall(text)


def count_tokens(texts: Iterable[str]) -> collections.Counter[str]:
    """Counts the tokens of all texts; on several processes if `parallel.processes` allows it.

    The memory needed is that of the distinct tokens and their counts.
    """
    total: collections.Counter[str] = collections.Counter()
    blocks = parallel.blocks(texts, len, _BLOCK_SIZE)
    for counts in parallel.ordered_map(_count_block, blocks, _characters, _SERIAL_WEIGHT):
        total.update(counts)
    return total


def _characters(texts: list[str]) -> int:
    return sum(map(len, texts))


def _count_block(texts: list[str]) -> collections.Counter[str]:
    """Counts the tokens of some texts, all of them cut at once, which is twice as fast."""
    joined = "\n".join(["", *texts, ""])
    if joined.count("\n") != len(texts) + 1:
        # Some text has a line feed itself.
        return collections.Counter(itertools.chain.from_iterable(map(encode, texts)))
    counts = collections.Counter(_RUNS.findall(joined))
    # Line feeds are at every end of a text, so a space alone is one between two tokens.
    del counts[" "]
    for run in [run for run in counts if "\n" in run]:
        # The end of a text, perhaps some empty texts, and the beginning of another.
        for token in filter(None, run.split("\n")):
            counts[token] += counts[run]
        del counts[run]
    return counts


def corpus_token_counts(
    text_filepattern: str, corpus_max_lines: int | None = None, split_on_newlines: bool = True
) -> collections.Counter[str]:
    """Counts the tokens of text files.

    Args:
      text_filepattern: glob pattern of UTF-8 files, read in the order of their names.
      corpus_max_lines: how many texts are read from all files together; 0 or None: all.
      split_on_newlines: True: each line, without the white space around it, is one text.
        False: each file is one text, taken as it is.

    Returns:
      The number of occurrences of each token.

    Raises:
      FileNotFoundError: no file matches the pattern.
      ValueError: a file is not UTF-8.
    """
    return count_tokens(_read_texts(text_filepattern, corpus_max_lines, split_on_newlines))


def vocab_token_counts(text_filepattern: str, max_lines: int | None = None) -> dict[str, int]:
    """Reads token counts from text files with lines `token,count`.

    A line is split at its last comma. A line without one is logged and skipped. The last line of
    a token counts.

    Args:
      text_filepattern: glob pattern of UTF-8 files, read in the order of their names.
      max_lines: how many lines are read from all files together; 0 or None: all.

    Returns:
      The count of each token.

    Raises:
      FileNotFoundError: no file matches the pattern.
      ValueError: a file is not UTF-8, or a count is not an integer.
    """
    counts: dict[str, int] = {}
    for line in _read_texts(text_filepattern, max_lines, split_on_newlines=True):
        token, comma, count = line.rpartition(",")
        if not comma:
            logging.warning("Skipping a line without a count (token,count): %r", line)
            continue
        try:
            counts[token] = int(count)
        except ValueError as error:
            raise ValueError(
                f"Lines of {text_filepattern} must be token,count with an integer count. "
                f"Received: {line!r}"
            ) from error
    return counts


def _read_texts(pattern: str, limit: int | None, split_on_newlines: bool) -> Iterator[str]:
    """Yields the lines, or whole contents, of the matching files: at most `limit` of them."""
    paths = sorted(glob.glob(pattern))
    if not paths:
        raise FileNotFoundError(
            f"No file matches the pattern; check the path and quote the wildcards. "
            f"Received: {pattern!r}"
        )
    texts = itertools.chain.from_iterable(_read_file(path, split_on_newlines) for path in paths)
    return itertools.islice(texts, limit or None)


def _read_file(path: str, split_on_newlines: bool) -> Iterator[str]:
    # newline="\n": other line ends are characters of the text, as they are for T2T.
    with open(path, encoding="utf-8", newline="\n") as stream:
        try:
            if split_on_newlines:
                for line in stream:
                    yield line.strip()
            else:
                yield stream.read()
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{path} is not UTF-8 text; convert it, e.g. with iconv. Received: {error}"
            ) from error
