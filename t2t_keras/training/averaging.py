"""Averages of checkpoints: they translate better than the last one (Vaswani et al., 2017, 6.1)."""

import os
import pathlib
import time
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from t2t_keras.hparams_lib import HPARAMS_FILE
from t2t_keras.text.text_files import write_text_atomically
from t2t_keras.training import checkpoints, run_vocabulary
from t2t_keras.training.checkpoint_damage import READ_ERRORS, find_damaged_values
from t2t_keras.training.retention import CheckpointKeeper
from t2t_keras.training.t2t_loss_scale import LOSS_SCALE, own_name

__all__ = ["average_checkpoints", "average_values", "average_windows", "wait_for_checkpoints"]

_STEPS_COUNTER = "train_stats/problem_0_steps"
_POLL_SECONDS = 10.0
# Beside averages: how many checkpoints each is of.
_WINDOW_FILE = "averages_of.txt"
# What a decoder needs beside the checkpoint.
_RUN_FILES = ("flags.txt", "flags_t2t.txt", HPARAMS_FILE, run_vocabulary.FILE)


def _is_averaged(name: str) -> bool:
    return not own_name(name).startswith((checkpoints.GLOBAL_STEP, LOSS_SCALE, "train_stats/"))


def average_values(paths: Sequence[str]) -> dict[str, np.ndarray]:
    """Mean of every variable over checkpoints, optimizer slots included.

    Sums are taken in float64; each mean has its variable's type. Global step and step counters are
    left out.

    Args:
        paths: prefixes of checkpoints.

    Raises:
        ValueError: no checkpoint, or one given twice.
        CheckpointError: a checkpoint is absent, or they differ in variables or shapes.
    """
    _raise_if_repeated(paths)
    _raise_unless_alike(paths)
    sums: dict[str, np.ndarray] = {}
    dtypes: dict[str, np.dtype] = {}
    for path in paths:
        reader = tf.train.load_checkpoint(checkpoints.resolve(path))
        for name in _averaged_shapes(reader):
            value = _value(reader, name, path)
            dtypes[name] = value.dtype
            sums[name] = sums.get(name, 0.0) + value.astype(np.float64)
    return {name: (total / len(paths)).astype(dtypes[name]) for name, total in sums.items()}


def _averaged_shapes(reader: Any) -> dict[str, list[int]]:
    shapes = reader.get_variable_to_shape_map()
    return {name: shape for name, shape in shapes.items() if _is_averaged(name)}


def _raise_unless_alike(paths: Sequence[str]) -> None:
    first: dict[str, list[int]] | None = None
    for path in paths:
        shapes = _averaged_shapes(tf.train.load_checkpoint(checkpoints.resolve(path)))
        first = shapes if first is None else first
        if shapes != first:
            raise checkpoints.CheckpointError(
                "Checkpoints of different models can't be averaged: "
                f"{_first_difference(first, shapes)}. Received: {paths[0]}, {path}"
            )


def _value(reader: Any, name: str, path: str) -> np.ndarray:
    try:
        return reader.get_tensor(name)
    except READ_ERRORS as error:
        raise checkpoints.CheckpointError(
            f"The data of checkpoint {path} are damaged at {name} ({error}). Average without it."
        ) from error


def _first_difference(first: Mapping[str, list[int]], second: Mapping[str, list[int]]) -> str:
    for name in sorted({*first, *second}):
        if first.get(name) != second.get(name):
            return f"{name} is {first.get(name, 'absent')} and {second.get(name, 'absent')}"
    return "no difference"


def _raise_if_repeated(paths: Sequence[str]) -> None:
    if not paths:
        raise ValueError("There is nothing to average. Received: no checkpoint")
    seen: set[str] = set()
    for path in paths:
        real = os.path.realpath(path)
        if real in seen:
            raise ValueError(f"A checkpoint is given twice. Received: {path!r}")
        seen.add(real)


def average_checkpoints(
    paths: Sequence[str],
    output_path: str = "/tmp/averaged.ckpt",
    *,
    prefix: str = "",
    num_last_checkpoints: int = 0,
) -> str:
    """Averages given checkpoints, or the last ones of a directory (T2T's `avg_checkpoints`).

    T2T silently leaves out checkpoints that don't exist; here a missing one is an error.

    Args:
        paths: checkpoints; `prefix` is put before each.
        output_path: the result is `<output_path>-0`, with global step 0.
        prefix: put before each path; with `num_last_checkpoints` its directory is meant.
        num_last_checkpoints: if above 0, the newest ones listed in the state file of the directory
            of `prefix` are taken instead of `paths`.

    Returns:
        The path written.

    Raises:
        ValueError: nothing to average, or a checkpoint given twice.
        CheckpointError: a checkpoint is absent, or they don't match.
    """
    if num_last_checkpoints > 0:
        paths = _last_checkpoints(prefix, num_last_checkpoints)
    elif prefix:
        paths = [prefix + path for path in paths]
    values: dict[str, np.ndarray] = average_values(paths)
    written = f"{output_path}-0"
    _write(written, values, step=0)
    CheckpointKeeper(os.path.dirname(output_path) or ".", max_to_keep=0).add(written)
    return written


def _last_checkpoints(prefix: str, count: int) -> list[str]:
    directory = os.path.dirname(prefix)
    if not directory:
        raise ValueError(
            "The last checkpoints are looked for in the directory of prefix, as in prefix=run/. "
            f"Received: prefix={prefix!r}"
        )
    state = checkpoints.read_state(directory)
    listed = list(state.all_model_checkpoint_paths) if state is not None else []
    if not listed:
        raise checkpoints.CheckpointError(f"No state file lists checkpoints in {directory!r}")
    return listed[-count:]


def _write(prefix: str, values: Mapping[str, np.ndarray], step: int) -> None:
    extra = {checkpoints.GLOBAL_STEP: np.int64(step), _STEPS_COUNTER: np.int32(0)}
    checkpoints.write_values(prefix, {**values, **extra})


def wait_for_checkpoints(
    directory: str,
    min_steps: int = 0,
    wait_minutes: float = 0.0,
    poll_seconds: float = _POLL_SECONDS,
) -> Iterator[list[str]]:
    """The checkpoints of a directory, oldest first, then those that appear.

    Every one is read before it is given. One that is damaged may only be half copied: it has until
    the end of the waiting to become whole, and those after it wait for it.

    Args:
        directory: where they are.
        min_steps: lower bound of their step.
        wait_minutes: ends after so long without a new one.
        poll_seconds: how often to look.

    Yields:
        Prefixes: all that are there, and again as many as there are new ones.

    Raises:
        CheckpointError: one of them can't be read.
    """
    seen = min_steps - 1
    last_time = time.monotonic()
    while True:
        new = checkpoints.numbered_checkpoints(directory, seen + 1)
        damages = {path: damage for path in new if (damage := find_damaged_values(path))}
        whole = new[: new.index(next(iter(damages)))] if damages else new
        waited = time.monotonic() - last_time
        is_over = waited >= wait_minutes * 60.0
        if is_over and damages:
            raise checkpoints.CheckpointError(
                f"Not all checkpoints can be read: {'; '.join(damages.values())}. Restore the "
                "files or, to average without, move them to another directory: "
                f"{', '.join(f'{path}.*' for path in damages)}. Received: {directory!r}"
            )
        if whole:
            seen = checkpoints.step_of(whole[-1])
            yield whole
            last_time = time.monotonic()
        elif is_over:
            return
        else:
            time.sleep(min(poll_seconds, wait_minutes * 60.0 - waited))


def average_windows(
    model_dir: str,
    output_dir: str = "avg/",
    n: int = 8,
    min_steps: int = 0,
    wait_minutes: float = 0.0,
) -> list[str]:
    """Averages every `n` successive checkpoints of a directory (T2T's `t2t-avg-all`).

    The output directory gets the run's `flags.txt`, `hparams.json` and `vocabulary.json`, so that
    it can be decoded from as it is. Each result has the step, and the time stamp, of the newest of
    its `n` inputs; its values are float32. T2T adds the newest and subtracts the oldest from a
    running sum, which drifts a little; here every window is summed anew.

    Args:
        model_dir: directory with checkpoints.
        output_dir: made if needed; must be another one.
        n: checkpoints to an average.
        min_steps: earlier ones are left out.
        wait_minutes: goes on until no new checkpoint has come for so long.

    Returns:
        The checkpoints written.

    Raises:
        ValueError: `n` is below 1, the two directories are one, or `output_dir` holds averages of
            another number.
        CheckpointError: no checkpoint, fewer than `n`, one that can't be read, or of another model;
            nothing has been written of those that were there together.
    """
    if n < 1:
        raise ValueError(f"The number of checkpoints to average must be at least 1. Received: {n}")
    if not os.path.isdir(model_dir):
        raise FileNotFoundError(f"model_dir doesn't exist. Received: {model_dir!r}")
    if os.path.realpath(model_dir) == os.path.realpath(output_dir):
        raise ValueError(f"output_dir must not be model_dir. Received: {output_dir!r}")
    _refuse_another_window(output_dir, n)
    window: deque[str] = deque(maxlen=n)
    keeper: CheckpointKeeper | None = None
    written: list[str] = []
    for arrived in wait_for_checkpoints(model_dir, min_steps, wait_minutes):
        # Before anything is written: all or, after an error, nothing.
        _raise_unless_alike([*window, *arrived])
        for path in arrived:
            window.append(path)
            if len(window) < n:
                continue
            keeper = keeper or CheckpointKeeper(output_dir, max_to_keep=0)
            written.append(_write_average(list(window), output_dir))
            keeper.add(written[-1])
            pathlib.Path(output_dir, _WINDOW_FILE).write_text(f"{n}\n", encoding="utf-8")
            _copy_run_files(model_dir, output_dir)
    if not written:
        raise checkpoints.CheckpointError(
            f"An average needs {n} checkpoints of step {min_steps} or later; set --n to fewer. "
            f"Received: {len(window)} in {model_dir!r}"
        )
    return written


def _refuse_another_window(output_dir: str, n: int) -> None:
    """Averages of different numbers in one directory could not be told apart."""
    path = pathlib.Path(output_dir, _WINDOW_FILE)
    if not path.is_file() or not checkpoints.complete_checkpoints(output_dir):
        return
    present = path.read_text(encoding="utf-8").strip()
    if present != str(n):
        raise ValueError(
            f"{output_dir} holds averages of {present} checkpoints each ({path}), which would mix "
            f"with averages of {n}. Give another output_dir, or delete this one. Received: n={n}"
        )


def _write_average(paths: list[str], output_dir: str) -> str:
    newest = paths[-1]
    values = {name: value.astype(np.float32) for name, value in average_values(paths).items()}
    prefix = checkpoints.prefix_of_step(output_dir, checkpoints.step_of(newest))
    _write(prefix, values, checkpoints.step_of(newest))
    stamp = os.stat(f"{newest}.index")
    os.utime(f"{prefix}.index", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    logging.info("Averaged %d checkpoints into %s", len(paths), prefix)
    return prefix


def _copy_run_files(model_dir: str, output_dir: str) -> None:
    for name in _RUN_FILES:
        source, target = pathlib.Path(model_dir, name), pathlib.Path(output_dir, name)
        if source.is_file():
            write_text_atomically(str(target), source.read_text(encoding="utf-8"))
