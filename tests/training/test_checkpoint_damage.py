import os
import shutil

import numpy as np
import pytest

from t2t_keras.training import averaging, checkpoints, input_position
from tests.training import runs

DATA, INDEX = "data-00000-of-00001", "index"


def cut_in_half(path):
    os.truncate(path, os.path.getsize(path) // 2)


@pytest.fixture
def saved(tmp_path):
    """Three checkpoints."""
    for step in (1, 2, 3):
        prefix = checkpoints.prefix_of_step(str(tmp_path), step)
        checkpoints.write_values(
            prefix, {"w": np.full([50, 4], step, np.float32), "global_step": np.int64(step)}
        )
    return tmp_path


@pytest.mark.parametrize("ending", [DATA, INDEX])
def test_a_cut_file_is_named_and_the_checkpoint_before_it_used(saved, ending):
    cut = saved / f"model.ckpt-3.{ending}"
    cut_in_half(cut)
    assert checkpoints.resolve(str(saved)).endswith("model.ckpt-2")
    with pytest.raises(checkpoints.CheckpointError, match=f"model.ckpt-3.{ending}"):
        checkpoints.resolve(str(saved / "model.ckpt-3"))
    assert checkpoints.damaged_checkpoints(str(saved)) == [str(saved / "model.ckpt-3")]


def test_altered_bytes_are_an_error_that_names_the_checkpoint(saved):
    path = saved / f"model.ckpt-3.{DATA}"
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 255
    path.write_bytes(contents)
    with pytest.raises(checkpoints.CheckpointError, match="model.ckpt-3"):
        averaging.average_values([str(saved / "model.ckpt-3")])


@pytest.fixture(scope="module")
def whole_run(data_dir, tmp_path_factory):
    directory = tmp_path_factory.mktemp("whole")
    runs.train(directory, data_dir, train_steps=4)
    return directory


@pytest.mark.parametrize("ending", [DATA, INDEX, "input.json"])
def test_training_goes_on_whatever_newest_file_is_cut(whole_run, data_dir, tmp_path, ending):
    directory = shutil.copytree(whole_run, tmp_path / "run")
    cut_in_half(directory / f"model.ckpt-4.{ending}")
    runs.train(directory, data_dir, train_steps=5)
    assert runs.last_step(directory) == 5
    position = input_position.read_description(str(directory / "model.ckpt-5"))
    is_anew = position["input_seed"] != position["random_seed"]
    assert is_anew == ending.startswith("input")


def test_a_run_with_only_damaged_checkpoints_is_not_overwritten(whole_run, data_dir, tmp_path):
    directory = shutil.copytree(whole_run, tmp_path / "run")
    for step in (0, 4):
        cut_in_half(directory / f"model.ckpt-{step}.{DATA}")
    with pytest.raises(checkpoints.CheckpointError, match="all damaged"):
        runs.train(directory, data_dir, train_steps=4)
