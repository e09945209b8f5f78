"""Text files written whole or not at all."""

import os
import pathlib
import signal
import stat
import subprocess
import sys

import pytest

from t2t_keras.text import text_files

WRITER = """
import os, signal, sys
from t2t_keras.text import text_files
text_files.os.replace = lambda *paths: os.kill(os.getpid(), signal.SIGKILL)
text_files.write_text_atomically(sys.argv[1], "new")
"""


def test_content_and_rights_are_those_of_a_plain_file(tmp_path: pathlib.Path) -> None:
    path, plain = tmp_path / "a.txt", tmp_path / "plain"
    text_files.write_text_atomically(str(path), "ä\r\nb")
    plain.touch()
    assert path.read_bytes() == "ä\r\nb".encode()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_a_failure_leaves_the_old_file_and_nothing_else(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with monkeypatch.context() as patch, pytest.raises(OSError, match="no"):
        patch.setattr(os, "chmod", lambda *_: (_ for _ in ()).throw(OSError("no")))
        text_files.write_text_atomically(str(path), "new")
    assert os.listdir(tmp_path) == ["a.txt"] and path.read_text() == "old"


def test_the_next_writer_clears_up_behind_a_killed_one(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "a.txt"
    killed = subprocess.run([sys.executable, "-c", WRITER, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    (left,) = os.listdir(tmp_path)
    running = tmp_path / f".a.txt.abcd1234.{os.getpid()}.tmp"
    of_another = tmp_path / left.replace("a.txt", "a.txt.b")
    for kept in (running, of_another):
        kept.touch()
    text_files.write_text_atomically(str(path), "newest")
    assert sorted(os.listdir(tmp_path)) == sorted([running.name, of_another.name, "a.txt"])
    assert path.read_text() == "newest"


def test_nothing_is_left_where_there_is_no_folder(tmp_path: pathlib.Path) -> None:
    text_files.remove_leftovers(str(tmp_path / "absent" / "a.txt"))
