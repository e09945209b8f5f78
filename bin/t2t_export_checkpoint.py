"""Writes a run's checkpoint as tensor2tensor writes it, for tensor2tensor's programs.

    t2t-export-checkpoint --model_dir=RUN --output_dir=FOR_T2T

The newest checkpoint, or --checkpoint_path, with the optimizer's state. Set and hyperparameters are
those of the run unless given.
"""

from __future__ import annotations

from absl import flags

from t2t_keras import registry
from t2t_keras.bin import command_line, environment, migration_flags

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the command's flags."""
    migration_flags.define_flags()


def main(argv: list[str]) -> None:
    """Exports what the flags name."""
    del argv
    source = migration_flags.fill_flags()
    hparams = migration_flags.create_hparams()
    environment.load_tensorflow()
    from t2t_keras.migration import t2t_checkpoint

    optimizer = registry.optimizer(hparams.optimizer)(0.0, hparams)
    print(t2t_checkpoint.export_checkpoint(source, FLAGS.output_dir, optimizer, hparams))


def entry_point() -> None:
    """The console script `t2t-export-checkpoint`."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
