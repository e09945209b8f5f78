"""A served model answers texts as the decoder's `Translator` does."""

from types import SimpleNamespace
from typing import Any

import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.decoding.decode_hparams import decode_hparams
from t2t_keras.decoding.record_files import prompts
from t2t_keras.decoding.sampling import Sampling
from t2t_keras.decoding.translator import Translator
from t2t_keras.models.transformer import Transformer
from t2t_keras.serving import served_model
from t2t_keras.serving.served_model import ServedModel
from t2t_keras.text import encoders, subword_builder, tokenizer
from tests.decoding.t2t_checkpoint import load_run
from tests.reference_data import golden_path

TEXTS = [
    "the cat sat on the mat",
    "a cat and a rat",
    "the",
    "",
    "   ",
    " the hat, the cat; the bat ",
    "Ünknown ☃ characters_and\\escapes \u3000",
    "a " * 30,
    "the cat\nate",
    "mat\r",
]


def subword_encoder() -> encoders.TextEncoder:
    counts = tokenizer.count_tokens(TEXTS)
    return subword_builder.build_from_token_counts(counts, 1, num_iterations=2)


def random_run(encoder: encoders.TextEncoder, has_inputs: bool = True) -> tuple[Any, Any]:
    """A model with random weights, large enough that its choices are clear, and its problem."""
    hparams = registry.hparams("transformer_tiny")
    hparams.parse(
        "num_hidden_layers=1,hidden_size=32,filter_size=32,num_heads=2,symbol_modality_num_shards=1"
    )
    model = Transformer(
        hparams,
        input_vocab_size=encoder.vocab_size if has_inputs else None,
        target_vocab_size=encoder.vocab_size,
    )
    generator = tf.random.Generator.from_seed(7)
    for variable in model.variables:
        variable.assign(generator.normal(variable.shape, stddev=0.4))
    features = ["inputs", "targets"] if has_inputs else ["targets"]
    problem_hparams = SimpleNamespace(
        vocabulary=dict.fromkeys(features, encoder), modality=dict.fromkeys(features, "symbol")
    )
    return model, problem_hparams


@pytest.fixture(scope="module")
def run() -> tuple[Any, Any]:
    return random_run(subword_encoder())


def _assert_answers_as_translator(run, overrides: str, texts: list[str], lines: list[str]) -> None:
    """`lines` are the texts as the decoder takes them from a file."""
    options = decode_hparams(overrides)
    served = ServedModel(*run, options)
    answer = served(tf.constant(texts))
    expected = Translator(*run, options).translate(lines)
    shape = [len(texts), options.beam_size] if options.return_beams else [len(texts)]
    assert answer["outputs"].shape == shape and answer["scores"].shape == shape
    outputs = tf.reshape(answer["outputs"], [-1]).numpy()
    scores = tf.reshape(answer["scores"], [-1]).numpy()
    hypotheses = [hypothesis for row in expected for hypothesis in row]
    assert [text.decode() for text in outputs] == [hypothesis.text for hypothesis in hypotheses]
    assert scores == pytest.approx([hypothesis.score for hypothesis in hypotheses], rel=1e-4)
    if not options.limit_by_longest_input:
        for index, text in enumerate(texts):
            alone = served(tf.constant([text]))
            tf.debugging.assert_equal(alone["outputs"][0], answer["outputs"][index])
            tf.debugging.assert_near(alone["scores"][0], answer["scores"][index], rtol=1e-4)


@pytest.mark.parametrize(
    "overrides",
    [
        "extra_length=5",
        "extra_length=3,beam_size=3,alpha=1.0,return_beams=True",
        "extra_length=3,limit_by_longest_input=True,batch_size=100",
        "extra_length=2,max_input_size=4,keep_pad_ids=True,multiproblem_task_id=5",
        "extra_length=2,beam_size=1,force_decode_length=True,skip_eos_postprocess=True",
    ],
)
def test_answers_as_the_decoder(run, overrides: str) -> None:
    _assert_answers_as_translator(run, overrides, TEXTS, [text.strip() for text in TEXTS])


@pytest.mark.parametrize(
    "encoder",
    [
        encoders.ByteTextEncoder(),
        encoders.TokenTextEncoder(
            None, vocab_list=["the", "cat", "a", "mat", "UNK"], replace_oov="UNK"
        ),
    ],
)
def test_other_encoders(encoder: encoders.TextEncoder) -> None:
    lines = [text.strip() for text in TEXTS]
    _assert_answers_as_translator(random_run(encoder), "extra_length=3", TEXTS, lines)


def test_beginnings_for_a_model_without_inputs() -> None:
    run = random_run(subword_encoder(), has_inputs=False)
    texts = [text for text in TEXTS if not text.endswith("\r")] + ["the cat.", "the cat. "]
    _assert_answers_as_translator(run, "extra_length=5", texts, prompts(texts))
    served = ServedModel(*run, decode_hparams("extra_length=5"))
    with_carriage_return = served(tf.constant(["mat\r", "mat", ""]))["outputs"].numpy()
    assert with_carriage_return[0] == with_carriage_return[1]
    assert served(tf.constant([""]))["outputs"].shape == [1]


def test_empty_batch(run) -> None:
    for overrides, shape in [("", [0]), ("return_beams=True", [0, 4])]:
        answer = ServedModel(*run, decode_hparams(overrides))(tf.constant([], tf.string))
        assert answer["outputs"].shape == shape and answer["scores"].shape == shape


def test_broken_utf8_does_not_touch_its_neighbours(run) -> None:
    served = ServedModel(*run, decode_hparams("extra_length=5"))
    answer = served(tf.constant([b"the \xff cat", b"the cat", "the \ufffd cat".encode()]))
    outputs = answer["outputs"].numpy()
    assert outputs[0] == outputs[2]
    assert outputs[1] == served(tf.constant(["the cat"]))["outputs"].numpy()[0]
    for output in outputs:
        output.decode("utf-8")


def test_large_requests_are_searched_in_parts(run, monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []

    class Recording(ServedModel):
        def _search(self, ids, limits):
            tf.py_function(searched.append, [tf.identity(ids.to_tensor())], [])
            return super()._search(ids, limits)

    texts = [f"the cat {'and a rat ' * (index % 4)}{index}" for index in range(9)]
    options = decode_hparams("extra_length=3,beam_size=2")
    whole = ServedModel(*run, options)(tf.constant(texts))
    longest = max(len(run[1].vocabulary["inputs"].encode(text)) + 1 for text in texts)
    monkeypatch.setattr(served_model, "MAX_IDS", 2 * longest + 1)
    answer = Recording(*run, options)(tf.constant(texts))
    assert sum(ids.shape[0] for ids in searched) == len(texts)
    assert searched[0].shape == [2, longest]
    assert len(searched) > 2
    assert all(ids.shape[0] * ids.shape[1] <= 2 * longest + 1 for ids in searched)
    assert answer["outputs"].numpy().tolist() == whole["outputs"].numpy().tolist()
    assert answer["scores"].numpy() == pytest.approx(whole["scores"].numpy(), rel=1e-4)


def test_sampling_draws_anew(run) -> None:
    served = ServedModel(
        *run, decode_hparams("beam_size=1,extra_length=20"), Sampling("random", temperature=5.0)
    )
    draws = {served(tf.constant(["the cat"]))["outputs"].numpy()[0] for _ in range(5)}
    assert len(draws) > 1


@pytest.mark.reference
@pytest.mark.parametrize("overrides", ["", "beam_size=1"])
def test_checkpoint_trained_by_t2t(overrides: str) -> None:
    lines = golden_path("decoder_cli", "inputs.txt").read_text(encoding="utf-8").split("\n")
    run = load_run(golden_path("toy_ckpt"))
    _assert_answers_as_translator(run, overrides, lines, [line.strip() for line in lines])
