"""t2t-decoder: decodes a file, a data set or what is typed with a trained model.

    t2t-decoder --output_dir=RUN --decode_from_file=in.txt --decode_to_file=out.txt

Problem, model, hparams set, data and user directory are those of the run unless given. Without an
input file the problem's evaluation set is decoded; --decode_interactive asks for texts;
--score_file computes how likely given targets are.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from absl import flags

from t2t_keras.bin import command_line, environment, flag_checks, trained_model
from t2t_keras.bin import flags as t2t_flags
from t2t_keras.bin.trained_model import TrainedModel

if TYPE_CHECKING:
    from t2t_keras.decoding.translator import Translator
    from t2t_keras.hparam import HParams

FLAGS = flags.FLAGS

# Flags whose decode hparam has another name.
_FLAG_OF = {"shards": "decode_shards", "shard_id": "worker_id"}
_WHAT_TO_DECODE = ("score_file", "decode_interactive", "decode_from_file")
_THREADS = ("inter_op_parallelism_threads", "intra_op_parallelism_threads")


def define_flags() -> None:
    """Defines the flags of T2T's `t2t-decoder`."""
    t2t_flags.define_trainer_flags()
    flags.DEFINE_string(
        "checkpoint_path", None, "Checkpoint to use instead of the newest in output_dir."
    )
    flags.DEFINE_boolean(
        "keep_timestamp", False, "Give the output file the time of the file of checkpoint_path."
    )
    flags.DEFINE_boolean("decode_interactive", False, "Ask for texts and decode them.")
    flags.DEFINE_integer("decode_shards", 1, "Number of files the input is split into.")
    flags.DEFINE_string("score_file", "", "File of lines input<TAB>target to score.")
    flags.DEFINE_boolean("decode_in_memory", False, "Decode a data set without writing files.")
    flags.DEFINE_boolean("disable_grappler_optimizations", False, "Switch graph rewriting off.")


def decode_hparams_from_flags() -> HParams:
    """The decode hparams: `--decode_hparams`, then the flags that have a say of their own."""
    from t2t_keras.decoding.decode_hparams import decode_hparams

    options = decode_hparams(FLAGS.decode_hparams)
    from_flags = {
        "shards": FLAGS.decode_shards,
        "shard_id": FLAGS.worker_id,
        "decode_in_memory": FLAGS.decode_in_memory,
        "decode_to_file": FLAGS.decode_to_file,
        "decode_reference": FLAGS.decode_reference,
    }
    for name, value in from_flags.items():
        # T2T lets a flag that was not given overwrite the decode hparam, too.
        if value != FLAGS[_FLAG_OF.get(name, name)].default:
            options.set_hparam(name, value)
    return options


def make_translator(trained: TrainedModel, options: HParams) -> Translator:
    """A translator for the model, as the flags want it."""
    from t2t_keras.decoding.sampling import sampling_from_hparams
    from t2t_keras.decoding.translator import Translator

    return Translator(
        trained.model,
        trained.hparams.problem_hparams,
        options,
        xla_compile=FLAGS.xla_compile,
        sampling=sampling_from_hparams(trained.hparams),
    )


def main(argv: list[str]) -> None:
    """Decodes what the flags name.

    Args:
        argv: arguments left over by the flags, unused.

    Raises:
        ValueError: flags that do not go together, or an output that cannot be written.
        FileNotFoundError: the input file does not exist.
    """
    del argv
    options = decode_hparams_from_flags()
    _check_flags(options)
    hparams = trained_model.check_flags()
    _check_that_there_is_data()
    if FLAGS.decode_from_file:
        _check_reference(options, 1 if hparams.problem.has_inputs else options.num_decodes)
    _prepare_tensorflow()
    trained = trained_model.load(hparams)
    if FLAGS.score_file:
        _score_file(trained, options)
    elif FLAGS.decode_interactive:
        from t2t_keras.decoding.interactive import decode_interactively

        decode_interactively(make_translator(trained, options))
    elif FLAGS.decode_from_file:
        _decode_file(trained, options)
    else:
        _decode_dataset(trained, options)


def entry_point() -> None:
    """Runs the command (console script `t2t-decoder`)."""
    command_line.run(main, define_flags)


def _check_flags(options: HParams) -> None:
    """Refuses, before anything slow, what could only fail later."""
    if FLAGS.keep_timestamp and not (FLAGS.checkpoint_path and FLAGS.decode_from_file):
        raise command_line.UsageError(
            "--keep_timestamp needs --checkpoint_path and --decode_from_file."
        )
    if FLAGS.score_file and not FLAGS.decode_to_file:
        raise command_line.UsageError("--score_file needs --decode_to_file, where the scores go.")
    chosen = [name for name in _WHAT_TO_DECODE if FLAGS[name].value]
    if len(chosen) > 1:
        raise command_line.UsageError(f"Give only one of --{', --'.join(chosen)}.")
    flag_checks.require_at_least(1, "decode_shards")
    flag_checks.require_at_least(0, "worker_id", *_THREADS)
    if options.shards > 1 and options.shard_id >= options.shards:
        raise command_line.UsageError(
            "--worker_id, the shard to decode, must be below the number of shards "
            f"(--decode_shards). Received: {options.shard_id} of {options.shards}"
        )
    flag_checks.require_files("score_file")
    if options.decode_reference:
        flag_checks.require_file("decode_reference", os.path.expanduser(options.decode_reference))
    if FLAGS.decode_from_file:
        flag_checks.require_file("decode_from_file", _input_path(options))
    flag_checks.require_file_can_be_written("decode_to_file")


def _input_path(options: HParams) -> str:
    """The file to decode; of several shards, the flag is only the beginning of the name."""
    from t2t_keras.decoding import record_files

    return record_files.with_shard_suffix(os.path.expanduser(FLAGS.decode_from_file), options)


def _check_reference(options: HParams, num_outputs: int) -> None:
    """Decoding takes long; a reference of another length would be found out after it.

    Args:
        options: decode hparams.
        num_outputs: of each line.
    """
    from t2t_keras.decoding import record_files

    if not options.decode_reference or options.delimiter != "\n":
        return
    paths = _input_path(options), os.path.expanduser(options.decode_reference)
    source, reference = (len(record_files.read_records(path)) for path in paths)
    if source * num_outputs != reference:
        times = f" for each of the {num_outputs} outputs" if num_outputs > 1 else ""
        raise command_line.UsageError(
            f"--decode_reference must have a line{times} for each line of --decode_from_file. "
            f"Received: {source} lines in {paths[0]}, {reference} in {paths[1]}"
        )
    if not reference:
        raise command_line.UsageError(
            f"There is nothing to score: {paths[0]} and {paths[1]} are empty. Leave out "
            "--decode_reference."
        )


def _check_that_there_is_data() -> None:
    if any(FLAGS[name].value for name in _WHAT_TO_DECODE) or FLAGS.data_dir:
        return
    raise command_line.UsageError(
        "Without --decode_from_file the problem's data set is decoded, which needs --data_dir."
    )


def _prepare_tensorflow() -> None:
    environment.load_tensorflow()
    import tensorflow as tf

    if FLAGS.random_seed is not None:
        tf.random.set_seed(FLAGS.random_seed)
    if FLAGS.disable_grappler_optimizations:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    if FLAGS.inter_op_parallelism_threads:
        tf.config.threading.set_inter_op_parallelism_threads(FLAGS.inter_op_parallelism_threads)
    if FLAGS.intra_op_parallelism_threads:
        tf.config.threading.set_intra_op_parallelism_threads(FLAGS.intra_op_parallelism_threads)


def _decode_file(trained: TrainedModel, options: HParams) -> None:
    from t2t_keras.decoding import decoder

    output = decoder.decode_from_file(
        make_translator(trained, options),
        os.path.expanduser(FLAGS.decode_from_file),
        model_name=FLAGS.model,
        hparams_set=FLAGS.hparams_set,
        problem_name=FLAGS.problem,
        decode_to_file=os.path.expanduser(options.decode_to_file),
    )
    if FLAGS.keep_timestamp:
        decoder.copy_timestamp(trained.checkpoint_path, output)
    if options.decode_reference:
        _report_bleu(trained, options, output)


def _decode_dataset(trained: TrainedModel, options: HParams) -> None:
    from t2t_keras.decoding import dataset

    dataset.decode_from_dataset(
        make_translator(trained, options),
        trained.hparams.problem,
        trained.hparams,
        FLAGS.data_dir,
        dataset_split="test" if FLAGS.eval_use_test_set else None,
        decode_to_file=os.path.expanduser(options.decode_to_file),
        model_name=FLAGS.model,
        hparams_set=FLAGS.hparams_set,
    )


def _score_file(trained: TrainedModel, options: HParams) -> None:
    from t2t_keras.decoding import scoring

    scoring.score_file(
        trained.model,
        trained.hparams.problem_hparams.vocabulary,
        os.path.expanduser(FLAGS.score_file),
        os.path.expanduser(FLAGS.decode_to_file),
        options.delimiter,
    )


def _report_bleu(trained: TrainedModel, options: HParams, output: str) -> None:
    from t2t_keras.decoding.reference import report_bleu

    run_dir = FLAGS.output_dir or os.path.dirname(trained.checkpoint_path)
    report_bleu(
        output,
        os.path.expanduser(options.decode_reference),
        os.path.join(run_dir, options.summaries_log_dir),
        trained.step,
    )


if __name__ == "__main__":
    entry_point()
