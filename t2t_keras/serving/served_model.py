"""A trained model as one function from strings to strings: what a server runs.

It answers a text as `t2t-decoder` answers a line of a file, with the same search and the same
limits, whatever else is in the batch.
"""

import functools
import time
from typing import Any

import tensorflow as tf
from absl import logging

from t2t_keras.data.modes import ModalityType
from t2t_keras.decoding.batches import MAX_IDS, MAX_SQUARES
from t2t_keras.decoding.classification import classify
from t2t_keras.decoding.sampling import Sampling
from t2t_keras.decoding.search import infer, prompt_arguments
from t2t_keras.decoding.translator import LONGEST_INPUT
from t2t_keras.hparam import HParams
from t2t_keras.text.encoders import EOS_ID, PAD_ID
from t2t_keras.text.graph_encoder import graph_encoder_for

# What Python's str.strip removes, as an RE2 class. All of it is below U+3001.
_SPACES = "".join(f"\\x{{{code:x}}}" for code in range(0x3001) if chr(code).isspace())


class ServedModel(tf.Module):
    """Tokenisation, search and detokenisation around a model.

    Args:
      model: a `Transformer` with its trained weights.
      problem_hparams: `Problem.get_hparams`; read are `vocabulary` and `modality`.
      options: decode hparams. Those about files, data sets and logging have no meaning here.
      sampling: how symbols are chosen with a beam of one; see `sampling_from_hparams`.

    Raises:
      ValueError: the problem's inputs or outputs are not text that a graph can encode.
    """

    def __init__(
        self,
        model: Any,
        problem_hparams: Any,
        options: HParams,
        sampling: Sampling = Sampling(),  # noqa: B008 (immutable)
    ) -> None:
        super().__init__(name="served_model")
        vocabulary = problem_hparams.vocabulary
        is_classifier = problem_hparams.modality.get("targets") == ModalityType.CLASS_LABEL
        self._has_inputs = "inputs" in vocabulary
        self._prepends_inputs = self._has_inputs and getattr(model, "prepends_inputs", False)
        self._source = graph_encoder_for(vocabulary["inputs" if self._has_inputs else "targets"])
        self._target: Any = None
        self._labels: list[str] = []
        if is_classifier:
            encoder = vocabulary["targets"]
            self._labels = encoder.decode_list(range(encoder.vocab_size))
        else:
            self._target = graph_encoder_for(vocabulary["targets"])
        self._top_beams = options.beam_size if options.return_beams and not is_classifier else 1
        # Plain values instead of the hparams object, which is nothing to be saved.
        self._extra_length = options.extra_length
        self._limit_by_longest_input = options.limit_by_longest_input
        self._max_length = options.max_input_size if options.max_input_size > 0 else LONGEST_INPUT
        self._task_id = options.multiproblem_task_id
        self._cut_at_eos = not options.skip_eos_postprocess
        self._keep_pad_ids = options.keep_pad_ids
        self._separators = ["\n", "\r", options.delimiter, *"\t"[: int(options.return_beams)]]
        self._classify = functools.partial(classify, model, sampling=sampling)
        self._infer = functools.partial(
            infer,
            model,
            beam_size=options.beam_size,
            alpha=options.alpha,
            top_beams=self._top_beams,
            sampling=sampling,
            force_decode_length=options.force_decode_length,
        )
        # The variables and not the model: the saved object then has nothing but what it needs.
        self._model_variables = [variable.value for variable in model.variables]

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string, name="inputs")])
    def __call__(self, inputs: tf.Tensor) -> dict[str, tf.Tensor]:
        """Answers a batch of texts.

        Args:
          inputs: string `[batch]`, UTF-8; beginnings of texts for a model without inputs. Any batch
            size, 0 included; bytes that are not UTF-8 count as U+FFFD.

        Returns:
          `outputs`: string `[batch]`, or `[batch, beam]` with decode hparam `return_beams`, best
          first. Each is one line: line ends in it become spaces. Empty for an empty input. Where
          the targets are class labels, the label.
          `scores`: float32 of the same shape: log probability divided by the length penalty, or
          undivided with a beam of one. 0 for an empty input.
        """
        # This and the log are of tracing, which is all that Python is there for.
        started = time.monotonic()
        texts = self._prepared(inputs)
        # The search needs a row.
        batch = tf.shape(texts)[0]
        texts = tf.concat([texts, tf.fill([tf.cast(batch == 0, tf.int32)], "")], 0)
        outputs, scores = self._search_in_parts(*self._ids_and_limits(texts))
        if self._has_inputs:
            is_empty = tf.reshape(texts == "", [-1] + [1] * (outputs.shape.rank - 1))
            outputs = tf.where(is_empty, "", outputs)
            scores = tf.where(is_empty, 0.0, scores)
        _log_tracing(started)
        return {"outputs": outputs[:batch], "scores": scores[:batch]}

    def _prepared(self, texts: tf.Tensor) -> tf.Tensor:
        """String `[batch]` texts as `t2t-decoder` takes them from a file's lines."""
        texts = tf.strings.unicode_transcode(texts, "UTF-8", "UTF-8", errors="replace")
        if self._has_inputs:
            return tf.strings.regex_replace(texts, rf"\A[{_SPACES}]+|[{_SPACES}]+\z", "")
        texts = tf.strings.regex_replace(texts, r"\r\z", "")
        # A language model goes on behind a finished sentence, not in it.
        ends_in_punctuation = tf.strings.regex_full_match(texts, r"(?s).*[[:punct:]]")
        return tf.where(ends_in_punctuation, texts + " ", texts)

    def _ids_and_limits(self, texts: tf.Tensor) -> tuple[tf.RaggedTensor, tf.Tensor]:
        """int32 `[batch, (length)]` ids, int32 `[batch]` how many symbols may be produced."""
        ids = self._source.encode(texts)[:, : self._max_length - 1]
        end = self._task_id if self._task_id >= 0 else EOS_ID
        if self._has_inputs or self._task_id >= 0:
            ids = tf.concat([ids, tf.fill([ids.nrows(), 1], end)], axis=1)
        lengths = tf.cast(ids.row_lengths(), tf.int32)
        if self._limit_by_longest_input:
            lengths = tf.zeros_like(lengths) + tf.reduce_max(lengths)
        limits = lengths + self._extra_length + int(self._prepends_inputs)
        if self._has_inputs:
            limits = tf.where(texts == "", 0, limits)
        return ids, limits

    def _search_in_parts(
        self, ids: tf.RaggedTensor, limits: tf.Tensor
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Searches the longest rows first, as many at once as memory is sure to hold.

        One request with a thousand texts, or with one text as long as a book beside many short
        ones, would otherwise exhaust the server's memory.

        Args:
          ids: int32 `[batch, (length)]`.
          limits: int32 `[batch]`.

        Returns:
          string and float32 `[batch]`, or `[batch, beam]`: texts and scores.
        """
        lengths = tf.cast(ids.row_lengths(), tf.int32)
        order = tf.argsort(lengths, direction="DESCENDING", stable=True)
        batch = tf.size(order)
        shape = [None] if self._top_beams == 1 else [None, self._top_beams]
        parts = [
            tf.TensorArray(dtype, 0, dynamic_size=True, infer_shape=False, element_shape=shape)
            for dtype in (tf.string, tf.float32)
        ]

        def search(
            start: tf.Tensor, part: tf.Tensor, texts: tf.TensorArray, scores: tf.TensorArray
        ) -> tuple[tf.Tensor, tf.Tensor, tf.TensorArray, tf.TensorArray]:
            longest = tf.maximum(lengths[order[start]], 1)
            fitting = tf.minimum(MAX_IDS // longest, MAX_SQUARES // longest**2)
            end = tf.minimum(start + tf.maximum(fitting, 1), batch)
            rows = order[start:end]
            part_texts, part_scores = self._search(tf.gather(ids, rows), tf.gather(limits, rows))
            return end, part + 1, texts.write(part, part_texts), scores.write(part, part_scores)

        _, _, *parts = tf.while_loop(
            lambda start, *_: start < batch, search, [0, 0, *parts], parallel_iterations=1
        )
        original = tf.argsort(order)
        texts, scores = (tf.gather(part.concat(), original) for part in parts)
        texts.set_shape(shape)
        scores.set_shape(shape)
        return texts, scores

    def _search(self, ids: tf.RaggedTensor, limits: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        """String and float32 `[rows]`, or `[rows, beam]`: texts and scores of some rows."""
        dense = ids.to_tensor()
        # A language model can begin with nothing, but a tensor of no columns is a special case.
        missing = tf.maximum(1 - tf.shape(dense)[1], 0)
        dense = tf.pad(dense, [[0, 0], [0, missing]])
        if self._labels:
            found = self._classify(dense)
            return tf.gather(tf.constant(self._labels), found["outputs"][:, 0]), found["scores"]
        found = self._infer(
            **prompt_arguments(dense, self._has_inputs, self._prepends_inputs),
            decode_length=limits,
        )
        # Zeros beyond a row's own limit are only there because of its neighbours.
        produced = limits
        if not self._has_inputs or self._prepends_inputs:
            # Inputs that go before the outputs count, and so does the 0 after them.
            produced -= tf.cast(ids.row_lengths(), tf.int32) + int(self._prepends_inputs)
        return self._texts_of(found["outputs"], produced), found["scores"]

    def _texts_of(self, ids: tf.Tensor, produced: tf.Tensor) -> tf.Tensor:
        """Texts of produced ids.

        Args:
          ids: int32 `[batch, length]` or `[batch, beam, length]`.
          produced: int32 `[batch]` how many ids of each row mean something.

        Returns:
          string `[batch]` or `[batch, beam]`.
        """
        shape = tf.shape(ids)
        # [batch * beam, length]
        rows = tf.reshape(ids, [tf.reduce_prod(shape[:-1]), shape[-1]])
        kept = tf.range(shape[-1]) < tf.repeat(produced, self._top_beams)[:, tf.newaxis]
        if self._cut_at_eos:
            kept &= tf.cumsum(tf.cast(rows == EOS_ID, tf.int32), axis=1) == 0
        if not self._keep_pad_ids:
            kept &= rows != PAD_ID
        texts = self._target.decode(tf.ragged.boolean_mask(rows, kept))
        for separator in self._separators:
            literal = "".join(f"\\x{{{ord(char):x}}}" for char in separator)
            texts = tf.strings.regex_replace(texts, literal, " ")
        return tf.reshape(texts, shape[:-1])


@tf.autograph.experimental.do_not_convert
def _log_tracing(started: float) -> None:
    logging.info("Traced the search in %.1f s.", time.monotonic() - started)
