"""The trained model that the flags of decoder and exporter name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from absl import flags, logging

from t2t_keras import registry
from t2t_keras.bin import command_line, flag_checks, run_hparams

if TYPE_CHECKING:
    from t2t_keras.hparam import HParams

FLAGS = flags.FLAGS


class TrainedModel(NamedTuple):
    """A model with its weights, its hparams, and where the weights came from."""

    model: Any
    hparams: HParams
    checkpoint_path: str
    step: int


def check_flags() -> HParams:
    """Refuses flags that name no model, without TensorFlow; completes them from the run's files.

    Returns:
        The run's hyperparameters, with its problem.

    Raises:
        UsageError: a flag is missing, or a directory or checkpoint doesn't exist.
        KeyError: a name isn't registered.
        ValueError: hyperparameters can't work, or the vocabulary isn't the run's.
    """
    if not (FLAGS.checkpoint_path or FLAGS.output_dir):
        raise command_line.UsageError(
            "Where is the model? Give --output_dir (the directory of its training run) or "
            "--checkpoint_path."
        )
    if not FLAGS.checkpoint_path:
        flag_checks.require_directories("output_dir")
    flag_checks.require_checkpoint("checkpoint_path" if FLAGS.checkpoint_path else "output_dir")
    command_line.fill_from_output_dir(FLAGS)
    for name in ("problem", "model", "hparams_set"):
        if not FLAGS[name].value:
            raise command_line.UsageError(
                f"--{name} is missing, and there is no flags.txt that names it in the run's "
                f"directory. Received: {FLAGS.checkpoint_path or FLAGS.output_dir}"
            )
    flag_checks.require_directories("data_dir")
    hparams = run_hparams.create(_run_directory(), FLAGS.problem)
    _require_vocabulary(hparams)
    return hparams


def load(hparams: HParams) -> TrainedModel:
    """The model that the flags name.

    Args:
        hparams: as from `check_flags`.

    Raises:
        ValueError: the checkpoint can't be read or doesn't fit the model.
    """
    from t2t_keras.training import checkpoints

    checkpoint_path = checkpoints.resolve(FLAGS.checkpoint_path or FLAGS.output_dir)
    logging.info("Building the model …")
    model = registry.model(FLAGS.model).from_hparams(hparams)
    step = checkpoints.load_model_variables(model, checkpoint_path)
    logging.info("Using %s (step %d).", checkpoint_path, step)
    return TrainedModel(model, hparams, checkpoint_path, step)


def checkpoint_directory() -> str:
    """The directory of the checkpoint that is meant."""
    path = os.path.expanduser(FLAGS.checkpoint_path or FLAGS.output_dir)
    return path if os.path.isdir(path) else os.path.dirname(path)


def _run_directory() -> str:
    """Where the run's files are: the output directory, else that of the checkpoint."""
    path = FLAGS.output_dir or os.path.expanduser(FLAGS.checkpoint_path)
    return str(path) if os.path.isdir(path) else os.path.dirname(path)


def _require_vocabulary(hparams: HParams) -> None:
    """Another vocabulary of the same size would make other words of the same ids."""
    from t2t_keras.training import run_vocabulary

    # Beside the checkpoint or, if it was copied without the rest, in the run's directory.
    directory = checkpoint_directory()
    if not os.path.exists(os.path.join(directory, run_vocabulary.FILE)):
        directory = _run_directory()
    run_vocabulary.require_that_of_run(directory, hparams, FLAGS.data_dir or "")
