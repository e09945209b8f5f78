"""Every encoder and the vocabulary builder against tensor2tensor's recorded results."""

import pathlib
from typing import Any

import pytest

from t2t_keras.text import encoders, subword_builder, subwords, tokenizer
from tests.reference_data import golden_path, load_golden_json

pytestmark = pytest.mark.reference


def test_tokenizer() -> None:
    golden = load_golden_json("tokenizer.json.gz")
    assert golden["encode"] and golden["decode"]
    for row in golden["encode"]:
        assert tokenizer.encode(row["s"]) == row["tokens"]
        assert tokenizer.decode(row["tokens"]) == row["decoded"]
    for row in golden["decode"]:
        assert tokenizer.decode(row["tokens"]) == row["text"]


def test_escape() -> None:
    golden = load_golden_json("escape.json.gz")
    vocabulary = golden_path("vocabs", golden["escape_alphabet_of"])
    alphabet = subwords.SubwordTextEncoder(str(vocabulary)).alphabet
    assert golden["escape"] and golden["unescape"]
    for row in golden["escape"]:
        assert subwords.escape_token(row["s"], alphabet) == row["escaped"]
    for row in golden["unescape"]:
        assert subwords.unescape_token(row["s"]) == row["unescaped"]


@pytest.mark.parametrize("name", ["subword_8k", "subword_32k"])
def test_subwords(name: str) -> None:
    golden = load_golden_json(f"{name}.json.gz")
    encoder = subwords.SubwordTextEncoder(str(golden_path("vocabs", golden["vocab_file"])))
    assert encoder.vocab_size == golden["vocab_size"]
    assert encoder.max_subtoken_len == golden["max_subtoken_len"]
    assert len(encoder.alphabet) == golden["alphabet_size"]
    assert golden["encode"] and golden["decode_ids"] and golden["encode_without_tokenizing"]
    for _ in range(2):  # the second time from the cache
        for row in golden["encode"]:
            assert encoder.encode(row["s"]) == row["ids"]
            assert encoder.decode(row["ids"]) == row["decoded"]
    for row in golden["decode_ids"]:
        assert encoder.decode(row["ids"]) == row["decoded"]
        assert encoder.decode(row["ids"], strip_extraneous=True) == row["decoded_strip_extraneous"]
        assert encoder.decode_list(row["ids"]) == row["list"]
    for row in golden["encode_without_tokenizing"]:
        assert encoder.encode_without_tokenizing(row["s"]) == row["ids"]


def test_byte_encoder() -> None:
    golden = load_golden_json("byte_encoder.json.gz")
    encoder = encoders.ByteTextEncoder()
    assert encoder.vocab_size == golden["vocab_size"]
    assert golden["rows"] and golden["decode"]
    for row in golden["rows"]:
        assert encoder.encode(row["s"]) == row["ids"]
        assert encoder.decode(row["ids"]) == row["decoded"]
    for row in golden["decode"]:
        assert encoder.decode(row["ids"]) == row["decoded"]
        assert encoder.decode(row["ids"], strip_extraneous=True) == row["strip"]


def test_token_encoder() -> None:
    golden = load_golden_json("token_encoder.json")
    words = golden["vocab_list_given"]
    assert (
        encoders.TokenTextEncoder(None, vocab_list=words).vocab_size
        == (golden["vocab_size_from_list"])
    )
    vocabulary = str(golden_path("vocabs", "token_vocab.txt"))
    assert golden["rows"]
    for row in golden["rows"]:
        encoder = encoders.TokenTextEncoder(vocabulary, reverse=row["reverse"], replace_oov="UNK")
        assert encoder.vocab_size == row["vocab_size"]
        assert encoder.encode(row["s"]) == row["ids"]
        assert encoder.decode(row["ids"]) == row["decoded"]
    ids, text = golden["decode_unknown_ids"]
    assert encoders.TokenTextEncoder(vocabulary).decode(ids) == text
    assert golden["without_replace_oov_unknown_word_raises"] == "KeyError"
    with pytest.raises(KeyError):
        encoders.TokenTextEncoder(vocabulary).encode("no-such-word")


def test_token_vocabulary_file(tmp_path: pathlib.Path) -> None:
    golden = load_golden_json("token_encoder.json")
    encoder = encoders.TokenTextEncoder(None, vocab_list=golden["vocab_list_given"])
    encoder.store_to_file(str(tmp_path / "vocab"))
    assert (tmp_path / "vocab").read_bytes() == (
        golden_path("vocabs", "token_vocab.txt").read_bytes()
    )


def test_base_encoder() -> None:
    golden = load_golden_json("text_encoder_base.json")
    encoder = encoders.TextEncoder()
    assert golden["encode"] and golden["decode"] and golden["strip_ids"]
    for text, ids in golden["encode"]:
        assert encoder.encode(text) == ids
    for ids, text in golden["decode"]:
        assert encoder.decode(ids) == text
    for ids, to_strip, stripped in golden["strip_ids"]:
        assert encoders.strip_ids(ids, to_strip) == stripped


def _lines(corpus: str) -> list[str]:
    text = golden_path("vocab_build", corpus).read_text(encoding="utf-8")
    return text.removesuffix("\n").split("\n")


def _build(case: dict[str, Any]) -> subwords.SubwordTextEncoder:
    lines = _lines(case["corpus"])
    if case["call"] == "build_from_generator":
        return subword_builder.build_from_generator(
            lines, case["target_size"], case["max_subtoken_length"], case["reserved_tokens"]
        )
    names = [
        "target_size",
        "min_val",
        "max_val",
        "min_count",
        "num_iterations",
        "max_subtoken_length",
        "reserved_tokens",
    ]
    arguments = {name: case[name] for name in names if name in case}
    counts = tokenizer.count_tokens(lines)
    return getattr(subword_builder, case["call"])(token_counts=counts, **arguments)


def test_built_vocabularies(tmp_path: pathlib.Path) -> None:
    cases = load_golden_json("vocab_build", "manifest.json")
    assert cases
    built = None
    for case in cases:
        quotes = not case["call"].startswith("store_to_file(add_single_quotes=False)")
        if quotes:
            built = _build(case)
        assert built is not None
        assert built.vocab_size == case["vocab_size"]
        built.store_to_file(str(tmp_path / "vocab"), add_single_quotes=quotes)
        wanted = golden_path("vocab_build", case["file"]).read_bytes()
        assert (tmp_path / "vocab").read_bytes() == wanted, case


def test_token_counts() -> None:
    golden = load_golden_json("vocab_build", "token_counts.json")
    assert golden
    for name, counts in golden.items():
        corpus = golden_path("vocab_build", f"corpus.{name}.txt")
        assert tokenizer.corpus_token_counts(str(corpus), 0) == counts


@pytest.mark.parametrize(
    "name",
    ["vocab.translate_ende_wmt8k.8192.subwords", "vocab.translate_ende_wmt32k.32768.subwords"],
)
def test_stored_again_unchanged(name: str, tmp_path: pathlib.Path) -> None:
    path = golden_path("vocabs", name)
    subwords.SubwordTextEncoder(str(path)).store_to_file(str(tmp_path / "vocab"))
    assert (tmp_path / "vocab").read_bytes() == path.read_bytes()


def test_token_counts_of_the_first_lines() -> None:
    corpus = golden_path("vocab_build", "corpus.synth.txt")
    golden = load_golden_json("vocab_build", "corpus_token_counts_50_lines.json")
    assert tokenizer.corpus_token_counts(str(corpus), 50) == golden
