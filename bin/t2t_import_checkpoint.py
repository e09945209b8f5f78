"""Brings a training run of tensor2tensor here: checkpoint, optimizer state, settings.

    t2t-import-checkpoint --model_dir=OLD --output_dir=NEW

NEW can then be trained on, decoded from and exported like any run. Problem, model and set are those
of OLD/flags.txt unless given; what is given replaces it in NEW/flags.txt, so name directories that
have moved since: --data_dir, --t2t_usr_dir. t2t-trainer, t2t-decoder and t2t-exporter also read OLD
itself; importing checks every variable first and leaves OLD as it is.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from absl import flags

from t2t_keras import registry
from t2t_keras.bin import command_line, environment, flag_checks, migration_flags

if TYPE_CHECKING:
    from t2t_keras.hparam import HParams

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the command's flags."""
    migration_flags.define_flags()
    flags.DEFINE_boolean("optimizer_state", True, "Take the optimizer's state, too.")


def main(argv: list[str]) -> None:
    """Imports what the flags name."""
    del argv
    source = migration_flags.fill_flags()
    flag_checks.require("model")
    hparams = migration_flags.create_hparams()
    environment.load_tensorflow()
    from t2t_keras.migration import t2t_checkpoint
    from t2t_keras.training import run_vocabulary

    vocabulary = _vocabulary(hparams)
    # A run of ours that was taken back tells its own; one of tensor2tensor's says nothing.
    run_vocabulary.refuse_another(FLAGS.model_dir, vocabulary)
    model = t2t_checkpoint.make_model(FLAGS.model, hparams, source)
    optimizer = registry.optimizer(hparams.optimizer)(0.0, hparams)
    prefix = t2t_checkpoint.import_checkpoint(
        source, FLAGS.output_dir, model, optimizer, optimizer_state=FLAGS.optimizer_state
    )
    run_vocabulary.remember(FLAGS.output_dir, vocabulary)
    _remember_flags()
    print(prefix)


def _vocabulary(hparams: HParams) -> dict[str, Any]:
    """What the new run is to remember of its vocabularies: nothing, where they aren't at hand."""
    from t2t_keras.training import run_vocabulary

    problem_hparams = getattr(hparams, "problem_hparams", None)
    if problem_hparams is None:
        return {}
    return run_vocabulary.describe(hparams.problem, problem_hparams.vocabulary, FLAGS.data_dir)


def _remember_flags() -> None:
    """Puts the flags as they are now into the new run's `flags.txt`."""
    path = os.path.join(FLAGS.output_dir, "flags.txt")
    lines = []
    if os.path.isfile(path):
        with open(path, encoding="utf-8") as stream:
            lines = stream.read().splitlines()
    for name in command_line.REMEMBERED_FLAGS:
        value = FLAGS[name].value
        if not value:
            continue
        if name in ("data_dir", "t2t_usr_dir"):
            value = os.path.abspath(value)
        lines = [line for line in lines if line.partition("=")[0] != f"--{name}"]
        lines.append(f"--{name}={value}")
    command_line.write_text(path, "\n".join(lines) + "\n")


def entry_point() -> None:
    """The console script `t2t-import-checkpoint`."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
