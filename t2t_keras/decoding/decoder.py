"""Decoding files: `t2t-decoder --decode_from_file`."""

from __future__ import annotations

import os
from collections.abc import Sequence

from absl import logging

from t2t_keras.decoding import record_files
from t2t_keras.decoding.translator import Hypothesis, Translator

_LOGGED_EXAMPLES = 3


def decode_from_file(
    translator: Translator,
    filename: str,
    *,
    model_name: str = "",
    hparams_set: str = "",
    problem_name: str = "",
    decode_to_file: str = "",
) -> str:
    """Decodes every record of a file: as many come out, in the same order.

    Args:
        translator: the model and its decode hparams.
        filename: UTF-8 file, one text per record (a line, unless the delimiter is another).
        model_name: for the output's default name.
        hparams_set: for the output's default name.
        problem_name: for the output's default name.
        decode_to_file: the output file; "": a name made of the input's, T2T's way.

    Returns:
        Path of the output. With decode hparam `return_beams` a record holds all beams, separated
        by tabs, with `write_beam_scores` each followed by a tab and its score.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: the output cannot be written.
    """
    options = translator.options
    source = record_files.with_shard_suffix(filename, options)
    texts = record_files.read_records(source, options.delimiter, strip=translator.has_inputs)
    if not translator.has_inputs:
        texts = record_files.prompts(texts, options.num_decodes)
    if decode_to_file:
        output = record_files.with_shard_suffix(decode_to_file, options)
    else:
        output = record_files.default_output_path(
            filename, options, model_name, hparams_set, problem_name
        )
    record_files.prepare_output(output, source)
    logging.info("Decoding %d records of %s to %s.", len(texts), source, output)
    results = translator.translate(texts, show_progress=True)
    if options.log_results:
        _log_examples(texts, results)
    record_files.write_records(
        output,
        [
            format_record(hypotheses, options.return_beams and options.write_beam_scores)
            for hypotheses in results
        ],
        options.delimiter,
    )
    logging.info("Wrote %d records to %s.", len(results), output)
    return output


def format_record(hypotheses: Sequence[Hypothesis], with_scores: bool) -> str:
    """All hypotheses of an input in one record."""
    if not with_scores:
        return "\t".join(hypothesis.text for hypothesis in hypotheses)
    return "\t".join(f"{hypothesis.text}\t{hypothesis.score:.2f}" for hypothesis in hypotheses)


def copy_timestamp(checkpoint_path: str, output: str) -> None:
    """Gives `output` the modification time of a checkpoint (`--keep_timestamp`)."""
    modified = os.path.getmtime(checkpoint_path + ".index")
    os.utime(output, (modified, modified))


def _log_examples(texts: Sequence[str], results: Sequence[Sequence[Hypothesis]]) -> None:
    for text, hypotheses in list(zip(texts, results, strict=True))[:_LOGGED_EXAMPLES]:
        logging.info("INPUT: %s\nOUTPUT: %s", text, hypotheses[0].text)
