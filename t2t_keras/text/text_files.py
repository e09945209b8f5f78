"""Writes a text file so that no reader ever sees half of it."""

import contextlib
import os
import re
import tempfile


def write_text_atomically(path: str, text: str) -> None:
    """Writes UTF-8 text under a temporary name beside `path`, then renames it.

    Args:
      path: the file to make or replace.
      text: its content; line ends are written as they are.
    """
    remove_leftovers(path)
    folder, name = os.path.split(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(f".{os.getpid()}.tmp", f".{name}.", folder)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
        # mkstemp makes private files; give this one the rights that open() would have.
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def remove_leftovers(path: str) -> None:
    """Removes what processes that were killed while they wrote `path` have left beside it."""
    folder, name = os.path.split(os.path.abspath(path))
    if not os.path.isdir(folder):
        return
    temporary = re.compile(rf"\.{re.escape(name)}\.\w+\.(\d+)\.tmp")
    for found in os.listdir(folder):
        match = temporary.fullmatch(found)
        if match and not _is_running(int(match[1])):
            with contextlib.suppress(FileNotFoundError):
                os.remove(os.path.join(folder, found))


def _is_running(process: int) -> bool:
    """Whether there is a process of that number, whoever owns it."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True
