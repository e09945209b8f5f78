"""Sentence pairs from the formats in which parallel corpora are published.

| kind | files | pairs |
|---|---|---|
| txt | two line-aligned files | line n of both |
| txt, both names end in "sgm" | NIST markup | the `<seg>` contents, in order |
| tsv | tab-separated columns | two given columns of each line |
| tmx | translation memory | successive `<seg>` lines, alternating languages |
"""

import re
from collections.abc import Iterator
from typing import Final

from t2t_keras.data import text_lines

Pair = tuple[str, str]

_SEGMENT: Final = re.compile(r"<seg[^>]*>(.*)</seg>")
# Some translation memories were escaped twice, and some have a blank after the ampersand.
_TMX_ENTITIES: Final = (
    ("&amp;", "&"),
    ("& amp;", "&"),
    ("& ?apos;", "'"),
    ("& ?quot;", '"'),
    ("& ?lt;", "<"),
    ("& ?gt;", ">"),
)


def text_pairs(
    first_path: str, second_path: str, *, cut_to_shorter: bool = False
) -> Iterator[Pair]:
    """Yields the pairs of two line-aligned files, or of two sgm files.

    Args:
        first_path: file of the first language.
        second_path: file of the second language.
        cut_to_shorter: ignore what the longer file has more, as tensor2tensor does.

    Raises:
        ValueError: if the two have different numbers of lines or segments.
    """
    if not (first_path.endswith("sgm") and second_path.endswith("sgm")):
        return text_lines.parallel_lines(first_path, second_path, cut_to_shorter=cut_to_shorter)
    first, second = segments(first_path), segments(second_path)
    if cut_to_shorter:
        return zip(first, second, strict=False)
    return text_lines.zip_equal(first, second, first_path, second_path)


def segments(path: str) -> Iterator[str]:
    """Yields the contents of the lines `<seg …>…</seg>` of an sgm or tmx file, stripped."""
    for line in text_lines.stripped_lines(path):
        match = _SEGMENT.fullmatch(line)
        if match:
            yield match[1].strip()


def tsv_pairs(path: str, first_column: int, second_column: int) -> Iterator[Pair]:
    """Yields two columns of each line that holds a tab.

    Args:
        path: tab-separated file.
        first_column: number of the first language's column, from 0.
        second_column: number of the second language's column.

    Raises:
        ValueError: if a line with tabs has too few columns.
    """
    needed = max(first_column, second_column)
    for number, line in enumerate(text_lines.stripped_lines(path), start=1):
        if "\t" not in line:
            continue
        columns = line.split("\t")
        if len(columns) <= needed:
            raise ValueError(
                f"{path}, line {number}, needs at least {needed + 1} columns. "
                f"Received: {len(columns)}"
            )
        yield columns[first_column].strip(), columns[second_column].strip()


def tmx_pairs(path: str) -> Iterator[Pair]:
    """Yields the segments of a translation memory two by two, with its entities decoded.

    Raises:
        ValueError: if the number of segments is odd.
    """
    decoded = (decode_entities(text) for text in segments(path))
    for first in decoded:
        second = next(decoded, None)
        if second is None:
            raise ValueError(
                f"{path} holds an odd number of <seg> lines; the last one has no pair."
            )
        yield first, second


def decode_entities(text: str) -> str:
    """Replaces the five XML entities as translation memories write them, also twice escaped."""
    for entity, character in _TMX_ENTITIES:
        text = re.sub(entity, character, text)
    return text
