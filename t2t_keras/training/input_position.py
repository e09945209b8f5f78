"""Where the training input stands, saved beside a checkpoint as `<prefix>.input.json`.

With it a resumed run reads exactly the batches that the interrupted one would have read. The random
seed is kept here too: dropout masks and shuffling go on as they were, also when no seed was given.

The file names the records that wait in shuffle buffers and half-full batches by their numbers: some
hundred kilobytes. Problems where a record is not one example (hparams `pack_dataset`,
`split_to_length`, `split_targets_chunk_length`) have the waiting batches themselves in
`<prefix>.input.data-*`.
"""

import base64
import contextlib
import json
import logging as std_logging
import pathlib
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from t2t_keras.data.training_batches import DatasetInput
from t2t_keras.data.training_input import InputState, TrainingInput
from t2t_keras.training.checkpoint_damage import READ_ERRORS
from t2t_keras.training.tensorflow_messages import without_nodes

__all__ = ["read_description", "restore", "save"]

_ID_BYTES = 8
# More than TensorFlow has prepared when its state is saved.
_BATCHES_LOOKED_AT = 4


def _description_path(prefix: str) -> pathlib.Path:
    return pathlib.Path(f"{prefix}.input.json")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keeps TensorFlow from logging how long each part of a checkpoint took."""
    # By absl's own functions the level would not be again what it was, if nobody had set one.
    logger = logging.get_absl_logger()
    level = logger.level
    logger.setLevel(max(logger.getEffectiveLevel(), std_logging.WARNING))
    try:
        yield
    finally:
        logger.setLevel(level)


def save(prefix: str, source: TrainingInput | DatasetInput, description: dict[str, Any]) -> None:
    """Saves the input's position and what it depends on.

    Args:
        prefix: prefix of the checkpoint, which must be written after this.
        source: the training input.
        description: JSON values to be kept with it.
    """
    path = _description_path(prefix)
    path.parent.mkdir(parents=True, exist_ok=True)
    values = {**description, **source.description}
    if isinstance(source, DatasetInput):
        with _quiet():
            tf.train.Checkpoint(iterator=source.iterator).write(f"{prefix}.input")
    else:
        state = source.state()
        values.update(position=state.values, waiting_records=_packed(state.ids))
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(json.dumps(values, sort_keys=True), encoding="utf-8")
    temporary.replace(path)


def _packed(ids: np.ndarray) -> str:
    # Byte planes compress twice as well as whole numbers.
    planes = ids.astype("<i8").view(np.uint8).reshape(-1, _ID_BYTES).T
    return base64.b64encode(zlib.compress(planes.tobytes())).decode("ascii")


def _unpacked(text: str) -> np.ndarray:
    planes = np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)
    return np.ascontiguousarray(planes.reshape(_ID_BYTES, -1).T).view("<i8").reshape(-1)


def read_description(prefix: str) -> dict[str, Any] | None:
    """What was saved beside a checkpoint, or None: there is nothing, or it can't be read."""
    with contextlib.suppress(OSError, ValueError):
        values = json.loads(_description_path(prefix).read_text(encoding="utf-8"))
        if isinstance(values, dict):
            return values
    return None


def restore(prefix: str, source: TrainingInput | DatasetInput) -> bool:
    """Puts a fresh input where the saved one stood.

    If batches are made in another way now (other number of replicas, `batch_size`, …), the input
    goes on with the examples that have not been trained on yet.

    Args:
        prefix: prefix of the checkpoint.
        source: the training input.

    Returns:
        Whether that was possible. If not, a warning says why, and the input starts anew.

    Raises:
        ValueError: a record is damaged.
    """
    saved = read_description(prefix)
    if saved is None:
        path = _description_path(prefix)
        if path.exists():
            logging.warning(
                "The input position %s is damaged or can't be read: the input is shuffled anew.",
                path,
            )
        else:
            logging.warning("No input position beside %s: the input is shuffled anew.", prefix)
        return False
    if "data" not in saved:
        logging.warning(
            "The input position beside %s is of an older version: the input is shuffled anew.",
            prefix,
        )
        return False
    changed_data = _changes(saved, source, "data")
    changed_batches = _changes(saved, source, "batches")
    if isinstance(source, DatasetInput):
        changed_data += changed_batches
    if changed_data:
        logging.warning(
            "The input is shuffled anew, because this differs from the run so far: %s.",
            ", ".join(changed_data),
        )
        return False
    if isinstance(source, DatasetInput):
        return _restore_dataset(prefix, source)
    state = _read_state(prefix, saved)
    if state is None:
        return False
    done = source.restore(state, same_batches=not changed_batches)
    differs = f", because this differs from the run so far: {', '.join(changed_batches)}"
    logging.info("%s%s.", done, differs if changed_batches else "")
    return True


def _changes(saved: dict[str, Any], source: TrainingInput | DatasetInput, part: str) -> list[str]:
    """What is not as it was, in words."""
    old, new = saved.get(part, {}), source.description[part]
    return [
        f"{name} (was {old.get(name)}, is {value})"
        for name, value in new.items()
        if old.get(name) != value
    ]


def _read_state(prefix: str, saved: dict[str, Any]) -> InputState | None:
    try:
        return InputState(saved["position"], _unpacked(saved["waiting_records"]))
    except (KeyError, ValueError, TypeError, zlib.error) as error:
        logging.warning(
            "The input position %s can't be used (%r); the input is shuffled anew.",
            _description_path(prefix), error,
        )  # fmt: skip
        return None


def _restore_dataset(prefix: str, source: DatasetInput) -> bool:
    try:
        # TensorFlow saves an error of reading ahead like a batch. It would come again and again,
        # also once the data are repaired; so another iterator takes a look ahead.
        scout = source.make_iterator()
        for iterator in (scout, source.iterator):
            checkpoint = tf.train.Checkpoint(iterator=iterator)
            checkpoint.read(f"{prefix}.input").assert_consumed()
        for _ in range(_BATCHES_LOOKED_AT):
            next(scout)
    except (*READ_ERRORS, AssertionError) as error:
        logging.warning(
            "The input position %s.input.* can't be used (%s); the input is shuffled anew.",
            prefix, without_nodes(str(error)),
        )  # fmt: skip
        return False
    return True
