"""t2t-text-encoder-build-subword: a subword vocabulary from text files or from counted words.

    t2t-text-encoder-build-subword --corpus_filepattern='corpus/*.txt' --corpus_max_lines=0

`--min_count` decides its size: a subword must occur so often.
"""

from __future__ import annotations

from absl import flags

from t2t_keras import parallel
from t2t_keras.bin import command_line, flag_checks

FLAGS = flags.FLAGS


def define_flags() -> None:
    """Defines the flags of T2T's text_encoder_build_subword."""
    flags.DEFINE_string(
        "output_filename", "/tmp/my.subword_text_encoder", "File for the vocabulary."
    )
    flags.DEFINE_string("corpus_filepattern", "", "Pattern of text files.")
    flags.DEFINE_string("vocab_filepattern", "", "Pattern of files with lines word,count.")
    flags.DEFINE_integer("min_count", 5, "How often a subword must occur.")
    flags.DEFINE_integer("corpus_max_lines", 10000, "Lines to read from all files; 0: all.")
    flags.DEFINE_integer("num_iterations", 4, "How often the vocabulary is refined.")
    flags.DEFINE_boolean("split_on_newlines", True, "Lines are texts; else whole files are.")


def main(argv: list[str]) -> None:
    """Builds and stores the vocabulary."""
    del argv
    from t2t_keras.text import subword_builder, tokenizer

    if bool(FLAGS.corpus_filepattern) == bool(FLAGS.vocab_filepattern):
        raise command_line.UsageError(
            "Give exactly one of --corpus_filepattern and --vocab_filepattern. Received: "
            f"--corpus_filepattern={FLAGS.corpus_filepattern!r} "
            f"--vocab_filepattern={FLAGS.vocab_filepattern!r}"
        )
    flag_checks.require("output_filename")
    flag_checks.require_at_least(1, "min_count", "num_iterations")
    flag_checks.require_at_least(0, "corpus_max_lines")
    flag_checks.require_matches("corpus_filepattern", "vocab_filepattern")
    flag_checks.require_file_can_be_written("output_filename")
    with parallel.processes(None):
        if FLAGS.corpus_filepattern:
            counts: dict[str, int] = tokenizer.corpus_token_counts(
                FLAGS.corpus_filepattern, FLAGS.corpus_max_lines, FLAGS.split_on_newlines
            )
        else:
            counts = tokenizer.vocab_token_counts(FLAGS.vocab_filepattern, FLAGS.corpus_max_lines)
    if not counts:
        raise command_line.UsageError(
            "There are no words to build a vocabulary of. Received: "
            f"{FLAGS.corpus_filepattern or FLAGS.vocab_filepattern}"
        )
    encoder = subword_builder.build_from_token_counts(counts, FLAGS.min_count, FLAGS.num_iterations)
    encoder.store_to_file(FLAGS.output_filename)
    print(f"{FLAGS.output_filename}: {encoder.vocab_size} entries")


def entry_point() -> None:
    """The console script `t2t-text-encoder-build-subword`."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
