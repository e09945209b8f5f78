"""The tokenizer: classes of characters, losslessness, corpus readers."""

import collections
import pathlib
import sys
import unicodedata

import hypothesis
import pytest
from hypothesis import strategies

from t2t_keras.text import tokenizer


def test_alphanumeric_means_letter_or_number_for_every_code_point() -> None:
    for code in range(sys.maxunicode + 1):
        char = chr(code)
        wanted = unicodedata.category(char)[0] in "LN"
        assert char.isalnum() == wanted, hex(code)
        # Beside a letter, only an alphanumeric character joins its token.
        if not 0xD800 <= code <= 0xDFFF and char != " ":
            assert (len(tokenizer.encode("a" + char)) == 1) == wanted, hex(code)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", []),
        (" ", [" "]),
        ("Dude - that's so cool.", ["Dude", " - ", "that", "'", "s", "so", "cool", "."]),
        (" leading and trailing ", [" ", "leading", "and", "trailing", " "]),
        ("a  b", ["a", "  ", "b"]),
        ("1,000.5", ["1", ",", "000", ".", "5"]),
        ("a ", ["a", " "]),
        (" a", [" ", "a"]),
        ("a_b", ["a", "_", "b"]),
        ("e\u0301e", ["e", "\u0301", "e"]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    assert tokenizer.encode(text) == tokens


@hypothesis.given(strategies.text())
def test_lossless_for_any_text(text: str) -> None:
    tokens = tokenizer.encode(text)
    assert all(tokens)
    assert tokenizer.decode(tokens) == text


@hypothesis.given(strategies.text(alphabet=" a1.\n_é"))
def test_lossless_for_text_full_of_spaces(text: str) -> None:
    assert tokenizer.decode(tokenizer.encode(text)) == text


def test_corpus_is_read_in_the_order_of_file_names(tmp_path: pathlib.Path) -> None:
    (tmp_path / "b.txt").write_text("second file\n")
    (tmp_path / "a.txt").write_text("  one two  \ntwo\n")
    pattern = str(tmp_path / "*.txt")
    assert tokenizer.corpus_token_counts(pattern, 3) == {
        "one": 1, "two": 2, "second": 1, "file": 1,
    }  # fmt: skip
    assert tokenizer.corpus_token_counts(pattern, 2) == {"one": 1, "two": 2}
    whole = tokenizer.corpus_token_counts(pattern, None, split_on_newlines=False)
    assert whole["  "] == 1 and whole["  \n"] == 1


def test_corpus_errors_name_the_file(tmp_path: pathlib.Path) -> None:
    with pytest.raises(FileNotFoundError, match="nothing-here"):
        tokenizer.corpus_token_counts(str(tmp_path / "nothing-here*"), None)
    (tmp_path / "latin1.txt").write_bytes(b"caf\xe9\n")
    with pytest.raises(ValueError, match=r"latin1\.txt is not UTF-8"):
        tokenizer.corpus_token_counts(str(tmp_path / "latin1.txt"), None)


def test_token_counts_are_split_at_the_last_comma(tmp_path: pathlib.Path) -> None:
    (tmp_path / "counts").write_text("word,3\n, ,5\nno count\nword,4\n")
    assert tokenizer.vocab_token_counts(str(tmp_path / "counts")) == {"word": 4, ", ": 5}
    (tmp_path / "bad").write_text("word,many\n")
    with pytest.raises(ValueError, match="word,many"):
        tokenizer.vocab_token_counts(str(tmp_path / "bad"))


def test_tokens_counted_together_are_those_of_the_single_texts(monkeypatch) -> None:  # type: ignore[no-untyped-def]
    texts = [
        "",
        " ",
        "a b",
        " a",
        "b ",
        "x  y",
        "(a)",
        "",
        "",
        "a - b",
        "é_1",
        "- ",
        "line\nfeed",
        "a",
    ]
    expected = collections.Counter(token for text in texts for token in tokenizer.encode(text))
    for block_size in (1, 3, 1000):
        monkeypatch.setattr(tokenizer, "_BLOCK_SIZE", block_size)
        counted = tokenizer.count_tokens(texts)
        assert counted == expected
        assert all(counted.values())
