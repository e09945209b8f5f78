"""Batches for training, evaluation and decoding."""

import itertools
import json
import os
import subprocess
import sys
import textwrap

import pytest
import tensorflow as tf

from t2t_keras.data import pipeline, records
from t2t_keras.data.modes import ModeKeys
from tests.data.numbers_problem import (
    NUM_EXAMPLES,
    Numbers,
    as_lists,
    dataset,
    example,
    first_ids,
    make_hparams,
    write_shards,
)

# ---- Order and saved positions ----


@pytest.mark.parametrize("pad_to_bucket", [False, True])
def test_saved_position_continues_with_the_same_batches(data_dir, tmp_path, pad_to_bucket):
    batches = dataset(data_dir, pad_to_bucket=pad_to_bucket)
    iterator = iter(batches)
    for _ in range(30):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "position"))
    expected = as_lists(itertools.islice(iterator, 60))
    restored = iter(dataset(data_dir, pad_to_bucket=pad_to_bucket))
    tf.train.Checkpoint(iterator=restored).read(path).assert_consumed()
    assert as_lists(itertools.islice(restored, 60)) == expected


def test_saved_position_continues_in_another_process(data_dir, tmp_path):
    # TensorFlow's global seed takes part in the order; tests before this one may have set it.
    tf.random.set_seed(7)
    iterator = iter(dataset(data_dir))
    for _ in range(30):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).write(str(tmp_path / "position"))
    expected = as_lists(itertools.islice(iterator, 60))
    program = f"""
        import itertools, json
        import tensorflow as tf
        from tests.data.numbers_problem import as_lists, dataset
        tf.random.set_seed(7)
        iterator = iter(dataset({data_dir!r}))
        tf.train.Checkpoint(iterator=iterator).read({path!r}).assert_consumed()
        print(json.dumps(as_lists(itertools.islice(iterator, 60))))
    """
    output = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    ).stdout
    assert json.loads(output) == expected


# ---- Shapes ----


def test_batches_have_rank_two_int32_and_sizes_of_the_scheme(data_dir):
    hparams = make_hparams()
    scheme = pipeline.batching.batching_scheme(Numbers(), ModeKeys.TRAIN, hparams)
    for batch in dataset(data_dir).take(50):
        assert batch["inputs"].dtype == batch["targets"].dtype == tf.int32
        rows, length = batch["inputs"].shape
        assert batch["targets"].shape[0] == rows
        assert rows == scheme.batch_sizes[scheme.bucket_of(length)]


def test_padding_to_buckets_gives_one_shape_a_bucket(data_dir):
    scheme = pipeline.batching.batching_scheme(Numbers(), ModeKeys.TRAIN, make_hparams())
    shapes = set(zip(scheme.batch_sizes, scheme.bucket_lengths, strict=True))
    seen = set()
    for batch in dataset(data_dir, pad_to_bucket=True).take(100):
        assert batch["inputs"].shape == batch["targets"].shape
        seen.add(tuple(batch["inputs"].shape))
    assert seen <= shapes
    assert len(seen) > 3


def test_padding_to_buckets_of_longer_evaluation_examples(data_dir):
    hparams = make_hparams(max_length=16)
    longest = 0
    for batch in dataset(data_dir, ModeKeys.EVAL, hparams=hparams, pad_to_bucket=True):
        length = batch["inputs"].shape[1]
        longest = max(longest, length)
        assert length in (7, 11, 16, 32, 48)
    assert longest == 48


@pytest.mark.parametrize("num_replicas", [2, 3])
def test_batches_are_multiples_of_the_replicas_filled_up_with_zeros(data_dir, num_replicas):
    # Neither 2 nor 3 divides the number of examples.
    batches = as_lists(dataset(data_dir, ModeKeys.EVAL, num_replicas=num_replicas, max_records=145))
    assert all(len(batch["targets"]) % num_replicas == 0 for batch in batches)
    rows = [row for batch in batches for row in batch["targets"]]
    real = [row for row in rows if any(row)]
    assert len(real) == 145 < len(rows)


def test_evaluation_has_every_example_once_in_one_pass(data_dir):
    assert sorted(first_ids(dataset(data_dir, ModeKeys.EVAL))) == [
        number + 2 for number in range(NUM_EXAMPLES)
    ]


# ---- Filter, preprocessing ----


def test_long_examples_are_dropped_in_training_and_kept_in_evaluation(data_dir):
    hparams = make_hparams(max_length=10, min_length=4)
    lengths = [example(n)["inputs"] for n in range(NUM_EXAMPLES)]
    kept = {ids[0] for ids in lengths if 4 <= len(ids) <= 10}
    assert set(first_ids(dataset(data_dir, hparams=hparams).take(200))) == kept
    evaluated = first_ids(dataset(data_dir, ModeKeys.EVAL, hparams=hparams))
    assert set(evaluated) == {ids[0] for ids in lengths if len(ids) >= 4}
    hparams.eval_drop_long_sequences = True
    assert set(first_ids(dataset(data_dir, ModeKeys.EVAL, hparams=hparams))) == kept


def test_reversed_and_copied_problems(data_dir):
    plain = as_lists(dataset(data_dir, ModeKeys.EVAL))
    reverse = as_lists(dataset(data_dir, ModeKeys.EVAL, problem=Numbers(was_reversed=True)))
    copy = as_lists(dataset(data_dir, ModeKeys.EVAL, problem=Numbers(was_copy=True)))
    assert [(b["targets"], b["inputs"]) for b in reverse] == [
        (b["inputs"], b["targets"]) for b in plain
    ]
    assert [(b["inputs"], b["inputs"]) for b in plain] == [
        (b["inputs"], b["targets"]) for b in copy
    ]


def single_example(data_dir, mode=ModeKeys.EVAL, **values):
    features = next(iter(Numbers().dataset(mode, data_dir, make_hparams(**values)).skip(3)))
    return {name: value.numpy().tolist() for name, value in features.items()}


def test_preprocessing_by_hparams(data_dir):
    plain = single_example(data_dir)
    inputs, targets = plain["inputs"], plain["targets"]
    assert len(inputs) > 4
    cut = single_example(data_dir, max_input_seq_length=4, max_target_seq_length=2)
    assert cut == {"inputs": inputs[:4], "targets": targets[:2]}
    prepended = single_example(data_dir, prepend_mode="prepend_inputs_full_attention")
    assert prepended == {"inputs": inputs, "targets": [*inputs, 0, *targets]}
    prompt = single_example(
        data_dir, ModeKeys.PREDICT, prepend_mode="prepend_inputs_full_attention"
    )
    assert prompt == {**plain, "partial_targets": [*inputs, 0]}


def test_split_to_length_makes_several_examples(tmp_path):
    paths = Numbers().training_filepaths(str(tmp_path), 1, shuffled=True)
    records.generate_files([{"inputs": [2, 3, 4, 5], "targets": [6, 7, 8, 9]}], paths)
    hparams = make_hparams(split_to_length=2)
    examples = Numbers().dataset(ModeKeys.TRAIN, str(tmp_path), hparams)
    assert as_lists(examples) == [
        {"inputs": [2, 3], "targets": [6, 7]},
        {"inputs": [4, 5], "targets": [8, 9]},
    ]


# ---- Other kinds of batches ----


class FixedSize(Numbers):
    name = "fixed_size"

    @property
    def batch_size_means_tokens(self):
        return False

    def example_reading_spec(self):
        ids = tf.io.FixedLenFeature([4], tf.int64)
        return {"inputs": ids, "targets": ids}, None


def test_examples_of_fixed_size_are_counted(tmp_path):
    paths = FixedSize().training_filepaths(str(tmp_path), 1, shuffled=True)
    rows = [{"inputs": [k, 2, 3, 4], "targets": [5, 6, 7, 8]} for k in range(40)]
    records.generate_files(rows, paths)
    hparams = make_hparams(batch_size=6)
    for batch in dataset(str(tmp_path), problem=FixedSize(), hparams=hparams, num_replicas=2).take(
        5
    ):
        assert batch["inputs"].shape == (12, 4)


def test_readers_share_the_files(data_dir):
    parts = [
        first_ids(dataset(data_dir, ModeKeys.EVAL, partition_id=k, num_partitions=3))
        for k in range(3)
    ]
    assert sorted(itertools.chain(*parts)) == [number + 2 for number in range(NUM_EXAMPLES)]
    with pytest.raises(ValueError, match="4 readers.*3 files"):
        dataset(data_dir, ModeKeys.EVAL, partition_id=0, num_partitions=4)


def test_max_records_limits_the_examples(data_dir):
    assert len(first_ids(dataset(data_dir, ModeKeys.EVAL, max_records=7))) == 7


# ---- Errors ----


def test_missing_data_names_pattern_and_command(tmp_path):
    with pytest.raises(FileNotFoundError) as error:
        dataset(str(tmp_path))
    assert f"{tmp_path}/numbers-train*" in str(error.value)
    assert f"t2t-datagen --problem=numbers --data_dir={tmp_path}" in str(error.value)


def test_missing_shards_are_an_error(tmp_path):
    write_shards(tmp_path, "train")
    os.remove(tmp_path / "numbers-train-00001-of-00003")
    with pytest.raises(FileNotFoundError, match="1 of 3 shards.*number 1"):
        dataset(str(tmp_path))


def test_shards_of_two_generations_are_an_error(tmp_path):
    write_shards(tmp_path, "train", num_shards=2)
    write_shards(tmp_path, "train", num_shards=3)
    with pytest.raises(ValueError, match=r"\[2, 3\]"):
        dataset(str(tmp_path))


def test_unfinished_and_unshuffled_files_are_not_read(data_dir, tmp_path):
    write_shards(tmp_path, "train")
    for name in (
        "numbers-train-00000-of-00003.incomplete",
        "numbers-unshuffled-train-00000-of-00001",
    ):
        (tmp_path / name).write_bytes(b"not a record")
    assert as_lists(dataset(str(tmp_path)).take(5)) == as_lists(dataset(data_dir).take(5))


def test_decoders_of_features_are_refused(data_dir):
    class Decoding(Numbers):
        def example_reading_spec(self):
            return super().example_reading_spec()[0], {"inputs": object()}

    with pytest.raises(
        ValueError, match="problem numbers must return None.*preprocess_example.*'inputs'"
    ):
        dataset(data_dir, problem=Decoding())
