import os

import pytest

from t2t_keras.training.run_lock import lock_directory


def test_a_directory_is_locked_only_while_in_use(tmp_path):
    directory = str(tmp_path / "out")
    with lock_directory(directory):
        with pytest.raises(ValueError, match=rf"process {os.getpid()}.*{directory}"):
            with lock_directory(directory):
                pass
    with lock_directory(directory):
        assert os.path.isdir(directory)


def test_a_file_in_place_of_the_directory_is_named(tmp_path):
    (tmp_path / "out").write_text("")
    with pytest.raises(OSError, match=r"can't be written to.*out"):
        with lock_directory(str(tmp_path / "out")):
            pass
