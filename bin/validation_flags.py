"""The flags of evaluations while training, as the trainer's settings and its translation check."""

from __future__ import annotations

import functools
import glob
import os
from typing import Any

from absl import flags, logging

from t2t_keras.bin import distribution_flags, flag_checks

FLAGS = flags.FLAGS

# Schedules that translate nothing, and those that keep no best checkpoint.
_WITHOUT_TRANSLATIONS = ("train", "evaluate_on_train_data", "continuous_eval_on_train_data", "test")
_WITHOUT_BEST = (*_WITHOUT_TRANSLATIONS, "evaluate")
# Schedules that read nothing but training data.
_WITHOUT_EVALUATIONS = ("train", "evaluate_on_train_data", "continuous_eval_on_train_data")
# They evaluate every `local_eval_frequency` steps, if that isn't 0.
_EVERY_FEW_STEPS = ("train_and_evaluate", "train_eval_and_decode")
_EVALUATE_ELSEWHERE = (
    "Use --schedule=continuous_train_and_eval, or give it to a process with "
    "--schedule=continuous_eval beside the training."
)

_AT_LEAST_ONE = {
    "best_checkpoints_to_keep": "leave --best_checkpoint_metric out to keep none",
    "eval_early_stopping_steps": "leave it out to train to the end",
}


def translate_every_evaluations() -> int:
    """Evaluations from one that translates to the next; 0: none does.

    Not given, it is 1 where translating was asked for in another way: by a reference, or by T2T's
    schedule `train_eval_and_decode`.
    """
    every = FLAGS.translate_every_evaluations
    if every is None:
        return int(bool(FLAGS.decode_reference) or FLAGS.schedule == "train_eval_and_decode")
    return int(every)


def refuse_bad_flags() -> None:
    """Raises `UsageError` for flags that don't go together; before anything slow."""
    flag_checks.require_at_least(0, "translate_every_evaluations", "eval_throttle_seconds")
    flag_checks.require_at_least(0, "eval_early_stopping_metric_delta")
    every = translate_every_evaluations()
    if every and bool(FLAGS.decode_from_file) != bool(FLAGS.decode_reference):
        raise flag_checks.UsageError(
            "Translations of --decode_from_file are compared with --decode_reference, line by "
            "line: give both, or none to translate the problem's dev split. Received: "
            f"--decode_from_file={FLAGS.decode_from_file} "
            f"--decode_reference={FLAGS.decode_reference}"
        )
    if every:
        from t2t_keras.decoding.decode_hparams import decode_hparams

        flag_checks.require_files("decode_from_file", "decode_reference")
        decode_hparams(FLAGS.decode_hparams)
    for name, way_out in _AT_LEAST_ONE.items():
        value = FLAGS[name].value
        if value is not None and value < 1:
            raise flag_checks.UsageError(
                f"--{name} must be at least 1; {way_out}. Received: {value}"
            )
    _refuse_best_without_evaluations(every)
    if (
        FLAGS.translate_every_evaluations
        and FLAGS.schedule in _WITHOUT_TRANSLATIONS
        and not _heeds_another_process()
    ):
        logging.warning(
            "--translate_every_evaluations has no effect with --schedule=%s. %s",
            FLAGS.schedule, _EVALUATE_ELSEWHERE,
        )  # fmt: skip


def _heeds_another_process() -> bool:
    """Whether plain training stops by what a `continuous_eval` process of these flags finds."""
    return FLAGS.schedule == "train" and FLAGS.eval_early_stopping_steps is not None


def _refuse_best_without_evaluations(translate_every: int) -> None:
    from t2t_keras.decoding.validation import SCORES

    metric = FLAGS.best_checkpoint_metric
    if not metric or FLAGS.schedule not in _WITHOUT_BEST or _heeds_another_process():
        return
    is_score = metric.lower() in [score.lower() for score in SCORES]
    also = f" For {metric} add --translate_every_evaluations=1 there."
    raise flag_checks.UsageError(
        f"--schedule={FLAGS.schedule} keeps no best checkpoint, so --best_checkpoint_metric has no "
        f"effect. {_EVALUATE_ELSEWHERE}{also if is_score and not translate_every else ''} "
        f"Received: --best_checkpoint_metric={metric}"
    )


def refuse_unknown_metrics(problem: Any) -> None:
    """Raises `ValueError` for a metric that evaluations of the problem won't report."""
    from t2t_keras.decoding.validation import SCORES
    from t2t_keras.training.validation_metrics import choose_metric

    names = {"best_checkpoint_metric": FLAGS.best_checkpoint_metric}
    if FLAGS.eval_early_stopping_steps is not None:
        names["eval_early_stopping_metric"] = FLAGS.eval_early_stopping_metric
    for flag, name in names.items():
        if not name:
            continue
        try:
            choose_metric(
                name.rpartition("/")[2],
                prefix="",
                problem_metrics=problem.eval_metrics(),
                translation_metrics=SCORES if translate_every_evaluations() else (),
            )
        except ValueError as error:
            raise flag_checks.UsageError(f"--{flag}: {error}") from error


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
        validation.text_of_split, hparams, FLAGS.data_dir, _split(), options.num_samples
    )
    return validation.TranslationScorer(hparams, options, read, FLAGS.output_dir)


def _split() -> str:
    """What evaluations read."""
    return "test" if FLAGS.eval_use_test_set else "dev"


def require_data(problem: Any) -> None:
    """Raises `FileNotFoundError` if evaluations would find no data, be it hours later."""
    from t2t_keras.decoding import validation
    from t2t_keras.training.run_config import TRAINING_SCHEDULES

    if not _evaluates():
        return
    problems = [problem]
    translates = translate_every_evaluations() and FLAGS.schedule not in _WITHOUT_TRANSLATIONS
    if translates and not FLAGS.decode_from_file:
        problems.append(validation.problem_to_translate(problem))
    for needed in problems:
        pattern = needed.filepattern(FLAGS.data_dir, _split())
        if glob.glob(pattern):
            continue
        is_training = FLAGS.schedule in TRAINING_SCHEDULES
        raise FileNotFoundError(
            f"There is nothing to evaluate on: no file matches {pattern}. Make the data with: "
            f"t2t-datagen --problem={needed.name} --data_dir={FLAGS.data_dir}"
            f"{'; or train without evaluations: --schedule=train' if is_training else ''}"
        )


def _evaluates() -> bool:
    """Whether this process does."""
    if FLAGS.schedule in _WITHOUT_EVALUATIONS:
        return False
    if FLAGS.schedule in _EVERY_FEW_STEPS and not FLAGS.local_eval_frequency:
        return False
    cluster = distribution_flags.cluster()
    return cluster is None or bool(cluster.is_chief)
