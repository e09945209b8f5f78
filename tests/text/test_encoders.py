"""The other encoders: round trips, files, errors."""

import pathlib

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies

from t2t_keras.text import encoders


@hypothesis.given(strategies.text())
def test_bytes_survive(text: str) -> None:
    encoder = encoders.ByteTextEncoder()
    ids = encoder.encode(text)
    assert encoder.decode(ids) == text
    assert all(2 <= item < encoder.vocab_size for item in ids)


def test_byte_list_and_ids_beyond() -> None:
    encoder = encoders.ByteTextEncoder()
    assert encoder.decode_list([0, 99, 1]) == [b"<pad>", b"a", b"<EOS>"]
    assert encoder.decode(np.array([99, 258, 100])) == "ab"


def test_token_list_drops_given_reserved_names() -> None:
    encoder = encoders.TokenTextEncoder(None, vocab_list=["b", "<EOS>", "a"])
    assert encoder.tokens == ["<pad>", "<EOS>", "b", "a"]
    assert encoder.encode("  a  b ") == [3, 2]
    assert encoder.decode_list([2, 9]) == ["b", "ID_9"]


def test_token_order_is_reversed_both_ways() -> None:
    encoder = encoders.TokenTextEncoder(None, reverse=True, vocab_list=["a", "b"])
    assert encoder.encode("a b b") == [3, 3, 2]
    assert encoder.decode([3, 3, 2]) == "a b b"


def test_unknown_token_names_near_words() -> None:
    encoder = encoders.TokenTextEncoder(None, vocab_list=["house", "horse"])
    with pytest.raises(KeyError, match="'houses'.*'house'.*replace_oov"):
        encoder.encode("house houses")
    with pytest.raises(KeyError, match="UNK"):
        encoders.TokenTextEncoder(None, vocab_list=["a"], replace_oov="UNK").encode("x")


def test_last_of_two_equal_lines_counts(tmp_path: pathlib.Path) -> None:
    (tmp_path / "vocab").write_text("<pad>\n<EOS>\na\na\n")
    encoder = encoders.TokenTextEncoder(str(tmp_path / "vocab"))
    assert encoder.encode("a") == [3]
    encoder.store_to_file(str(tmp_path / "again"))
    assert (tmp_path / "again").read_text() == "<pad>\n<EOS>\na\na\n"


def test_vocabulary_sources_are_checked(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="either a vocabulary file or a list"):
        encoders.TokenTextEncoder(None)
    with pytest.raises(ValueError, match="missing-file"):
        encoders.TokenTextEncoder(str(tmp_path / "missing-file"))


def test_class_labels(tmp_path: pathlib.Path) -> None:
    encoder = encoders.ClassLabelEncoder(["neg", "pos"])
    assert encoder.vocab_size == 2
    assert encoder.encode("pos") == 1
    for ids in (1, [1], [[1]], np.array([1]), np.array([[1]]), np.int32(1)):
        assert encoder.decode(ids) == "pos"
    with pytest.raises(ValueError, match="'post'"):
        encoder.encode("post")
    with pytest.raises(ValueError, match="one id"):
        encoder.decode([0, 1])
    encoder.store_to_file(str(tmp_path / "labels"))
    again = encoders.ClassLabelEncoder(class_labels_fname=str(tmp_path / "labels"))
    assert again.decode_list([0, 1]) == ["neg", "pos"]


def test_real_numbers() -> None:
    encoder = encoders.RealEncoder()
    assert encoder.encode(" 1.5 -2 ") == [1.5, -2.0]
    assert encoder.decode([1.5, -2.0]) == "1.5 -2.0"


def test_base_encoder_has_no_size() -> None:
    with pytest.raises(NotImplementedError, match="TextEncoder has no vocabulary"):
        _ = encoders.TextEncoder().vocab_size
    assert encoders.TextEncoder().decode([3, 1, 0], strip_extraneous=True) == "1"
