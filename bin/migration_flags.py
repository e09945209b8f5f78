"""What the commands that import and export checkpoints have in common."""

from __future__ import annotations

import os
from typing import Any

from absl import flags, logging

from t2t_keras import hparams_lib, registry
from t2t_keras.bin import command_line, flag_checks

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags of both commands."""
    flags.DEFINE_string("model_dir", "", "The run's directory.")
    flags.DEFINE_string("output_dir", "", "The new directory.")
    flags.DEFINE_string("checkpoint_path", "", "Checkpoint to take instead of the newest.")
    for name, what in (
        ("problem", "Problem"),
        ("model", "Model"),
        ("hparams_set", "Set of hyperparameters"),
        ("hparams", "Overrides name=value,…"),
        ("data_dir", "Directory of data and vocabulary"),
        ("t2t_usr_dir", "Directory of user-defined problems, models and sets"),
    ):
        flags.DEFINE_string(name, "", f"{what}; default: as in the run's files.")
    flags.DEFINE_boolean("registry_help", False, "List what is registered and exit.")


def fill_flags() -> str:
    """Completes the flags from the run's `flags.txt`; returns the checkpoint meant.

    Raises:
        UsageError: a needed flag is missing, or there is no such directory or checkpoint.
        KeyError: a name isn't registered.
    """
    if FLAGS.checkpoint_path and not FLAGS.model_dir:
        FLAGS["model_dir"].value = os.path.dirname(os.path.expanduser(FLAGS.checkpoint_path)) or "."
    flag_checks.require("model_dir", "output_dir")
    flag_checks.require_directories("model_dir")
    flag_checks.require_can_be_made("output_dir")
    flag_checks.require_directories("data_dir")
    flag_checks.require_checkpoint("checkpoint_path" if FLAGS.checkpoint_path else "model_dir")
    if flag_checks.has_checkpoint(FLAGS.output_dir):
        raise command_line.UsageError(
            f"--output_dir already has checkpoints; name a new one. Received: {FLAGS.output_dir}"
        )
    given = {name: FLAGS[name].value or "" for name in ("problem", "model", "hparams_set")}
    command_line.fill_from_directory(FLAGS.model_dir, FLAGS, needs_problem=False)
    _refuse_unknown_names(given)
    return FLAGS.checkpoint_path or FLAGS.model_dir


def _refuse_unknown_names(given: dict[str, str]) -> None:
    """Names that are given must be known, unless the run's files have them, too."""
    path = os.path.join(FLAGS.model_dir, "flags.txt")
    of_run = command_line.read_flags_file(path) if os.path.isfile(path) else {}
    new = {name: value for name, value in given.items() if value and value != of_run.get(name)}
    if "problem" in new:
        registry.problem(new["problem"])
    if "model" in new:
        flag_checks.require_model(new["model"])
    if "hparams_set" in new:
        registry.hparams(new["hparams_set"])


def create_hparams() -> Any:
    """The run's hyperparameters, with its problem if `--data_dir` is there.

    A set that isn't registered here is no obstacle: `hparams.json` has all its values.

    Raises:
        UsageError: neither a set nor `hparams.json`.
    """
    path = os.path.join(FLAGS.model_dir, hparams_lib.HPARAMS_FILE)
    if FLAGS.hparams_set in registry.list_hparams():
        hparams = hparams_lib.create_hparams(
            FLAGS.hparams_set, FLAGS.hparams, FLAGS.data_dir or None, hparams_path=path
        )
    elif os.path.isfile(path):
        logging.info("No set %r here: all is taken from %s.", FLAGS.hparams_set, path)
        hparams = hparams_lib.create_hparams_from_json(path)
        hparams.parse(FLAGS.hparams)
    else:
        flag_checks.require("hparams_set")
        hparams = registry.hparams(FLAGS.hparams_set)
    if FLAGS.data_dir and FLAGS.problem in registry.list_problems():
        hparams_lib.add_problem_hparams(hparams, FLAGS.problem)
    return hparams
