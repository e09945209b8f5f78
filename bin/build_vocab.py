"""t2t-build-vocab: builds the vocabulary of a text problem, and nothing else.

t2t-build-vocab --problem=translate_ende_wmt32k --data_dir=DIR --tmp_dir=DIR
"""

from __future__ import annotations

import os

from absl import flags

from t2t_keras import parallel, registry
from t2t_keras.bin import command_line, flag_checks
from t2t_keras.bin import flags as t2t_flags
from t2t_keras.data import source_options

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags of T2T's build_vocab."""
    flags.DEFINE_string("data_dir", "/tmp/t2t/data_dir", "Directory for the vocabulary.")
    flags.DEFINE_string("tmp_dir", "/tmp/t2t/tmp_dir", "Directory for raw files.")
    flags.DEFINE_string("problem", None, "Name of the problem.")
    flags.DEFINE_string("t2t_usr_dir", "", "Your package of problems to import.")
    t2t_flags.define_data_generator_flags()


def main(argv: list[str]) -> None:
    """Builds the vocabulary, or says that it is there already."""
    del argv
    from t2t_keras.data import seeding, text_problems

    flag_checks.require("problem", "data_dir", "tmp_dir")
    flag_checks.require_can_be_made("data_dir", "tmp_dir")
    t2t_flags.check_source_flags()
    problem = registry.problem(FLAGS.problem)
    if not isinstance(problem, text_problems.Text2TextProblem):
        raise ValueError(
            f"{FLAGS.problem} is no text problem, so it has no vocabulary to build. "
            f"Received: --problem={FLAGS.problem}"
        )
    with (
        flag_checks.made_directories(data_dir=FLAGS.data_dir, tmp_dir=FLAGS.tmp_dir),
        source_options.use(t2t_flags.source_options()),
        parallel.processes(None),
    ):
        vocabulary = problem.get_or_create_vocab(FLAGS.data_dir, FLAGS.tmp_dir)
    path = os.path.join(FLAGS.data_dir, problem.vocab_filename)
    # The samples that t2t-datagen generates later are drawn anew.
    seeding.SavedState(path).remove()
    print(f"{path if os.path.exists(path) else 'No file'}: {vocabulary.vocab_size} entries")


def entry_point() -> None:
    """The console script `t2t-build-vocab`."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
