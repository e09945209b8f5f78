"""Where the training input stands, saved beside a checkpoint as `<prefix>.input.*`.

With it a resumed run reads exactly the batches that the interrupted one would have read. The random
seed is kept here too: dropout masks and shuffling go on as they were, also when no seed was given.
"""

import contextlib
import json
import pathlib
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from absl import logging

from t2t_keras.training.checkpoint_damage import READ_ERRORS

__all__ = ["read_description", "restore", "save"]


def _description_path(prefix: str) -> pathlib.Path:
    return pathlib.Path(f"{prefix}.input.json")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps TensorFlow from logging how long each part of a checkpoint took."""
    verbosity = logging.get_verbosity()
    logging.set_verbosity(min(verbosity, logging.WARNING))
    try:
        yield
    finally:
        logging.set_verbosity(verbosity)


def save(prefix: str, iterator: Any, description: dict[str, Any]) -> None:
    """Saves the iterator's position and what it depends on.

    Args:
        prefix: prefix of the checkpoint, which must be written after this.
        iterator: a `tf.data` iterator.
        description: JSON values; a run with another description can't use the position.
    """
    path = _description_path(prefix)
    path.parent.mkdir(parents=True, exist_ok=True)
    with _quiet():
        tf.train.Checkpoint(iterator=iterator).write(f"{prefix}.input")
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(description, indent=0, sort_keys=True), encoding="utf-8")
    temporary.replace(path)


def read_description(prefix: str) -> dict[str, Any] | None:
    """The description saved beside a checkpoint, or None."""
    try:
        return json.loads(_description_path(prefix).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None


def restore(prefix: str, iterator: Any, description: dict[str, Any]) -> bool:
    """Puts a fresh iterator where the saved one stood.

    Returns:
        Whether that was possible. If not, a warning says why, and the input starts anew.
    """
    saved = read_description(prefix)
    if saved is None:
        logging.warning("No input position beside %s: the input is shuffled anew.", prefix)
        return False
    changed = [name for name in description if saved.get(name) != description[name]]
    if changed:
        logging.warning(
            "The input is shuffled anew, because this differs from the run so far: %s.",
            ", ".join(
                f"{name} (was {saved.get(name)}, is {description[name]})" for name in changed
            ),
        )
        return False
    try:
        tf.train.Checkpoint(iterator=iterator).read(f"{prefix}.input").assert_consumed()
    except (*READ_ERRORS, AssertionError) as error:
        logging.warning(
            "The input position %s.input.* can't be used (%s); the input is shuffled anew.",
            prefix, error,
        )  # fmt: skip
        return False
    return True
