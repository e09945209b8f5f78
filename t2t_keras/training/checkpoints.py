"""Checkpoints by variable name: `model.ckpt-<step>` files as TensorFlow 1 and T2T write them.

A checkpoint holds every model variable under its path, `global_step`, and the optimizer's slots
under `training/`. Names, not Python objects, say what is what: nothing can be dropped silently, and
the file doesn't depend on how many replicas wrote it. `tf.train.load_checkpoint` reads it.

The index file appears last, by renaming; without it the other files aren't taken for a checkpoint.
"""

import os
import pathlib
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

__all__ = [
    "CheckpointError",
    "complete_checkpoints",
    "latest_checkpoint",
    "load_model_variables",
    "load_variables",
    "prefix_of_step",
    "read_state",
    "resolve",
    "save",
    "step_of",
    "warm_start",
    "write_values",
]

GLOBAL_STEP = "global_step"
STATE_FILE = "checkpoint"
_BASENAME = "model.ckpt"
# What training adds to the model's variables; T2T's checkpoints have all of these.
_TRAINING_PREFIXES = ("training/", "losses_avg/", "train_stats/", GLOBAL_STEP)
# A shard of an embedding table, or an optimizer's slot of one.
_SHARD = re.compile(r"(?P<table>.*/weights)_(?P<number>\d+)(?P<slot>/\w+)?$")
_NUMBERED = re.compile(r"-(?P<step>\d+)$")
_MAX_LISTED = 10


class CheckpointError(ValueError):
    """A checkpoint that is absent, incomplete or doesn't fit the model."""


def step_of(path: str) -> int:
    """The step at the end of a checkpoint's name: 200 for `…/model.ckpt-200`; -1 without one."""
    match = _NUMBERED.search(path)
    return int(match["step"]) if match else -1


def is_complete(prefix: str) -> bool:
    """Whether index and data files of a checkpoint are all there."""
    index = pathlib.Path(f"{prefix}.index")
    if not index.is_file() or index.stat().st_size == 0:
        return False
    shards = list(index.parent.glob(f"{escape_glob(index.stem)}.data-*-of-*"))
    if not shards:
        return False
    return len(shards) >= int(shards[0].name.rsplit("-", 1)[1])


def escape_glob(name: str) -> str:
    """The name as a glob pattern that matches only itself."""
    return re.sub(r"([*?\[])", r"[\1]", name)


def complete_checkpoints(directory: str) -> list[str]:
    """Prefixes of the complete checkpoints `<directory>/*-<step>`, oldest step first."""
    prefixes = (str(path)[: -len(".index")] for path in pathlib.Path(directory).glob("*.index"))
    numbered = [prefix for prefix in prefixes if step_of(prefix) >= 0 and is_complete(prefix)]
    return sorted(numbered, key=lambda prefix: (step_of(prefix), prefix))


def read_state(directory: str) -> Any:
    """Content of the state file `checkpoint`, or None if there is none or it can't be read."""
    try:
        return tf.train.get_checkpoint_state(directory)
    except Exception as error:  # TensorFlow raises a different type for each kind of damage.
        logging.warning("The state file in %s can't be read (%s); ignoring it.", directory, error)
        return None


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
            raise CheckpointError(f"No checkpoint in this directory. Received: {path!r}")
        return newest
    prefix = re.sub(r"\.(index|meta|data-\d+-of-\d+)$", "", path)
    if not is_complete(prefix):
        directory = os.path.dirname(prefix) or "."
        near = ", ".join(os.path.basename(p) for p in complete_checkpoints(directory)) or "none"
        raise CheckpointError(
            f"No complete checkpoint by this name. Received: {path!r}; available there: {near}"
        )
    return prefix


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
    with tf.device("CPU:0"):
        tensors = [tf.convert_to_tensor(values[name]) for name in names]
        tf.raw_ops.SaveV2(
            prefix=str(scratch / target.name),
            tensor_names=names,
            shape_and_slices=[""] * len(names),
            tensors=tensors,
        )
    written = sorted(scratch.iterdir(), key=lambda path: path.suffix == ".index")
    for path in written:  # the index last
        _flush_to_disk(path)
        os.replace(path, target.parent / path.name)
    scratch.rmdir()
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


def _values_by_path(variables: Iterable[Any]) -> dict[str, Any]:
    """`{path: variable}`; raises `CheckpointError` if two variables share a path."""
    named: dict[str, Any] = {}
    for variable in variables:
        if variable.path in named and named[variable.path] is not variable:
            raise CheckpointError(
                f"Two variables have one name, so they can't be saved. Received: {variable.path!r}"
            )
        named[variable.path] = variable
    return named


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
        optimizer_slots: as from `optimizers.slot_variables`.

    Returns:
        The prefix.
    """
    named = {**_values_by_path(model.variables), **(optimizer_slots or {})}
    values: dict[str, Any] = {name: variable.value for name, variable in named.items()}
    values[GLOBAL_STEP] = np.int64(step)
    return write_values(prefix_of_step(directory, step), values)


def prefix_of_step(directory: str, step: int) -> str:
    """`<directory>/model.ckpt-<step>`."""
    return os.path.join(directory, f"{_BASENAME}-{step}")


def _joined_shards(shapes: Mapping[str, Sequence[int]]) -> dict[str, list[str]]:
    """Names in the checkpoint by name in the model: T2T stores an embedding table in shards."""
    sources: dict[str, list[str]] = {}
    for name in sorted(shapes):
        match = _SHARD.match(name)
        joined = match["table"] + (match["slot"] or "") if match else name
        sources.setdefault(joined, []).append(name)
    for parts in sources.values():
        parts.sort(key=_shard_number)
    return sources


def _shard_number(name: str) -> int:
    match = _SHARD.match(name)
    return int(match["number"]) if match else -1


def _shape_of(parts: list[str], shapes: Mapping[str, Sequence[int]]) -> list[int]:
    first = list(shapes[parts[0]])
    if len(parts) > 1:
        first[0] = sum(shapes[part][0] for part in parts)
    return first


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
    prefix = resolve(checkpoint_path)
    reader = tf.train.load_checkpoint(prefix)
    shapes = reader.get_variable_to_shape_map()
    sources = _joined_shards(shapes)
    _refuse_misfits(prefix, variables, sources, shapes, tuple(ignore_prefixes))
    for name, variable in variables.items():
        parts = [reader.get_tensor(part) for part in sources[name]]
        variable.assign(parts[0] if len(parts) == 1 else np.concatenate(parts, axis=0))
    return int(reader.get_tensor(GLOBAL_STEP)) if GLOBAL_STEP in shapes else 0


def _refuse_misfits(
    prefix: str,
    variables: Mapping[str, Any],
    sources: Mapping[str, list[str]],
    shapes: Mapping[str, Sequence[int]],
    ignore_prefixes: tuple[str, ...],
) -> None:
    missing = [f"{n} {list(v.shape)}" for n, v in variables.items() if n not in sources]
    left_over = [
        f"{name} {_shape_of(parts, shapes)}"
        for name, parts in sources.items()
        if name not in variables and not name.startswith(ignore_prefixes or ("\0",))
    ]
    other_shape = [
        f"{name} {list(variable.shape)} in the model, "
        f"{_shape_of(sources[name], shapes)} in the file"
        for name, variable in variables.items()
        if name in sources and list(variable.shape) != _shape_of(sources[name], shapes)
    ]
    problems = [
        _listing("missing in the file", missing),
        _listing("unknown to the model", left_over),
        _listing("of another shape", other_shape),
    ]
    if any(problems):
        raise CheckpointError(
            f"The checkpoint {prefix} doesn't fit the model. Use the hyperparameters it was "
            "trained with (model, hparams_set, hparams, problem and vocabulary).\n"
            + "\n".join(problem for problem in problems if problem)
        )


def _listing(title: str, names: list[str]) -> str:
    if not names:
        return ""
    shown = "".join(f"\n    {name}" for name in names[:_MAX_LISTED])
    more = f"\n    … and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"  {len(names)} variable(s) {title}:{shown}{more}"


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
    variables = _values_by_path(model.variables)
    return load_variables(checkpoint_path, variables, ignore_prefixes=_TRAINING_PREFIXES)


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
    prefix = resolve(source)
    sources = _joined_shards(tf.train.load_checkpoint(prefix).get_variable_to_shape_map())
    variables = _values_by_path(model.trainable_variables)
    found = {name: variable for name, variable in variables.items() if name in sources}
    load_variables(prefix, found, ignore_prefixes=("",))
    kept = [name for name in variables if name not in found]
    logging.info("Starting %d variables from %s; %d keep theirs", len(found), prefix, len(kept))
    for name in kept:
        logging.info("Not in that checkpoint: %s", name)
    return kept
