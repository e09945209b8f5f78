"""What a command says of an error: one message of what its user can mend, all of a bug of ours."""

from __future__ import annotations

import errno
import glob
import os
import re
import sys
import traceback
from typing import Any

from absl import flags

import t2t_keras
from t2t_keras import registry, usr_dir
from t2t_keras.bin.flag_checks import UsageError
from t2t_keras.training.tensorflow_messages import without_nodes

FLAGS = flags.FLAGS

# Lines of a message after which its beginning is out of sight.
_LONG_MESSAGE = 15
# What a file system can have against a path, or against any writing.
_OF_A_PATH = (
    errno.EACCES,
    errno.EEXIST,
    errno.EIO,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,
    errno.ENOTDIR,
    errno.ENOTEMPTY,
    errno.EPERM,
    errno.ESTALE,
)
_OF_WRITING = (errno.EDQUOT, errno.EFBIG, errno.ENOSPC, errno.EROFS)
_FRAME = re.compile(
    r'^ *File "(?P<file>[^"\n]+)", line (?P<line>\d+), in (?P<function>[^\n]+)\n'
    r"(?P<code>(?: {4}[^\n]*\n)*)",
    re.MULTILINE,
)


def message_of(program: str, error: Exception) -> str:
    """The message; "" if only a traceback will do, since the error is a mistake in the program."""
    text = _damaged_shard(error)
    if text:
        return f"{program}: {text}"
    text = _of_file_system(error)
    if text or _is_in_words(error):
        return _with_hints(program, error, text or _text_of(error))
    text = _in_code_of_the_user(error)
    return f"{program}: {text}" if text else ""


def _flag(name: str) -> Any:
    """A flag's value, or None if the command doesn't have it."""
    return FLAGS[name].value if name in FLAGS else None


def _is_in_words(error: Exception) -> bool:
    """Whether the message says all there is to say: raised by this package, and in words."""
    if isinstance(error, (UsageError, registry.RegistryKeyError)):
        return True
    kinds = (ValueError, KeyError, TypeError, ImportError, OSError, NotImplementedError)
    if not isinstance(error, kinds):
        return False
    if isinstance(error, (KeyError, NotImplementedError)) and " " not in str(error):
        return False
    module = _raising_module(error)
    if isinstance(error, TypeError):
        # Elsewhere a TypeError is a mistake in the program.
        return module == registry.__name__
    return module.split(".")[0] == t2t_keras.__name__


def _raising_module(error: Exception) -> str:
    """Dotted name of the module that raised an error, even if it is run as the main one."""
    in_worker = _FRAME.findall(_of_other_process(error))
    if in_worker:
        package = os.path.dirname(os.path.realpath(t2t_keras.__file__))
        file_name = os.path.realpath(in_worker[-1][0])
        return t2t_keras.__name__ if file_name.startswith(os.path.join(package, "")) else ""
    frames = list(traceback.walk_tb(error.__traceback__))
    if not frames:
        return ""
    names = frames[-1][0].f_globals
    spec = names.get("__spec__")
    return spec.name if spec is not None else names.get("__name__", "")


def _of_other_process(error: Exception) -> str:
    """The traceback of an error of a worker process as text; "" for others."""
    # By name: the module of process pools is loaded by those who need it.
    cause = error.__cause__
    return str(cause) if type(cause).__name__ == "_RemoteTraceback" else ""


def _of_file_system(error: Exception) -> str:
    """What the file system has against a path, whoever ran into it; "" for other errors."""
    if isinstance(error, OSError):
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        if error.errno in _OF_WRITING or (names and error.errno in _OF_A_PATH):
            return ": ".join([str(error.strerror), *names])
        return ""
    # By name: without TensorFlow it can't have been raised.
    if not type(error).__module__.startswith("tensorflow."):
        return ""
    reasons = [os.strerror(number) for number in (*_OF_A_PATH, *_OF_WRITING)]
    text = without_nodes(str(error))
    return text if any(reason in text for reason in reasons) else ""


def _in_code_of_the_user(error: Exception) -> str:
    """Place and error, if it came out of the user's own package, with the way there inside it."""
    folder = _user_folder()
    if not folder:
        return ""
    whole = _of_other_process(error) or "".join(traceback.format_exception(error))
    own = [
        frame
        for frame in _FRAME.finditer(whole)
        if os.path.realpath(frame["file"]).startswith(os.path.join(folder, ""))
    ]
    if not own:
        return ""
    where = f"{own[-1]['file']}, line {own[-1]['line']}, in {own[-1]['function']}"
    (what,) = traceback.format_exception_only(error)[-1:]
    way = "".join(frame[0] for frame in own)
    return f"{where}: {what.rstrip()}\nIn your code:\n{way}(--verbosity=1 shows everything.)"


def _user_folder() -> str:
    """The folder of the user's package, without links; "" if there is none."""
    given = _flag("t2t_usr_dir")
    if given == usr_dir.INTERNAL_USR_DIR_PACKAGE:
        module = sys.modules.get(given)
        given = os.path.dirname(getattr(module, "__file__", None) or "")
    return os.path.realpath(os.path.expanduser(given)) if given else ""


def _damaged_shard(error: Exception) -> str:
    """Which shard TensorFlow means, which doesn't say, and the way out; "" for other errors."""
    # By name: without TensorFlow it can't have been raised.
    if type(error).__name__ != "DataLossError" or not (_flag("problem") and _flag("data_dir")):
        return ""
    from t2t_keras.data import shard_sizes

    problem = registry.problem(FLAGS.problem)
    for split in ("train", "dev", "test"):
        shards = sorted(glob.glob(problem.filepattern(FLAGS.data_dir, split)))
        found = shard_sizes.unreadable(shards)
        if found:
            return (
                f"{found} Delete it and make the data again: "
                f"t2t-datagen --problem={problem.name} --data_dir={FLAGS.data_dir} "
                "--tmp_dir=<directory of the source files>"
            )
    return ""


def _text_of(error: Exception) -> str:
    return str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)


def _with_hints(program: str, error: Exception, text: str) -> str:
    parts = [f"{program}: {text}"]
    if isinstance(error, registry.RegistryKeyError):
        parts.append(usr_dir.unimported_files_hint(_flag("t2t_usr_dir")))
        if text.count("\n") > _LONG_MESSAGE:
            # The first line tells what is wrong.
            parts.append(text.split("\n", 1)[0])
    if not isinstance(error, UsageError):
        parts.append("(--verbosity=1 shows where this happened.)")
    return "\n".join(part for part in parts if part)
