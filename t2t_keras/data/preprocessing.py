"""What happens to one example between its record and the length filter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tensorflow as tf

from t2t_keras.data.modes import ModeKeys

if TYPE_CHECKING:
    from t2t_keras.data.problem import Problem

Features = dict[str, tf.Tensor]


def parsing_configuration(problem: Problem) -> dict[str, Any]:
    """Feature name -> tf.io configuration, from the problem's `example_reading_spec`.

    Features of variable length become ragged: of a single example, that is its plain values
    `[length]`, empty if missing.

    Raises:
        ValueError: the problem has decoders as its second item, which were TensorFlow 1's.
    """
    features, decoders = problem.example_reading_spec()
    if decoders:
        raise ValueError(
            "Decoders of features (TensorFlow 1's tf.contrib.slim) are not available: "
            f"example_reading_spec of problem {problem.name} must return None as its second item. "
            f"Decode in preprocess_example instead. Received: {decoders!r}"
        )
    return {
        name: tf.io.RaggedFeature(spec.dtype) if isinstance(spec, tf.io.VarLenFeature) else spec
        for name, spec in features.items()
    }


def is_plain(problem: Problem, hparams: Any) -> bool:
    """Whether preprocessing leaves every example of the problem as it is."""
    from t2t_keras.data.problem import Problem

    return (
        type(problem).preprocess_example is Problem.preprocess_example
        and hparams.max_input_seq_length <= 0
        and hparams.max_target_seq_length <= 0
        and hparams.prepend_mode == "none"
        and hparams.split_to_length <= 0
    )


def preprocess_example(example: Features, mode: str, hparams: Any) -> Features | tf.data.Dataset:
    """Cut, prepend and split by hparams, in T2T's order.

    Args:
        example: feature name -> tensor `[length]`.
        mode: one of `ModeKeys`.
        hparams: `max_input_seq_length` and `max_target_seq_length` cut (EOS may be lost),
            `prepend_mode` puts the inputs in front of the targets, `split_to_length` cuts inputs
            and targets into examples of that length (other features are dropped).

    Returns:
        The changed example; with `split_to_length`, a data set of examples.
    """
    example = dict(example)
    if hparams.max_input_seq_length > 0 and "inputs" in example:
        example["inputs"] = example["inputs"][: hparams.max_input_seq_length]
    if hparams.prepend_mode != "none":
        _prepend_inputs(example, mode)
    if hparams.max_target_seq_length > 0 and "targets" in example:
        example["targets"] = example["targets"][: hparams.max_target_seq_length]
    if hparams.split_to_length > 0:
        return _split(example, hparams.split_to_length)
    return example


def _prepend_inputs(example: Features, mode: str) -> None:
    """Inputs and a zero go before the targets; in prediction they are the prompt, alone."""
    prompt = tf.concat([example["inputs"], tf.zeros([1], example["inputs"].dtype)], axis=0)
    if mode == ModeKeys.PREDICT:
        example["partial_targets"] = prompt
    else:
        example["targets"] = tf.concat([prompt, example["targets"]], axis=0)


def _split(example: Features, length: int) -> tf.data.Dataset:
    pieces = {}
    for name in ("inputs", "targets"):
        if name in example:
            # [length of the example] -> [pieces, length]
            pieces[name] = tf.reshape(example[name], [-1, length])
    return tf.data.Dataset.from_tensor_slices(pieces)


def to_int32(features: Features) -> Features:
    """Integers as int32, everything else unchanged."""
    return {
        name: tf.cast(value, tf.int32) if value.dtype in (tf.int64, tf.uint8) else value
        for name, value in features.items()
    }


def example_length(features: Features) -> tf.Tensor:
    """Length of an example, int32 scalar: the longest first axis of all its features."""
    lengths = [tf.shape(value)[0] for value in features.values() if value.shape.rank != 0]
    return tf.reduce_max(tf.stack(lengths))
