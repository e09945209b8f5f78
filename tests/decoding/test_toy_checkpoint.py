"""A checkpoint trained by T2T decodes to the ids, scores, texts and files T2T got from it."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.decoding.decode_hparams import decode_hparams
from t2t_keras.decoding.decoder import decode_from_file
from t2t_keras.decoding.search import infer, row_limits
from t2t_keras.decoding.translator import Translator, until_eos
from t2t_keras.training.losses import padded_loss_terms
from tests.decoding.t2t_checkpoint import load_run
from tests.reference_data import golden_path, load_golden_json

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def run():
    return load_run(golden_path("toy_ckpt"))


def options_of(recorded, extra=""):
    return decode_hparams(
        f"beam_size={recorded['beam_size']},alpha={recorded['alpha']},"
        f"extra_length={recorded['extra_length']},return_beams={recorded['top_beams'] > 1}" + extra
    )


def test_logits_and_loss_equal_recorded_ones(run):
    model, _ = run
    recorded = np.load(golden_path("toy_ckpt", "decodes.npz"))
    targets = recorded["eval|targets"]
    logits = model({"inputs": recorded["eval|inputs"], "targets": targets})
    np.testing.assert_allclose(logits, recorded["eval|logits"][:, :, 0, 0], rtol=1e-4, atol=1e-4)
    total, count = padded_loss_terms(logits, tf.constant(targets), label_smoothing=0.0)
    loss = load_golden_json("toy_ckpt", "decodes.json.gz")["eval_loss"]["training"]
    assert float(total / count) == pytest.approx(loss, rel=1e-4)


def test_batch_equals_recorded_one(run):
    model, _ = run
    recorded_arrays = np.load(golden_path("toy_ckpt", "decodes.npz"))
    inputs = tf.constant(recorded_arrays["batch|inputs"])
    for recorded in load_golden_json("toy_ckpt", "decodes.json.gz")["runs"]:
        search = tf.function(
            functools.partial(
                infer,
                model,
                beam_size=recorded["beam_size"],
                alpha=recorded["alpha"],
                top_beams=recorded["top_beams"],
                zero_after_eos=False,
            )
        )
        limits = row_limits(inputs, recorded["extra_length"], limit_by_longest_input=True)
        result = search(inputs, decode_length=limits)
        name = f"batch|{recorded['name']}|"
        np.testing.assert_array_equal(
            result["outputs"], recorded_arrays[name + "outputs"], err_msg=name
        )
        np.testing.assert_allclose(
            result["scores"], recorded_arrays[name + "scores"], rtol=1e-4, err_msg=name
        )


def test_single_sentences_equal_recorded_ones(run):
    """Decoded together, by their own limits, they come out as T2T's did one at a time."""
    model, problem_hparams = run
    recorded_runs = load_golden_json("toy_ckpt", "decodes.json.gz")
    inputs = [sentence["ids"] for sentence in recorded_runs["inputs"]]
    for recorded in recorded_runs["runs"]:
        if "single" not in recorded:
            continue
        assert recorded["top_beams"] == 1
        translator = Translator(model, problem_hparams, options_of(recorded))
        results = translator.translate_ids(inputs)
        for expected, (best,) in zip(recorded["single"], results, strict=True):
            assert best.ids == until_eos(expected["ids"]), recorded["name"]
            assert best.text == expected["text"]
            assert best.score == pytest.approx(expected["score"], rel=1e-4)


def test_texts_equal_recorded_ones(run):
    model, problem_hparams = run
    recorded_runs = load_golden_json("toy_ckpt", "decodes.json.gz")
    texts = [sentence["text"] for sentence in recorded_runs["inputs"]]
    for recorded in recorded_runs["runs"]:
        options = options_of(recorded, ",limit_by_longest_input=True,keep_pad_ids=True")
        results = Translator(model, problem_hparams, options).translate(texts)
        assert [[hypothesis.text for hypothesis in result] for result in results] == recorded[
            "batch_texts"
        ]


@pytest.mark.parametrize(
    ("overrides", "expected"),
    [
        ("", "out_beam4.txt"),
        (
            "return_beams=True,write_beam_scores=True,extra_length=10",
            "inputs.txt.transformer.transformer_golden.golden_reverse.beam4.alpha0.6.decodes",
        ),
    ],
)
def test_files_equal_those_of_t2t_decoder(run, tmp_path, overrides, expected):
    options = decode_hparams(overrides)
    options.set_hparam("limit_by_longest_input", True)
    output = decode_from_file(
        Translator(*run, options),
        str(golden_path("decoder_cli", "inputs.txt")),
        decode_to_file=str(tmp_path / "out"),
    )
    written = (tmp_path / "out").read_bytes()
    assert output == str(tmp_path / "out")
    assert written == golden_path("decoder_cli", expected).read_bytes()
