import logging
import os
import subprocess
import sys

from t2t_keras.bin import environment

_PROGRAM = """
import os
from t2t_keras.bin import environment
environment.prepare_environment()
environment.load_tensorflow()
os.write(2, b"a message of our own\\n")
"""


def _stderr_of(program, **variables):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    ).stderr


def test_tensorflow_loads_without_its_notes():
    assert _stderr_of(_PROGRAM, TF_CPP_MIN_LOG_LEVEL="2") == "a message of our own\n"


def test_other_lines_are_passed_on_in_order(capfd):
    with environment._without_lines(("a note",)):
        os.write(2, b"first\nthis is a note\nlast, unfinished")
    assert capfd.readouterr().err == "first\nlast, unfinished"


def test_lines_are_passed_on_when_loading_fails(capfd):
    try:
        with environment._without_lines(("a note",)):
            os.write(2, b"the reason\n")
            raise ImportError
    except ImportError:
        pass
    assert capfd.readouterr().err == "the reason\n"


def test_only_tensorflows_own_notes_are_hidden():
    def record(level, path):
        return logging.LogRecord("absl", level, path, 1, "text", None, None)

    own, theirs = "/x/t2t_keras/serving/export.py", "/x/tensorflow/python/saved_model/save.py"
    assert environment._is_no_note_of_tensorflow(record(logging.INFO, own))
    assert not environment._is_no_note_of_tensorflow(record(logging.INFO, theirs))
    assert environment._is_no_note_of_tensorflow(record(logging.WARNING, theirs))
