"""Writes a text file so that no reader ever sees half of it."""

import os
import tempfile


def write_text_atomically(path: str, text: str) -> None:
    """Writes UTF-8 text under a temporary name beside `path`, then renames it.

    Args:
      path: the file to make or replace.
      text: its content; line ends are written as they are.
    """
    folder, name = os.path.split(os.path.abspath(path))
    handle, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder)
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
