"""Hyperparameters of a run: from a registered set, a saved run, overrides and a problem."""

from __future__ import annotations

import json
import os
from typing import Any

from absl import logging

from t2t_keras import registry
from t2t_keras.hparam import HParams

HPARAMS_FILE = "hparams.json"

# Per-feature overrides: they hold functions, which a file can't.
_NEVER_TAKEN_FROM_FILE = ("bottom", "loss", "name", "top", "weights_fn")
_NEVER_SAVED = ("modality",)
_PROBLEM_ATTRIBUTES = ("problem", "problem_hparams")


def create_hparams(
    hparams_set: str,
    hparams_overrides_str: str = "",
    data_dir: str | None = None,
    problem_name: str | None = None,
    hparams_path: str | None = None,
) -> HParams:
    """The hyperparameters of a run.

    The overrides take precedence over the file, the file over the set.

    Args:
        hparams_set: name of a registered set.
        hparams_overrides_str: overrides, `name=value,name=[value,value]`.
        data_dir: where the problem's data are; becomes a hyperparameter.
        problem_name: attaches this problem, see `add_problem_hparams`.
        hparams_path: `hparams.json` of an earlier run; needn't exist. Its values replace the set's,
            and one log line names them.

    Returns:
        An object with the set's hyperparameters; with `problem_name` also the attributes `problem`
        and `problem_hparams`.

    Raises:
        KeyError: unknown set or problem.
        ValueError: overrides that can't be parsed, or a file that isn't JSON.
    """
    hparams = registry.hparams(hparams_set)
    if hparams_path and os.path.exists(hparams_path):
        _apply_file(hparams, hparams_path, hparams_set)
    if data_dir:
        hparams.add_hparam("data_dir", os.path.expanduser(data_dir))
    if hparams_overrides_str:
        hparams.parse(hparams_overrides_str)
    if problem_name:
        add_problem_hparams(hparams, problem_name)
    return hparams


def _apply_file(hparams: HParams, path: str, hparams_set: str) -> None:
    """Takes over a saved run's values of the attributes that the set has, unchecked."""
    replaced = []
    for name, value in read_hparams_file(path).items():
        if name in _NEVER_TAKEN_FROM_FILE or not hasattr(hparams, name):
            continue
        if getattr(hparams, name) != value:
            replaced.append(f"{name}={value!r} (not {getattr(hparams, name)!r})")
            setattr(hparams, name, value)
    if replaced:
        logging.info(
            "Overwrite keys of the set %s by those of the run in %s: %s. "
            "Only overrides (--hparams) take precedence over that file.",
            hparams_set,
            path,
            ", ".join(replaced),
        )


def read_hparams_file(path: str) -> dict[str, Any]:
    """Names and values of a saved `hparams.json`.

    Raises:
        FileNotFoundError: it doesn't exist.
        ValueError: it isn't a JSON object.
    """
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    try:
        values = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(
            f"{path} is not JSON ({error}). Repair or remove it. Received: {text[:80]!r}"
        ) from error
    if not isinstance(values, dict):
        raise ValueError(f"{path} must hold a JSON object. Received: {text[:80]!r}")
    return values


def create_hparams_from_json(json_path: str, hparams: HParams | None = None) -> HParams:
    """The hyperparameters of a saved run.

    Args:
        json_path: its `hparams.json`.
        hparams: an object to update with the values of the file; None makes one with exactly these.

    Returns:
        The object with the values of the file.
    """
    if hparams is not None:
        _apply_file(hparams, json_path, "given")
        return hparams
    # An empty list tells no type; such a value can only be an attribute.
    hparams = HParams()
    for name, value in read_hparams_file(json_path).items():
        if value == []:
            setattr(hparams, name, value)
        else:
            hparams.add_hparam(name, value)
    return hparams


def save_hparams(hparams: HParams, output_dir: str) -> None:
    """Writes `hparams.json` into a directory, sorted, one entry a line; the whole file or nothing.

    Functions are left out, and so is `modality`. The directory is created if needed.
    """
    saved = hparams.copy()
    for name in _NEVER_SAVED:
        saved.del_hparam(name)
    os.makedirs(output_dir, exist_ok=True)
    path = os.path.join(output_dir, HPARAMS_FILE)
    temporary = f"{path}.tmp{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as stream:
        stream.write(saved.to_json(indent=0, sort_keys=True))
    os.replace(temporary, path)


def add_problem_hparams(hparams: HParams, problem_or_name: Any) -> None:
    """Attaches a problem: attributes `problem` and `problem_hparams`.

    Args:
        hparams: the run's hyperparameters; the problem may read its `data_dir`.
        problem_or_name: a `Problem`, or the name of a registered one.
    """
    problem = (
        registry.problem(problem_or_name) if isinstance(problem_or_name, str) else problem_or_name
    )
    hparams.problem = problem
    hparams.problem_hparams = problem.get_hparams(hparams)


def copy_hparams(hparams: HParams) -> HParams:
    """A copy of the declared hyperparameters, with the same problem attached."""
    duplicate = hparams.copy()
    for name in _PROBLEM_ATTRIBUTES:
        if hasattr(hparams, name):
            setattr(duplicate, name, getattr(hparams, name))
    return duplicate
