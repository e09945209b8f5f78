"""From texts to texts with a trained model."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf
from absl import logging

from t2t_keras.data.modes import ModalityType
from t2t_keras.decoding.batches import DEFAULT_BATCH_SIZE, Batch, make_batches
from t2t_keras.decoding.classification import classify
from t2t_keras.decoding.sampling import Sampling
from t2t_keras.decoding.search import infer, prompt_arguments
from t2t_keras.decoding.search_graph import SearchGraph
from t2t_keras.hparam import HParams
from t2t_keras.text.encoders import EOS_ID, PAD_ID

# A line of this many subwords is no sentence. Attention needs memory with the square of the length;
# decode hparam max_input_size overrides this.
LONGEST_INPUT = 4096


class Hypothesis(NamedTuple):
    """One decoded sequence.

    Attributes:
        text: what its ids say, on one line.
        ids: ids before the end symbol.
        score: log probability, divided by the length penalty in beam search.
    """

    text: str
    ids: list[int]
    score: float


class Translator:
    """Decodes texts, or ids, with a model, its vocabularies and decode hparams.

    Args:
        model: a `Transformer` with its trained weights.
        problem_hparams: `Problem.get_hparams`; read are `vocabulary` and `modality`.
        options: decode hparams.
        xla_compile: compile the search. Faster per sentence, but every input length (rounded up)
            and batch size costs a compilation of seconds to minutes.
        sampling: how symbols are chosen with a beam of one; see `sampling_from_hparams`.

    Example:
        ```python
        translator = Translator(model, hparams.problem_hparams, decode_hparams("beam_size=4"))
        [[best, *_]] = translator.translate(["A man sleeps."])
        print(best.text)
        ```
    """

    def __init__(
        self,
        model: Any,
        problem_hparams: Any,
        options: HParams,
        xla_compile: bool = False,
        sampling: Sampling = Sampling(),  # noqa: B008 (immutable)
    ) -> None:
        self.options = options
        self.vocabulary = problem_hparams.vocabulary
        self.has_inputs = "inputs" in self.vocabulary
        self.is_classifier = problem_hparams.modality.get("targets") == ModalityType.CLASS_LABEL
        self.beam_size = 1 if self.is_classifier else options.beam_size
        self._model = model
        self._prepends_inputs = getattr(model, "prepends_inputs", False)
        self._xla_compile = xla_compile
        self._sampling = sampling
        self._search = self._make_search()

    @property
    def num_hypotheses(self) -> int:
        """How many hypotheses each text gets."""
        return self.beam_size if self.options.return_beams else 1

    def encode(self, text: str, name: str = "The text") -> list[int]:
        """Ids of an input text (a prompt where the problem has no inputs).

        Longer ones than decode hparam `max_input_size` (or than a limit that keeps memory in
        bounds) are cut.

        Args:
            text: the input.
            name: what a warning calls it.
        """
        options = self.options
        ids = list(self.vocabulary["inputs" if self.has_inputs else "targets"].encode(text))
        limit = options.max_input_size if options.max_input_size > 0 else LONGEST_INPUT
        if len(ids) > limit - 1:
            logging.warning(
                "%s has %d subwords and is cut to %d%s.",
                name,
                len(ids),
                limit - 1,
                "" if options.max_input_size > 0 else " (see decode hparam max_input_size)",
            )
            ids = ids[: limit - 1]
        if options.multiproblem_task_id >= 0:
            return [*ids, options.multiproblem_task_id]
        return [*ids, EOS_ID] if self.has_inputs else ids

    def translate(
        self, texts: Sequence[str], show_progress: bool = False
    ) -> list[list[Hypothesis]]:
        """The hypotheses of every text, best first, in the order of the texts.

        An empty text of a problem with inputs is not decoded: its hypotheses are empty.

        Args:
            texts: inputs, or prompts where the problem has no inputs.
            show_progress: report progress on stderr.
        """
        decoded = [index for index, text in enumerate(texts) if text.strip() or not self.has_inputs]
        # T2T sorts by words; that matters only where a result depends on its batch.
        by_words = self.options.limit_by_longest_input
        results = self.translate_ids(
            [self.encode(texts[index], f"Record {index + 1}") for index in decoded],
            sort_keys=[len(texts[index].split()) for index in decoded] if by_words else None,
            show_progress=show_progress,
        )
        hypotheses = [[Hypothesis("", [], 0.0)] * self.num_hypotheses for _ in texts]
        for index, result in zip(decoded, results, strict=True):
            hypotheses[index] = result
        return hypotheses

    def translate_ids(
        self,
        sequences: Sequence[Sequence[int]],
        sort_keys: Sequence[int] | None = None,
        show_progress: bool = False,
    ) -> list[list[Hypothesis]]:
        """As `translate`, for inputs that are ids already (end symbol included).

        Args:
            sequences: lists of ids.
            sort_keys: see `make_batches`.
            show_progress: report progress on stderr.
        """
        results: list[list[Hypothesis]] = [[] for _ in sequences]
        batches = make_batches(
            sequences,
            self.options.batch_size or DEFAULT_BATCH_SIZE,
            sort_keys,
            few_shapes=self._xla_compile,
        )
        if sequences:
            self._search.build()  # Before the progress bar, which would stand still.
        with _progress_bar(len(sequences), show_progress) as bar:
            for batch in batches:
                for index, hypotheses in zip(batch.indices, self._decode(batch), strict=True):
                    results[index] = hypotheses
                bar.update(len(batch.indices))
        return results

    def _decode(self, batch: Batch) -> Iterator[list[Hypothesis]]:
        """The hypotheses of each of the batch's sequences."""
        limits = self._limits(batch)
        result = self._search(
            tf.constant(batch.ids), tf.constant(limits), self._buffer_length(batch)
        )
        rows = len(batch.indices)
        outputs = result["outputs"].numpy()[:rows].reshape(rows, self.num_hypotheses, -1)
        scores = result["scores"].numpy()[:rows].reshape(rows, self.num_hypotheses)
        # Zeros beyond a row's own limit are only there because of its neighbours.
        produced = limits - self._prefix_lengths(batch)
        for row in range(rows):
            yield [
                self._hypothesis(ids[: produced[row]], float(score))
                for ids, score in zip(outputs[row], scores[row], strict=True)
            ]

    def _limits(self, batch: Batch) -> np.ndarray:
        """How many symbols each row may produce; rows of padding none."""
        if self.is_classifier:
            return np.ones_like(batch.lengths)
        lengths = batch.lengths
        if self.options.limit_by_longest_input:
            lengths = np.full_like(lengths, lengths.max())
        if self.has_inputs:
            lengths = lengths + self._prepends_inputs  # The 0 after the inputs.
        is_row = np.arange(len(lengths)) < len(batch.indices)
        return np.where(is_row, lengths + self.options.extra_length, 0).astype(np.int32)

    def _prefix_lengths(self, batch: Batch) -> np.ndarray:
        """How many of the symbols that count for the limits are given."""
        if not self.has_inputs:
            return batch.lengths
        return (batch.lengths + 1) * self._prepends_inputs

    def _buffer_length(self, batch: Batch) -> int | None:
        """Static size of the search's buffers; depends on the shape only."""
        return (
            batch.ids.shape[1] + self._prepends_inputs + self.options.extra_length
            if self._xla_compile
            else None
        )

    def _make_search(self) -> SearchGraph:
        options = self.options
        if self.is_classifier:
            # Of the rest nothing applies to one symbol.
            classifier = tf.function(
                lambda ids: classify(self._model, ids, self._sampling),
                input_signature=[tf.TensorSpec([None, None], tf.int32)],
            )
            return SearchGraph(classifier, num_arguments=1)

        def search(
            ids: tf.Tensor, limits: tf.Tensor, max_decode_length: int | None
        ) -> dict[str, tf.Tensor]:
            return infer(
                self._model,
                **prompt_arguments(ids, self.has_inputs, self._prepends_inputs),
                beam_size=self.beam_size,
                alpha=options.alpha,
                sampling=self._sampling,
                top_beams=self.num_hypotheses,
                decode_length=limits,
                max_decode_length=max_decode_length,
                force_decode_length=options.force_decode_length,
                trim=not self._xla_compile,
            )

        if self._xla_compile:
            return SearchGraph(
                tf.function(search, jit_compile=True), num_arguments=3, every_shape=True
            )
        # Unknown sizes: traced once, however many shapes come.
        dynamic = tf.function(
            lambda ids, limits: search(ids, limits, None),
            input_signature=[
                tf.TensorSpec([None, None], tf.int32),
                tf.TensorSpec([None], tf.int32),
            ],
        )
        return SearchGraph(dynamic, num_arguments=2)

    def _hypothesis(self, ids: np.ndarray, score: float) -> Hypothesis:
        kept = ids.tolist()
        if not (self.options.skip_eos_postprocess or self.is_classifier):
            kept = until_eos(kept)
        shown = kept
        if not (self.options.keep_pad_ids or self.is_classifier):
            # T2T shows an id 0 produced before the end as the text "<pad>".
            shown = [item for item in kept if item != PAD_ID]
        text = self.vocabulary["targets"].decode(shown)
        return Hypothesis(self._on_one_line(text), kept, score)

    def _on_one_line(self, text: str) -> str:
        """`text` without what would be read as the end of a record or of a field."""
        separators = ["\n", "\r", self.options.delimiter]
        if self.options.return_beams:
            separators.append("\t")
        for separator in separators:
            text = text.replace(separator, " ")
        return text


def until_eos(ids: Sequence[int]) -> list[int]:
    """The ids before the first end symbol, all if there is none."""
    ids = [int(item) for item in np.ravel(ids)]
    return ids[: ids.index(EOS_ID)] if EOS_ID in ids else ids


def _progress_bar(total: int, show: bool) -> Any:
    import tqdm

    return tqdm.tqdm(
        total=total,
        desc="Decoding",
        unit=" sentences",
        disable=not show,
        # A log file wants a line now and then, not ten a second.
        mininterval=0.1 if sys.stderr.isatty() else 30,
        # T2T's order, longest first, makes the average speed meaningless as a forecast.
        smoothing=0.3,
    )
