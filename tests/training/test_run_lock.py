import os

import pytest

from t2t_keras.training import run_lock
from t2t_keras.training.run_lock import lock_directory


def test_a_directory_is_locked_only_while_in_use(tmp_path):
    directory = str(tmp_path / "out")
    with lock_directory(directory):
        with pytest.raises(ValueError, match=rf"process {os.getpid()}.*{directory}"):
            with lock_directory(directory):
                pass
    with lock_directory(directory):
        assert os.path.isdir(directory)


@pytest.mark.parametrize("existing", [(), ("out",), ("out", "out/below")])
def test_an_error_before_anything_is_written_leaves_nothing(tmp_path, existing):
    for name in existing:
        (tmp_path / name).mkdir()
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(ValueError, match="refused"):
        with lock_directory(str(tmp_path / "out" / "below")):
            raise ValueError("refused")
    assert sorted(tmp_path.rglob("*")) == before


def test_an_error_later_on_leaves_what_was_written(tmp_path):
    with pytest.raises(ValueError, match="too late"):
        with lock_directory(str(tmp_path / "out")):
            (tmp_path / "out" / "checkpoint").touch()
            raise ValueError("too late")
    assert (tmp_path / "out" / "checkpoint").exists()


def test_an_error_in_a_directory_of_an_earlier_run_leaves_its_file(tmp_path):
    with lock_directory(str(tmp_path)):
        pass
    with pytest.raises(ValueError, match="refused"):
        with lock_directory(str(tmp_path)):
            raise ValueError("refused")
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_a_file_that_is_removed_while_it_is_opened_locks_nobody_out(tmp_path, monkeypatch):
    """Two trainers must not hold the locks of two files of one name."""
    path = tmp_path / ".lock"
    take = run_lock._take

    def remove_first(descriptor, directory):
        monkeypatch.setattr(run_lock, "_take", take)
        path.unlink()
        take(descriptor, directory)

    monkeypatch.setattr(run_lock, "_take", remove_first)
    with lock_directory(str(tmp_path)):
        with pytest.raises(ValueError, match="at work"):
            with lock_directory(str(tmp_path)):
                pass


def test_a_file_in_place_of_the_directory_is_named(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(OSError, match=r"can't be written to.*out"):
        with lock_directory(str(tmp_path / "out")):
            pass
