"""Commands run in this process, without TensorFlow."""

import importlib
import logging
import pathlib
import sys

import pytest
from absl import flags
from absl import logging as absl_logging
from absl.testing import flagsaver

_HEAVY = ("tensorflow", "keras", "tensorflow_text", "tensorflow_datasets")


class _Refusing:
    """An import hook that finds none of the slow packages."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in _HEAVY:
            raise ImportError(f"{name} must not be imported")


def snapshot(folder):
    """Names and contents of everything below a folder."""
    paths = sorted(pathlib.Path(folder).rglob("*"))
    return {str(path): path.is_file() and path.read_bytes() for path in paths}


@pytest.fixture
def in_process(monkeypatch):
    """Runs a command by its module's name; gives what it exits with: a message, or its status.

    A message stands for status 1 and no traceback. TensorFlow can't be imported meanwhile.
    """
    handlers, verbosity = list(logging.root.handlers), absl_logging.get_verbosity()
    loggers = (logging.root, absl_logging.get_absl_logger())
    levels = [logger.level for logger in loggers]

    def run(program, *arguments):
        monkeypatch.setattr(sys, "argv", [program, *arguments])
        for name in _HEAVY:
            monkeypatch.delitem(sys.modules, name, raising=False)
        monkeypatch.setattr(sys, "meta_path", [_Refusing, *sys.meta_path])
        with flagsaver.flagsaver(), pytest.raises(SystemExit) as caught:
            importlib.import_module(f"t2t_keras.bin.{program}").entry_point()
        return caught.value.code

    yield run
    flags.FLAGS.unparse_flags()
    logging.root.handlers[:] = handlers
    absl_logging.set_verbosity(verbosity)
    # Setting the verbosity sets the level of one of these, depending on the handlers.
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


@pytest.fixture
def refusal(in_process, tmp_path, monkeypatch):
    """Runs a command that must be refused, in a folder of its own; gives its message.

    Nothing in the folder may change.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TF_CONFIG", "")

    def run(program, *arguments):
        before = snapshot(tmp_path)
        message = in_process(program, *arguments)
        assert isinstance(message, str) and message.startswith(f"{program}: ")
        assert "Traceback" not in message and "must not be imported" not in message
        assert snapshot(tmp_path) == before
        return message

    return run


@pytest.fixture
def files(tmp_path):
    """A file, a shorter one, an empty one, an empty folder, and what looks like a run."""
    (tmp_path / "file").write_text("abc\nfed\n")
    (tmp_path / "shorter").write_text("abc\n")
    (tmp_path / "empty").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "data").mkdir()
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "model.ckpt-7.index").touch()
    return tmp_path
