"""t2t-inspect: what is in TFRecord shards.

    t2t-inspect --problem=translate_ende_wmt32k --data_dir=DIR --print_all --max_examples=5
    t2t-inspect --input_filename='DIR/*-train-*' --subword_text_encoder_filename=DIR/vocab…

It prints decoded examples if asked to, the distribution of lengths, and how many examples a
`max_length` would drop.
"""

from __future__ import annotations

import glob
import itertools
from collections.abc import Iterator
from typing import Any

from absl import flags

from t2t_keras import registry
from t2t_keras.bin import command_line, flag_checks
from t2t_keras.data import inspection

FLAGS = flags.FLAGS

_SIDES = ("inputs", "targets")


def define_flags() -> None:
    """Defines this command's flags: those of T2T's inspect_tfrecord, and some more."""
    flags.DEFINE_string("input_filename", "", "TFRecord file, or a quoted pattern of files.")
    flags.DEFINE_boolean("print_inputs", False, "Print decoded inputs.")
    flags.DEFINE_boolean("print_targets", False, "Print decoded targets.")
    flags.DEFINE_boolean("print_all", False, "Print all features.")
    flags.DEFINE_string(
        "subword_text_encoder_filename", "", "Subword vocabulary to decode both sides with."
    )
    flags.DEFINE_string(
        "token_text_encoder_filename", "", "Token vocabulary to decode both sides with."
    )
    flags.DEFINE_boolean("byte_text_encoder", False, "Decode both sides as bytes.")
    flags.DEFINE_string("problem", "", "Take files and vocabularies of this problem.")
    flags.DEFINE_string("data_dir", "", "Directory of the problem's files.")
    flags.DEFINE_enum("split", "train", ["train", "dev", "test"], "Split of the problem.")
    flags.DEFINE_string("t2t_usr_dir", "", "Your package of problems to import.")
    flags.DEFINE_integer("max_length", 256, "Limit of the length to compare with.", lower_bound=1)
    flags.DEFINE_integer("max_examples", 0, "Look at so many examples; 0: all.", lower_bound=0)
    flags.DEFINE_string("plot", "", "Draw the lengths into this file (needs matplotlib).")


def main(argv: list[str]) -> None:
    """Prints examples and lengths."""
    del argv
    paths, decoders = _files_and_decoders()
    found = inspection.examples(paths)
    lengths = inspection.Lengths()
    for number, example in enumerate(itertools.islice(found, FLAGS.max_examples or None)):
        lengths.add(example)
        names = list(_features_to_print(example))
        if names:
            print(f"[{number}]\n{inspection.describe_example(example, names, decoders)}\n")
    print(inspection.summary(lengths, FLAGS.max_length))
    for name in sorted(lengths.by_side):
        print(f"\nLengths of {name}:\n{inspection.histogram(lengths.side(name))}")
    if FLAGS.plot:
        inspection.plot(lengths, FLAGS.max_length, FLAGS.plot)


def entry_point() -> None:
    """The console script `t2t-inspect`."""
    command_line.run(main, define_flags)


def _files_and_decoders() -> tuple[list[str], dict[str, Any]]:
    """Files to read, and encoders by feature name, from the flags."""
    if bool(FLAGS.problem) == bool(FLAGS.input_filename):
        raise command_line.UsageError(
            "Give either --input_filename, or --problem with --data_dir. Received: "
            f"--input_filename={FLAGS.input_filename!r} --problem={FLAGS.problem!r}"
        )
    if FLAGS.problem:
        flag_checks.require("data_dir")
    flag_checks.require_directories("data_dir")
    flag_checks.require_files("subword_text_encoder_filename", "token_text_encoder_filename")
    flag_checks.require_matches("input_filename")
    flag_checks.require_file_can_be_written("plot")
    decoder = _decoder()
    decoders: dict[str, Any] = {}
    if FLAGS.input_filename:
        pattern = FLAGS.input_filename
    else:
        problem = registry.problem(FLAGS.problem)
        # The files know nothing of _rev and _copy.
        decoders = problem.feature_encoders(FLAGS.data_dir) if decoder is None else {}
        pattern = problem.filepattern(FLAGS.data_dir, FLAGS.split)
    if decoder is not None:
        decoders = dict.fromkeys(_SIDES, decoder)
    paths = sorted(glob.glob(pattern))
    if not paths:
        raise FileNotFoundError(f"No file matches {pattern}")
    return paths, decoders


def _decoder() -> Any:
    """The encoder that the flags name; None if they name none."""
    from t2t_keras.text import encoders, subwords

    given = [
        name
        for name in (
            "subword_text_encoder_filename",
            "token_text_encoder_filename",
            "byte_text_encoder",
        )
        if FLAGS[name].value
    ]
    if len(given) > 1:
        raise command_line.UsageError(
            f"Only one encoder can be used. Received: --{' --'.join(given)}"
        )
    if FLAGS.subword_text_encoder_filename:
        return subwords.SubwordTextEncoder(FLAGS.subword_text_encoder_filename)
    if FLAGS.token_text_encoder_filename:
        return encoders.TokenTextEncoder(FLAGS.token_text_encoder_filename)
    return encoders.ByteTextEncoder() if FLAGS.byte_text_encoder else None


def _features_to_print(example: dict[str, Any]) -> Iterator[str]:
    for name in sorted(example):
        wanted = {"inputs": FLAGS.print_inputs, "targets": FLAGS.print_targets}.get(name, False)
        if wanted or FLAGS.print_all:
            yield name


if __name__ == "__main__":
    entry_point()
