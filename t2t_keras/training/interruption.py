"""Stopping in an orderly way when the process is asked to end."""

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

from absl import logging

__all__ = ["Interruption", "catch_signals"]

_SIGNALS = (signal.SIGTERM, signal.SIGINT)


class Interruption:
    """Whether, and by which signal, the process has been asked to end."""

    def __init__(self) -> None:
        self.signal_number: int | None = None

    @property
    def requested(self) -> bool:
        """Whether a signal has come."""
        return self.signal_number is not None


@contextlib.contextmanager
def catch_signals() -> Iterator[Interruption]:
    """Notes SIGTERM and SIGINT instead of dying; the second one acts as usual.

    Does nothing outside the main thread, where signals can't be handled.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    previous: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        interruption.signal_number = number
        logging.info("%s: saving a checkpoint, then stopping.", signal.Signals(number).name)
        signal.signal(number, previous[number])

    try:
        for number in _SIGNALS:
            previous[number] = signal.signal(number, note)
        yield interruption
    finally:
        for caught, handler in previous.items():
            signal.signal(caught, handler)
