"""Writes a model as a SavedModel that any TensorFlow server can load."""

import os
import shutil
import time

import tensorflow as tf
from absl import logging
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2

from t2t_keras.serving.served_model import ServedModel

_BINARY = "saved_model.pb"
_TEXT = "saved_model.pbtxt"


def export_saved_model(served: ServedModel, export_base: str, as_text: bool = False) -> str:
    """Writes `<export_base>/<unix seconds>/`: the directory appears complete or not at all.

    The signature `serving_default` takes `inputs`, string `[batch]`, and returns `outputs`, string
    `[batch]`, and `scores`, float32 `[batch]` (both `[batch, beam]` with `return_beams`). A Python
    program that loads it must `import tensorflow_text` first, for the operations it registers;
    TensorFlow Serving has them.

    Args:
      served: the model.
      export_base: directory of versions, made if needed.
      as_text: also write the graph as text, for people to read; servers read the binary file.

    Returns:
      The directory of the new version.
    """
    os.makedirs(export_base, exist_ok=True)
    # Servers look for directories whose names are numbers.
    scratch = os.path.join(export_base, f".exporting-{os.getpid()}")
    shutil.rmtree(scratch, ignore_errors=True)
    started = time.monotonic()
    logging.info("Writing the model to %s. First the search is traced …", export_base)
    try:
        tf.saved_model.save(served, scratch, signatures={"serving_default": served.__call__})
        if as_text:
            logging.info("Writing the graph as text …")
            _add_text_form(scratch)
        version = _rename_to_new_version(scratch, export_base)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    logging.info("Exported to %s in %.1f s", version, time.monotonic() - started)
    return version


def _rename_to_new_version(scratch: str, export_base: str) -> str:
    """Renames to the current second, or the next one that has no directory yet."""
    seconds = int(time.time())
    while True:
        version = os.path.join(export_base, str(seconds))
        seconds += 1
        if os.path.exists(version):
            continue
        os.rename(scratch, version)
        return version


def _add_text_form(directory: str) -> None:
    saved_model = saved_model_pb2.SavedModel()
    with open(os.path.join(directory, _BINARY), "rb") as stream:
        saved_model.ParseFromString(stream.read())
    with open(os.path.join(directory, _TEXT), "w", encoding="utf-8") as stream:
        stream.write(text_format.MessageToString(saved_model))
