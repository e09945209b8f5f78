"""Writing a SavedModel: directory, signature, and what happens when something is in the way."""

import os
import pathlib

import pytest
import tensorflow as tf
from absl import logging
from google.protobuf import text_format
from tensorflow.core.protobuf import saved_model_pb2

from t2t_keras.decoding.decode_hparams import decode_hparams
from t2t_keras.serving import export
from t2t_keras.serving.served_model import ServedModel
from tests.serving.test_served_model import TEXTS, random_run, subword_encoder


@pytest.fixture(scope="module")
def served() -> ServedModel:
    return ServedModel(*random_run(subword_encoder()), decode_hparams("extra_length=3"))


def test_signature_and_answers(
    served: ServedModel, tmp_path: pathlib.Path, caplog: pytest.LogCaptureFixture
) -> None:
    verbosity = logging.get_verbosity()
    # TensorFlow sets the verbosity, and then back; a level that pytest sets is lost thereby.
    logging.set_verbosity(logging.INFO)
    try:
        path = export.export_saved_model(served, str(tmp_path / "new" / "export"))
    finally:
        logging.set_verbosity(verbosity)
    own = [r.message for r in caplog.records if "/tensorflow/" not in r.pathname]
    assert own[0].startswith(f"Writing the model to {tmp_path}")
    assert own[1].startswith("Traced the search in ")
    assert own[2].startswith(f"Exported to {path} in ") and len(own) == 3
    assert os.path.basename(path).isdigit()
    assert os.listdir(tmp_path / "new" / "export") == [os.path.basename(path)]
    loaded = tf.saved_model.load(path)
    signature = loaded.signatures["serving_default"]
    _, inputs = signature.structured_input_signature
    assert {name: (spec.dtype, spec.shape.as_list()) for name, spec in inputs.items()} == {
        "inputs": (tf.string, [None])
    }
    outputs = signature.structured_outputs
    assert {name: (spec.dtype, spec.shape.as_list()) for name, spec in outputs.items()} == {
        "outputs": (tf.string, [None]),
        "scores": (tf.float32, [None]),
    }
    expected = served(tf.constant(TEXTS))
    answer = signature(inputs=tf.constant(TEXTS))
    assert answer["outputs"].numpy().tolist() == expected["outputs"].numpy().tolist()
    assert answer["scores"].numpy() == pytest.approx(expected["scores"].numpy(), rel=1e-5)


def test_versions_are_never_overwritten(
    served: ServedModel, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export.time, "time", lambda: 1234.5)
    (tmp_path / "1234").mkdir()
    path = export.export_saved_model(served, str(tmp_path), as_text=True)
    assert path == str(tmp_path / "1235")
    assert os.listdir(tmp_path / "1234") == []
    binary, text = saved_model_pb2.SavedModel(), saved_model_pb2.SavedModel()
    binary.ParseFromString((tmp_path / "1235" / "saved_model.pb").read_bytes())
    text_format.Parse((tmp_path / "1235" / "saved_model.pbtxt").read_text(), text)
    assert text.meta_graphs[0].signature_def == binary.meta_graphs[0].signature_def


def test_nothing_is_left_of_a_failure(
    served: ServedModel, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(directory: str) -> None:
        raise OSError(f"no space left for {directory}")

    monkeypatch.setattr(export, "_add_text_form", fail)
    with pytest.raises(OSError, match="no space left"):
        export.export_saved_model(served, str(tmp_path), as_text=True)
    assert os.listdir(tmp_path) == []
