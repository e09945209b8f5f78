"""The encoders in the graph against the Python ones, on ordinary, odd and broken text."""

import pathlib
import random
import subprocess
import sys

import pytest
import tensorflow as tf

from t2t_keras.text import encoders, subword_builder, subwords, tokenizer
from t2t_keras.text.graph_encoder import GraphTextEncoder, graph_encoder_for
from tests.reference_data import golden_path, load_golden_json

ALPHABETS = [
    list("abcdef gh"),
    list("_\\u;0123456789 \n\t\r"),
    list("éüß日本語한국اعรไ²½٣😀🏽👩\u200d\u0301\u200b\ufeff\u3000\u00a0\x00\x01\x02\x1c\x85"),
]
FIXED = [
    "", "", " ", "  ", "\n", "_", "__", "\\", "\\_", "\\u", "a_b\\c", " both ends ", "a  b",
    "a - b", "\ufeffa", "_\x01a", "_\x02", "\x01", "a" * 5000, "日" * 3000, "🙂" * 200, "1,000.5",
    "\\233; \\10;", "<pad>", "<EOS> x", "\U0010ffff", "e\u0301\u0301", "‼️", "a\u2028b",
]  # fmt: skip


def _texts(seed: int = 1, count: int = 1500) -> list[str]:
    generator = random.Random(seed)
    anything = [chr(generator.randrange(sys.maxunicode + 1)) for _ in range(3000)]
    anything = [char for char in anything if not "\ud800" <= char <= "\udfff"]
    texts = list(FIXED)
    for _ in range(count):
        alphabets = [*ALPHABETS, anything]
        length = generator.randrange(25)
        texts.append("".join(generator.choice(generator.choice(alphabets)) for _ in range(length)))
    return texts


def _small_subword_encoder() -> subwords.SubwordTextEncoder:
    counts = tokenizer.count_tokens(_texts(seed=2, count=60) + ["the cat sat", "the cat_"] * 3)
    return subword_builder.build_from_token_counts(counts, 2)


def _assert_same_ids(encoder: encoders.TextEncoder, graph: GraphTextEncoder, texts) -> None:
    encode = tf.function(graph.encode, input_signature=[tf.TensorSpec([None], tf.string)])
    ids = encode(tf.constant(texts))
    assert ids.dtype == tf.int32
    assert ids.to_list() == [encoder.encode(text) for text in texts]
    assert encode(tf.constant([], tf.string)).to_list() == []


def _assert_same_texts(encoder: encoders.TextEncoder, graph: GraphTextEncoder, ids) -> None:
    spec = tf.RaggedTensorSpec([None, None], tf.int32, row_splits_dtype=tf.int64)
    decode = tf.function(graph.decode, input_signature=[spec])
    ragged = tf.ragged.constant(ids, tf.int32, ragged_rank=1, row_splits_dtype=tf.int64)
    texts = [text.decode("utf-8") for text in decode(ragged).numpy()]
    assert texts == [encoder.decode(row) for row in ids]
    empty = tf.ragged.constant([], tf.int32, ragged_rank=1, row_splits_dtype=tf.int64)
    assert decode(empty).shape == [0]


def _random_ids(choices: list[int], count: int) -> list[list[int]]:
    generator = random.Random(3)
    return [
        [generator.choice(choices) for _ in range(generator.randrange(30))] for _ in range(count)
    ]


def _check_subwords(encoder: subwords.SubwordTextEncoder, texts: list[str]) -> None:
    graph = graph_encoder_for(encoder)
    _assert_same_ids(encoder, graph, texts)
    pieces = encoder.all_subtoken_strings
    escapes = [item for item, piece in enumerate(pieces) if set(piece) <= subwords.ESCAPE_CHARS]
    ids = _random_ids(list(range(-3, encoder.vocab_size + 3)), 1000)
    ids += _random_ids(escapes, 1000)
    ids += [encoder.encode(text) for text in texts]
    _assert_same_texts(encoder, graph, ids)


def test_subwords() -> None:
    _check_subwords(_small_subword_encoder(), _texts())


@pytest.mark.reference
@pytest.mark.parametrize("name", ["subword_8k", "subword_32k"])
def test_subwords_of_real_vocabularies(name: str) -> None:
    golden = load_golden_json(f"{name}.json.gz")
    encoder = subwords.SubwordTextEncoder(str(golden_path("vocabs", golden["vocab_file"])))
    _check_subwords(encoder, [row["s"] for row in golden["encode"]] + _texts())


def test_equal_subtokens_and_impossible_entries() -> None:
    entries = ["<pad>_", "<EOS>_", "ab_", "ab_", "x_y", "", "\n", "_\x01a"]
    encoder = subwords.SubwordTextEncoder.from_subtokens(
        entries + sorted(subwords.ESCAPE_CHARS.union("abxy#<>padEOS\x01")) + ["##a_", "##"]
    )
    texts = ["ab", "x_y", "##a", "a##", "##", "a\nb", "<pad>", "_\x01a"]
    _check_subwords(encoder, texts)


def test_token_that_cannot_be_cut_is_left_out() -> None:
    entries = ["<pad>_", "<EOS>_", "ab_", *sorted(subwords.ESCAPE_CHARS)]
    encoder = subwords.SubwordTextEncoder.from_subtokens(entries)
    with pytest.raises(ValueError):
        encoder.encode("ab b ab")
    graph = graph_encoder_for(encoder)
    assert graph.encode(tf.constant(["ab b ab", "b", "ab"])).to_list() == [[2, 2], [], [2]]


def test_bytes() -> None:
    encoder = encoders.ByteTextEncoder()
    graph = graph_encoder_for(encoder)
    texts = _texts()
    _assert_same_ids(encoder, graph, texts)
    # Bytes at the borders of what is valid UTF-8.
    borders = [0x41, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xE0, 0xE1, 0xED, 0xEF]
    borders += [0xF0, 0xF1, 0xF4, 0xF5, 0xFF]
    ids = _random_ids([byte + 2 for byte in borders], 2000)
    ids += _random_ids(list(range(-3, 263)), 1000) + [encoder.encode(text) for text in texts]
    _assert_same_texts(encoder, graph, ids)


@pytest.mark.parametrize("reverse", [False, True])
def test_tokens(reverse: bool) -> None:
    words = ["a", "b", "UNK", "é", "日本", "the"]
    encoder = encoders.TokenTextEncoder(None, reverse=reverse, vocab_list=words, replace_oov="UNK")
    graph = graph_encoder_for(encoder)
    spaced = ["a  b", "\u3000the\x1cb\x85a\u2028日本\t", "a\u200bb", "é the é"]
    _assert_same_ids(encoder, graph, spaced + _texts())
    ids = _random_ids(list(range(-3, encoder.vocab_size + 3)), 500)
    _assert_same_texts(encoder, graph, ids)


def test_unknown_words_without_a_replacement_are_left_out() -> None:
    encoder = encoders.TokenTextEncoder(None, vocab_list=["a"])
    graph = graph_encoder_for(encoder)
    assert graph.encode(tf.constant(["a x a", "x", ""])).to_list() == [[2, 2], [], []]


@pytest.mark.parametrize("kind", ["subword", "byte", "token"])
def test_dense_ids_lose_their_padding(kind: str) -> None:
    encoder = _encoder(kind)
    ids = encoder.encode("the cat")
    graph = graph_encoder_for(encoder)
    dense = tf.constant([[0, *ids, 0], [*ids, 0, 0], [0] * (len(ids) + 2)])
    text = encoder.decode(ids).encode()
    assert graph.decode(dense).numpy().tolist() == [text, text, b""]
    assert graph.decode(tf.zeros([0, 3], tf.int32)).shape == [0]
    assert graph.decode(tf.zeros([2, 0], tf.int32)).numpy().tolist() == [b"", b""]


@pytest.mark.parametrize("kind", ["subword", "byte", "token"])
def test_broken_utf8_does_not_touch_its_neighbours(kind: str) -> None:
    encoder = _encoder(kind)
    generator = random.Random(4)
    borders = bytes([0x41, 0x20, 0x80, 0xBF, 0xC1, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xFF])
    broken = [bytes(generator.choices(borders, k=8)) for _ in range(500)]
    broken += [b"\xff\xfe the cat", b"the \xe2\x82", b"\xed\xa0\x80", b"the cat", b"\xc3"]
    ids = graph_encoder_for(encoder).encode(tf.constant(broken)).to_list()
    assert ids == [encoder.encode(text.decode("utf-8", "replace")) for text in broken]


def test_in_saved_models(tmp_path: pathlib.Path) -> None:
    kinds = ["subword", "byte", "token"]
    texts = ["the cat", "", " the_\\"]
    for kind in kinds:
        _save_round_trip(_encoder(kind), tmp_path / kind)
    (tmp_path / "load.py").write_text(
        "import sys, tensorflow as tf, tensorflow_text\n"
        "for path in sys.argv[1:]:\n"
        "    model = tf.saved_model.load(path)\n"
        f"    result = model.signatures['serving_default'](tf.constant({texts!r}))\n"
        "    print([text.decode() for text in result['texts'].numpy()])\n"
        "    print(result['ids'].numpy().tolist())\n"
    )
    # In a process that doesn't know this package.
    command = [sys.executable, str(tmp_path / "load.py"), *(str(tmp_path / kind) for kind in kinds)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    expected = []
    for encoder in map(_encoder, kinds):
        all_ids = [encoder.encode(text) for text in texts]
        width = max(map(len, all_ids))
        expected.append(repr([encoder.decode(ids) for ids in all_ids]))
        expected.append(repr([ids + [0] * (width - len(ids)) for ids in all_ids]))
    assert lines == expected


def _save_round_trip(encoder: encoders.TextEncoder, path: pathlib.Path) -> None:
    module = tf.Module()
    module.encoder = graph_encoder_for(encoder)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def round_trip(texts: tf.Tensor) -> dict[str, tf.Tensor]:
        ids = module.encoder.encode(texts)
        return {"ids": ids.to_tensor(), "texts": module.encoder.decode(ids)}

    tf.saved_model.save(module, str(path), signatures=round_trip)


def _encoder(kind: str) -> encoders.TextEncoder:
    if kind == "subword":
        return _small_subword_encoder()
    if kind == "byte":
        return encoders.ByteTextEncoder()
    return encoders.TokenTextEncoder(None, vocab_list=["the", "cat", "<UNK>"], replace_oov="<UNK>")


def test_other_encoders_are_refused() -> None:
    with pytest.raises(ValueError, match="ClassLabelEncoder"):
        graph_encoder_for(encoders.ClassLabelEncoder(["a"]))
