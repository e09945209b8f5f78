"""The endless, shuffled stream of training records.

In every pass the files come in a new random order, eight at a time, and records are shuffled in a
buffer of 1,024 (as in T2T's Problem.dataset). The order depends on files and seed only, and
where the stream stands is described by the numbers of some records.
"""

from __future__ import annotations

import collections
import contextlib
import os
import random
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from t2t_keras.data.random_picks import RandomPicks
from t2t_keras.data.record_reader import RecordReader, pick

__all__ = ["RecordStream", "fetch", "file_and_record"]

# T2T's number of files read at the same time, and size of the buffer of single examples.
_OPEN_FILES = 8
_SHUFFLE_SIZE = 1024
# Consecutive records of a file; the shuffle buffer evens them out.
_BLOCK_LENGTH = 16
# An id is the number of a file times this, plus the number of a record.
_IDS_PER_FILE = 1 << 40


def file_and_record(record_id: int) -> tuple[int, int]:
    """Number of the file and of the record in it."""
    return divmod(int(record_id), _IDS_PER_FILE)


def fetch(files: Sequence[str], ids: np.ndarray) -> list[bytes]:
    """Records by their ids, in that order; every file is gone through once.

    Args:
        files: paths of the shards.
        ids: int64 `[records]`.

    Raises:
        ValueError: a file is damaged, or has fewer records.
    """
    found: dict[int, bytes] = {}
    unique = np.unique(ids)
    file_numbers, numbers = unique // _IDS_PER_FILE, unique % _IDS_PER_FILE
    for file_number in np.unique(file_numbers).tolist():
        mine = file_numbers == file_number
        records = pick(files[file_number], numbers[mine].tolist())
        found.update(zip(unique[mine].tolist(), records, strict=True))
    return [found[record_id] for record_id in ids.tolist()]


class RecordStream:
    """Records of all files, over and over.

    Args:
        files: paths of the shards.
        seed: of the order.
    """

    def __init__(self, files: Sequence[str], seed: int) -> None:
        self._files = list(files)
        self._seed = seed
        self._picks = RandomPicks(seed)
        self.epoch = 0  # passes finished
        self.records_read = 0  # of this pass, those in the shuffle buffer included
        self._open: collections.deque[tuple[int, RecordReader]] = collections.deque()
        self._buffer: list[tuple[int, bytes]] = []
        self._start_pass()

    def _start_pass(self) -> None:
        # A few examples in a hundred shards: opening the empty ones would take most of the time.
        self._waiting = [k for k, path in enumerate(self._files) if os.path.getsize(path)]
        random.Random(f"{self._seed}/{self.epoch}").shuffle(self._waiting)
        if not self._waiting:
            raise ValueError(f"All shards are empty. Received: {self._files[0]}, …")
        self._waiting.reverse()  # The next one is the last.
        self.records_read = 0

    def read(self, count: int) -> tuple[np.ndarray, list[bytes]]:
        """The next records, as many as asked for.

        Args:
            count: how many.

        Returns:
            Their ids, int64 `[count]`, and their data.

        Raises:
            ValueError: a record is damaged; the message names file and record.
        """
        taken: list[tuple[int, bytes]] = []
        while len(taken) < count:
            self._fill(_SHUFFLE_SIZE)
            missing = count - len(taken)
            arrived = self._next_block(missing) if len(self._buffer) == _SHUFFLE_SIZE else []
            if arrived:
                taken += self._exchange(arrived)
            elif self._buffer:
                taken += self._drain(min(missing, len(self._buffer)))
            if not self._buffer and not self._open and not self._waiting:
                self.epoch += 1
                self._start_pass()
        ids = np.fromiter((record_id for record_id, _ in taken), np.int64, len(taken))
        return ids, [data for _, data in taken]

    def _fill(self, size: int) -> None:
        while len(self._buffer) < size:
            block = self._next_block(size - len(self._buffer))
            if not block:
                return
            self._buffer += block

    def _exchange(self, arrived: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
        """Puts records in the places of random ones of the buffer, which come out."""
        buffer, out = self._buffer, []
        for record, number in zip(arrived, self._picks.many(len(arrived)), strict=True):
            place = number % _SHUFFLE_SIZE
            out.append(buffer[place])
            buffer[place] = record
        return out

    def _drain(self, count: int) -> list[tuple[int, bytes]]:
        """Takes random records out of the buffer."""
        buffer, out = self._buffer, []
        for number in self._picks.many(count):
            place = number % len(buffer)
            out.append(buffer[place])
            buffer[place] = buffer[-1]
            buffer.pop()
        return out

    def _next_block(self, limit: int) -> list[tuple[int, bytes]]:
        """Some records of the file whose turn it is; none at the end of the pass."""
        while True:
            while self._waiting and len(self._open) < _OPEN_FILES:
                number = self._waiting.pop()
                self._open.append((number, RecordReader(self._files[number])))
            if not self._open:
                return []
            number, reader = self._open.popleft()
            first = number * _IDS_PER_FILE + reader.number
            records = reader.read(min(limit, _BLOCK_LENGTH))
            if records:
                self._open.append((number, reader))
                self.records_read += len(records)
                return list(zip(range(first, first + len(records)), records, strict=True))
            reader.close()

    def state(self) -> tuple[dict[str, Any], np.ndarray]:
        """Where the stream stands: JSON values, and the ids in the shuffle buffer."""
        ids = np.array([record_id for record_id, _ in self._buffer], np.int64)
        return self._place(), ids

    def _place(self) -> dict[str, Any]:
        return {
            "seed": self._seed,
            "epoch": self.epoch,
            "records_read": self.records_read,
            "waiting_files": list(self._waiting),
            "open_files": [[n, reader.number, reader.offset] for n, reader in self._open],
            "random": self._picks.state(),
        }

    @contextlib.contextmanager
    def undone_on_error(self) -> Iterator[None]:
        """If what is inside fails, the stream stands where it stood before."""
        values, buffer = self._place(), list(self._buffer)
        try:
            yield
        except BaseException:
            self._go_to(values)
            self._buffer = buffer
            raise

    def restore(self, values: dict[str, Any], buffer_ids: np.ndarray) -> None:
        """Goes on where `state` was taken, with the same files."""
        self._go_to(values)
        records = fetch(self._files, buffer_ids)
        self._buffer = list(zip(buffer_ids.tolist(), records, strict=True))

    def _go_to(self, values: dict[str, Any]) -> None:
        self.close()
        self._seed = values["seed"]
        self.epoch, self.records_read = values["epoch"], values["records_read"]
        self._waiting = list(values["waiting_files"])
        self._open = collections.deque(
            (n, RecordReader(self._files[n], number, offset))
            for n, number, offset in values["open_files"]
        )
        self._picks.restore(values["random"])

    def close(self) -> None:
        """Closes all files."""
        for _, reader in self._open:
            reader.close()
