"""What the values of flags must be like, for every command: numbers, directories, checkpoints.

All of it is known without TensorFlow, so that mistakes are told at once.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import tempfile
from collections.abc import Iterator

from absl import flags

from t2t_keras import registry
from t2t_keras.training.run_lock import missing_directories

FLAGS = flags.FLAGS

# How a value that absl can't read should have looked, by type of flag.
_WANTED = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
}
_ILLEGAL_VALUE = re.compile(
    r"flag --(?P<name>[\w-]+)=(?P<value>.*): "
    r"(?:invalid literal|could not convert|\S+ is not |value should|\('Non-boolean)",
    re.DOTALL,
)
_FLAG_FILE = re.compile(r"flagfile: \[Errno \d+\] (?P<cause>.*): '(?P<path>.*)'")


class UsageError(ValueError):
    """The command line itself is wrong."""


def explain(error: flags.Error) -> UsageError:
    """What absl has against a command line, with the kind of value it wants."""
    text = str(error)
    flag_file = _FLAG_FILE.search(text)
    if flag_file:
        return UsageError(
            f"--flagfile can't be read ({flag_file['cause']}). Received: {flag_file['path']}"
        )
    illegal = _ILLEGAL_VALUE.match(text)
    if not illegal or illegal["name"] not in FLAGS:
        return UsageError(text)
    flag = FLAGS[illegal["name"]]
    bound = getattr(flag.parser, "lower_bound", None)
    wanted = _WANTED.get(flag.flag_type(), "another value")
    choices = getattr(flag.parser, "enum_values", None)
    if choices:
        wanted = f"one of {', '.join(choices)}"
    elif bound is not None:
        wanted += f", {bound} or more"
    return UsageError(f"--{illegal['name']} must be {wanted}. Received: {illegal['value']!r}")


def require(*names: str) -> None:
    """Checks that flags have a value.

    Raises:
        UsageError: names all that haven't.
    """
    missing = [f"--{name}" for name in names if not FLAGS[name].value]
    if missing:
        raise UsageError(f"Required but not given: {', '.join(missing)}")


def require_at_least(minimum: int, *names: str) -> None:
    """Checks that numbers, where given, aren't too small (or NaN).

    Raises:
        UsageError: names the first that is.
    """
    for name in names:
        value = FLAGS[name].value
        if value is not None and not value >= minimum:
            raise UsageError(f"--{name} must be {minimum} or more. Received: {value}")


def require_files(*names: str) -> None:
    """Checks that files to read, where given, are there.

    Raises:
        UsageError: names the first that isn't, and says what it is instead.
    """
    for name in names:
        value = FLAGS[name].value
        if value:
            require_file(name, os.path.expanduser(value))


def require_file(name: str, path: str) -> None:
    """Raises `UsageError` unless the file that the flag of this name stands for can be read."""
    if os.path.isfile(path) and os.access(path, os.R_OK):
        return
    cause = "is a directory, not a file" if os.path.isdir(path) else "doesn't exist"
    if os.path.isfile(path):
        cause = "can't be read: permission denied"
    raise UsageError(f"--{name} {cause}. Received: {path}")


def require_matches(*names: str) -> None:
    """Checks that patterns of files, where given, match files and only files.

    Raises:
        UsageError: names the first that doesn't.
    """
    for name in names:
        pattern = FLAGS[name].value
        if not pattern:
            continue
        found = glob.glob(os.path.expanduser(pattern))
        if not found:
            raise UsageError(f"--{name}: no file matches. Received: {pattern}")
        for path in found:
            require_file(name, path)


def require_directories(*names: str) -> None:
    """Checks that directories to read, where given, are there.

    Raises:
        UsageError: names the first that isn't, and says what it is instead.
    """
    for name in names:
        value = FLAGS[name].value
        path = os.path.expanduser(value or "")
        if path and not os.path.isdir(path):
            cause = "is a file, not a directory" if os.path.exists(path) else "doesn't exist"
            raise UsageError(f"--{name} {cause}. Received: {value}")


def require_can_be_made(*names: str) -> None:
    """Checks that directories to write to, where given, are there or can be made.

    Raises:
        UsageError: names the first that can't, and what stands in the way.
    """
    for name in names:
        value = FLAGS[name].value
        if value:
            require_place(name, value)


def require_place(name: str, directory: str) -> None:
    """As `require_can_be_made`, for the directory that a flag stands for, given or not."""
    _raise_unless_writable(name, directory, os.path.abspath(os.path.expanduser(directory)))


def require_file_can_be_written(*names: str) -> None:
    """Checks that files to write, where given, are no directories and their place can be made.

    Raises:
        UsageError: names the first that can't be written.
    """
    for name in names:
        value = FLAGS[name].value
        if not value:
            continue
        path = os.path.abspath(os.path.expanduser(value))
        if os.path.isdir(path):
            raise UsageError(f"--{name} is a directory, not a file. Received: {value}")
        _raise_unless_writable(name, value, os.path.dirname(path))


def _raise_unless_writable(name: str, value: str, directory: str) -> None:
    while not os.path.lexists(directory):
        directory = os.path.dirname(directory)
    if not os.path.isdir(directory):
        raise UsageError(f"--{name}: {directory} is a file, not a directory. Received: {value}")
    cause = "permission denied"
    if os.access(directory, os.W_OK | os.X_OK):
        # Root may write everywhere, it is said; not so on a full disk, or below /proc.
        try:
            os.rmdir(tempfile.mkdtemp(prefix=".t2t-", dir=directory))
            return
        except OSError as error:
            cause = str(error.strerror)
    raise UsageError(f"--{name}: {directory} can't be written to ({cause}). Received: {value}")


def require_checkpoint(name: str) -> None:
    """Checks that a flag, where given, names a checkpoint or a directory with one.

    Whether it is whole is seen when it is read.

    Raises:
        UsageError: there is none.
    """
    value = FLAGS[name].value
    if not value:
        return
    path = os.path.expanduser(value)
    if os.path.isdir(path):
        if not has_checkpoint(path):
            raise UsageError(
                f"--{name}: there is no checkpoint in this directory. Received: {value}"
            )
        return
    prefix = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", path)
    if not os.path.exists(f"{prefix}.index"):
        raise UsageError(
            f"--{name} must be a directory with checkpoints, or the beginning of a checkpoint's "
            f"file names (…/model.ckpt-1000); {prefix}.index doesn't exist.{_near(prefix)} "
            f"Received: {value}"
        )


def require_model(name: str) -> None:
    """Raises `KeyError`, with near matches, unless a model is registered; doesn't load it."""
    if name not in registry.list_models():
        registry.model(name)


def has_checkpoint(directory: str) -> bool:
    """Whether a directory has the index of a checkpoint, or a state file that names one."""
    if os.path.isfile(os.path.join(directory, "checkpoint")):
        return True
    return bool(glob.glob(os.path.join(glob.escape(directory), "*.index")))


def _near(prefix: str) -> str:
    """The checkpoints beside one that doesn't exist."""
    folder = os.path.dirname(prefix) or "."
    found = sorted(glob.glob(os.path.join(glob.escape(folder), "*.index")))
    names = [os.path.basename(path).removesuffix(".index") for path in found]
    return f" There are: {', '.join(names)}." if names else ""


@contextlib.contextmanager
def made_directories(**directories: str) -> Iterator[None]:
    """Makes directories; what is new and still empty is removed again if an error follows.

    Args:
        **directories: paths, by the names of their flags.

    Raises:
        UsageError: one can't be made.
    """
    new: list[str] = []
    try:
        for name, directory in directories.items():
            new += missing_directories(directory)
            try:
                os.makedirs(directory, exist_ok=True)
            except OSError as error:
                raise UsageError(
                    f"--{name} can't be made ({error.strerror}). Received: {directory!r}"
                ) from error
        yield
    except BaseException:
        for path in sorted(new, key=len, reverse=True):
            with contextlib.suppress(OSError):
                os.rmdir(path)
        raise
