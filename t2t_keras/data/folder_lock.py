"""One process at a time writes to a folder."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

__all__ = ["locked"]


@contextlib.contextmanager
def locked(folder: str) -> Iterator[None]:
    """Keeps other processes that ask for the same folder waiting, where the system can.

    Args:
        folder: path of the folder; "" is the current one.
    """
    try:
        import fcntl
    except ImportError:  # No POSIX system: nothing to lock with.
        yield
        return
    descriptor = os.open(folder or ".", os.O_RDONLY)
    try:
        # Some network file systems refuse locks; going on without one is what everybody does there.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
