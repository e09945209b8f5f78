"""Checkpoints by variable name: `model.ckpt-<step>` files as TensorFlow 1 and T2T write them.

A checkpoint holds every model variable under its path, `global_step`, and the optimizer's slots
under `training/`. Names, not Python objects, say what is what: nothing can be dropped silently, and
the file doesn't depend on how many replicas wrote it. `tf.train.load_checkpoint` reads it.

The index file appears last, by renaming; without it the other files aren't taken for a checkpoint.
"""

import contextlib
import functools
import logging as std_logging
import os
import pathlib
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from t2t_keras.training.checkpoint_damage import find_damage
from t2t_keras.training.slots import optimizer_of
from t2t_keras.training.stored_variables import (
    BOOKKEEPING,
    GLOBAL_STEP,
    CheckpointError,
    StoredVariables,
    is_bookkeeping,
    values_by_path,
)

__all__ = [
    "GLOBAL_STEP",
    "CheckpointError",
    "complete_checkpoints",
    "damaged_checkpoints",
    "latest_checkpoint",
    "load_model_variables",
    "load_training_state",
    "load_variables",
    "numbered_checkpoints",
    "prefix_of_step",
    "read_state",
    "resolve",
    "save",
    "step_of",
    "warm_start",
    "write_values",
]

STATE_FILE = "checkpoint"
BASENAME = "model.ckpt"
_NUMBERED = re.compile(r"-(?P<step>\d+)$")


def step_of(path: str) -> int:
    """The step at the end of a checkpoint's name: 200 for `…/model.ckpt-200`; -1 without one."""
    match = _NUMBERED.search(path)
    return int(match["step"]) if match else -1


def is_complete(prefix: str) -> bool:
    """Whether index and data files of a checkpoint are all there and whole."""
    return find_damage(prefix) is None


def numbered_checkpoints(directory: str, min_steps: int = 0) -> list[str]:
    """Prefixes `<directory>/*-<step>` that have an index, whole or not, oldest step first."""
    prefixes = (str(path)[: -len(".index")] for path in pathlib.Path(directory).glob("*.index"))
    # The input's position has a name of its own, without a step at its end.
    numbered = (prefix for prefix in prefixes if step_of(prefix) >= max(min_steps, 0))
    return sorted(numbered, key=lambda prefix: (step_of(prefix), prefix))


def complete_checkpoints(directory: str) -> list[str]:
    """Prefixes of the complete checkpoints `<directory>/*-<step>`, oldest step first.

    A warning names each that is damaged.
    """
    complete = []
    for prefix in numbered_checkpoints(directory):
        damage = find_damage(prefix)
        if damage is None:
            complete.append(prefix)
        else:
            _warn_of_damage(damage)
    return complete


def damaged_checkpoints(directory: str) -> list[str]:
    """Prefixes `<directory>/model.ckpt-<step>` that have an index but aren't complete."""
    pattern = f"{BASENAME}-*.index"
    prefixes = (str(path)[: -len(".index")] for path in pathlib.Path(directory).glob(pattern))
    return sorted(p for p in prefixes if step_of(p) >= 0 and not is_complete(p))


@functools.cache
def _warn_of_damage(damage: str) -> None:
    """Warns once, though a directory may be looked at again and again."""
    logging.warning("Checkpoint left out: %s.", damage)


def read_state(directory: str) -> Any:
    """Content of the state file `checkpoint`, or None if there is none or it can't be read."""
    complaints: list[str] = []
    with _collecting_warnings(complaints):
        try:
            state = tf.train.get_checkpoint_state(directory)
        except Exception as error:  # TensorFlow raises a different type for each kind of damage.
            complaints.insert(0, str(error))
            state = None
    if complaints:
        _warn_of_state_file(os.path.join(directory, STATE_FILE), complaints[0])
    return state


@contextlib.contextmanager
def _collecting_warnings(texts: list[str]) -> Iterator[None]:
    """Keeps what TensorFlow would log, and always in two parts, from the log."""

    def collect(record: std_logging.LogRecord) -> bool:
        texts.append(record.getMessage())
        return False

    logger = tf.get_logger()
    logger.addFilter(collect)
    try:
        yield
    finally:
        logger.removeFilter(collect)


@functools.cache
def _warn_of_state_file(path: str, cause: str) -> None:
    """Warns once, as `_warn_of_damage`."""
    logging.warning("%s can't be read and is ignored: %s", path, " ".join(cause.split()))


def latest_checkpoint(directory: str) -> str | None:
    """The newest complete checkpoint: the state file's or, if that is gone, the highest step's."""
    state = read_state(directory)
    if state is not None and is_complete(state.model_checkpoint_path):
        return str(state.model_checkpoint_path)
    found = complete_checkpoints(directory)
    if state is not None and found:
        logging.warning(
            "%s names %s, which is absent or incomplete; using %s.",
            os.path.join(directory, STATE_FILE), state.model_checkpoint_path, found[-1],
        )  # fmt: skip
    return found[-1] if found else None


def resolve(path_or_directory: str) -> str:
    """The checkpoint prefix that a user means by a prefix, a file of it, or a directory.

    Raises:
        CheckpointError: there is none.
    """
    path = os.path.expanduser(path_or_directory)
    if os.path.isdir(path):
        newest = latest_checkpoint(path)
        if newest is None:
            raise CheckpointError(
                f"No checkpoint in this directory{_what_is_damaged(path)}. Received: {path!r}"
            )
        return newest
    prefix = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", path)
    damage = find_damage(prefix)
    if damage:
        directory = os.path.dirname(prefix) or "."
        near = ", ".join(os.path.basename(p) for p in complete_checkpoints(directory)) or "none"
        raise CheckpointError(
            f"No complete checkpoint by this name: {damage}. Received: {path!r}; available there: "
            f"{near}"
        )
    return prefix


def _what_is_damaged(directory: str) -> str:
    """Of a directory without a complete checkpoint: why those that it seems to have aren't."""
    state = read_state(directory)
    prefixes = damaged_checkpoints(directory) or [state.model_checkpoint_path if state else ""]
    damages = [damage for damage in map(find_damage, filter(None, prefixes)) if damage]
    return f" is complete: {'; '.join(damages)}" if damages else ""


def write_values(prefix: str, values: Mapping[str, Any]) -> str:
    """Writes a checkpoint file set atomically.

    Args:
        prefix: `<directory>/<name>`; the directory is made if needed.
        values: arrays, tensors or variables by name.

    Returns:
        The prefix.
    """
    target = pathlib.Path(prefix)
    target.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(target.parent)
    scratch = target.parent / f".saving-{os.getpid()}"
    scratch.mkdir(exist_ok=True)
    names = sorted(values)
    try:
        with tf.device("CPU:0"):
            tensors = [tf.convert_to_tensor(values[name]) for name in names]
            tf.raw_ops.SaveV2(
                prefix=str(scratch / target.name),
                tensor_names=names,
                shape_and_slices=[""] * len(names),
                tensors=tensors,
            )
        written = sorted(scratch.iterdir(), key=lambda path: path.suffix == ".index")
        for path in written:
            _flush_to_disk(path)
        for path in written:  # the index last
            os.replace(path, target.parent / path.name)
    finally:
        # Half a checkpoint on a full disk only takes space.
        shutil.rmtree(scratch, ignore_errors=True)
    return prefix


def _flush_to_disk(path: pathlib.Path) -> None:
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _remove_abandoned(directory: pathlib.Path) -> None:
    """Removes scratch folders of processes that were killed while saving."""
    for scratch in directory.glob(".saving-*"):
        pid = scratch.name.rpartition("-")[2]
        if not pathlib.Path("/proc", pid).exists() or pid == str(os.getpid()):
            shutil.rmtree(scratch, ignore_errors=True)


def save(
    directory: str,
    model: Any,
    step: int,
    optimizer_slots: Mapping[str, Any] | None = None,
) -> str:
    """Writes `<directory>/model.ckpt-<step>`; the state file is `CheckpointKeeper`'s business.

    Args:
        directory: made if needed.
        model: a built Keras model.
        step: the global step.
        optimizer_slots: as from `slots.slot_variables`.

    Returns:
        The prefix.
    """
    named = {**values_by_path(model.variables), **(optimizer_slots or {})}
    values: dict[str, Any] = {name: variable.value for name, variable in named.items()}
    values[GLOBAL_STEP] = np.int64(step)
    return write_values(prefix_of_step(directory, step), values)


def prefix_of_step(directory: str, step: int) -> str:
    """`<directory>/model.ckpt-<step>`."""
    return os.path.join(directory, f"{BASENAME}-{step}")


def load_variables(
    checkpoint_path: str, variables: Mapping[str, Any], ignore_prefixes: Sequence[str] = ()
) -> int:
    """Restores variables by name; all or nothing.

    Args:
        checkpoint_path: prefix of a checkpoint, or its directory.
        variables: Keras variables by their name in the checkpoint.
        ignore_prefixes: names in the checkpoint that may be left over.

    Returns:
        The checkpoint's global step, 0 if it has none.

    Raises:
        CheckpointError: a variable is missing, left over or of another shape; lists them all.
    """
    stored = StoredVariables(resolve(checkpoint_path))
    stored.assign_to(variables, ignore_prefixes)
    return stored.step


def load_training_state(
    checkpoint_path: str, model: Any, slots: Mapping[str, Any], optimizer_name: str = ""
) -> int:
    """Restores a model and its optimizer, to train on.

    A checkpoint without any slots, as an average of T2T's may be, leaves the optimizer as it is.

    Args:
        checkpoint_path: prefix of a checkpoint, or its directory.
        model: a built Keras model.
        slots: as from `slots.slot_variables`.
        optimizer_name: hparam `optimizer`, for messages.

    Returns:
        The checkpoint's global step.

    Raises:
        CheckpointError: absent, incomplete, or of another model or optimizer.
    """
    stored = StoredVariables(resolve(checkpoint_path))
    variables = values_by_path(model.variables)
    stored.refuse_misfits(variables, ("training/", *BOOKKEEPING))
    # The loss scale of a run that goes on in float16 starts anew if it began in another precision.
    variables |= {n: v for n, v in slots.items() if is_bookkeeping(n) and n in stored.shapes}
    slots = {n: v for n, v in slots.items() if not is_bookkeeping(n)}
    if stored.slot_names:
        _refuse_other_optimizer(stored, slots, optimizer_name)
        variables |= slots
    elif slots:
        logging.warning("%s has no optimizer state; the optimizer starts anew.", stored.prefix)
    stored.assign_to(variables, BOOKKEEPING)
    return stored.step


def _refuse_other_optimizer(
    stored: StoredVariables, slots: Mapping[str, Any], optimizer_name: str
) -> None:
    """Raises `CheckpointError` if a checkpoint's slots are those of another optimizer."""
    theirs, ours = optimizer_of(stored.slot_names), optimizer_of(slots)
    if theirs and ours:
        is_other = theirs != ours
    else:
        is_other = set(slots).isdisjoint(stored.slot_names)
    if is_other:
        of_run = f"optimizer={theirs}" if theirs else f"slots like {min(stored.slot_names)}"
        back = f"Go on with --hparams=optimizer={theirs}, or train" if theirs else "Train"
        raise CheckpointError(
            f"The optimizer is another one than the run's: {stored.prefix} has the state of "
            f"{of_run}. {back} with the new one in another output_dir, from these weights: "
            f"--warm_start_from={os.path.dirname(stored.prefix)}. "
            f"Received: optimizer={optimizer_name or ours or 'one without slots'}"
        )


def load_model_variables(model: Any, checkpoint_path: str) -> int:
    """Restores a model for inference or evaluation; optimizer slots are ignored.

    Embedding tables that T2T stored in shards are joined.

    Args:
        model: a built Keras model.
        checkpoint_path: prefix of a checkpoint, or its directory.

    Returns:
        The checkpoint's global step.

    Raises:
        CheckpointError: absent, incomplete, or a variable is missing, left over or misshapen.
    """
    variables = values_by_path(model.variables)
    return load_variables(checkpoint_path, variables, ("training/", *BOOKKEEPING))


def warm_start(model: Any, source: str) -> list[str]:
    """Starts a new run's trainable variables from a checkpoint, wherever a name is in both.

    Neither global step nor optimizer slots are taken over.

    Args:
        model: a built Keras model.
        source: prefix of a checkpoint, or its directory.

    Returns:
        The names of the variables that keep their initial values.

    Raises:
        CheckpointError: there is no checkpoint, or a variable of one name has another shape.
    """
    stored = StoredVariables(resolve(source))
    variables = values_by_path(model.trainable_variables)
    found = {name: variable for name, variable in variables.items() if name in stored.shapes}
    stored.assign_to(found, ignore_prefixes=("",))
    kept = [name for name in variables if name not in found]
    logging.info(
        "Starting %d variables from %s; %d keep theirs", len(found), stored.prefix, len(kept)
    )
    for name in kept:
        logging.info("Not in that checkpoint: %s", name)
    return kept
