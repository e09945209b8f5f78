"""Files named ``<prefix>-<step>``, as they appear: decodes of one checkpoint after the other.

Follows T2T's ``utils.bleu_hook.stepfiles_iterator``.
"""

import glob
import os
import time
from collections.abc import Iterator
from typing import NamedTuple

from absl import logging

__all__ = ["StepFile", "existing_step_files", "step_files", "wait_for_directory"]

_POLL_SECONDS = 10.0


class StepFile(NamedTuple):
    """One file with the training step in its name.

    Attributes:
        filename: the path.
        modified: time of its last modification, seconds since 1970.
        changed: time of its last change of state, seconds since 1970.
        step: the training step, the number after the last ``-``.
    """

    filename: str
    modified: float
    changed: float
    step: int


def existing_step_files(
    path_prefix: str, path_suffix: str = "", min_steps: int = 0
) -> list[StepFile]:
    """The files ``<path_prefix>*-<step><path_suffix>`` there are now, oldest first.

    Files whose last part is not a number (``…-flags.txt``) are skipped.

    Args:
        path_prefix: directory, or directory and start of the names.
        path_suffix: end of the names, not part of ``filename`` in the result.
        min_steps: smaller steps are left out.

    Returns:
        The files by time of modification, then by step.
    """
    if os.path.isdir(path_prefix):
        path_prefix = os.path.join(path_prefix, "")
    found = []
    for path in glob.glob(f"{glob.escape(path_prefix)}*-[0-9]*{glob.escape(path_suffix)}"):
        name = path[: len(path) - len(path_suffix)]
        step_text = name.rpartition("-")[2]
        if step_text.isascii() and step_text.isdigit() and int(step_text) >= min_steps:
            status = os.stat(path)
            found.append(StepFile(name, status.st_mtime, status.st_ctime, int(step_text)))
    return sorted(found, key=lambda step_file: (step_file.modified, step_file.step))


def step_files(
    path_prefix: str,
    path_suffix: str = "",
    min_steps: int = 0,
    wait_minutes: float = 0,
    poll_seconds: float = _POLL_SECONDS,
) -> Iterator[StepFile]:
    """Yields files as they appear, until none has come for ``wait_minutes``.

    Args:
        path_prefix: directory, or directory and start of the names.
        path_suffix: end of the names.
        min_steps: smaller steps are left out; later looks want more than the largest step so far.
        wait_minutes: how long to wait after the last file's change before giving up.
        poll_seconds: time between two looks.

    Yields:
        Each file once, oldest first.
    """
    deadline = time.time() + wait_minutes * 60
    while True:
        found = existing_step_files(path_prefix, path_suffix, min_steps)
        for step_file in found:
            min_steps = max(min_steps, step_file.step + 1)
            deadline = step_file.changed + wait_minutes * 60
            yield step_file
        if not found:
            if time.time() >= deadline:
                return
            time.sleep(min(poll_seconds, max(0.0, deadline - time.time())))


def wait_for_directory(
    directory: str, wait_minutes: float, poll_seconds: float = _POLL_SECONDS
) -> None:
    """Waits until ``directory`` exists.

    Args:
        directory: the path.
        wait_minutes: longest wait.
        poll_seconds: time between two looks.

    Raises:
        FileNotFoundError: it is still missing at the end.
    """
    deadline = time.time() + wait_minutes * 60
    while not os.path.isdir(directory):
        if time.time() >= deadline:
            raise FileNotFoundError(
                f"The directory does not exist (waited {wait_minutes} minutes; raise "
                f"--wait_minutes to wait longer). Received: {directory}"
            )
        logging.info("Waiting for %s to appear", directory)
        time.sleep(min(poll_seconds, max(0.0, deadline - time.time())))
