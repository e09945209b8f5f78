"""SubwordTextEncoder: round trips, vocabulary files, and the quirks that are repaired."""

import os
import pathlib
import tempfile

import hypothesis
import pytest
from hypothesis import strategies

from t2t_keras.text import subwords

SMALL = subwords.SubwordTextEncoder.from_subtokens(
    ["<pad>_", "<EOS>_", "the_", "th", "at", ", _", "cat_"]
    + sorted(subwords.ESCAPE_CHARS.union("abcdehst,. é<>padEOS"))
)


@hypothesis.given(strategies.text(), strategies.text())
def test_escape_is_undone(token: str, alphabet: str) -> None:
    letters = subwords.ESCAPE_CHARS.union(alphabet)
    escaped = subwords.escape_token(token, letters)
    assert set(escaped) <= letters
    assert escaped.index("_") == len(escaped) - 1
    assert subwords.unescape_token(escaped) == token


@pytest.mark.parametrize(
    ("token", "escaped"),
    [("a_b", r"a\ub_"), ("a\\b", r"a\\b_"), ("aé", r"a\233;_"), ("\n", r"\10;_")],
)
def test_escapes(token: str, escaped: str) -> None:
    assert subwords.escape_token(token, subwords.ESCAPE_CHARS.union("ab\n")) == escaped


@hypothesis.given(strategies.text())
def test_any_text_survives(text: str) -> None:
    assert SMALL.decode(SMALL.encode(text)) == text
    assert SMALL.encode(text) == SMALL.encode(text)


@hypothesis.given(strategies.text(alphabet="the cat, _\\u;0\n"))
def test_text_near_the_vocabulary_survives(text: str) -> None:
    ids = SMALL.encode(text)
    assert SMALL.decode(ids) == text
    assert SMALL.decode([*ids, 1, 0, 0], strip_extraneous=True) == text


def test_longest_piece_from_the_left() -> None:
    assert SMALL.decode_list(SMALL.encode("that cat, the")) == [
        "th", "at", "_", "cat_", ", _", "the_",
    ]  # fmt: skip


def test_the_later_of_two_equal_subtokens_counts() -> None:
    encoder = subwords.SubwordTextEncoder.from_subtokens(["<pad>_", "<EOS>_", "a_", "a_"])
    assert encoder.encode("a") == [3]


def test_token_that_cannot_be_cut_is_named() -> None:
    encoder = subwords.SubwordTextEncoder.from_subtokens(["<pad>_", "<EOS>_", "a_"])
    with pytest.raises(ValueError, match=r"98;_' at"):
        encoder.encode("b")


def test_missing_file_is_named(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="no-such-vocab"):
        subwords.SubwordTextEncoder(str(tmp_path / "no-such-vocab"))


@hypothesis.given(
    strategies.lists(
        strategies.text(strategies.characters(codec="utf-8", exclude_characters="\n")), unique=True
    )
)
def test_quoted_file_keeps_every_subtoken(subtokens: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocab")
        subwords.SubwordTextEncoder.from_subtokens(subtokens).store_to_file(path)
        assert subwords.SubwordTextEncoder(path).all_subtoken_strings == subtokens
        assert os.listdir(folder) == ["vocab"]


def test_quotes_of_either_kind_or_none(tmp_path: pathlib.Path) -> None:
    (tmp_path / "vocab").write_bytes(b"'<pad>'\n\"<EOS>\"\nplain_  \n'''\n\"\n' _'\n'x\"\n'\r'\n")
    encoder = subwords.SubwordTextEncoder(str(tmp_path / "vocab"))
    assert encoder.all_subtoken_strings == [
        "<pad>", "<EOS>", "plain_", "'", "", " _", "'x\"", "\r",
    ]  # fmt: skip


def test_newline_entry_keeps_the_ids_after_reload(tmp_path: pathlib.Path) -> None:
    entries = ["<pad>_", "<EOS>_", "ab_", "\n", "a", "b", *sorted(subwords.ESCAPE_CHARS)]
    written = subwords.SubwordTextEncoder.from_subtokens(entries)
    path = str(tmp_path / "vocab")
    written.store_to_file(path)
    assert (tmp_path / "vocab").read_bytes().split(b"\n")[3:5] == [b"'", b"'"]
    assert subwords.SubwordTextEncoder(path).encode("a\nb") == written.encode("a\nb")
    as_t2t = subwords.SubwordTextEncoder(path, join_split_newline=False)
    assert as_t2t.all_subtoken_strings == entries[:3] + ["", ""] + entries[4:]


def test_half_a_surrogate_pair_can_be_written() -> None:
    ids = SMALL.encode_without_tokenizing("x\ud800y")
    assert SMALL.decode(ids) == "x\u3013y"
    SMALL.decode(ids).encode("utf-8")
    exact = subwords.SubwordTextEncoder(None, replace_surrogates=False)
    exact._set_subtokens(SMALL.all_subtoken_strings)
    assert exact.decode(ids) == "x\ud800y"


def test_ids_outside_of_the_vocabulary_stand_for_nothing() -> None:
    assert SMALL.decode([-1, 2, SMALL.vocab_size, 6]) == "the cat"
    assert SMALL.decode([1, 0]) == "<EOS><pad>"


def test_cache_gives_nothing_away() -> None:
    first = SMALL.encode_without_tokenizing("cat")
    first.append(5)
    assert SMALL.encode_without_tokenizing("cat") == first[:-1]
