"""t2t-bleu: BLEU of a file of translations, or of a directory of them into TensorBoard events.

One file::

    t2t-bleu --translation=newstest.decodes --reference=newstest.de

All decodes ``DIR/*-<step>`` of a training run, one TensorBoard scalar per step::

    t2t-bleu --translations_dir=DIR --reference=newstest.de --event_dir=EVENTS
"""

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from absl import flags, logging

from t2t_keras.bin import command_line, flag_checks
from t2t_keras.evaluation import bleu, step_files

FLAGS = flags.FLAGS

# One file below --event_dir remembers how far the last run got.
_LAST_STEP_FILE = "last_evaluated_step.txt"


class Variant(NamedTuple):
    """One way to count: the scalar's name and whether case matters."""

    name: str
    case_sensitive: bool


_VARIANTS = {"uncased": Variant("BLEU_uncased", False), "cased": Variant("BLEU_cased", True)}


def define_flags() -> None:
    """Defines the flags of T2T's ``t2t-bleu``."""
    flags.DEFINE_string("source", None, "Path to the source-language file (not used).")
    flags.DEFINE_string("reference", None, "Path to the reference translation file.")
    flags.DEFINE_string("translation", None, "Path to one file of translations to score.")
    flags.DEFINE_string(
        "translations_dir", None, "Directory of translations named <anything>-<step>."
    )
    flags.DEFINE_string("event_dir", None, "Where to write TensorBoard events (directory mode).")
    flags.DEFINE_enum("bleu_variant", "both", ["cased", "uncased", "both"], "What to compute.")
    flags.DEFINE_string("tag_suffix", "", "Added to the names of the TensorBoard scalars.")
    flags.DEFINE_integer(
        "min_steps", -1, f"Skip smaller steps. -1: go on after {_LAST_STEP_FILE} of event_dir."
    )
    flags.DEFINE_integer("wait_minutes", 0, "How long to wait for the next translations.")
    flags.DEFINE_boolean(
        "report_zero", None, "Report BLEU 0 at step 0. Default: only if min_steps is 0."
    )


def _chosen_variants(bleu_variant: str) -> list[Variant]:
    return [v for key, v in _VARIANTS.items() if bleu_variant in (key, "both")]


def score_file(reference: str, translation: str, bleu_variant: str = "both") -> Iterator[str]:
    """Scores one file of translations.

    Args:
        reference: path of the references.
        translation: path of the translations.
        bleu_variant: "cased", "uncased" or "both".

    Yields:
        T2T's lines ``BLEU_uncased = %6.2f``, ``BLEU_cased = %6.2f``; after them sacrebleu's score
        of each kind with its signature, the figure to publish.

    Raises:
        ValueError: the files have different numbers of lines, or none.
        FileNotFoundError: one of them doesn't exist.
    """
    for name, path in (("translation", translation), ("reference", reference)):
        if not os.path.exists(path):
            raise FileNotFoundError(f"--{name} doesn't exist. Received: {path}")
    references, translations = bleu.read_sentences(reference, translation)
    variants = _chosen_variants(bleu_variant)
    for variant in variants:
        score = bleu.bleu_wrapper(reference, translation, variant.case_sensitive)
        yield f"{variant.name} = {100 * score:6.2f}"
    for variant in variants:
        yield _sacrebleu_line(references, translations, variant)


def _sacrebleu_line(references: list[str], translations: list[str], variant: Variant) -> str:
    import sacrebleu

    metric = sacrebleu.BLEU(lowercase=not variant.case_sensitive)
    score = metric.corpus_score(translations, [references]).score
    return f"sacre{variant.name} = {score:6.2f} {metric.get_signature()}"


class _EventWriter:
    """Writes scalars that carry the time of the file they come from."""

    def __init__(self, event_dir: str) -> None:
        import tensorflow as tf

        # The writer of TensorFlow 2 stamps every scalar with the present; this one takes a time.
        # It wants to be made outside eager execution.
        with tf.Graph().as_default():
            self._writer = tf.compat.v1.summary.FileWriter(event_dir)
        self._messages = tf.compat.v1

    def scalar(self, tag: str, value: float, step: int, wall_time: float) -> None:
        point = self._messages.Summary.Value(tag=tag, simple_value=value)
        summary = self._messages.Summary(value=[point])
        event = self._messages.Event(summary=summary, wall_time=wall_time, step=step)
        self._writer.add_event(event)

    def flush(self) -> None:
        self._writer.flush()

    def close(self) -> None:
        self._writer.close()


def _read_last_step(event_dir: str) -> int:
    """The first step not yet evaluated, 0 in a new directory."""
    path = os.path.join(event_dir, _LAST_STEP_FILE)
    if not os.path.exists(path):
        return 0
    with open(path, encoding="utf-8") as stream:
        text = stream.read().strip()
    if not text.isdigit():
        raise ValueError(
            f"{path} must hold the number of the step evaluated last; delete it or give "
            f"--min_steps to start anew. Received: {text!r}"
        )
    return int(text) + 1


def _write_last_step(event_dir: str, step: int) -> None:
    path = os.path.join(event_dir, _LAST_STEP_FILE)
    with open(path + ".incomplete", "w", encoding="utf-8") as stream:
        stream.write(f"{step}\n")
    os.replace(path + ".incomplete", path)


def _report_zeros(
    report: Callable[[str, float, int, float], None], folder: str, tags: list[str]
) -> None:
    """Writes BLEU 0 at step 0, at the time of the oldest file, so that curves start there."""
    entries = [entry.path for entry in os.scandir(folder)]
    if entries:
        oldest = min(os.path.getmtime(entry) for entry in entries)
        for tag in tags:
            report(tag, 0.0, 0, oldest)


def score_directory(
    reference: str,
    translations_dir: str,
    event_dir: str,
    bleu_variant: str = "both",
    tag_suffix: str = "",
    min_steps: int = -1,
    wait_minutes: float = 0,
    report_zero: bool | None = None,
) -> None:
    """Scores all files ``<translations_dir>/*-<step>`` into TensorBoard events.

    Args:
        reference: path of the references.
        translations_dir: where the translations are.
        event_dir: where the events go, and ``last_evaluated_step.txt``.
        bleu_variant: "cased", "uncased" or "both".
        tag_suffix: added to the names of the scalars.
        min_steps: smaller steps are skipped; -1 goes on after ``last_evaluated_step.txt``.
        wait_minutes: how long to wait for the directory and for each next file.
        report_zero: whether to write BLEU 0 at step 0; None: only if min_steps is 0.

    Raises:
        FileNotFoundError: the directory does not appear in time.
        ValueError: a file has not as many lines as the reference, or there is none.
    """
    if min_steps == -1:
        min_steps = _read_last_step(event_dir)
    if report_zero is None:
        report_zero = min_steps == 0
    step_files.wait_for_directory(translations_dir, wait_minutes)
    variants = _chosen_variants(bleu_variant)
    writer: _EventWriter | None = None
    try:
        for step_file in step_files.step_files(
            translations_dir, min_steps=min_steps, wait_minutes=wait_minutes
        ):
            scores = {
                variant: 100
                * float(bleu.bleu_wrapper(reference, step_file.filename, variant.case_sensitive))
                for variant in variants
            }
            # Only now: a file that can't be scored leaves nothing behind.
            if writer is None:
                os.makedirs(event_dir, exist_ok=True)
                writer = _EventWriter(event_dir)
                if report_zero:
                    tags = [variant.name + tag_suffix for variant in variants]
                    _report_zeros(writer.scalar, translations_dir, tags)
            for variant, score in scores.items():
                logging.info("%s: %s = %6.2f", step_file.filename, variant.name, score)
                tag = variant.name + tag_suffix
                writer.scalar(tag, score, step_file.step, step_file.modified)
            writer.flush()
            _write_last_step(event_dir, step_file.step)
        if writer is None and not step_files.existing_step_files(translations_dir):
            raise ValueError(
                f"There is nothing to score: no file's name ends in -<step>. "
                f"Received: {translations_dir}"
            )
    finally:
        if writer is not None:
            writer.close()


def main(argv: list[str]) -> None:
    """Scores what the flags name.

    Args:
        argv: arguments left over by the flags, unused.

    Raises:
        ValueError: neither or both of --translation and --translations_dir, or a flag is missing.
    """
    del argv
    if bool(FLAGS.translation) == bool(FLAGS.translations_dir):
        raise command_line.UsageError(
            "Give either --translation (one file) or --translations_dir (a directory). Received: "
            f"--translation={FLAGS.translation} --translations_dir={FLAGS.translations_dir}"
        )
    flag_checks.require("reference")
    flag_checks.require_files("reference", "translation")
    if FLAGS.translation:
        for line in score_file(
            os.path.expanduser(FLAGS.reference),
            os.path.expanduser(FLAGS.translation),
            FLAGS.bleu_variant,
        ):
            print(line)
        return
    _check_directory_flags()
    score_directory(
        reference=os.path.expanduser(FLAGS.reference),
        translations_dir=os.path.expanduser(FLAGS.translations_dir),
        event_dir=os.path.expanduser(FLAGS.event_dir),
        bleu_variant=FLAGS.bleu_variant,
        tag_suffix=FLAGS.tag_suffix,
        min_steps=FLAGS.min_steps,
        wait_minutes=FLAGS.wait_minutes,
        report_zero=FLAGS.report_zero,
    )


def _check_directory_flags() -> None:
    if not FLAGS.event_dir:
        raise command_line.UsageError(
            "--event_dir is missing: with --translations_dir the scores are written there as "
            "TensorBoard events."
        )
    flag_checks.require_at_least(-1, "min_steps")
    flag_checks.require_at_least(0, "wait_minutes")
    if not FLAGS.wait_minutes:
        flag_checks.require_directories("translations_dir")
    flag_checks.require_can_be_made("event_dir")


def entry_point() -> None:
    """Runs the command (console script ``t2t-bleu``)."""
    command_line.run(main, define_flags)


if __name__ == "__main__":
    entry_point()
