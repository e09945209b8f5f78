import os

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training import averaging, checkpoints
from tests.reference_data import golden_path


def write(directory, step, scale=1.0, **extra):
    values = {
        "transformer/a/kernel": np.arange(6, dtype=np.float32).reshape(2, 3) * scale,
        "training/transformer/a/kernel/Adam": np.full([2, 3], scale, np.float32),
        "global_step": np.int64(step),
        **extra,
    }
    return checkpoints.write_values(f"{directory}/model.ckpt-{step}", values)


def read(path):
    reader = tf.train.load_checkpoint(path)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.fixture(scope="module")
def golden_values():
    with np.load(golden_path("avg_ckpt", "values.npz")) as archive:
        return dict(archive)


def expected_values(golden_values, prefix):
    return {k.split("|")[1]: v for k, v in golden_values.items() if k.startswith(prefix + "|")}


def assert_same(actual, expected):
    assert set(actual) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(actual[name], value, rtol=1e-6, atol=1e-7, err_msg=name)
        assert actual[name].dtype == value.dtype, name


@pytest.mark.reference
def test_windows_are_tensor2tensors(tmp_path, golden_values):
    written = averaging.average_windows(str(golden_path("avg_ckpt", "src")), str(tmp_path), n=3)
    steps = sorted(int(k.split("|")[0].rsplit("step", 1)[1]) for k in golden_values
                   if k.startswith("avg_all_n3_step") and k.endswith("|global_step"))  # fmt: skip
    assert [checkpoints.step_of(path) for path in written] == steps
    for path, step in zip(written, steps, strict=True):
        assert_same(read(path), expected_values(golden_values, f"avg_all_n3_step{step}"))
    recorded = set(os.listdir(golden_path("avg_ckpt", "out_avg_all_n3")))
    assert recorded <= {*os.listdir(tmp_path), "checkpoint"}
    assert checkpoints.latest_checkpoint(str(tmp_path)) == written[-1]
    source = golden_path("avg_ckpt", "src", f"model.ckpt-{steps[-1]}.index")
    assert os.stat(f"{written[-1]}.index").st_mtime == source.stat().st_mtime


@pytest.mark.reference
def test_average_of_given_checkpoints_is_tensor2tensors(tmp_path, golden_values):
    source = str(golden_path("avg_ckpt", "src"))
    written = averaging.average_checkpoints(
        ["100", "300"], str(tmp_path / "averaged.ckpt"), prefix=f"{source}/model.ckpt-"
    )
    assert written.endswith("averaged.ckpt-0")
    assert_same(read(written), expected_values(golden_values, "avg_checkpoints_100_300"))


@pytest.mark.reference
def test_average_of_the_last_checkpoints_is_tensor2tensors(tmp_path, golden_values):
    for path in golden_path("avg_ckpt", "src").iterdir():
        os.symlink(path, tmp_path / path.name)
    prefixes = checkpoints.complete_checkpoints(str(tmp_path))
    tf.compat.v1.train.update_checkpoint_state(str(tmp_path), prefixes[-1], prefixes)
    written = averaging.average_checkpoints(
        [], str(tmp_path / "out" / "a.ckpt"), prefix=f"{tmp_path}/", num_last_checkpoints=3
    )
    assert_same(read(written), expected_values(golden_values, "avg_checkpoints_last3"))


def test_copies_of_one_checkpoint_average_to_itself(tmp_path):
    values = np.random.default_rng(0).normal(size=[40, 30]).astype(np.float32)
    for step in (1, 2, 3):
        write(tmp_path / "run", step, **{"transformer/b": values})
    (written,) = averaging.average_windows(str(tmp_path / "run"), str(tmp_path / "avg"), n=3)
    np.testing.assert_array_equal(read(written)["transformer/b"], values)


def test_mean_leaves_the_step_alone_and_copies_the_runs_files(tmp_path):
    run = tmp_path / "run"
    write(run, 10, 1.0)
    write(run, 20, 3.0)
    (run / "flags.txt").write_text("--problem=p")
    (run / "hparams.json").write_text("{}")
    (run / "vocabulary.json").write_text('{"targets": 2}')
    # Of an earlier run.
    (tmp_path / "avg").mkdir()
    (tmp_path / "avg" / "vocabulary.json").write_text('{"targets": 1}')
    (written,) = averaging.average_windows(str(run), str(tmp_path / "avg"), n=2)
    values = read(written)
    assert values["global_step"] == 20
    np.testing.assert_allclose(values["transformer/a/kernel"], 2 * np.arange(6).reshape(2, 3))
    np.testing.assert_allclose(values["training/transformer/a/kernel/Adam"], np.full([2, 3], 2.0))
    assert (tmp_path / "avg" / "flags.txt").read_text() == "--problem=p"
    assert (tmp_path / "avg" / "hparams.json").exists()
    assert (tmp_path / "avg" / "vocabulary.json").read_text() == '{"targets": 2}'


def test_duplicates_and_missing_files_are_refused(tmp_path):
    one = write(tmp_path, 1)
    with pytest.raises(ValueError, match="twice"):
        averaging.average_values([one, str(tmp_path / "." / "model.ckpt-1")])
    with pytest.raises(ValueError, match="model.ckpt-2"):
        averaging.average_values([one, str(tmp_path / "model.ckpt-2")])
    with pytest.raises(ValueError, match="nothing to average"):
        averaging.average_values([])
    with pytest.raises(ValueError, match="needs 8 checkpoints"):
        averaging.average_windows(str(tmp_path), str(tmp_path / "avg"))


def test_different_models_are_refused(tmp_path):
    one = write(tmp_path, 1)
    two = write(tmp_path, 2, **{"transformer/c": np.zeros([2], np.float32)})
    with pytest.raises(ValueError, match="transformer/c is absent"):
        averaging.average_values([one, two])


def empty(path):
    path.write_bytes(b"")


def cut_in_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def alter(path):
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 255
    path.write_bytes(contents)


DATA = "data-00000-of-00001"
DAMAGES = [(empty, "index"), (cut_in_half, "index"), (alter, "index"), (cut_in_half, DATA),
           (alter, DATA), (os.remove, DATA)]  # fmt: skip


@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize(("damage", "ending"), DAMAGES)
def test_one_damaged_checkpoint_is_an_error_that_leaves_nothing(tmp_path, damage, ending, step):
    for each in (1, 2, 3):
        write(tmp_path / "run", each)
    damage(tmp_path / "run" / f"model.ckpt-{step}.{ending}")
    with pytest.raises(checkpoints.CheckpointError) as error:
        averaging.average_windows(str(tmp_path / "run"), str(tmp_path / "avg"), n=2)
    assert f"run/model.ckpt-{step}.*. Received" in str(error.value)
    assert not (tmp_path / "avg").exists()
    if step == 1:
        # Not among those asked for.
        written = averaging.average_windows(
            str(tmp_path / "run"), str(tmp_path / "avg"), n=2, min_steps=2
        )
        assert [checkpoints.step_of(path) for path in written] == [3]


def test_a_model_that_changes_on_the_way_leaves_nothing(tmp_path):
    write(tmp_path / "run", 1)
    write(tmp_path / "run", 2)
    write(tmp_path / "run", 3, **{"transformer/c": np.zeros([2], np.float32)})
    with pytest.raises(checkpoints.CheckpointError, match="transformer/c is absent"):
        averaging.average_windows(str(tmp_path / "run"), str(tmp_path / "avg"), n=2)
    assert not (tmp_path / "avg").exists()


@pytest.mark.parametrize("becomes_whole", [True, False])
def test_half_a_copy_is_waited_for(tmp_path, monkeypatch, becomes_whole):
    for step in (1, 2, 3, 4):
        write(tmp_path / "run", step)
    data = tmp_path / "run" / f"model.ckpt-3.{DATA}"
    whole, seconds = data.read_bytes(), [0.0]
    cut_in_half(data)

    def sleep(duration):
        seconds[0] += duration
        if becomes_whole and seconds[0] >= 30:
            data.write_bytes(whole)

    monkeypatch.setattr(averaging.time, "sleep", sleep)
    monkeypatch.setattr(averaging.time, "monotonic", lambda: seconds[0])
    groups = averaging.wait_for_checkpoints(str(tmp_path / "run"), wait_minutes=1)
    assert [checkpoints.step_of(path) for path in next(groups)] == [1, 2]
    if becomes_whole:
        assert [checkpoints.step_of(path) for path in next(groups)] == [3, 4]
        assert list(groups) == [] and seconds == [90]
    else:
        with pytest.raises(checkpoints.CheckpointError, match="model.ckpt-3"):
            next(groups)
        assert seconds == [60]


def test_averages_of_another_number_are_not_mixed_in(tmp_path):
    source, target = tmp_path / "run", tmp_path / "avg"
    for step in (1, 2, 3):
        write(source, step)
    averaging.average_windows(str(source), str(target), n=2)
    before = sorted(os.listdir(target))
    with pytest.raises(ValueError, match=r"averages of 2 checkpoints.*\n?.*Received: n=3"):
        averaging.average_windows(str(source), str(target), n=3)
    assert sorted(os.listdir(target)) == before
    write(source, 4)
    averaging.average_windows(str(source), str(target), n=2, min_steps=3)
    assert len(checkpoints.complete_checkpoints(str(target))) == 3
    for path in target.glob("model.ckpt-*"):
        path.unlink()
    averaging.average_windows(str(source), str(target), n=3)
