"""Sentence pairs from the formats in which parallel corpora are published.

| kind | files | pairs |
|---|---|---|
| txt | two line-aligned files | line n of both |
| txt, names end in "sgm" | NIST markup | the `<seg>` contents, in order |
| tsv | tab-separated columns | two given columns of each line |
| tmx | translation memory | successive `<seg>` elements, alternating languages |
"""

import re
from collections.abc import Iterator
from typing import Final

from t2t_keras.data import text_lines

Pair = tuple[str, str]

_SEGMENT_BEGIN: Final = re.compile(r"<seg\b[^>]*>")
_SEGMENT_END: Final = "</seg>"
_MARKUP_BEGIN: Final = re.compile(
    r"<(\?xml|!DOCTYPE|srcset|refset|tstset|mteval|dataset|doc|tmx)\b", re.IGNORECASE
)
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
    """Yields the pairs of two files, each with one sentence a line or, if named *sgm, NIST markup.

    Args:
        first_path: file of the first language.
        second_path: file of the second language.
        cut_to_shorter: ignore what the longer file has more, as tensor2tensor does.

    Raises:
        ValueError: if the two have different numbers of lines or segments, or a file is markup
            and not named so.
    """
    first, second = _sentences(first_path), _sentences(second_path)
    if cut_to_shorter:
        return zip(first, second, strict=False)
    return text_lines.zip_equal(first, second, first_path, second_path)


def _sentences(path: str) -> Iterator[str]:
    return segments(path) if path.endswith("sgm") else plain_lines(path)


def plain_lines(path: str) -> Iterator[str]:
    """Yields the stripped lines of a text file.

    Raises:
        ValueError: if the first line shows that the file is sgm, xml or tmx.
    """
    for number, line in enumerate(text_lines.stripped_lines(path), start=1):
        if number == 1 and _MARKUP_BEGIN.match(line):
            raise ValueError(
                f"{path}, line 1, is markup, not a sentence. Name the file *.sgm if it is sgm, or "
                f"take the text out of it. Received: {line[:100]!r}"
            )
        yield line


def segments(path: str) -> Iterator[str]:
    """Yields the contents of the elements `<seg …>…</seg>` of an sgm or tmx file, stripped.

    Elements may share a line or run over several ones, which are joined by blanks.

    Raises:
        ValueError: if an element is not closed before the next one or the end.
    """
    parts: list[str] = []  # Of the open element.
    opened = 0  # The line where it began, 0: none is open.
    for number, line in enumerate(text_lines.stripped_lines(path), start=1):
        position = 0
        while position < len(line):
            if not opened:
                begin = _SEGMENT_BEGIN.search(line, position)
                if not begin:
                    break
                opened, position = number, begin.end()
            end = line.find(_SEGMENT_END, position)
            content = line[position:] if end < 0 else line[position:end]
            if _SEGMENT_BEGIN.search(content):
                raise _open_segment_error(path, opened)
            parts.append(content)
            if end < 0:
                break
            yield " ".join(parts).strip()
            parts, opened, position = [], 0, end + len(_SEGMENT_END)
    if opened:
        raise _open_segment_error(path, opened)


def _open_segment_error(path: str, number: int) -> ValueError:
    return ValueError(f"{path}, line {number}: the element <seg> is not closed by </seg>.")


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
                f"{path} holds an odd number of <seg> elements; the last one has no pair."
            )
        yield first, second


def decode_entities(text: str) -> str:
    """Replaces the five XML entities as translation memories write them, also twice escaped."""
    for entity, character in _TMX_ENTITIES:
        text = re.sub(entity, character, text)
    return text
