"""From records to examples, many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.data import preprocessing, reading
from t2t_keras.data.problem import Problem
from t2t_keras.data.rows import Column, Rows

__all__ = ["ExampleParser", "gives_one_example_a_record"]


def gives_one_example_a_record(problem: Problem, mode: str, hparams: Any) -> bool:
    """Whether preprocessing makes exactly one example of each record."""
    load = reading.loading_function(problem, mode, hparams, as_int32=True)
    records = tf.data.Dataset.from_tensors("")
    return not isinstance(records.map(load).element_spec, tf.data.DatasetSpec)


class ExampleParser:
    """Parses, preprocesses, reverses and copies, as `reading.examples` does.

    Args:
        problem: the problem; see `gives_one_example_a_record`.
        mode: one of `ModeKeys`.
        hparams: model hparams, for `Problem.preprocess_example`.
    """

    def __init__(self, problem: Problem, mode: str, hparams: Any) -> None:
        configuration = preprocessing.parsing_configuration(problem)
        load = reading.loading_function(problem, mode, hparams, as_int32=True)

        def parse_together(serialized: tf.Tensor) -> dict[str, Any]:
            examples = tf.io.parse_example(serialized, configuration)
            return preprocessing.to_int32(problem.maybe_reverse_and_copy(examples))

        def parse_singly(serialized: tf.Tensor) -> dict[str, Any]:
            records = tf.data.Dataset.from_tensor_slices(serialized)
            examples = records.map(load, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
            count = tf.size(serialized, out_type=tf.int64)
            return examples.ragged_batch(count).get_single_element()

        # Much faster, but preprocessing knows single examples only.
        together = preprocessing.is_plain(problem, hparams)
        self._parse = tf.function(
            parse_together if together else parse_singly,
            input_signature=[tf.TensorSpec([None], tf.string)],
        )

    def __call__(self, ids: np.ndarray, records: Sequence[bytes]) -> Rows:
        """The examples of some records.

        Args:
            ids: int64 `[records]`, where they come from.
            records: their data; at least one.
        """
        columns, lengths = {}, []
        for name, value in self._parse(tf.constant(list(records), tf.string)).items():
            if isinstance(value, tf.RaggedTensor):
                row_lengths = value.row_lengths().numpy()
                column = Column(value.flat_values.numpy(), row_lengths)
                lengths.append(row_lengths)
            else:
                column = Column(value.numpy(), None)
                if value.shape.rank > 1:
                    lengths.append(np.full(len(ids), value.shape[1], np.int64))
            columns[name] = column
        return Rows(np.asarray(ids, np.int64), columns, np.max(lengths, axis=0))
