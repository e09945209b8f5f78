"""TensorBoard event files as TensorFlow 1 and T2T write them, and how to take a tail off them.

A run that was killed has written values of steps after its last checkpoint. When it goes on from
that checkpoint, those steps come again; `truncate_after` first removes their old values, so that
every step is there once.
"""

import os
import pathlib
import socket
import struct
import time
from collections.abc import Iterator, Mapping

import tensorflow as tf
from absl import logging

__all__ = ["EventWriter", "read_events", "truncate_after"]

_FILE_PREFIX = "events.out.tfevents."
# A TFRecord: uint64 length, CRC of the length, the data, CRC of the data.
_HEADER = struct.Struct("<QI")
_FOOTER_BYTES = 4


class EventWriter:
    """Writes scalars for TensorBoard into one new file of a directory.

    The file is made with the first value.

    Args:
        directory: made if needed.
        first_step: step at which this run starts or goes on; TensorBoard, if it is looking,
            forgets what it read of later steps.
    """

    def __init__(self, directory: str, first_step: int = 0) -> None:
        self._directory = directory
        self._first_step = first_step
        self._writer: tf.io.TFRecordWriter | None = None

    def scalars(self, step: int, values: Mapping[str, float]) -> None:
        """Adds one point to each named curve."""
        summary = tf.compat.v1.Summary()
        for tag, value in values.items():
            summary.value.add(tag=tag, simple_value=float(value))
        self._write(tf.compat.v1.Event(step=step, summary=summary))

    def _write(self, event: tf.compat.v1.Event) -> None:
        if self._writer is None:
            self._writer = self._open()
        event.wall_time = time.time()
        self._writer.write(event.SerializeToString())

    def _open(self) -> tf.io.TFRecordWriter:
        os.makedirs(self._directory, exist_ok=True)
        name = f"{_FILE_PREFIX}{int(time.time()):010d}.{socket.gethostname()}.{os.getpid()}"
        number = 0
        while os.path.exists(path := os.path.join(self._directory, f"{name}.{number}")):
            number += 1
        writer = tf.io.TFRecordWriter(path)
        start = tf.compat.v1.SessionLog(status=tf.compat.v1.SessionLog.START)
        for event in (
            tf.compat.v1.Event(file_version="brain.Event:2"),
            tf.compat.v1.Event(step=self._first_step, session_log=start),
        ):
            event.wall_time = time.time()
            writer.write(event.SerializeToString())
        return writer

    def flush(self) -> None:
        """Hands everything written so far to the operating system."""
        if self._writer is not None:
            self._writer.flush()

    def close(self) -> None:
        """Closes the file, if one was made."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None


def _records(path: pathlib.Path) -> Iterator[tuple[int, bytes]]:
    """Offset and data of each whole record; stops at a torn one."""
    with path.open("rb") as stream:
        while True:
            offset = stream.tell()
            header = stream.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return
            length, _ = _HEADER.unpack(header)
            data = stream.read(length)
            footer = stream.read(_FOOTER_BYTES)
            if len(data) < length or len(footer) < _FOOTER_BYTES:
                return
            yield offset, data


def _event_files(directory: str) -> list[pathlib.Path]:
    return sorted(pathlib.Path(directory).glob(f"{_FILE_PREFIX}*"))


def read_events(directory: str) -> list[tuple[int, str, float]]:
    """Step, tag and value of every scalar in a directory's event files, file by file."""
    points = []
    for path in _event_files(directory):
        for _, data in _records(path):
            event = tf.compat.v1.Event.FromString(data)
            points += [(event.step, v.tag, v.simple_value) for v in event.summary.value]
    return points


def truncate_after(directory: str, step: int) -> None:
    """Removes the events of steps after `step`, and a torn last record, from all event files.

    Steps never go down within a file, so it is cut at the first later one.
    """
    for path in _event_files(directory):
        end = 0
        for offset, data in _records(path):
            if tf.compat.v1.Event.FromString(data).step > step:
                break
            end = offset + _HEADER.size + len(data) + _FOOTER_BYTES
        if end < path.stat().st_size:
            logging.info("Removing events after step %d from %s", step, path)
            os.truncate(path, end)
