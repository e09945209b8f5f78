"""From texts to texts with a predictable model: order, batches, odd texts."""

import os
from types import SimpleNamespace

import numpy as np
import pytest

from t2t_keras.decoding import batches
from t2t_keras.decoding.decode_hparams import decode_hparams
from t2t_keras.decoding.decoder import copy_timestamp, decode_from_file
from t2t_keras.decoding.translator import LONGEST_INPUT, Translator, until_eos
from t2t_keras.text.encoders import ByteTextEncoder, TextEncoder, TokenTextEncoder
from tests.decoding.fake_model import FakeModel
from tests.reference_data import load_golden_json

WORDS = ["ah", "be", "ce", "do", "eh"]


def make_translator(overrides="", encoder=None, has_inputs=True, seed=0, **arguments):
    encoder = encoder or ByteTextEncoder()
    targets = TokenTextEncoder(None, vocab_list=WORDS)
    vocabulary = {"inputs": encoder, "targets": targets}
    if not has_inputs:
        vocabulary = {"targets": targets}
    problem_hparams = SimpleNamespace(
        vocabulary=vocabulary, modality=dict.fromkeys(vocabulary, "symbol")
    )
    model = FakeModel(vocab=targets.vocab_size, seed=seed)
    return Translator(model, problem_hparams, decode_hparams(overrides), **arguments)


def greedy_text(text, extra_length, seed=0):
    """What a greedy search must make of a text."""
    model = FakeModel(vocab=len(WORDS) + 2, seed=seed)
    inputs = [*ByteTextEncoder().encode(text), 1]
    ids, _ = model.greedy(inputs, len(inputs) + extra_length)
    return " ".join(WORDS[item - 2] for item in until_eos(ids) if item)


TEXTS = ["one", "a longer text", "", "two", "ünïcödé \u2028 text", "x" * 300, "three"]


@pytest.mark.parametrize("overrides", ["batch_size=2", "batch_size=1", ""])
@pytest.mark.parametrize("seed", [0, 4])
def test_every_text_gets_its_own_result_in_its_own_place(overrides, seed):
    options = ",".join(["beam_size=1,extra_length=6", *filter(None, [overrides])])
    results = make_translator(options, seed=seed).translate(TEXTS)
    expected = [greedy_text(text, 6, seed) if text else "" for text in TEXTS]
    assert [best.text for (best,) in results] == expected
    assert len(set(expected)) > 3


def test_compiled_search_gives_the_same():
    plain = make_translator("beam_size=2,extra_length=3,batch_size=2").translate(TEXTS[:5])
    compiled = make_translator(
        "beam_size=2,extra_length=3,batch_size=2", xla_compile=True
    ).translate(TEXTS[:5])
    assert [[h.ids for h in row] for row in plain] == [[h.ids for h in row] for row in compiled]


@pytest.mark.parametrize(
    ("xla_compile", "messages"),
    [
        (False, ["Building the search …", "Built in "]),
        (
            True,
            [
                "Compiling the search for 32 x 16 (sentences x length) …",
                "Compiled in ",
                "Compiling the search for 32 x 48 (sentences x length) …",
                "Compiled in ",
            ],
        ),
    ],
)
def test_what_takes_time_at_first_is_logged_once(caplog, xla_compile, messages):
    translator = make_translator("beam_size=1,extra_length=2", xla_compile=xla_compile)
    with caplog.at_level("INFO", logger="absl"):
        translator.translate([])
        assert not caplog.messages
        for _ in range(2):
            translator.translate(["one", "two"], show_progress=True)
            translator.translate(["a longer text, it has another shape"])
    assert len(caplog.messages) == len(messages)
    for message, beginning in zip(caplog.messages, messages, strict=True):
        assert message.startswith(beginning)


def test_all_beams():
    results = make_translator("beam_size=3,return_beams=True,extra_length=4").translate(["one", ""])
    assert [len(row) for row in results] == [3, 3]
    scores = [hypothesis.score for hypothesis in results[0]]
    assert scores == sorted(scores, reverse=True)


def test_prompts_of_a_language_model_may_be_empty():
    results = make_translator("beam_size=1,extra_length=5", has_inputs=False).translate(
        ["ah be", ""]
    )
    model = FakeModel(vocab=len(WORDS) + 2)
    for (best,), prefix in zip(results, [[2, 3], []], strict=True):
        assert best.ids == until_eos(model.greedy([], len(prefix) + 5, prefix)[0])


def test_no_texts():
    assert make_translator().translate([]) == []


def test_long_inputs_are_cut(caplog):
    translator = make_translator("max_input_size=4")
    with caplog.at_level("WARNING", logger="absl"):
        assert translator.encode("abcdef") == [*ByteTextEncoder().encode("abc"), 1]
    assert "6 subwords" in caplog.text
    assert len(make_translator().encode("y" * 100_000)) == LONGEST_INPUT


def test_task_id_stands_in_the_end_symbols_place():
    translator = make_translator("multiproblem_task_id=99")
    assert translator.encode("a") == [*ByteTextEncoder().encode("a"), 99]


class _SpelledOut(TextEncoder):
    """Decodes to awkward characters."""

    def decode(self, ids, strip_extraneous=False):
        return "".join({0: "<pad>", 2: "a", 3: "\n", 4: "\t", 5: "\r\n"}[item] for item in ids)


def test_an_output_is_one_record():
    translator = make_translator()
    translator.vocabulary["targets"] = _SpelledOut()
    text = translator._hypothesis(np.array([2, 0, 3, 2, 4, 2, 5, 2, 1, 2]), 0.0).text
    assert text == "a a\ta  a"
    translator.options.set_hparam("return_beams", True)
    translator.options.set_hparam("keep_pad_ids", True)
    text = translator._hypothesis(np.array([2, 0, 4, 2, 1]), 0.0).text
    assert text == "a<pad> a"


@pytest.mark.reference
def test_cut_at_the_end_symbol_is_t2ts():
    for ids, expected in load_golden_json("decode_helpers.json")["save_until_eos"]:
        assert until_eos(ids) == expected


def test_file_in_file_out(tmp_path):
    source = tmp_path / "in.txt"
    source.write_bytes("one\r\n\na longer\u2028text\n".encode() + b"\xff\xfe\ntwo")
    translator = make_translator("beam_size=1,extra_length=6")
    output = decode_from_file(
        translator, str(source), model_name="m", hparams_set="h", problem_name="p"
    )
    assert output == f"{source}.m.h.p.beam1.alpha0.6.decodes"
    lines = open(output, encoding="utf-8", newline="").read().split("\n")
    texts = ["one", "", "a longer\u2028text", "\ufffd\ufffd", "two"]
    assert lines == [greedy_text(text, 6) if text else "" for text in texts] + [""]


def test_as_many_lines_out_as_in(tmp_path):
    (tmp_path / "in").write_text("one\n   ")
    output = decode_from_file(
        make_translator("beam_size=1,extra_length=6"),
        str(tmp_path / "in"),
        decode_to_file=str(tmp_path / "out"),
    )
    assert open(output, encoding="utf-8").read() == greedy_text("one", 6) + "\n\n"


def test_beams_with_scores_in_a_file(tmp_path):
    source = tmp_path / "in.txt"
    source.write_text("one\n\n")
    translator = make_translator("beam_size=2,return_beams=True,write_beam_scores=True")
    output = decode_from_file(translator, str(source), decode_to_file=str(tmp_path / "out"))
    first, second, rest = open(output, encoding="utf-8").read().split("\n")
    ((best, other),) = translator.translate(["one"])
    assert first == f"{best.text}\t{best.score:.2f}\t{other.text}\t{other.score:.2f}"
    assert second == "\t0.00\t\t0.00"
    assert rest == ""


def test_shards_have_their_own_files(tmp_path):
    (tmp_path / "in001").write_text("one\n")
    translator = make_translator("beam_size=1,extra_length=6,shards=2,shard_id=1")
    output = decode_from_file(
        translator, str(tmp_path / "in"), decode_to_file=str(tmp_path / "out")
    )
    assert output == str(tmp_path / "out001")
    assert (tmp_path / "out001").read_text() == greedy_text("one", 6) + "\n"


def test_timestamp_is_the_checkpoints(tmp_path):
    for name in ("model.ckpt-1.index", "out"):
        (tmp_path / name).write_text("")
    os.utime(tmp_path / "model.ckpt-1.index", (1000, 1000))
    copy_timestamp(str(tmp_path / "model.ckpt-1"), str(tmp_path / "out"))
    assert (tmp_path / "out").stat().st_mtime == 1000


def test_batches_hold_every_sequence_once_longest_first():
    lengths = np.random.default_rng(0).integers(0, 40, size=101)
    sequences = [[7] * length for length in lengths]
    for few_shapes in (False, True):
        seen, widths = [], []
        for batch in batches.make_batches(sequences, 8, few_shapes=few_shapes):
            seen += batch.indices
            widths.append(batch.ids.shape[1])
            for row, index in enumerate(batch.indices):
                assert batch.lengths[row] == lengths[index]
                assert (batch.ids[row] != 0).sum() == lengths[index]
            if few_shapes:
                assert batch.ids.shape[0] == 8
                assert batch.ids.shape[1] in (16, 24, 32, 48)
        assert sorted(seen) == list(range(101))
        assert widths == sorted(widths, reverse=True)


def test_very_long_rows_come_in_small_batches():
    assert batches.rows_for(100, 32) == 32
    for length in (10, 256, 1000, 4096, 100_000):
        rows = batches.rows_for(length, 32)
        assert rows == 1 or rows * length <= 8192 and rows * length**2 <= 2**23
