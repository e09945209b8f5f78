"""One training run at a time in an output directory."""

import contextlib
import fcntl
import os
from collections.abc import Iterator

__all__ = ["lock_directory", "missing_directories"]

_FILE = ".lock"


@contextlib.contextmanager
def lock_directory(directory: str) -> Iterator[None]:
    """Makes a directory and keeps other trainers out of it while the context lasts.

    The lock is the process's, on the file `.lock`: the kernel releases it however the process ends.
    On file systems without locks it keeps nobody out.

    An error before anything else has been written leaves nothing behind: neither the file nor the
    directories, where they are new.

    Args:
        directory: made if needed.

    Raises:
        OSError: it can't be made, or not be written to.
        ValueError: another trainer is at work there.
    """
    made = missing_directories(directory)
    path = os.path.join(directory, _FILE)
    is_new = not os.path.exists(path)
    descriptor = _acquire(directory, path)
    try:
        present = set(os.listdir(directory))
        try:
            yield
        except BaseException:
            if is_new and set(os.listdir(directory)) == present:
                _remove(path, made)
            raise
    finally:
        os.close(descriptor)


def missing_directories(directory: str) -> list[str]:
    """The directories that have to be made, innermost first."""
    path, missing = os.path.abspath(directory), []
    while not os.path.exists(path):
        missing.append(path)
        path = os.path.dirname(path)
    return missing


def _acquire(directory: str, path: str) -> int:
    """Makes and locks the file; returns its descriptor."""
    while True:
        try:
            os.makedirs(directory, exist_ok=True)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise OSError(
                f"The output directory can't be written to ({error.strerror}). "
                f"Received: {directory!r}"
            ) from error
        try:
            _take(descriptor, directory)
        except BaseException:
            os.close(descriptor)
            raise
        if _is_there(path, descriptor):
            return descriptor
        # Another trainer, whose run came to nothing, has just removed it.
        os.close(descriptor)


def _is_there(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(os.stat(path), os.fstat(descriptor))
    except FileNotFoundError:
        return False


def _remove(path: str, made: list[str]) -> None:
    with contextlib.suppress(OSError):
        os.remove(path)
        for directory in made:
            os.rmdir(directory)


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
