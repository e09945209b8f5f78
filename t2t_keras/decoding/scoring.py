"""How likely a model finds given targets: `t2t-decoder --score_file`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from t2t_keras.decoding import record_files
from t2t_keras.decoding.batches import DEFAULT_BATCH_SIZE, make_batches
from t2t_keras.text.encoders import EOS_ID, ClassLabelEncoder
from t2t_keras.training.losses import loss_weights


class Pair(NamedTuple):
    """What is scored: ids with the end symbol; `inputs` is empty where the problem has none.

    `targets` is one class, without end symbol, where the problem's are class labels.
    """

    inputs: list[int]
    targets: list[int]


def read_pairs(path: str, vocabulary: dict[str, Any], delimiter: str = "\n") -> list[Pair]:
    """The pairs of a file of lines `input<TAB>target`, or `target` where there are no inputs.

    Args:
        path: UTF-8 file.
        vocabulary: encoders by feature, of `targets` and, if the problem has them, `inputs`.
        delimiter: what ends a record.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line has another number of tabs.
    """
    has_inputs = "inputs" in vocabulary
    pairs = []
    for number, line in enumerate(record_files.read_records(path, delimiter, strip=False), start=1):
        texts = line.split("\t")
        if len(texts) != 1 + has_inputs:
            # T2T silently scores a line without a tab with the inputs of the line before.
            form = "input<TAB>target" if has_inputs else "one target, without tabs"
            raise ValueError(f"{path}, line {number}: must be {form}. Received: {line[:200]!r}")
        inputs = [*vocabulary["inputs"].encode(texts[0].strip()), EOS_ID] if has_inputs else []
        targets = vocabulary["targets"].encode(texts[-1].strip())
        is_class = isinstance(vocabulary["targets"], ClassLabelEncoder)
        pairs.append(Pair(inputs, [targets] if is_class else [*targets, EOS_ID]))
    return pairs


def score_pairs(model: Any, pairs: Sequence[Pair]) -> list[float]:
    """Mean negative log-likelihood (natural log) per target symbol, end symbol included.

    It is T2T's evaluation loss of the pair alone: without label smoothing and dropout, padding not
    counted.

    Args:
        model: `model({"inputs", "targets"})` gives logits `[batch, target_length, vocab]`.
        pairs: what to score.

    Returns:
        One number per pair, in the order of the pairs.
    """
    has_inputs = any(pair.inputs for pair in pairs)
    prepends = has_inputs and getattr(model, "prepends_inputs", False)
    # Of inputs and targets in one sequence, only what follows the 0 counts.
    prepend_mode = "prepend_inputs_full_attention" if prepends else "none"
    if prepends:
        pairs = [Pair([], [*pair.inputs, 0, *pair.targets]) for pair in pairs]

    @tf.function(
        input_signature=[
            tf.TensorSpec([None, None], tf.int32),
            tf.TensorSpec([None, None], tf.int32),
        ]
    )
    def mean_losses(inputs: tf.Tensor, targets: tf.Tensor) -> tf.Tensor:
        features = {"targets": targets}
        if has_inputs and not prepends:
            features["inputs"] = inputs
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels=targets, logits=model(features, training=False)
        )  # [batch, target_length]
        weights = loss_weights(targets, prepend_mode)
        if getattr(model, "predicts_class", False):
            weights = tf.ones_like(losses)  # 0 is a class, not padding.
        return tf.reduce_sum(losses * weights, axis=1) / tf.reduce_sum(weights, axis=1)

    scores = [0.0] * len(pairs)
    longest = [max(len(pair.inputs), len(pair.targets)) for pair in pairs]
    # The longer side decides how many rows fit; both are padded to their own longest row.
    for batch in make_batches([[1] * length for length in longest], DEFAULT_BATCH_SIZE):
        chosen = [pairs[index] for index in batch.indices]
        losses = mean_losses(
            _padded([pair.inputs for pair in chosen]), _padded([pair.targets for pair in chosen])
        )
        for index, loss in zip(batch.indices, losses.numpy(), strict=True):
            scores[index] = float(loss)
    return scores


def score_file(
    model: Any, vocabulary: dict[str, Any], filename: str, output: str, delimiter: str = "\n"
) -> list[float]:
    """Scores every line of a file (see `read_pairs`) and writes one score a line, `%.6f`.

    Returns:
        The scores.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a malformed line, or an output that cannot be written.
    """
    record_files.prepare_output(output, filename)
    scores = score_pairs(model, read_pairs(filename, vocabulary, delimiter))
    record_files.write_records(output, [f"{score:.6f}" for score in scores])
    return scores


def _padded(rows: Sequence[Sequence[int]]) -> np.ndarray:
    """Int32 `[len(rows), longest]`, right-padded with 0."""
    array = np.zeros([len(rows), max(1, *(len(row) for row in rows))], np.int32)
    for index, row in enumerate(rows):
        array[index, : len(row)] = row
    return array
