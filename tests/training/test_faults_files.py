"""Damaged, missing and foreign files: what is told, and that nothing is lost."""

import errno
import os
import shutil
import subprocess

import pytest
import tensorflow as tf

from t2t_keras.text.encoders import TokenTextEncoder
from t2t_keras.training import checkpoints, run_vocabulary
from t2t_keras.training.faults import InputLostError, SavingError, explain_saving
from t2t_keras.training.run_vocabulary import VocabularyError
from tests.training import runs, toy

DATA, INDEX = "data-00000-of-00001", "index"


@pytest.fixture(scope="module")
def whole_run(data_dir, tmp_path_factory):
    """Eight steps, with checkpoints at 0, 4 and 8."""
    directory = tmp_path_factory.mktemp("whole")
    train(directory, data_dir)
    return directory


@pytest.fixture
def run(whole_run, tmp_path):
    """A copy of it, without the checkpoint at its end."""
    return shutil.copytree(whole_run, tmp_path / "run")


def train(directory, data_dir, hparams=None, train_steps=8):
    runs.train(directory, data_dir, hparams=hparams, train_steps=train_steps)


def test_what_only_tensorflow_understands_is_left_out(tmp_path):
    text = "{{function_node __wrapped__SaveV2_device_/job:a}} out/x; No space left [Op:SaveV2]"
    with pytest.raises(SavingError, match=r"written into \S+ \(out/x; No space left; \d"):
        with explain_saving(str(tmp_path), None):
            raise tf.errors.ResourceExhaustedError(None, None, text)


def cut_in_half(path):
    os.truncate(path, os.path.getsize(path) // 2)


def alter(path):
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 255
    path.write_bytes(contents)


@pytest.mark.parametrize(
    ("damage", "ending"), [(cut_in_half, DATA), (cut_in_half, INDEX), (alter, DATA)]
)
def test_a_damaged_newest_checkpoint_is_kept_apart_and_trained_again(
    damage, ending, run, whole_run, data_dir
):
    damage(run / f"model.ckpt-8.{ending}")
    contents = (run / f"model.ckpt-8.{ending}").read_bytes()
    train(run, data_dir)
    assert (run / "damaged" / f"model.ckpt-8.{ending}").read_bytes() == contents
    runs.assert_same_values(run, whole_run)


def test_the_warning_names_file_and_checkpoint(run, data_dir, caplog):
    alter(run / f"model.ckpt-8.{DATA}")
    with caplog.at_level("WARNING", logger="absl"):
        train(run, data_dir)
    warning = next(r.getMessage() for r in caplog.records if "damaged" in r.getMessage())
    assert f"{run}/model.ckpt-8 is damaged at " in warning
    assert f"Going on from the checkpoint before it, {run}/model.ckpt-4" in warning


def test_half_a_checkpoint_of_a_killed_run_is_no_checkpoint(run, whole_run, data_dir):
    os.remove(run / "model.ckpt-8.index")
    (run / "model.ckpt-7.input.json").write_text("{}")
    train(run, data_dir)
    runs.assert_same_values(run, whole_run)
    assert not (run / "model.ckpt-7.input.json").exists()


@pytest.fixture
def own_data(data_dir, tmp_path):
    return shutil.copytree(data_dir, tmp_path / "own_data")


def shard(directory, number=0):
    return directory / f"toy_reverse_words-train-0000{number}-of-00002"


def test_a_corrupt_record_is_named_and_the_repaired_data_go_on(
    own_data, data_dir, whole_run, tmp_path
):
    run = tmp_path / "run"
    train(run, str(own_data), train_steps=4)
    alter(shard(own_data))
    alter(shard(own_data, 1))
    # The altered byte may be part of a record's length.
    damage = r"train-0000\d-of-00002 is damaged: (the length of )?record \d+"
    with pytest.raises(ValueError, match=damage) as error:
        train(run, str(own_data), train_steps=40)
    assert "t2t-datagen --problem=toy_reverse_words" in str(error.value)
    assert runs.newest(run).endswith("model.ckpt-4") or runs.last_step(run) % 4 == 0
    for number in (0, 1):
        shutil.copy(shard(type(own_data)(data_dir), number), shard(own_data, number))
    if runs.last_step(run) <= 8:
        train(run, str(own_data))
        runs.assert_same_values(run, whole_run)


def test_data_deleted_while_training(own_data, whole_run, data_dir, tmp_path):
    import keras

    class Delete(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if batch == 5:
                shutil.rmtree(own_data)

    with pytest.raises(InputLostError, match=r"own_data is gone[\s\S]*goes on from .*ckpt-\d+"):
        runs.train(tmp_path / "run", str(own_data), callbacks=[Delete()], train_steps=4000)
    last = runs.last_step(tmp_path / "run")
    assert last >= 4 and last % 4 == 0


def test_data_deleted_before_going_on(run, own_data):
    hparams = toy.make_hparams(str(own_data))
    shutil.rmtree(own_data)
    with pytest.raises(FileNotFoundError, match="t2t-datagen --problem=toy_reverse_words"):
        train(run, str(own_data), hparams, train_steps=12)
    assert runs.newest(run).endswith("model.ckpt-8")


def mounted(directory, options):
    """Mounts a memory file system; skips the test where that isn't allowed."""
    directory.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "none", str(directory)]
    if os.geteuid() or subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("file systems can't be mounted here")


@pytest.fixture
def small_disk(tmp_path):
    directory = tmp_path / "disk"
    mounted(directory, "size=256k")
    yield directory
    subprocess.run(["umount", str(directory)], check=True)


def files(directory):
    return {
        path.relative_to(directory): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and "model.ckpt" in path.name
    }


def test_a_full_disk_leaves_the_checkpoints_before_whole(small_disk, data_dir, whole_run):
    run = small_disk / "run"
    train(run, data_dir, train_steps=4)
    before = files(run)
    filling = small_disk / "filling"
    descriptor = os.open(filling, os.O_WRONLY | os.O_CREAT)
    with pytest.raises(OSError, match="No space left"):
        while True:
            os.write(descriptor, b"0" * 1024)
    os.close(descriptor)
    with pytest.raises(SavingError, match=r"(?i)no space left[\s\S]*MB are free[\s\S]*ckpt-4"):
        train(run, data_dir)
    assert files(run) == before
    assert not list(run.glob(".saving*"))
    filling.unlink()
    train(run, data_dir)
    runs.assert_same_values(run, whole_run)


def test_a_directory_that_becomes_read_only(small_disk, data_dir):
    run = small_disk / "run"
    train(run, data_dir, train_steps=4)
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(OSError, match="can't be written to") as error:
        train(run, data_dir)
    assert str(run) in str(error.value)
    assert runs.newest(run).endswith("model.ckpt-4")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS])
def test_saving_errors_name_cause_and_checkpoint(number, run, data_dir, monkeypatch):
    def fail(path):
        raise OSError(number, os.strerror(number), str(path))

    monkeypatch.setattr(checkpoints, "_flush_to_disk", fail)
    before = files(run)
    with pytest.raises(SavingError, match=os.strerror(number)) as error:
        train(run, data_dir, train_steps=12)
    assert f"goes on from {run}/model.ckpt-8" in str(error.value)
    assert files(run) == before


def test_a_curve_that_cannot_be_written_is_a_saving_error(run, data_dir, monkeypatch):
    from t2t_keras.training.event_files import EventWriter

    def fail(self, event):
        raise tf.errors.ResourceExhaustedError(None, None, "events; No space left on device")

    monkeypatch.setattr(EventWriter, "_write", fail)
    with pytest.raises(SavingError, match="No space left"):
        train(run, data_dir, train_steps=12)
    assert runs.newest(run).endswith("model.ckpt-8")


def encoder(words):
    return TokenTextEncoder(None, vocab_list=words)


def with_vocabulary(data_dir, encoder):
    hparams = toy.make_hparams(data_dir)
    names = ("inputs", "targets")
    hparams.problem_hparams.vocabulary = dict.fromkeys(names, encoder)
    hparams.problem_hparams.vocab_size = dict.fromkeys(names, encoder.vocab_size)
    return hparams


def words(count, first="a"):
    return [f"{first}{number}" for number in range(count)]


def test_another_vocabulary_of_the_same_size_is_refused(data_dir, tmp_path):
    train(tmp_path, data_dir, with_vocabulary(data_dir, encoder(words(298))), train_steps=2)
    with pytest.raises(VocabularyError, match="of the same size: 300 entries.* now, 300 entries"):
        train(tmp_path, data_dir, with_vocabulary(data_dir, encoder(words(298, "b"))))
    for schedule in ("evaluate", "continuous_eval"):
        other = with_vocabulary(data_dir, encoder(words(298, "b")))
        with pytest.raises(VocabularyError, match="of the same size"):
            runs.train(tmp_path, data_dir, hparams=other, schedule=schedule, train_steps=2)
    assert runs.newest(tmp_path).endswith("model.ckpt-2")


def test_a_vocabulary_of_another_size_names_both(data_dir, tmp_path):
    train(tmp_path, data_dir, with_vocabulary(data_dir, encoder(words(298))), train_steps=2)
    other = with_vocabulary(data_dir, encoder(words(308)))
    with pytest.raises(VocabularyError, match="310 entries.* now, 300 entries"):
        train(tmp_path, data_dir, other)
    # A run of another program doesn't say what its vocabulary was; its tables do.
    os.remove(tmp_path / run_vocabulary.FILE)
    sizes = "Its vocabulary has 300 entries, that of the problem in data_dir 310."
    with pytest.raises(checkpoints.CheckpointError, match=sizes):
        train(tmp_path, data_dir, other)
    assert runs.newest(tmp_path).endswith("model.ckpt-2")


def test_the_vocabulary_file_is_named(tmp_path):
    class WithFile:
        vocab_filename = "vocab.toy"

    (tmp_path / "vocab.toy").write_text("a\n")
    described = run_vocabulary.describe(WithFile(), {"targets": encoder(["a"])}, str(tmp_path))
    assert described["targets"]["file"] == str(tmp_path / "vocab.toy")
    run_vocabulary.remember(str(tmp_path), described)
    other = run_vocabulary.describe(WithFile(), {"targets": encoder(["b"])}, str(tmp_path))
    with pytest.raises(VocabularyError, match=f"now, 3 entries in {tmp_path}/vocab.toy"):
        run_vocabulary.refuse_another(str(tmp_path), other)


def test_a_new_run_in_the_directory_goes_on_with_its_own_vocabulary(tmp_path):
    old, new = (
        run_vocabulary.describe(None, {"targets": encoder([word])}, str(tmp_path)) for word in "ab"
    )
    run_vocabulary.remember(str(tmp_path), old)
    # Whose checkpoints are gone.
    run_vocabulary.remember(str(tmp_path), new)
    run_vocabulary.refuse_another(str(tmp_path), new)
    with pytest.raises(VocabularyError, match="of the same size"):
        run_vocabulary.refuse_another(str(tmp_path), old)


def test_the_checkpoints_of_another_model_are_refused(run, data_dir):
    before = files(run)
    with pytest.raises(checkpoints.CheckpointError, match="doesn't fit the model"):
        train(run, data_dir, toy.make_hparams(data_dir, ",num_decoder_layers=2"), train_steps=12)
    assert files(run) == before
