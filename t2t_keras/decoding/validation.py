"""Translating the development set while training: BLEU of beam search, not of gold prefixes."""

from __future__ import annotations

import functools
import os
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from absl import logging

from t2t_keras import registry
from t2t_keras.data.modes import ModalityType
from t2t_keras.decoding import record_files
from t2t_keras.evaluation import bleu
from t2t_keras.hparam import HParams

# TensorFlow is loaded when something is translated: mistakes are told before.
if TYPE_CHECKING:
    from t2t_keras.decoding.translator import Translator

__all__ = [
    "SCORES",
    "TranslationScorer",
    "ValidationText",
    "problem_to_translate",
    "score_translations",
    "text_of_files",
    "text_of_split",
]

SCORES = ("BLEU_uncased", "BLEU_cased", "sacreBLEU", "chrF")

TRANSLATIONS_DIRECTORY = "translations"

_NUM_SAMPLES_LOGGED = 3
_PACKED = "_packed"


class ValidationText(NamedTuple):
    """What is translated, and what it should become.

    Attributes:
        sources: input sentences, for the log.
        references: as many reference translations, plain text.
        ids: ids of the inputs with their end symbol, where they come from a data set; None: the
            sources are encoded.
        name: where the text is from, for the log.
    """

    sources: list[str]
    references: list[str]
    ids: list[list[int]] | None
    name: str


def text_of_files(source: str, reference: str, num_samples: int = -1) -> ValidationText:
    """Reads two parallel text files.

    Args:
        source: one sentence a line.
        reference: one translation a line.
        num_samples: take only so many from the beginning; -1: all.

    Raises:
        FileNotFoundError: one doesn't exist.
        ValueError: they differ in their number of lines, or are empty.
    """
    for flag, path in (("decode_from_file", source), ("decode_reference", reference)):
        if not os.path.isfile(path):
            raise FileNotFoundError(f"--{flag}: there is no such file. Received: {path!r}")
    sources = record_files.read_records(source)
    references = record_files.read_records(reference)
    if len(sources) != len(references) or not sources:
        raise ValueError(
            "Source and reference must have one line per sentence, equally many, and not none. "
            f"Received: {len(sources)} lines in {source}, {len(references)} in {reference}"
        )
    end = num_samples if num_samples >= 0 else None
    return ValidationText(sources[:end], references[:end], None, os.path.basename(source))


def text_of_split(
    hparams: Any, data_dir: str, dataset_split: str = "dev", num_samples: int = -1
) -> ValidationText:
    """Reads a split of the run's problem; the references are its targets, decoded.

    A packed problem's text is that of another problem, see `problem_to_translate`.

    Args:
        hparams: with `problem` and `problem_hparams`.
        data_dir: directory of the shards.
        dataset_split: "dev" or "test".
        num_samples: take only so many from the beginning; -1: all.

    Raises:
        FileNotFoundError: the split has no files.
        ValueError: it is empty.
    """
    from t2t_keras.decoding.dataset import read_examples

    problem = problem_to_translate(hparams.problem)
    vocabulary = hparams.problem_hparams.vocabulary
    sources, references, ids = [], [], []
    for example in read_examples(problem, hparams, data_dir, dataset_split, num_samples):
        ids.append(example["inputs"])
        sources.append(_text(vocabulary["inputs"], example["inputs"]))
        references.append(_text(vocabulary["targets"], example["targets"]))
    if not ids:
        raise ValueError(f"Nothing to translate in split {dataset_split!r} of {problem.name}.")
    return ValidationText(sources, references, ids, f"{problem.name}, {dataset_split}")


def problem_to_translate(problem: Any) -> Any:
    """The problem whose examples are one sentence each, to be translated.

    That is the problem itself; of a packed one, whose examples are several sentences, the problem
    of the same name without `_packed` (as in T2T).
    """
    if _PACKED not in problem.name:
        return problem
    return registry.problem(problem.name.replace(_PACKED, ""))


def _text(encoder: Any, ids: Sequence[int]) -> str:
    from t2t_keras.decoding.translator import until_eos

    return str(encoder.decode(until_eos(ids))).replace("\n", " ")


def score_translations(
    translations: Sequence[str], references: Sequence[str]
) -> tuple[dict[str, float], str]:
    """Scores from 0 to 100, and sacreBLEU's signature.

    `BLEU_uncased` and `BLEU_cased` are those of `t2t-bleu` (T2T's tokenisation and smoothing);
    `sacreBLEU` and `chrF` are sacrebleu's with its defaults (https://aclanthology.org/W18-6319).

    Args:
        translations: plain text, one sentence each.
        references: as many.
    """
    import sacrebleu

    def t2t_bleu(change: Callable[[str], str]) -> float:
        def tokens(texts: Sequence[str]) -> list[list[str]]:
            return [bleu.bleu_tokenize(change(text)) for text in texts]

        return 100.0 * float(bleu.compute_bleu(tokens(references), tokens(translations)))

    sacre_bleu = sacrebleu.BLEU()
    scores = {
        "BLEU_uncased": t2t_bleu(str.lower),
        "BLEU_cased": t2t_bleu(str),
        "sacreBLEU": float(sacre_bleu.corpus_score(translations, [references]).score),
        "chrF": float(sacrebleu.CHRF().corpus_score(translations, [references]).score),
    }
    return scores, str(sacre_bleu.get_signature())


class TranslationScorer:
    """Translates the same sentences with a model as it stands, again and again, and scores them.

    The search is the decoder's; it is traced once. Training isn't touched by it: it goes on as if
    it hadn't been interrupted. Each time the translations are written to
    `<output_dir>/translations/<step>.txt`, one a line, and a few are logged.

    Args:
        hparams: the model's, with `problem_hparams`.
        options: decode hparams; beam, length penalty and so on.
        read_text: gives what to translate; called once, when it is first needed.
        output_dir: the run's directory.

    Raises:
        ValueError: the problem is none of texts with inputs, or options ask for several outputs.
    """

    metric_names = SCORES

    def __init__(
        self,
        hparams: Any,
        options: HParams,
        read_text: Callable[[], ValidationText],
        output_dir: str,
    ) -> None:
        check_translatable(hparams)
        if options.return_beams:
            raise ValueError("decode_hparams: return_beams has no place where scores are computed.")
        self._hparams = hparams
        self._options = options
        self._read_text = read_text
        self._directory = os.path.join(output_dir, TRANSLATIONS_DIRECTORY)
        self._translator: Translator | None = None
        self._model: Any = None

    @functools.cached_property
    def _text(self) -> ValidationText:
        return self._read_text()

    def __call__(self, model: Any, step: int) -> dict[str, float]:
        """Translates and scores; returns the scores, 0 to 100, by the names in `SCORES`."""
        started = time.monotonic()
        translations = self._translate(model)
        seconds = time.monotonic() - started
        scores, signature = score_translations(translations, self._text.references)
        os.makedirs(self._directory, exist_ok=True)
        path = os.path.join(self._directory, f"{step}.txt")
        record_files.write_records(path, translations, "\n")
        options = self._options
        logging.info(
            "Translation at step %d (%s: %d sentences in %.1f s, beam %d, alpha %g): %s (%s); %s",
            step, self._text.name, len(translations), seconds, options.beam_size, options.alpha,
            ", ".join(f"{name} = {value:.2f}" for name, value in scores.items()), signature, path,
        )  # fmt: skip
        samples = zip(self._text.sources, self._text.references, translations, strict=True)
        for source, reference, translation in list(samples)[:_NUM_SAMPLES_LOGGED]:
            logging.info(
                "SOURCE: %s\nREFERENCE: %s\nTRANSLATION: %s", source, reference, translation
            )
        return scores

    def _translate(self, model: Any) -> list[str]:
        from t2t_keras.decoding.sampling import sampling_from_hparams
        from t2t_keras.decoding.translator import Translator

        if self._model is not model:
            self._model = model
            self._translator = Translator(
                model,
                self._hparams.problem_hparams,
                self._options,
                sampling=sampling_from_hparams(self._hparams),
            )
        assert self._translator is not None
        if self._text.ids is not None:
            results = self._translator.translate_ids(self._text.ids)
        else:
            results = self._translator.translate(self._text.sources)
        return [hypotheses[0].text for hypotheses in results]


def check_translatable(hparams: Any) -> None:
    """Raises `ValueError` unless a problem's outputs are sequences of symbols made from inputs."""
    modality = hparams.problem_hparams.modality
    name = hparams.problem.name
    if "inputs" not in modality:
        raise ValueError(
            f"Problem {name} has no inputs to translate; leave --translate_every_evaluations out."
        )
    if modality.get("targets") == ModalityType.CLASS_LABEL:
        raise ValueError(
            f"Problem {name} has labels, no translations; leave --translate_every_evaluations out."
        )
