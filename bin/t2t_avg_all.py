"""Averages every n successive checkpoints of a run.

    t2t-avg-all --model_dir=OUTPUT --output_dir=AVERAGED --n=8

The averages can be decoded from like the run itself: t2t-decoder --output_dir=AVERAGED.
"""

import os

from absl import flags

from t2t_keras.bin import command_line, environment, flag_checks

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the command's flags."""
    flags.DEFINE_string("model_dir", "", "Directory with checkpoints.")
    flags.DEFINE_string("output_dir", "avg/", "Directory for the averages.")
    flags.DEFINE_integer("n", 8, "How many checkpoints to average.")
    flags.DEFINE_integer("min_steps", 0, "Leave out checkpoints of fewer steps.")
    flags.DEFINE_integer("wait_minutes", 0, "Wait so long for another checkpoint.")


def main(argv: list[str]) -> None:
    """Averages as the flags say."""
    del argv
    flag_checks.require("model_dir", "output_dir")
    flag_checks.require_at_least(1, "n")
    flag_checks.require_at_least(0, "min_steps", "wait_minutes")
    flag_checks.require_directories("model_dir")
    flag_checks.require_can_be_made("output_dir")
    if os.path.realpath(FLAGS.model_dir) == os.path.realpath(FLAGS.output_dir):
        raise command_line.UsageError(
            f"--output_dir must not be --model_dir. Received: {FLAGS.output_dir}"
        )
    if not FLAGS.wait_minutes:
        flag_checks.require_checkpoint("model_dir")
    environment.load_tensorflow()
    from t2t_keras.training import averaging

    averaging.average_windows(
        FLAGS.model_dir, FLAGS.output_dir, FLAGS.n, FLAGS.min_steps, FLAGS.wait_minutes
    )


def entry_point() -> None:
    """The console script `t2t-avg-all`."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
