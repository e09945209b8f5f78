"""TFRecord files, read and written with NumPy only: TensorFlow takes seconds to load.

A record is 8 bytes length (little endian), a check sum of these, the data, a check sum of the data.
A check sum is the CRC-32C (Castagnoli) of the bytes, rotated right by 15 bits, plus a constant.
Definition: TensorFlow's guide "TFRecord and tf.train.Example", section "TFRecords format details".
"""

from __future__ import annotations

import functools
import os
import struct
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

_HEADER_SIZE = 12
_FOOTER_SIZE = 4
# What a record takes in a file beside its data.
OVERHEAD_BYTES = _HEADER_SIZE + _FOOTER_SIZE
_POLYNOMIAL = 0x82F63B78  # of CRC-32C, lowest bit first
_MASK_DELTA = 0xA282EAD8
_ALL_ONES = 0xFFFFFFFF
_LENGTH = struct.Struct("<Q")
_CHECKSUM = struct.Struct("<I")
# Up to here every record is counted.
_COUNTED_BYTES = 4 << 20


def frames(records: Sequence[bytes]) -> list[bytes]:
    """The records as they stand in a file: with length and check sums.

    Much faster for many records than for one, and for short ones than for long ones.

    Args:
        records: their data.
    """
    checksums = masked_checksums(records).astype("<u4").tobytes()
    return [
        _header(len(data)) + data + checksums[position : position + _FOOTER_SIZE]
        for data, position in zip(records, range(0, len(checksums), _FOOTER_SIZE), strict=True)
    ]


def split_frames(contents: bytes, path: str = "the file") -> list[bytes]:
    """Cuts the contents of a file into framed records; check sums are not looked at.

    Args:
        contents: all bytes of the file.
        path: its name, for messages.

    Raises:
        ValueError: if the file ends within a record, or a record isn't as long as it was.
    """
    result: list[bytes] = []
    position, size = 0, len(contents)
    read_length = _LENGTH.unpack_from
    while position < size:
        end = size + 1
        if position + _HEADER_SIZE <= size:
            end = position + read_length(contents, position)[0] + _HEADER_SIZE + _FOOTER_SIZE
        if end > size:
            # The damage may have gone unnoticed: a record too short, and what followed amiss.
            for number, frame in enumerate(result):
                if frame[:_HEADER_SIZE] != _header(read_length(frame)[0]):
                    raise ValueError(_damaged_header(path, number))
            header = contents[position : position + _HEADER_SIZE]
            raise ValueError(_without_end(path, len(result), header, size))
        result.append(contents[position:end])
        position = end
    return result


def data_of(frame: bytes) -> bytes:
    """The data of a framed record."""
    return frame[_HEADER_SIZE:-_FOOTER_SIZE]


def read(path: str, verify: bool = True) -> list[bytes]:
    """The data of all records of a file.

    Args:
        path: the file.
        verify: whether check sums are verified.

    Raises:
        ValueError: if the file is damaged.
    """
    with open(path, "rb") as stream:
        framed = split_frames(stream.read(), path)
    return verified(framed, path) if verify else [data_of(frame) for frame in framed]


def verified(framed: Sequence[bytes], path: str, numbers: int | Sequence[int] = 0) -> list[bytes]:
    """The data of framed records.

    Args:
        framed: whole records as they stand in a file.
        path: the file, for messages.
        numbers: their numbers in it, or only that of the first.

    Raises:
        ValueError: if a check sum is wrong.
    """
    records = [data_of(frame) for frame in framed]
    checksums = masked_checksums(records)
    for place, frame in enumerate(framed):
        intact = frame[:_HEADER_SIZE] == _header(len(records[place]))
        if not intact or frame[-_FOOTER_SIZE:] != _CHECKSUM.pack(checksums[place]):
            number = numbers + place if isinstance(numbers, int) else numbers[place]
            raise ValueError(_damaged(path, number))
    return records


def _damaged(path: str, number: int) -> str:
    return f"{path} is damaged: record {number} has a wrong check sum."


def _damaged_header(path: str, number: int) -> str:
    return f"{path} is damaged: the length of record {number} has a wrong check sum."


def _without_end(path: str, number: int, header: bytes, size: int) -> str:
    """What is wrong with a record that doesn't end in its file: the file is cut, or its length.

    Args:
        path: the file.
        number: the record's.
        header: the record's, as far as it is there.
        size: the file's.
    """
    if len(header) == _HEADER_SIZE and header != _header(_LENGTH.unpack(header[:8])[0]):
        return _damaged_header(path, number)
    return f"{path} is cut off within record {number} (size {size} bytes)."


def split_whole_frames(contents: bytes, path: str, first: int) -> tuple[list[bytes], int]:
    """Cuts off the framed records that are wholly there.

    Args:
        contents: part of a file that begins with a record.
        path: the file, for messages.
        first: number of that record.

    Returns:
        The records, and the number of bytes they take.

    Raises:
        ValueError: if the check sum of a length is wrong.
    """
    result: list[bytes] = []
    position, size = 0, len(contents)
    while position + _HEADER_SIZE <= size:
        length = _LENGTH.unpack_from(contents, position)[0]
        if contents[position : position + _HEADER_SIZE] != _header(length):
            raise ValueError(_damaged_header(path, first + len(result)))
        end = position + length + OVERHEAD_BYTES
        if end > size:
            break
        result.append(contents[position:end])
        position = end
    return result, position


def hop(contents: Any, position: int, count: int, path: str, number: int) -> int:
    """Where the record begins that comes `count` records later.

    Args:
        contents: all bytes of a file, or its memory map.
        position: where a record begins.
        count: how many records to hop over.
        path: the file, for messages.
        number: number of the record at `position`.

    Raises:
        ValueError: if the file ends before, or a record isn't as long as it was.
    """
    size = len(contents)
    read_length = _LENGTH.unpack_from
    for hopped in range(count):
        end = size + 1
        if position + _HEADER_SIZE <= size:
            end = position + read_length(contents, position)[0] + OVERHEAD_BYTES
        if end > size:
            header = bytes(contents[position : position + _HEADER_SIZE])
            raise ValueError(_without_end(path, number + hopped, header, size))
        position = end
    return position


def estimate_count(paths: Sequence[str]) -> int:
    """Number of records of several files: exact for little data, else from the largest file's.

    Raises:
        ValueError: if a file that is looked at ends within a record.
    """
    sizes = {path: os.path.getsize(path) for path in paths}
    total = sum(sizes.values())
    if total <= _COUNTED_BYTES:
        return sum(count(path) for path in paths if sizes[path])
    largest = max(paths, key=lambda path: sizes[path])
    return round(count(largest) * total / sizes[largest])


def iterate(path: str) -> Iterator[bytes]:
    """Yields the data of the records of a file of any size, one after the other, unverified.

    Raises:
        ValueError: if the file ends within a record.
    """
    with open(path, "rb") as stream:
        number, size = 0, os.path.getsize(path)
        while header := stream.read(_HEADER_SIZE):
            length = _LENGTH.unpack_from(header)[0] if len(header) == _HEADER_SIZE else 0
            # An altered length can be more than any memory.
            data = stream.read(min(length, size))
            if len(data) < length or len(stream.read(_FOOTER_SIZE)) < _FOOTER_SIZE:
                raise ValueError(_without_end(path, number, header, size))
            yield data
            number += 1


def count(path: str) -> int:
    """Number of records of a file, found by hopping over the data.

    Raises:
        ValueError: if the file ends within a record.
    """
    size = os.path.getsize(path)
    records = position = 0
    with open(path, "rb") as stream:
        while position < size:
            stream.seek(position)
            header = stream.read(_HEADER_SIZE)
            if len(header) == _HEADER_SIZE:
                position += _HEADER_SIZE + _LENGTH.unpack_from(header)[0] + _FOOTER_SIZE
            if len(header) < _HEADER_SIZE or position > size:
                raise ValueError(_without_end(path, records, header, size))
            records += 1
    return records


def masked_checksums(records: Sequence[bytes]) -> np.ndarray:
    """`[records]` masked CRC-32C of each, uint32.

    All records are walked through at the same time, four bytes a step, aligned at their ends:
    zeros in front of a record do not change a check sum that begins with zero.
    """
    lengths = np.fromiter(map(len, records), np.int64, len(records))
    words = -(-lengths // 4)
    padded = b"".join(
        [
            bytes(4 * int(count) - len(data)) + data
            for data, count in zip(records, words, strict=True)
        ]
    )
    # [words of all records]
    contents = np.frombuffer(padded, "<u4").astype(np.uint32)
    ends = np.cumsum(words)
    _invert_first_four_bytes(contents, ends - words, lengths)
    # Longest first, so that the records under way are always the first ones.
    order = np.argsort(-words, kind="stable")
    sorted_words, sorted_ends = words[order], ends[order]
    low_table, high_table = _tables()
    registers = np.zeros(len(records), np.uint32)
    # How many records have more than s words, for every s.
    longest = int(sorted_words[0]) if len(records) else 0
    under_way = np.searchsorted(-sorted_words, -np.arange(longest), side="left")
    for left in range(longest - 1, -1, -1):
        active = under_way[left]
        state = registers[:active] ^ contents[sorted_ends[:active] - left - 1]
        registers[:active] = low_table[state & 0xFFFF] ^ high_table[state >> 16]
    result = np.empty_like(registers)
    result[order] = registers ^ np.uint32(_ALL_ONES)
    for number in np.flatnonzero(lengths < 4).tolist():
        result[number] = _checksum(records[number])
    return ((result >> 15) | (result << 17)) + np.uint32(_MASK_DELTA)


def _invert_first_four_bytes(contents: np.ndarray, starts: np.ndarray, lengths: np.ndarray) -> None:
    """The same as beginning with all ones instead of zero, for records of 4 bytes or more."""
    long = lengths >= 4
    # Bytes of padding in the first word.
    padding = (-lengths % 4)[long].astype(np.uint32)
    first = starts[long]
    contents[first] ^= np.left_shift(np.uint32(_ALL_ONES), 8 * padding)
    overlapping = padding > 0
    contents[first[overlapping] + 1] ^= np.right_shift(
        np.uint32(_ALL_ONES), 8 * (4 - padding[overlapping])
    )


def _checksum(data: bytes) -> int:
    """CRC-32C of a few bytes."""
    table = _byte_table()
    register = _ALL_ONES
    for byte in data:
        register = int(table[(register ^ byte) & 0xFF]) ^ (register >> 8)
    return register ^ _ALL_ONES


@functools.lru_cache(maxsize=1 << 16)
def _header(length: int) -> bytes:
    """Length of a record and check sum of the length."""
    packed = _LENGTH.pack(length)
    checksum = _checksum(packed)
    rotated = (checksum >> 15 | checksum << 17) & _ALL_ONES
    return packed + _CHECKSUM.pack((rotated + _MASK_DELTA) & _ALL_ONES)


@functools.cache
def _byte_table() -> np.ndarray:
    """`[256]` what a byte becomes after eight steps of the register."""
    return _advanced(np.arange(256, dtype=np.uint32), 8)


@functools.cache
def _tables() -> tuple[np.ndarray, np.ndarray]:
    """`[65536]` each: what the low and the high half of a word become after four bytes."""
    values = np.arange(1 << 16, dtype=np.uint32)
    return _advanced(values, 32), _advanced(values << 16, 32)


def _advanced(values: np.ndarray, bits: int) -> np.ndarray:
    for _ in range(bits):
        values = (values >> 1) ^ (np.uint32(_POLYNOMIAL) * (values & 1))
    return values
