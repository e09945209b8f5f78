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
# A shell's exit status for a program that a signal has ended, less the signal's number.
_SIGNAL_EXIT_STATUS = 128


class Interruption:
    """Whether, and by which signal, the process has been asked to end."""

    def __init__(self) -> None:
        self.signal_number: int | None = None

    @property
    def requested(self) -> bool:
        """Whether a signal has come."""
        return self.signal_number is not None

    @property
    def exit_status(self) -> int:
        """What the process should end with, once its work is saved.

        0 after SIGTERM, with which schedulers end what they will start again: nothing has failed.
        130 after SIGINT, so that a shell script that the user interrupts ends too.
        """
        if self.signal_number in (None, signal.SIGTERM):
            return 0
        return _SIGNAL_EXIT_STATUS + int(self.signal_number or 0)


@contextlib.contextmanager
def catch_signals() -> Iterator[Interruption]:
    """Notes SIGTERM and SIGINT instead of dying; the second one, of either, acts as usual.

    One that is ignored stays so: a shell lets what it runs in the background ignore SIGINT. Does
    nothing outside the main thread, where signals can't be handled.
    """
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    previous: dict[int, Any] = {}

    def note(number: int, frame: FrameType | None) -> None:
        del frame
        interruption.signal_number = number
        logging.info(
            "%s: finishing the step, saving a checkpoint, then stopping. A second signal stops at "
            "once; training then goes on from the checkpoint before.", signal.Signals(number).name
        )  # fmt: skip
        for caught, handler in previous.items():
            signal.signal(caught, handler)

    try:
        for number in _SIGNALS:
            if signal.getsignal(number) != signal.SIG_IGN:
                previous[number] = signal.signal(number, note)
        yield interruption
    finally:
        for caught, handler in previous.items():
            signal.signal(caught, handler)
