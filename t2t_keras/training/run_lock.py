"""One training run at a time in an output directory."""

import contextlib
import fcntl
import os
from collections.abc import Iterator

__all__ = ["lock_directory"]

_FILE = ".lock"


@contextlib.contextmanager
def lock_directory(directory: str) -> Iterator[None]:
    """Makes a directory and keeps other trainers out of it while the context lasts.

    The lock is the process's, on the file `.lock`: the kernel releases it however the process ends.
    On file systems without locks it keeps nobody out.

    Args:
        directory: made if needed.

    Raises:
        OSError: it can't be made, or not be written to.
        ValueError: another trainer is at work there.
    """
    path = os.path.join(directory, _FILE)
    try:
        os.makedirs(directory, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise OSError(
            f"The output directory can't be written to ({error.strerror}). Received: {directory!r}"
        ) from error
    try:
        _take(descriptor, directory)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, directory: str) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        owner = os.pread(descriptor, 32, 0).decode("ascii", "replace").strip()
        raise ValueError(
            f"Another trainer{f' (process {owner})' if owner else ''} is at work in the output "
            f"directory. Wait for it, or end it, or choose another. Received: {directory!r}"
        ) from None
    except OSError:
        # Some network file systems have no locks.
        return
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, f"{os.getpid()}\n".encode("ascii"), 0)
