"""Comparing decodes with a reference: `--decode_reference`."""

from __future__ import annotations

import os

from absl import logging

from t2t_keras.evaluation import bleu


def report_bleu(decodes: str, reference: str, summary_dir: str = "", step: int = 0) -> float:
    """Logs BLEU of a file of decodes: T2T's, uncased and cased, and sacrebleu's.

    Args:
        decodes: file of outputs, one a line.
        reference: file of references, one a line.
        summary_dir: where to write T2T's scalar `BLEU` (uncased, times 100) for TensorBoard;
            "": nowhere.
        step: the checkpoint's step, for the scalar.

    Returns:
        T2T's uncased BLEU times 100.

    Raises:
        ValueError: the files have different numbers of lines, or none.
    """
    import sacrebleu

    references, outputs = bleu.read_sentences(reference, decodes)
    score = 100 * float(bleu.bleu_wrapper(reference, decodes))
    cased = 100 * float(bleu.bleu_wrapper(reference, decodes, case_sensitive=True))
    metric = sacrebleu.BLEU()
    result = metric.corpus_score(outputs, [references])
    logging.info(
        "%s: BLEU_uncased = %.2f, BLEU_cased = %.2f, sacreBLEU = %.2f (%s)",
        os.path.basename(decodes),
        score,
        cased,
        result.score,
        metric.get_signature(),
    )
    if summary_dir:
        from t2t_keras.training.event_files import EventWriter

        writer = EventWriter(summary_dir, first_step=step)
        writer.scalars(step, {"BLEU": score})
        writer.flush()
    return score
