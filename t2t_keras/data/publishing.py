"""Finished files get their names all together, also if the program is killed meanwhile.

Unfinished files have hidden names (`.<name>.incomplete`) that no reading pattern matches. When the
last byte of the last one is written, a hidden journal (`.<first name>.publish.json`) says which
files are about to be renamed; it disappears after the last renaming. A run that finds a journal
finishes the renaming; one that finds none starts over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

from absl import logging

from t2t_keras.data import shard_sizes
from t2t_keras.text.text_files import write_text_atomically


def incomplete_path(path: str) -> str:
    """Name of a file while it is being written; hidden, so that no pattern matches it."""
    return _hidden(path, "incomplete")


def publish(paths: Sequence[str]) -> None:
    """Give finished shards, now at their `incomplete_path`, their names, and note their sizes.

    Args:
        paths: the names, all in one folder.
    """
    if len(paths) == 1:
        shard_sizes.remember({paths[0]: os.path.getsize(incomplete_path(paths[0]))})
        os.replace(incomplete_path(paths[0]), paths[0])
        return
    names = [os.path.basename(path) for path in paths]
    write_text_atomically(_hidden(paths[0], "publish.json"), json.dumps(names))
    finish_publishing(paths[0])


def finish_publishing(first_path: str) -> None:
    """Finish what a killed run's `publish` of several files began; nothing if there is none.

    Args:
        first_path: the first of the paths that were given to `publish`.
    """
    journal = _hidden(first_path, "publish.json")
    if not os.path.exists(journal):
        return
    with open(journal, encoding="utf-8") as stream:
        names = json.load(stream)
    folder = os.path.dirname(first_path)
    waiting = [
        path
        for path in (os.path.join(folder, name) for name in names)
        if os.path.exists(incomplete_path(path))
    ]
    if waiting:
        # First, so that a kill leaves no shard with the size of a former one.
        shard_sizes.remember({path: os.path.getsize(incomplete_path(path)) for path in waiting})
    for path in waiting:
        os.replace(incomplete_path(path), path)
    os.remove(journal)
    logging.info("Published %d files: %s …", len(names), first_path)


def remove_incomplete(paths: Sequence[str]) -> None:
    """Remove what has been written so far of files that will not be finished."""
    for path in map(incomplete_path, paths):
        if os.path.exists(path):
            os.remove(path)


def _hidden(path: str, suffix: str) -> str:
    folder, name = os.path.split(path)
    return os.path.join(folder, f".{name}.{suffix}")
