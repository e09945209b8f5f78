"""Reading one shard from any of its records on."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from typing import BinaryIO

from t2t_keras.data import tfrecord

__all__ = ["RecordReader", "pick"]

_READ_BYTES = 1 << 18


class RecordReader:
    """Reads a shard, record by record, verified, and says where it stands.

    Args:
        path: the shard.
        number: number of the record to begin with.
        offset: byte at which that record begins.
    """

    def __init__(self, path: str, number: int = 0, offset: int = 0) -> None:
        self.path = path
        self.number = number
        self.offset = offset
        self._stream: BinaryIO | None = None
        self._rest = b""
        self._records: list[bytes] = []
        self._position = 0

    def read(self, count: int) -> list[bytes]:
        """The data of the next `count` records; fewer at the end, where the file is closed.

        Raises:
            ValueError: a record is cut off or damaged; the message names file and record.
        """
        while len(self._records) - self._position < count and self._fill():
            pass
        taken = self._records[self._position : self._position + count]
        self._position += len(taken)
        self.number += len(taken)
        self.offset += sum(map(len, taken)) + tfrecord.OVERHEAD_BYTES * len(taken)
        if len(taken) < count:
            self.close()
        return taken

    def close(self) -> None:
        """Closes the file, if it is open."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _fill(self) -> bool:
        """Reads and verifies some more records; returns whether there were any."""
        if self._stream is None:
            self._stream = open(self.path, "rb")  # noqa: SIM115 (stays open between calls)
            self._stream.seek(self.offset)
        self._records = self._records[self._position :]
        self._position = 0
        first = self.number + len(self._records)
        wanted = _READ_BYTES
        while True:
            added = self._stream.read(wanted)
            self._rest += added
            frames, used = tfrecord.split_whole_frames(self._rest, self.path, first)
            if frames or not added:
                break
            wanted *= 2  # one long record
        if not frames and self._rest:
            raise ValueError(f"{self.path} is cut off within record {first}.")
        self._rest = self._rest[used:]
        self._records += tfrecord.verified(frames, self.path, first)
        return bool(frames)


def pick(path: str, numbers: Sequence[int]) -> list[bytes]:
    """The data of some records of a shard, verified.

    Args:
        path: the shard.
        numbers: numbers of records, ascending.

    Raises:
        ValueError: the file is damaged or has fewer records.
    """
    frames = []
    with open(path, "rb") as stream, mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) as data:
        position = current = 0
        for number in numbers:
            position = tfrecord.hop(data, position, number - current, path, current)
            end = tfrecord.hop(data, position, 1, path, number)
            frames.append(data[position:end])
            current, position = number + 1, end
    return tfrecord.verified(frames, path, numbers)
