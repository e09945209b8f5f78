"""Directories made for a command that then fails, and what can't be written to."""

import os

import pytest
from absl import flags

from t2t_keras.bin import flag_checks


def test_new_directories_go_again_with_an_error(tmp_path):
    (tmp_path / "there").mkdir()
    with pytest.raises(ValueError, match="no data"):
        with flag_checks.made_directories(
            data_dir=str(tmp_path / "there" / "a" / "b"), tmp_dir=str(tmp_path / "new")
        ):
            assert (tmp_path / "there" / "a" / "b").is_dir() and (tmp_path / "new").is_dir()
            raise ValueError("no data")
    assert list(tmp_path.rglob("*")) == [tmp_path / "there"]


def test_what_was_written_before_an_error_stays(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        with flag_checks.made_directories(data_dir=str(tmp_path / "a"), tmp_dir=str(tmp_path)):
            (tmp_path / "a" / "download").touch()
            raise KeyboardInterrupt
    assert (tmp_path / "a" / "download").exists()


def test_directories_stay_without_an_error(tmp_path):
    with flag_checks.made_directories(data_dir=str(tmp_path / "a" / "b")):
        pass
    assert (tmp_path / "a" / "b").is_dir()


@pytest.fixture
def flag(monkeypatch):
    values = flags.FlagValues()
    flags.DEFINE_string("place", None, "", flag_values=values)
    values(["program"])
    monkeypatch.setattr(flag_checks, "FLAGS", values)

    def give(path):
        values.place = str(path)

    return give


def test_directories_without_permission_are_named(tmp_path, flag, monkeypatch):
    # Root may write everywhere, so the system's answer is replaced.
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path))
    flag(tmp_path / "new" / "below")
    with pytest.raises(flag_checks.UsageError, match=f"{tmp_path} can't be written to"):
        flag_checks.require_can_be_made("place")
    with pytest.raises(flag_checks.UsageError, match=f"{tmp_path} can't be written to"):
        flag_checks.require_file_can_be_written("place")


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="Needs a place where nothing can be made")
def test_places_are_tried_without_a_trace(tmp_path, flag):
    flag("/proc/new/below")
    with pytest.raises(flag_checks.UsageError, match=r"/proc can't be written to \(\w+"):
        flag_checks.require_can_be_made("place")
    flag(tmp_path / "new")
    flag_checks.require_can_be_made("place")
    assert not list(tmp_path.iterdir())


def test_files_without_permission_are_named(tmp_path, flag, monkeypatch):
    (tmp_path / "file").touch()
    flag(tmp_path / "file")
    flag_checks.require_files("place")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(flag_checks.UsageError, match="permission denied. Received: .*file"):
        flag_checks.require_files("place")


def test_what_is_not_given_is_not_checked(flag):
    flag("")
    flag_checks.require_files("place")
    flag_checks.require_directories("place")
    flag_checks.require_can_be_made("place")
    flag_checks.require_file_can_be_written("place")
    flag_checks.require_matches("place")
    flag_checks.require_checkpoint("place")


@pytest.mark.parametrize("name", ["model.ckpt-7", "model.ckpt-7.index", "."])
def test_checkpoints_are_found_by_prefix_file_or_directory(tmp_path, flag, name):
    (tmp_path / "model.ckpt-7.index").touch()
    flag(tmp_path / name)
    flag_checks.require_checkpoint("place")
