"""Writing, shuffling and counting records; what an interrupted run leaves behind."""

import glob
import os
import random

import numpy as np
import pytest

from t2t_keras.data import records, shard_sizes
from tests.data.interruption import Killed, kill_at_call


def shard_paths(folder, count=3, suffix=""):
    return [str(folder / f"words{suffix}-train-{k:05d}-of-{count:05d}") for k in range(count)]


def visible_shards(folder):
    return sorted(set(os.listdir(folder)) - {shard_sizes.FILE_NAME})


def samples(count):
    return ({"targets": [number + 2, 1]} for number in range(count))


def read(paths):
    return [
        [records.parse_example(r)["targets"][0] - 2 for r in records.read_records(path)]
        for path in paths
    ]


def test_values_of_all_types_come_back():
    sample = {
        "ints": [3, -1, 2**40],
        "floats": [0.5, -2.0],
        "strings": ["é", "x"],
        "bytes": [b"\xff"],
        "numpy": np.asarray([4, 5]),
    }
    parsed = records.parse_example(records.to_example(sample).SerializeToString())
    assert parsed == {
        "ints": [3, -1, 2**40],
        "floats": [0.5, -2.0],
        "strings": ["é".encode(), b"x"],
        "bytes": [b"\xff"],
        "numpy": [4, 5],
    }


def test_empty_and_strange_values_are_refused():
    with pytest.raises(ValueError, match="'inputs' is empty"):
        records.to_example({"inputs": []})
    with pytest.raises(ValueError, match="'inputs'.*NoneType"):
        records.to_example({"inputs": [None]})


def test_samples_go_to_the_shards_in_turn(tmp_path):
    paths = shard_paths(tmp_path)
    records.generate_files([None, *samples(8), None], paths)
    assert read(paths) == [[0, 3, 6], [1, 4, 7], [2, 5]]
    assert [records.count_records(path) for path in paths] == [3, 3, 2]


def test_max_cases_and_cycle(tmp_path):
    paths = shard_paths(tmp_path, count=2)
    records.generate_files(samples(100), paths, max_cases=5, cycle_every_n=2)
    assert read(paths) == [[0, 1, 4], [2, 3]]


def test_existing_shards_are_left_alone(tmp_path):
    paths = shard_paths(tmp_path)
    records.generate_files(samples(6), paths)
    records.generate_files(samples(9), shard_paths(tmp_path, suffix="-unshuffled"))
    records.generate_files(samples(9), paths)
    assert sum(map(len, read(paths))) == 6
    assert len(visible_shards(tmp_path)) == len(os.listdir(tmp_path)) - 1 == 3


def test_no_samples_are_an_error_and_leave_nothing(tmp_path):
    with pytest.raises(ValueError, match="no samples"):
        records.generate_files([], shard_paths(tmp_path))
    assert os.listdir(tmp_path) == []


def test_a_failing_generator_leaves_nothing(tmp_path):
    def failing():
        yield from samples(5)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        records.generate_files(failing(), shard_paths(tmp_path))
    assert os.listdir(tmp_path) == []


def test_shuffling_keeps_the_examples_of_a_shard(tmp_path):
    unshuffled = shard_paths(tmp_path, suffix="-unshuffled")
    records.generate_files(samples(90), unshuffled)
    random.seed(1)
    records.shuffle_dataset(unshuffled)
    random.seed(1)
    expected = [list(range(k, 90, 3)) for k in range(3)]
    for shard in expected:
        random.shuffle(shard)
    assert read(shard_paths(tmp_path)) == expected
    assert len(visible_shards(tmp_path)) == len(os.listdir(tmp_path)) - 1 == 3


def test_records_can_be_changed_on_the_way_without_shuffling(tmp_path):
    unshuffled = shard_paths(tmp_path, count=1, suffix="-unshuffled")
    records.generate_files(samples(4), unshuffled)
    records.shuffle_dataset(unshuffled, extra_fn=lambda shard: shard[:2], shuffle=False)
    assert read(shard_paths(tmp_path, count=1)) == [[0, 1]]


@pytest.mark.parametrize("shards_done", [0, 1, 2])
def test_killed_while_shuffling_nothing_looks_finished_and_the_next_run_starts_over(
    tmp_path, monkeypatch, shards_done
):
    def generate():
        unshuffled = shard_paths(tmp_path, suffix="-unshuffled")
        records.generate_files(samples(30), unshuffled)
        random.seed(1)
        records.shuffle_dataset(unshuffled)

    with monkeypatch.context() as patch:
        kill_at_call(patch, records, "_write_shard", shards_done)
        with pytest.raises(Killed):
            generate()
    assert glob.glob(str(tmp_path / "words-train*")) == []
    generate()
    interrupted = read(shard_paths(tmp_path))
    assert sorted(sum(interrupted, [])) == list(range(30))
    assert visible_shards(tmp_path) == [os.path.basename(p) for p in shard_paths(tmp_path)]


def test_a_set_that_lacks_shards_is_made_anew(tmp_path):
    paths = shard_paths(tmp_path)
    records.generate_files(samples(6), paths)
    os.remove(paths[1])
    records.generate_files(samples(9), paths)
    assert sum(map(len, read(paths))) == 9


def test_counting_notices_a_cut_off_file(tmp_path):
    (path,) = shard_paths(tmp_path, count=1)
    records.generate_files(samples(5), [path])
    with open(path, "rb") as stream:
        content = stream.read()
    for cut in (1, 30):
        (tmp_path / "cut").write_bytes(content[:-cut])
        with pytest.raises(ValueError, match="cut off"):
            records.count_records(str(tmp_path / "cut"))
