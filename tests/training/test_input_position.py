"""Resuming a run where its input stood."""

import itertools
import logging
import re
import shutil
import time

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.data.pipeline import input_dataset
from t2t_keras.data.training_batches import open_training_batches
from t2t_keras.training import input_position, session
from t2t_keras.training.step import TrainStep
from tests.training import runs, toy


def open_batches(data_dir, overrides="", batch_size=128, **arguments):
    hparams = toy.make_hparams(data_dir, overrides)
    hparams.batch_size = batch_size
    arguments = {"seed": 4, **arguments}
    return open_training_batches(hparams.problem, hparams, data_dir, **arguments)


def take(source, count):
    return [
        {name: value.numpy().tolist() for name, value in batch.items()}
        for batch in itertools.islice(source, count)
    ]


def save_after(source, steps, prefix):
    take(source, steps)
    input_position.save(str(prefix), source, {"random_seed": 4})


@pytest.mark.parametrize(
    "overrides, arguments",
    [
        ("", {}),
        ("", {"num_replicas": 2, "pad_to_bucket": True, "max_shapes": 3}),
    ],
)
def test_the_next_batches_are_the_same(data_dir, tmp_path, overrides, arguments):
    source = open_batches(data_dir, overrides, **arguments)
    save_after(source, 15, tmp_path / "model.ckpt-15")
    resumed = open_batches(data_dir, overrides, **arguments)
    assert input_position.restore(str(tmp_path / "model.ckpt-15"), resumed)
    assert take(resumed, 40) == take(source, 40)


def test_the_position_is_one_small_file(data_dir, tmp_path):
    source = open_batches(data_dir)
    save_after(source, 15, tmp_path / "model.ckpt-15")
    (path,) = tmp_path.iterdir()
    assert path.name == "model.ckpt-15.input.json"
    waiting = len(source.state().ids)
    assert path.stat().st_size < 3000 + 4 * waiting


@pytest.mark.parametrize("count", [0, 1, 1000])
def test_ids_survive_packing(count):
    ids = np.random.default_rng(0).integers(0, 1 << 50, count)
    np.testing.assert_array_equal(input_position._unpacked(input_position._packed(ids)), ids)


@pytest.mark.parametrize(
    "change, arguments",
    [
        (r"num_replicas \(was 1, is 2\)", {"num_replicas": 2}),
        (r"batch_size \(was 128, is 64\)", {"batch_size": 64}),
        (r"padded_to_bucket \(was False, is True\)", {"pad_to_bucket": True}),
    ],
)
def test_other_batches_go_on_at_the_same_position(data_dir, tmp_path, caplog, change, arguments):
    source = open_batches(data_dir)
    save_after(source, 15, tmp_path / "model.ckpt-15")
    resumed = open_batches(data_dir, **arguments)
    with caplog.at_level(logging.INFO, logger="absl"):
        assert input_position.restore(str(tmp_path / "model.ckpt-15"), resumed)
    expected = rf"(?s)goes on in pass \d+ .*come first.*differs from the run so far: .*{change}"
    assert re.search(expected, caplog.text), caplog.text
    assert sorted(resumed.state().ids.tolist()) == sorted(source.state().ids.tolist())


def test_other_data_are_shuffled_anew(data_dir, tmp_path, caplog):
    save_after(open_batches(data_dir), 3, tmp_path / "model.ckpt-3")
    other = toy.make_data(tmp_path / "other")
    with open(f"{other}/toy_reverse_words-train-00000-of-00002", "rb") as stream:
        first = stream.read()
    with open(f"{other}/toy_reverse_words-train-00001-of-00002", "ab") as stream:
        stream.write(first)
    (tmp_path / "other" / "shard_sizes.json").unlink()
    assert not input_position.restore(str(tmp_path / "model.ckpt-3"), open_batches(other))
    assert "shuffled anew" in caplog.text and "files (was 2 files" in caplog.text


@pytest.mark.parametrize(
    ("contents", "cause"),
    [
        ("{", "model.ckpt-3.input.json is damaged or can't be read"),
        ("[]", "model.ckpt-3.input.json is damaged or can't be read"),
        ('{"random_seed": 4}', "model.ckpt-3 is of an older version"),
        (None, "No input position beside"),
    ],
)
def test_damaged_old_or_missing_positions_are_shuffled_anew(
    data_dir, tmp_path, caplog, contents, cause
):
    save_after(open_batches(data_dir), 3, tmp_path / "model.ckpt-3")
    path = tmp_path / "model.ckpt-3.input.json"
    path.unlink()
    if contents is not None:
        path.write_text(contents)
    assert not input_position.restore(str(tmp_path / "model.ckpt-3"), open_batches(data_dir))
    assert "shuffled anew" in caplog.text and cause in caplog.text


def test_cut_ids_are_noticed(data_dir, tmp_path, caplog):
    save_after(open_batches(data_dir), 3, tmp_path / "model.ckpt-3")
    path = tmp_path / "model.ckpt-3.input.json"
    path.write_text(path.read_text().replace('"waiting_records": "', '"waiting_records": "AAAA'))
    assert not input_position.restore(str(tmp_path / "model.ckpt-3"), open_batches(data_dir))
    assert "can't be used" in caplog.text


@pytest.mark.parametrize(("saved_after", "num_passes"), [(1, 1), (5, 1), (15, 2)])
def test_the_rest_of_a_pass_over_packed_data_is_exact(
    data_dir, tmp_path, monkeypatch, saved_after, num_passes
):
    hparams = toy.make_hparams(data_dir, ",pack_dataset=True")
    hparams.batch_shuffle_size = 0  # It would mix batches of the next pass in before the end.
    problem = hparams.problem
    monkeypatch.setattr(type(problem), "skip_random_fraction_when_training", False)
    one_pass = input_dataset(problem, "train", hparams, data_dir, seed=4, prevent_repeat=True)
    rows = [len(batch["targets"]) for batch in one_pass]
    left = num_passes * sum(rows) // rows[0] - saved_after
    source, resumed = (open_training_batches(problem, hparams, data_dir, seed=4) for _ in range(2))
    save_after(source, saved_after, tmp_path / "model.ckpt")
    assert input_position.restore(str(tmp_path / "model.ckpt"), resumed)
    assert left > 5
    assert take(resumed, left) == take(source, left)


def test_the_log_is_as_loud_after_saving_as_before(data_dir, tmp_path, caplog):
    source = open_batches(data_dir, ",pack_dataset=True")
    with caplog.at_level(logging.INFO):
        level = logging.getLogger("absl").level
        save_after(source, 1, tmp_path / "model.ckpt")
        assert not caplog.messages and logging.getLogger("absl").level == level


def test_a_position_saved_while_packed_data_were_gone_is_not_used(data_dir, tmp_path, caplog):
    own, prefix = shutil.copytree(data_dir, tmp_path / "own"), tmp_path / "model.ckpt"
    source = open_batches(str(own), ",pack_dataset=True")
    take(source, 1)
    shutil.rmtree(own)
    with pytest.raises(tf.errors.OpError):
        while True:
            take(source, 1)
            time.sleep(0.05)  # TensorFlow prepares the next ones.
            input_position.save(str(prefix), source, {})
    shutil.copytree(data_dir, own)
    resumed = open_batches(str(own), ",pack_dataset=True")
    assert not input_position.restore(str(prefix), resumed)
    assert "shuffled anew" in caplog.text and "No such file" in caplog.text


def test_two_halves_are_a_whole_under_xla(data_dir, tmp_path, caplog, monkeypatch):
    steps = []

    def make_step(*args, **options):
        steps.append(TrainStep(*args, **options))
        return steps[-1]

    monkeypatch.setattr(session, "TrainStep", make_step)
    settings = {"jit_compile": True, "max_xla_shapes": 1}
    with caplog.at_level(logging.INFO, logger="absl"):
        runs.train(tmp_path / "whole", data_dir, train_steps=8, **settings)
    assert "shape 1 of at most 1" in caplog.text and "shape 2" not in caplog.text
    assert "All 1 shapes are compiled" in caplog.text
    for end in (4, 8):
        runs.train(tmp_path / "halves", data_dir, train_steps=end, **settings)
    # Eight and twice four steps, one shape.
    assert [step.num_traces for step in steps] == [1, 1, 1]
    runs.assert_same_values(tmp_path / "halves", tmp_path / "whole")
