"""Damaged shards: t2t-datagen makes them anew, reading refuses them by name."""

import os

import pytest
from absl import logging

from t2t_keras.data import reading, records, shard_sizes
from tests.data.killed_datagen import Letters


def shard_paths(folder, count=3):
    return Letters().training_filepaths(str(folder), count, shuffled=True)


def generate(folder, number=30, count=3):
    paths = shard_paths(folder, count)
    samples = ({"inputs": [2, 1], "targets": [k + 2, 1]} for k in range(number))
    records.generate_files(samples, paths)
    return paths


def cut(path, size):
    with open(path, "r+b") as stream:
        stream.truncate(size)


def record_size(path):
    return os.path.getsize(path) // records.count_records(path)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("size", [0, 1, 50])
def test_generation_makes_cut_shards_anew(tmp_path, size, known, caplog):
    paths = generate(tmp_path)
    whole = [os.path.getsize(path) for path in paths]
    if not known:
        os.remove(tmp_path / shard_sizes.FILE_NAME)
    cut(paths[1], size)
    caplog.set_level(logging.WARNING)
    generate(tmp_path)
    assert [os.path.getsize(path) for path in paths] == whole
    assert paths[1] in caplog.text and "starting over" in caplog.text


def test_a_cut_between_records_is_noticed(tmp_path):
    paths = generate(tmp_path)
    cut(paths[2], record_size(paths[2]))
    assert shard_sizes.damage(paths).startswith(paths[2])
    with pytest.raises(ValueError, match=r"00002-of-00003 has \d+ bytes(.|\n)*t2t-datagen"):
        reading.shard_files(Letters(), "train", str(tmp_path))


def test_an_empty_shard_is_refused_or_warned_of(tmp_path, caplog):
    paths = generate(tmp_path)
    cut(paths[1], 0)
    with pytest.raises(ValueError, match=r"00001-of-00003 has 0 bytes, and \d+ when it was made"):
        reading.shard_files(Letters(), "train", str(tmp_path))
    os.remove(tmp_path / shard_sizes.FILE_NAME)
    caplog.set_level(logging.WARNING)
    assert reading.shard_files(Letters(), "train", str(tmp_path)) == paths
    assert f"{paths[1]} is empty" in caplog.text


@pytest.mark.parametrize("known", [True, False])
def test_more_shards_than_samples_are_no_damage(tmp_path, known):
    paths = generate(tmp_path, number=2, count=5)
    if not known:
        os.remove(tmp_path / shard_sizes.FILE_NAME)
    assert [os.path.getsize(path) for path in paths[2:]] == [0, 0, 0]
    assert shard_sizes.damage(paths) is None
    assert reading.shard_files(Letters(), "train", str(tmp_path)) == paths


def test_changed_bytes_are_found(tmp_path):
    paths = generate(tmp_path)
    assert shard_sizes.unreadable(paths) is None
    with open(paths[2], "r+b") as stream:
        stream.seek(record_size(paths[2]) + 20)
        stream.write(b"\xff\xff")
    assert shard_sizes.damage(paths) is None
    assert (
        shard_sizes.unreadable(paths) == f"{paths[2]} is damaged: record 1 has a wrong check sum."
    )


def test_a_damaged_list_of_sizes_is_named(tmp_path):
    paths = generate(tmp_path)
    (tmp_path / shard_sizes.FILE_NAME).write_text("{")
    with pytest.raises(ValueError, match=r"shard_sizes.json is damaged. Delete it"):
        shard_sizes.damage(paths)
