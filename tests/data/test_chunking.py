"""Targets in chunks, one batch each."""

import itertools

import pytest
import tensorflow as tf

from t2t_keras.data import chunking, pipeline
from t2t_keras.data.modes import ModeKeys
from t2t_keras.data.training_batches import DatasetInput, open_training_batches
from tests.data.numbers_problem import Numbers, as_lists, dataset, make_hparams


def chunk_hparams(length, max_chunks=100, **values):
    return make_hparams(
        split_targets_chunk_length=length, split_targets_max_chunks=max_chunks, **values
    )


BATCHES = [
    {"inputs": [[9, 1], [8, 1]], "targets": [[2, 3, 4, 5, 1], [6, 1, 0, 0, 0]]},
    {"inputs": [[7, 1]], "targets": [[2, 1, 0]]},
]


def chunks_of(hparams):
    signature = {name: tf.TensorSpec([None, None], tf.int32) for name in BATCHES[0]}
    batches = tf.data.Dataset.from_generator(lambda: iter(BATCHES), output_signature=signature)
    return chunking.chunked(batches, hparams)


def test_targets_are_cut_padded_and_numbered_and_the_rest_repeated():
    assert as_lists(chunks_of(chunk_hparams(2, 4))) == [
        {"inputs": [[9, 1], [8, 1]], "targets": [[2, 3], [6, 1]], "chunk_number": [[0, 0]] * 2},
        {"inputs": [[9, 1], [8, 1]], "targets": [[4, 5], [0, 0]], "chunk_number": [[1, 1]] * 2},
        {"inputs": [[9, 1], [8, 1]], "targets": [[1, 0], [0, 0]], "chunk_number": [[2, 2]] * 2},
        {"inputs": [[7, 1]], "targets": [[2, 1]], "chunk_number": [[0, 0]]},
    ]


def test_one_shape_of_targets():
    spec = chunks_of(chunk_hparams(2)).element_spec
    assert spec["targets"].shape.as_list() == spec["chunk_number"].shape.as_list() == [None, 2]
    assert spec["chunk_number"].dtype == spec["targets"].dtype == tf.int32


def test_targets_of_more_chunks_than_allowed_are_an_error():
    with pytest.raises(
        tf.errors.InvalidArgumentError, match="split_targets_max_chunks=2 .*chunk_length=2 "
    ):
        list(chunks_of(chunk_hparams(2, 2)))


@pytest.mark.parametrize("mode", [ModeKeys.TRAIN, ModeKeys.EVAL])
def test_chunks_of_a_batch_follow_one_another(data_dir, mode):
    whole = dataset(data_dir, mode, num_replicas=2)
    chunks = as_lists(dataset(data_dir, mode, hparams=chunk_hparams(3), num_replicas=2).take(60))
    starts = [number for number, chunk in enumerate(chunks) if chunk["chunk_number"][0][0] == 0]
    assert len(starts) > 5
    for batch, (start, end) in zip(
        as_lists(whole.take(60)), itertools.pairwise(starts), strict=False
    ):
        parts = chunks[start:end]
        assert [part["chunk_number"][0][0] for part in parts] == list(range(len(parts)))
        for row, targets in enumerate(batch["targets"]):
            joined = list(itertools.chain(*(part["targets"][row] for part in parts)))
            width = len(targets)
            assert joined[:width] == targets and not any(joined[width:])
        assert all(part["inputs"] == batch["inputs"] for part in parts)


def test_position_between_two_chunks_can_be_saved(data_dir, tmp_path):
    source = open_training_batches(Numbers(), chunk_hparams(3), data_dir, seed=5)
    assert isinstance(source, DatasetInput)
    while next(source)["chunk_number"][0, 0] == 0:
        pass
    path = tf.train.Checkpoint(iterator=source.iterator).write(str(tmp_path / "position"))
    expected = as_lists(itertools.islice(source, 30))
    resumed = open_training_batches(Numbers(), chunk_hparams(3), data_dir, seed=5)
    tf.train.Checkpoint(iterator=resumed.iterator).read(path).assert_consumed()
    assert as_lists(itertools.islice(resumed, 30)) == expected


def test_a_position_depends_on_the_chunks(data_dir):
    one, other = (
        open_training_batches(Numbers(), chunk_hparams(length), data_dir).description
        for length in (3, 4)
    )
    assert one["batches"] != other["batches"]
    assert one["data"] == other["data"]


# ---- The same rows in every batch ----


def test_strided_training_has_a_known_number_of_rows(data_dir):
    hparams = chunk_hparams(
        3, split_targets_strided_training=True, use_fixed_batch_size=True, batch_size=4
    )
    batches = dataset(data_dir, hparams=hparams, num_replicas=2)
    assert batches.element_spec["targets"].shape.as_list() == [8, 3]
    assert {tuple(batch["targets"].shape) for batch in batches.take(30)} == {(8, 3)}


def test_strided_training_refuses_rows_that_change(data_dir):
    hparams = chunk_hparams(3, split_targets_strided_training=True)
    with pytest.raises(ValueError, match="use_fixed_batch_size=True.*Received.*sentences"):
        dataset(data_dir, hparams=hparams)
    # An evaluation is one pass, and ends in smaller batches.
    assert next(iter(dataset(data_dir, ModeKeys.EVAL, hparams=hparams)))["targets"].shape[1] == 3


def test_description_has_the_chunks(data_dir):
    text = pipeline.describe(Numbers(), chunk_hparams(3, 7), data_dir)
    assert "up to 7 chunks of 3 target ids" in text
