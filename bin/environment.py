"""What TensorFlow and Keras need, and say, when they load."""

import contextlib
import logging as std_logging
import os
import sys
import tempfile
from collections.abc import Iterator

from absl import logging

_DEFAULTS = {
    # On AMD processors oneDNN is off unless asked for; it makes a training step 25 % faster.
    "TF_ENABLE_ONEDNN_OPTS": "1",
    # Errors only: TensorFlow's own start-up notes hide ours.
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "KERAS_BACKEND": "tensorflow",
}

# Notes that TensorFlow writes before its log level is in force: none tells of anything wrong.
# cuInit fails wherever there is no GPU.
_STARTUP_NOTES = (
    "before absl::InitializeLog() is called",
    "oneDNN custom operations are on",
    "Could not find cuda drivers",
    "failed call to cuInit",
    "This TensorFlow binary is optimized",
    "To enable the following instructions",
)


def prepare_environment() -> None:
    """Sets what the programs need unless the user did; call before TensorFlow is imported."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)


def load_tensorflow() -> None:
    """Imports TensorFlow and looks for devices, without the notes it writes on every start.

    Anything else it writes meanwhile is passed on. A user who sets TF_CPP_MIN_LOG_LEVEL to 0 or 1
    sees everything.
    """
    verbose = os.environ.get("TF_CPP_MIN_LOG_LEVEL", "0") in ("0", "1")
    with contextlib.nullcontext() if verbose else _without_lines(_STARTUP_NOTES):
        import tensorflow as tf

        # Known without making the devices: their memory and number can still be set.
        tf.config.list_physical_devices()
    if not verbose:
        # Saving and exporting otherwise tell of their inner workings.
        tf.get_logger().setLevel(std_logging.WARNING)
        logging.get_absl_logger().addFilter(_is_no_note_of_tensorflow)


def _is_no_note_of_tensorflow(record: std_logging.LogRecord) -> bool:
    """Whether a log record comes from elsewhere, or warns."""
    return record.levelno >= std_logging.WARNING or "/tensorflow/python/" not in record.pathname


@contextlib.contextmanager
def _without_lines(parts: tuple[str, ...]) -> Iterator[None]:
    """Holds back what is written to file descriptor 2, then passes on lines without these parts."""
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as held:
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(saved, 2)
            os.close(saved)
            held.seek(0)
            for line in held.read().decode("utf-8", "replace").splitlines(keepends=True):
                if not any(part in line for part in parts):
                    sys.stderr.write(line)
            sys.stderr.flush()
