"""Data generation that is killed and started again makes the same files."""

import glob
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from t2t_keras.data import publishing, reading, records
from tests.data import killed_datagen
from tests.data.interruption import Killed, kill_at_call

PROGRAM = killed_datagen.__file__


def contents(folder):
    found = {}
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), "rb") as stream:
            found[name] = stream.read()
    return found


def start(folder):
    folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen([sys.executable, PROGRAM, str(folder)], env=environment)


def accepted(folder):
    """Whether training would read the data."""
    try:
        reading.shard_files(killed_datagen.Letters(), "train", str(folder))
    except FileNotFoundError:
        return False
    return True


@pytest.mark.end_to_end
def test_killed_ten_times_at_random(tmp_path):
    begin = time.monotonic()
    assert start(tmp_path / "whole").wait() == 0
    duration = time.monotonic() - begin
    expected = contents(tmp_path / "whole")
    assert [name for name in expected if name.startswith(".")] == []
    killed = 0
    for number in range(10):
        folder = tmp_path / f"killed{number}"
        process = start(folder)
        try:
            process.wait(timeout=random.random() * duration)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            killed += process.wait() == -signal.SIGKILL
        if accepted(folder):
            for name in expected:
                if "train" in name:
                    assert (folder / name).read_bytes() == expected[name]
        if number % 2:
            killed_datagen.generate(str(folder))
        else:
            assert start(folder).wait() == 0
        assert contents(folder) == expected
    assert killed


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of a run that is not killed."""
    folder = tmp_path_factory.mktemp("whole")
    killed_datagen.generate(str(folder))
    return contents(folder)


@pytest.mark.parametrize("renamings", range(0, 24, 2))
def test_killed_between_two_renamings(tmp_path, monkeypatch, whole, renamings):
    with monkeypatch.context() as patch:
        done = kill_at_call(patch, os, "replace", renamings)
        try:
            killed_datagen.generate(str(tmp_path))
        except Killed:
            assert renamings == len(done)
    killed_datagen.generate(str(tmp_path))
    assert contents(tmp_path) == whole


def test_a_journal_without_files_is_no_obstacle(tmp_path):
    paths = [str(tmp_path / name) for name in ("a-00000-of-00002", "a-00001-of-00002")]
    (tmp_path / ".a-00000-of-00002.publish.json").write_text('["gone"]')
    records.generate_files([{"targets": [1]}, {"targets": [2]}], paths)
    assert sorted(glob.glob(str(tmp_path / "a-*"))) == paths
    publishing.finish_publishing(paths[0])
