"""The flags of evaluations while training, as the trainer's settings and its translation check."""

from __future__ import annotations

import functools
import os
from typing import Any

from absl import flags, logging

from t2t_keras.bin import command_line

FLAGS = flags.FLAGS

_WITHOUT_EVALUATIONS = ("train", "evaluate_on_train_data", "continuous_eval_on_train_data", "test")


def translate_every_evaluations() -> int:
    """Evaluations from one that translates to the next; 0: none does.

    Not given, it is 1 where translating was asked for in another way: by a reference, or by T2T's
    schedule `train_eval_and_decode`.
    """
    every = FLAGS.translate_every_evaluations
    if every is None:
        return int(bool(FLAGS.decode_reference) or FLAGS.schedule == "train_eval_and_decode")
    if every < 0:
        raise command_line.UsageError(
            f"--translate_every_evaluations must not be negative. Received: {every}"
        )
    return int(every)


def refuse_bad_flags() -> None:
    """Raises `UsageError` for flags that don't go together; before anything slow."""
    every = translate_every_evaluations()
    if every and bool(FLAGS.decode_from_file) != bool(FLAGS.decode_reference):
        raise command_line.UsageError(
            "Translations of --decode_from_file are compared with --decode_reference, line by "
            "line: give both, or none to translate the problem's dev split. Received: "
            f"--decode_from_file={FLAGS.decode_from_file} "
            f"--decode_reference={FLAGS.decode_reference}"
        )
    if FLAGS.best_checkpoints_to_keep < 1:
        raise command_line.UsageError(
            "--best_checkpoints_to_keep must be at least 1; leave --best_checkpoint_metric out to "
            f"keep none. Received: {FLAGS.best_checkpoints_to_keep}"
        )
    if FLAGS.schedule in _WITHOUT_EVALUATIONS:
        heeds_others = FLAGS.schedule == "train" and FLAGS.eval_early_stopping_steps is not None
        for name in ("translate_every_evaluations", "best_checkpoint_metric"):
            if FLAGS[name].value and not heeds_others:
                logging.warning(
                    "--%s has no effect with --schedule=%s. Use "
                    "--schedule=continuous_train_and_eval, or run --schedule=continuous_eval "
                    "beside the training.",
                    name, FLAGS.schedule,
                )  # fmt: skip


def settings() -> dict[str, Any]:
    """Arguments of `RunConfig`."""
    return {
        # The first evaluation doesn't come before one that is asked for more often.
        "eval_start_delay_seconds": min(120, FLAGS.eval_throttle_seconds),
        "translate_every_evaluations": translate_every_evaluations(),
        "best_checkpoint_metric": FLAGS.best_checkpoint_metric,
        "best_checkpoints_to_keep": FLAGS.best_checkpoints_to_keep,
        "early_stopping_steps": FLAGS.eval_early_stopping_steps,
        "early_stopping_metric": FLAGS.eval_early_stopping_metric,
        "early_stopping_delta": FLAGS.eval_early_stopping_metric_delta,
        "early_stopping_minimize": (
            FLAGS.eval_early_stopping_metric_minimize
            if FLAGS["eval_early_stopping_metric_minimize"].present
            else None
        ),
    }


def translation_check(hparams: Any) -> Any:
    """What translates and scores in evaluations; None if nothing does.

    Raises:
        FileNotFoundError: there is nothing to translate.
        ValueError: the problem can't be translated, or source and reference differ in length.
    """
    # Also for schedules that don't translate: the names of its scores must be known, as plain
    # training may stop early by those of another process.
    if not translate_every_evaluations():
        return None
    from t2t_keras.decoding import validation
    from t2t_keras.decoding.decode_hparams import decode_hparams

    validation.check_translatable(hparams)
    options = decode_hparams(FLAGS.decode_hparams)
    if FLAGS.decode_from_file:
        text = validation.text_of_files(
            os.path.expanduser(FLAGS.decode_from_file),
            os.path.expanduser(FLAGS.decode_reference),
            options.num_samples,
        )
        return validation.TranslationScorer(hparams, options, lambda: text, FLAGS.output_dir)
    # Read later: TensorFlow must not run anything before the replicas' devices are made.
    read = functools.partial(
        validation.text_of_split,
        hparams,
        FLAGS.data_dir,
        "test" if FLAGS.eval_use_test_set else "dev",
        options.num_samples,
    )
    return validation.TranslationScorer(hparams, options, read, FLAGS.output_dir)
