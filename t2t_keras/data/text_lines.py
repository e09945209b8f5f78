"""Reading UTF-8 text line by line, the way every problem reads its corpora.

Only the line feed ends a line. Python's own `str.splitlines` also splits at U+2028, U+0085,
vertical tab and others; web-crawled corpora hold such characters inside sentences, and one of them
would shift every following line of a parallel corpus against its other side.
"""

import codecs
from collections.abc import Iterator
from typing import Final

_UTF16_MARKS: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def stripped_lines(path: str) -> Iterator[str]:
    """Yields the lines of a UTF-8 file without surrounding white space.

    A byte order mark at the start and carriage returns at line ends are dropped.

    Args:
        path: the file to read.

    Yields:
        One string a line, in file order; empty lines are yielded as "".

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if a line is not valid UTF-8; the message names file and line.
    """
    with open(path, "rb") as stream:
        for number, raw in enumerate(stream, start=1):
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
            try:
                yield raw.decode("utf-8").strip()
            except UnicodeDecodeError as error:
                raise ValueError(_encoding_message(path, number, raw, error)) from error


def count_lines(path: str) -> int:
    """Number of lines that `stripped_lines` yields."""
    lines, last = 0, b"\n"
    with open(path, "rb") as stream:
        while block := stream.read(1 << 20):
            lines += block.count(b"\n")
            last = block[-1:]
    return lines + (last != b"\n")


def parallel_lines(
    first_path: str, second_path: str, *, cut_to_shorter: bool = False
) -> Iterator[tuple[str, str]]:
    """Yields line n of both files together, without surrounding white space.

    Args:
        first_path: UTF-8 file of the first language.
        second_path: UTF-8 file of the second language.
        cut_to_shorter: stop silently at the end of the shorter file (what tensor2tensor does)
            instead of raising.

    Yields:
            Pairs (line of first_path, line of second_path).

    Raises:
        ValueError: at the end, if the files have different numbers of lines. Such files are nearly
            always misaligned earlier too.
    """
    first_lines, second_lines = stripped_lines(first_path), stripped_lines(second_path)
    if cut_to_shorter:
        return zip(first_lines, second_lines, strict=False)
    return zip_equal(first_lines, second_lines, first_path, second_path)


def zip_equal(
    first: Iterator[str], second: Iterator[str], first_name: str, second_name: str
) -> Iterator[tuple[str, str]]:
    """Yields items in pairs and raises if one iterator has more of them.

    Args:
        first: lines of the first side.
        second: lines of the second side.
        first_name: where the first side comes from, for the message.
        second_name: where the second side comes from.

    Raises:
        ValueError: at the end of the shorter side, with both counts.
    """
    pairs = 0
    for first_line in first:
        second_line = next(second, None)
        if second_line is None:
            rest = 1 + sum(1 for _ in first)
            raise _length_error(first_name, pairs + rest, second_name, pairs)
        pairs += 1
        yield first_line, second_line
    rest = sum(1 for _ in second)
    if rest:
        raise _length_error(first_name, pairs, second_name, pairs + rest)


def _length_error(
    first_path: str, first_count: int, second_path: str, second_count: int
) -> ValueError:
    return ValueError(
        "The two sides of a parallel corpus must have the same number of lines. Received: "
        f"{first_count} lines in {first_path}, {second_count} lines in {second_path}. "
        "Lines end at line feeds only; check that neither file was cut or re-split."
    )


def _encoding_message(path: str, number: int, raw: bytes, error: UnicodeDecodeError) -> str:
    guess = "UTF-16" if number == 1 and raw.startswith(_UTF16_MARKS) else "another encoding"
    return (
        f"{path}, line {number}, is not valid UTF-8 (byte {error.start + 1} is "
        f"0x{raw[error.start]:02x}); the file looks like {guess}. Convert it first, for example "
        f"with: iconv -f ISO-8859-1 -t UTF-8 {path} > new_file"
    )
