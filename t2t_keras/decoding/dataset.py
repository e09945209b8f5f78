"""Decoding a problem's own examples: `t2t-decoder` without an input file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from absl import logging

from t2t_keras import hparams_lib
from t2t_keras.data import pipeline
from t2t_keras.data.modes import ModeKeys
from t2t_keras.decoding import record_files
from t2t_keras.decoding.decoder import format_record
from t2t_keras.decoding.translator import Hypothesis, Translator, until_eos

_PAD_TEXT = "<pad>"


class DecodedExample(NamedTuple):
    """One example of a data set: its texts and what the model made of it."""

    inputs: str
    targets: str
    hypotheses: list[Hypothesis]


def decode_from_dataset(
    translator: Translator,
    problem: Any,
    hparams: Any,
    data_dir: str,
    *,
    dataset_split: str | None = None,
    decode_to_file: str = "",
    model_name: str = "",
    hparams_set: str = "",
) -> list[DecodedExample]:
    """Decodes the examples of a split, in their order in the files (or see `order_of_batches`).

    Args:
        translator: the model and its decode hparams; `num_samples` limits the examples.
        problem: the `Problem`.
        hparams: the model's hparams.
        data_dir: directory of the shards.
        dataset_split: "dev" (also if None) or "test".
        decode_to_file: if given (or the decode hparam of that name), outputs, targets and inputs
            are written to files whose names begin with it and end in `.decodes`, `.targets`,
            `.inputs`; each has one record per example, per beam with `return_beams`.
        model_name: for the names of the files.
        hparams_set: for the names of the files.

    Returns:
        The decoded examples.

    Raises:
        FileNotFoundError: the split has no files.
        ValueError: the output cannot be written, or the problem has no inputs.
    """
    if not translator.has_inputs:
        raise ValueError(
            f"Problem {problem.name} has no inputs to decode from. Put prompts into a file and "
            "decode that (--decode_from_file)."
        )
    options = translator.options
    prefix = decode_to_file or options.decode_to_file
    output = ""
    if prefix and not options.decode_in_memory:
        output = record_files.default_output_path(
            prefix, options, model_name, hparams_set, problem.name
        )
        record_files.prepare_output(output)
    read = _read_batches if options.order_of_batches else read_examples
    examples = list(read(problem, hparams, data_dir, dataset_split, options.num_samples))
    results = translator.translate_ids(
        [example["inputs"] for example in examples], show_progress=True
    )
    decoded = [
        _texts(translator, example, hypotheses)
        for example, hypotheses in zip(examples, results, strict=True)
    ]
    # Batches of some readers are filled up with empty examples.
    decoded = [example for example in decoded if example.inputs.replace(_PAD_TEXT, "")]
    if options.log_results:
        for example in decoded:
            logging.info(
                "INPUT: %s\nTARGET: %s\nOUTPUT: %s",
                example.inputs,
                example.targets,
                example.hypotheses[0].text,
            )
    if output:
        _write(output, decoded, translator)
    return decoded


def read_examples(
    problem: Any, hparams: Any, data_dir: str, dataset_split: str | None, num_samples: int
) -> Iterator[dict[str, list[int]]]:
    """The ids of each example by feature, in the order of the files.

    `targets` are the example's own and whole, whatever a model is trained on: neither with the
    inputs before them (`prepend_mode`) nor cut (`max_target_seq_length`, `split_to_length`).

    Args:
        problem: the `Problem`.
        hparams: the model's hparams.
        data_dir: directory of the shards.
        dataset_split: "dev" (also if None) or "test".
        num_samples: no more than these; -1: all.
    """
    whole = hparams_lib.copy_hparams(hparams)
    whole.max_target_seq_length = whole.split_to_length = 0
    dataset = problem.dataset(
        ModeKeys.PREDICT,
        data_dir,
        whole,
        dataset_split=dataset_split,
        shuffle_files=False,
        max_records=num_samples,
    )
    for example in dataset.as_numpy_iterator():
        yield {name: np.ravel(ids).tolist() for name, ids in example.items()}


def _read_batches(
    problem: Any, hparams: Any, data_dir: str, dataset_split: str | None, num_samples: int
) -> Iterator[dict[str, list[int]]]:
    """T2T's batches, cut as hparams say, in their order: full ones first, remainders by length."""
    batches = pipeline.input_dataset(
        problem,
        ModeKeys.PREDICT,
        hparams,
        data_dir,
        dataset_split=dataset_split,
        max_records=num_samples,
    )
    for batch in batches.as_numpy_iterator():
        names = list(batch)
        for row in zip(*batch.values(), strict=True):
            yield {
                name: np.trim_zeros(np.ravel(ids), "b").tolist()
                for name, ids in zip(names, row, strict=True)
            }


def _texts(
    translator: Translator, example: dict[str, list[int]], hypotheses: list[Hypothesis]
) -> DecodedExample:
    def text(feature: str) -> str:
        if feature not in translator.vocabulary or feature not in example:
            return ""
        ids = example[feature]
        if feature == "targets" and translator.is_classifier:
            return str(translator.vocabulary[feature].decode(ids[:1] or [0]))
        ids = until_eos(ids)
        decoded = translator.vocabulary[feature].decode(ids)
        return decoded.replace("\n", " ")

    if translator.options.identity_output:
        hypotheses = [
            hypothesis._replace(text=" ".join(map(str, hypothesis.ids)))
            for hypothesis in hypotheses
        ]
    return DecodedExample(text("inputs"), text("targets"), hypotheses)


def _write(output: str, decoded: list[DecodedExample], translator: Translator) -> None:
    """Writes `output` and, with its last dot part replaced, the targets and inputs."""
    options = translator.options
    with_scores = options.return_beams and options.write_beam_scores
    stem = output.rpartition(".")[0]
    per_beam = [
        (format_record([hypothesis], with_scores), example.targets, example.inputs)
        for example in decoded
        for hypothesis in example.hypotheses
    ]
    for path, column in ((output, 0), (f"{stem}.targets", 1), (f"{stem}.inputs", 2)):
        record_files.write_records(path, [row[column] for row in per_beam], options.delimiter)
        logging.info("Wrote %d records to %s.", len(per_beam), path)
