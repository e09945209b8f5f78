"""Packing while reading, against T2T's recorded rows."""

import pytest
import tensorflow as tf

from t2t_keras.data import packed_dataset
from tests.data.numbers_problem import (
    NUM_EXAMPLES,
    Numbers,
    SkipsNothing,
    as_lists,
    dataset,
    example,
    make_hparams,
)
from tests.reference_data import load_golden_json


def dataset_of(examples):
    signature = {name: tf.TensorSpec([None], tf.int64) for name in examples[0]}
    return tf.data.Dataset.from_generator(lambda: iter(examples), output_signature=signature)


def rows_of(examples, *arguments, **options):
    packed = packed_dataset.pack_dataset(dataset_of(examples), *arguments, **options)
    return [{name: value.numpy().tolist() for name, value in row.items()} for row in packed]


@pytest.mark.reference
def test_rows_are_t2ts():
    recorded = load_golden_json("datagen", "pack_dataset_length20.json.gz")["rows"]
    examples = load_golden_json("datagen", "pack_examples.json.gz")["examples"]
    packed = rows_of(examples, 20, drop_long_sequences=True)

    # T2T's rows come in no certain order.
    def by_content(row):
        return sorted(row.items())

    assert sorted(packed, key=by_content) == sorted(recorded, key=by_content)


LONG = [
    {"inputs": [5, 6, 7, 8, 9, 1], "targets": [4, 1]},
    {"inputs": [3, 1], "targets": [2, 1]},
]


def test_long_sequences_are_cut_or_dropped():
    cut = rows_of(LONG, 4)
    assert [row["inputs"] for row in cut] == [[5, 6, 7, 8], [3, 1, 0, 0]]
    assert [row["targets"] for row in cut] == [[4, 1, 0, 0], [2, 1, 0, 0]]
    (dropped,) = rows_of(LONG, 4, drop_long_sequences=True)
    assert dropped["inputs"] == [3, 1, 0, 0]


def test_targets_only():
    rows = rows_of([{"targets": [n, 1]} for n in range(2, 7)], 4)
    assert [row["targets"] for row in rows] == [[2, 1, 3, 1], [4, 1, 5, 1], [6, 1, 0, 0]]
    assert set(rows[0]) == {"targets", "targets_segmentation", "targets_position"}


@pytest.mark.parametrize("count", [1, 49, 50, 51, 125])
def test_windows_lose_nothing(count):
    # A window has 4 / 8 * 100 = 50 examples.
    examples = [{"targets": [n + 2, 1]} for n in range(count)]
    rows = rows_of(examples, 4)
    found = [row["targets"][place] for row in rows for place in (0, 2)]
    assert [item for item in found if item] == [n + 2 for n in range(count)]


def test_packed_rows_hold_every_example_once(data_dir):
    hparams = make_hparams(pack_dataset=True, max_length=48, batch_shuffle_size=0)
    batches = list(dataset(data_dir, problem=SkipsNothing(), hparams=hparams, prevent_repeat=True))
    found = []
    for batch in as_lists(batches):
        assert batch["inputs"][0] and all(len(row) == 48 for rows in batch.values() for row in rows)
        for ids, segments in zip(batch["inputs"], batch["inputs_segmentation"], strict=True):
            for segment in range(1, max(segments) + 1):
                found.append([i for i, s in zip(ids, segments, strict=True) if s == segment])
    assert sorted(found) == sorted(example(n)["inputs"] for n in range(NUM_EXAMPLES))
    # batch_size tokens, in rows of max_length.
    assert {len(batch["inputs"]) for batch in batches} == {1}


def test_position_in_packed_examples_can_be_saved(data_dir, tmp_path):
    hparams = make_hparams(pack_dataset=True, max_length=48)
    iterator = iter(dataset(data_dir, hparams=hparams))
    for _ in range(7):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "position"))
    expected = as_lists(next(iterator) for _ in range(20))
    resumed = iter(dataset(data_dir, hparams=hparams))
    tf.train.Checkpoint(iterator=resumed).restore(path)
    assert as_lists(next(resumed) for _ in range(20)) == expected


def test_a_packed_problem_is_not_packed_again(data_dir):
    class Packed(Numbers):
        packed_length = 64

    problem = Packed()
    problem.name = Numbers.name
    with pytest.raises(ValueError, match="packed already"):
        dataset(data_dir, problem=problem, hparams=make_hparams(pack_dataset=True))
