"""What is known of finished shards: damage is noticed before anything is built on it.

Beside the shards lies `shard_sizes.json`, which maps their names to their sizes in bytes. It is
written when shards get their names (see `publishing`). Directories without it, such as those that
tensor2tensor has filled, are as good; there only what the shards themselves show is checked.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Mapping, Sequence

from t2t_keras.data import folder_lock, tfrecord
from t2t_keras.text.text_files import write_text_atomically

FILE_NAME = "shard_sizes.json"


def remember(sizes: Mapping[str, int]) -> None:
    """Notes the sizes of shards.

    Args:
        sizes: path -> size in bytes; the paths are all in one folder.
    """
    folder = os.path.dirname(next(iter(sizes)))
    # Where there are no locks a note may be lost, and that shard is then of unknown size.
    with folder_lock.locked(folder):
        known = _read(folder)
        known.update({os.path.basename(path): size for path, size in sizes.items()})
        text = json.dumps(known, indent=1, sort_keys=True)
        write_text_atomically(os.path.join(folder, FILE_NAME), text + "\n")


def wrong_size(paths: Sequence[str]) -> str | None:
    """The first shard that has not the size it was given, in words; None: there is none.

    Args:
        paths: existing shards, all in one folder.
    """
    known = _read(os.path.dirname(paths[0]))
    for path in paths:
        expected, size = known.get(os.path.basename(path)), os.path.getsize(path)
        if expected is not None and size != expected:
            manifest = os.path.join(os.path.dirname(path), FILE_NAME)
            return f"{path} has {size} bytes, and {expected} when it was made ({manifest})"
    return None


def suspiciously_empty(paths: Sequence[str]) -> str | None:
    """The first empty shard of unknown size beside one of several records, in words; else None.

    Samples go to the shards in turn: some get none only if no other gets two.

    Args:
        paths: all shards of a set.
    """
    known = _read(os.path.dirname(paths[0]))
    unknown = [path for path in paths if os.path.basename(path) not in known]
    empty = [path for path in unknown if os.path.getsize(path) == 0]
    if not empty or not _has_several_records(max(paths, key=os.path.getsize)):
        return None
    return f"{empty[0]} is empty, and others of its set are not"


def damage(paths: Sequence[str]) -> str | None:
    """The first damaged shard, in words; None: all seem complete.

    Shards of unknown size are gone through, record by record.

    Args:
        paths: all shards of a set.
    """
    found = wrong_size(paths) or suspiciously_empty(paths)
    if found:
        return found
    known = _read(os.path.dirname(paths[0]))
    for path in paths:
        if os.path.basename(path) not in known:
            try:
                tfrecord.count(path)
            except ValueError as error:
                return str(error)
    return None


def unreadable(paths: Sequence[str]) -> str | None:
    """The first shard with a cut or changed record, in words; reads everything.

    Args:
        paths: the shards.
    """
    for path in paths:
        try:
            tfrecord.read(path)
        except ValueError as error:
            return str(error)
    return None


def _has_several_records(path: str) -> bool:
    with contextlib.suppress(ValueError):
        return len(list(itertools.islice(tfrecord.iterate(path), 2))) == 2
    return False


def _read(folder: str) -> dict[str, int]:
    """The sizes of a folder's shards by name; none if there is no such file."""
    path = os.path.join(folder, FILE_NAME)
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as stream:
        try:
            known = json.load(stream)
        except ValueError:
            known = None
    if not isinstance(known, dict):
        raise ValueError(f"{path} is damaged. Delete it: the data can be used without it.")
    return known
