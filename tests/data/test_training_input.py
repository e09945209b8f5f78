"""Training batches whose position is the numbers of records."""

import itertools
import json
import shutil

import numpy as np
import pytest

from t2t_keras.data import (
    batching,
    record_reader,
    record_stream,
    records,
    tfrecord,
    training_input,
)
from t2t_keras.data.training_batches import DatasetInput, open_training_batches
from t2t_keras.data.training_input import InputState, TrainingInput
from tests.data.numbers_problem import (
    NUM_EXAMPLES,
    Numbers,
    SkipsNothing,
    as_lists,
    example,
    make_hparams,
    write_shards,
)


def open_input(data_dir, problem=None, hparams=None, **arguments):
    arguments = {"seed": 5, **arguments}
    return TrainingInput(problem or Numbers(), hparams or make_hparams(), data_dir, **arguments)


def take(source, count):
    return as_lists(itertools.islice(source, count))


def numbers_of(batches):
    """Numbers of the examples in batches; their ids begin with the number + 2."""
    return [row[0] - 2 for batch in batches for row in batch["inputs"]]


def saved(source):
    """The state, as it is after it was a file."""
    state = source.state()
    return InputState(json.loads(json.dumps(state.values)), state.ids.copy())


# ---- Order ----


def test_batches_are_those_of_the_scheme_full_and_padded(data_dir):
    source = open_input(data_dir)
    for batch in itertools.islice(source, 60):
        rows, length = batch["inputs"].shape
        assert rows == source.scheme.batch_sizes[source.scheme.bucket_of(length)]
        for inputs, targets in zip(
            batch["inputs"].numpy().tolist(), batch["targets"].numpy().tolist(), strict=True
        ):
            expected = example(inputs[0] - 2)
            assert [i for i in inputs if i] == expected["inputs"]
            assert [i for i in targets if i] == expected["targets"]


def test_batches_are_emitted_as_they_become_full(data_dir):
    """In a pass without shuffling of batches, as if examples had come one by one."""
    hparams = make_hparams(batch_shuffle_size=0)
    source = open_input(data_dir, SkipsNothing(), hparams)
    stream = record_stream.RecordStream(source._files, source._stream._seed)
    order = source._parse(*stream.read(NUM_EXAMPLES))
    waiting, expected = {}, []
    for record_id, length in zip(order.ids.tolist(), order.length.tolist(), strict=True):
        bucket = source.scheme.bucket_of(length)
        waiting.setdefault(bucket, []).append(record_id)
        if len(waiting[bucket]) == source.scheme.batch_sizes[bucket]:
            expected.append(waiting.pop(bucket))
    found = []
    for _ in expected:
        next(source)
        found.append(source._last_ids.tolist())
    assert found == expected


# ---- Position ----


@pytest.mark.parametrize("steps", [0, 1, 30, 77])
@pytest.mark.parametrize("arguments", [{}, {"num_replicas": 2, "pad_to_bucket": True}])
def test_saved_position_continues_with_the_same_batches(data_dir, steps, arguments):
    source = open_input(data_dir, **arguments)
    take(source, steps)
    state = saved(source)
    expected = take(source, 150)  # several passes
    restored = open_input(data_dir, **arguments)
    assert "very next batch" in restored.restore(state, same_batches=True)
    assert take(restored, 150) == expected


def test_a_position_can_be_saved_again_at_once(data_dir):
    source = open_input(data_dir)
    take(source, 20)
    restored = open_input(data_dir)
    restored.restore(saved(source), same_batches=True)
    again = open_input(data_dir)
    again.restore(saved(restored), same_batches=True)
    assert take(again, 60) == take(source, 60)


def test_a_position_in_a_big_corpus_is_small(data_dir):
    source = open_input(data_dir)
    take(source, 20)
    waiting = len(source.state().ids)
    batches = sum(source.scheme.batch_sizes) + 9 * max(source.scheme.batch_sizes)
    assert waiting <= record_stream._SHUFFLE_SIZE + batches + 1024


@pytest.mark.parametrize("before, after", [(1, 2), (2, 1), (4, 3)])
def test_other_replicas_go_on_with_the_examples_not_trained_on_yet(data_dir, before, after):
    # One sentence a replica, of any length.
    hparams = make_hparams(use_fixed_batch_size=True, batch_size=1, batch_shuffle_size=16)
    source = open_input(data_dir, SkipsNothing(), hparams, num_replicas=before)
    trained = numbers_of(take(source, 20))
    assert len(trained) == len(set(trained)) == 20 * before
    restored = open_input(data_dir, SkipsNothing(), hparams, num_replicas=after)
    assert "come first" in restored.restore(saved(source), same_batches=False)
    rest = numbers_of(take(restored, 2 * NUM_EXAMPLES // after))
    waiting = waiting_numbers(restored)
    # Everything read is trained on or waits: every example as often as the passes so far, or once
    # more if this pass has come to it.
    counts = np.bincount(trained + rest + waiting, minlength=NUM_EXAMPLES)
    assert counts.max() - counts.min() <= 1


def waiting_numbers(source):
    waiting = record_stream.fetch(source._files, source.state().ids)
    return [records.parse_example(data)["inputs"][0] - 2 for data in waiting]


def test_nothing_that_was_read_is_lost_or_repeated_by_other_batch_sizes(data_dir):
    source = open_input(data_dir, SkipsNothing())
    take(source, 9)
    state = saved(source)
    restored = open_input(data_dir, SkipsNothing(), make_hparams(batch_size=100))
    restored.restore(state, same_batches=False)
    waiting = sorted(state.ids.tolist())
    assert sorted(restored.state().ids.tolist()) == waiting


# ---- Position, when reading fails ----


def read_until_it_fails(source, error):
    """The batches before, and the last position: reading ahead has failed then already."""
    batches = []
    with pytest.raises(error) as raised:
        while True:
            state = saved(source)
            batches += take(source, 1)
    assert saved(source).values == state.values
    return batches, state, str(raised.value)


def assert_goes_on_as_if_nothing_had_happened(data_dir, arguments, batches, state):
    restored = open_input(data_dir, **arguments)
    assert "very next batch" in restored.restore(state, same_batches=True)
    whole = take(open_input(data_dir, **arguments), len(batches) + 60)
    assert batches + take(restored, 60) == whole


@pytest.mark.parametrize("arguments", [{}, {"problem": SkipsNothing(), "num_replicas": 2}])
def test_data_that_vanish_lose_nothing_of_the_position(data_dir, tmp_path, arguments, monkeypatch):
    # Several reads a pass.
    monkeypatch.setattr(training_input, "_CHUNK", 64)
    own = shutil.copytree(data_dir, tmp_path / "own")
    source = open_input(str(own), **arguments)
    first = take(source, 3)
    shutil.rmtree(own)
    batches, state, message = read_until_it_fails(source, FileNotFoundError)
    assert str(own) in message
    assert_goes_on_as_if_nothing_had_happened(data_dir, arguments, first + batches, state)


def test_a_damaged_record_loses_nothing_of_the_position(data_dir, tmp_path, monkeypatch):
    monkeypatch.setattr(training_input, "_CHUNK", 64)
    monkeypatch.setattr(record_reader, "_READ_BYTES", 512)
    own = shutil.copytree(data_dir, tmp_path / "own")
    source = open_input(str(own))
    first = take(source, 3)
    for path in own.glob("*-train-*"):
        contents = bytearray(path.read_bytes())
        contents[tfrecord.hop(contents, 0, 30, str(path), 0) + 14] ^= 8
        path.write_bytes(contents)
    batches, state, message = read_until_it_fails(source, ValueError)
    assert "record 30 " in message
    assert_goes_on_as_if_nothing_had_happened(data_dir, {}, first + batches, state)


def test_a_batch_that_cannot_be_made_comes_again(data_dir, monkeypatch):
    source = open_input(data_dir)
    batches = take(source, 3)
    source.state()  # The next one is made.
    take_next, padded = [], source._padded

    def fail(rows):
        take_next.append(rows)
        raise MemoryError

    monkeypatch.setattr(source, "_padded", fail)
    batches += take(source, 1)
    state = saved(source)
    assert len(take_next) == 1
    with pytest.raises(MemoryError):
        next(source)
    monkeypatch.setattr(source, "_padded", padded)
    assert_goes_on_as_if_nothing_had_happened(data_dir, {}, batches, state)
    assert batches + take(source, 20) == take(open_input(data_dir), len(batches) + 20)


# ---- Shapes ----


def test_few_shapes_of_full_batches(data_dir):
    arguments = {"pad_to_bucket": True, "max_shapes": 3, "num_replicas": 2}
    source = open_input(data_dir, **arguments)
    assert len(source.shapes) == 3
    seen = set()
    for batch in itertools.islice(source, 120):
        assert batch["inputs"].shape == batch["targets"].shape
        seen.add(tuple(batch["inputs"].shape))
    assert seen == set(source.shapes)


def test_without_a_limit_the_buckets_are_t2ts(data_dir):
    plain = batching.batching_scheme(Numbers(), "train", make_hparams())
    assert open_input(data_dir).scheme == plain
    # Batches that aren't padded to buckets don't have few shapes anyway.
    assert open_input(data_dir, max_shapes=2).scheme == plain


def test_a_packed_problem_has_one_shape(data_dir):
    class Packed(Numbers):
        packed_length = 64

    problem = Packed()
    problem.name = Numbers.name
    source = open_input(data_dir, problem, pad_to_bucket=True, max_shapes=16)
    assert source.shapes == [(1, 64)]
    shapes = {tuple(batch["targets"].shape) for batch in itertools.islice(source, 40)}
    assert shapes == {(1, 64)}


# ---- Preprocessing, other inputs, errors ----


def test_preprocessing_of_single_examples(data_dir):
    hparams = make_hparams(max_input_seq_length=4, prepend_mode="prepend_inputs_full_attention")
    batch = next(open_input(data_dir, hparams=hparams))
    for inputs, targets in zip(batch["inputs"].numpy(), batch["targets"].numpy(), strict=True):
        whole = example(int(inputs[0]) - 2)
        cut = whole["inputs"][:4]
        assert [i for i in inputs.tolist() if i] == cut
        expected = [*cut, 0, *whole["targets"]]
        assert targets.tolist()[: len(expected)] == expected


@pytest.mark.parametrize("values", [{"pack_dataset": True}, {"split_to_length": 1}])
def test_examples_made_of_parts_or_of_several_records_are_read_by_tensorflow(data_dir, values):
    hparams = make_hparams(max_length=48, **values)
    source = open_training_batches(Numbers(), hparams, data_dir, seed=3)
    assert isinstance(source, DatasetInput)
    assert source.iterator.element_spec.keys() >= {"inputs", "targets"}


def test_rows_are_traced_to_their_records(data_dir):
    source = open_input(data_dir)
    batch = next(source)
    for row, place in enumerate(source.record_finder()(range(len(batch["inputs"])))):
        path, number = place.split(" record ")
        record = record_reader.pick(path, [int(number)])[0]
        parsed = records.parse_example(record)
        assert parsed["inputs"][0] == int(batch["inputs"][row][0])


@pytest.mark.parametrize("damage", ["data", "length", "cut"])
def test_a_damaged_record_is_named(tmp_path, damage):
    write_shards(tmp_path, "train", num_shards=1, count=40)
    path = tmp_path / "numbers-train-00000-of-00001"
    contents = bytearray(path.read_bytes())
    position = tfrecord.hop(contents, 0, 17, str(path), 0)
    if damage == "cut":
        contents = contents[: position + 20]
        (tmp_path / "shard_sizes.json").unlink()
    else:
        contents[position + (14 if damage == "data" else 3)] ^= 8
    path.write_bytes(contents)
    with pytest.raises(ValueError, match=rf"{path.name} is .*record 17\b"):
        take(open_input(tmp_path, SkipsNothing()), 10)


def test_a_filter_that_drops_everything_is_an_error(data_dir):
    with pytest.raises(ValueError, match="No example passes.*min_length=60"):
        next(open_input(data_dir, hparams=make_hparams(min_length=60)))


def test_a_record_of_any_length_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(record_reader, "_READ_BYTES", 64)
    data = [bytes([k]) * (k * 37 % 500) for k in range(60)]
    path = tmp_path / "records"
    path.write_bytes(b"".join(tfrecord.frames(data)))
    reader = record_reader.RecordReader(str(path))
    assert reader.read(23) == data[:23]
    other = record_reader.RecordReader(str(path), reader.number, reader.offset)
    assert other.read(100) == data[23:]
    assert reader.read(100) == data[23:] and reader.read(1) == []
    assert record_reader.pick(str(path), [0, 5, 6, 59]) == [data[k] for k in (0, 5, 6, 59)]
