import itertools
import pathlib

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from t2t_keras.data import text_lines


def write(path: pathlib.Path, content: bytes) -> str:
    path.write_bytes(content)
    return str(path)


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c", "\r"])
def test_only_line_feeds_end_a_line(tmp_path, separator):
    path = write(tmp_path / "a", f"one{separator}still one\ntwo\n".encode())
    assert list(text_lines.stripped_lines(path)) == [f"one{separator}still one", "two"]


def test_byte_order_mark_and_carriage_returns_are_dropped(tmp_path):
    path = write(tmp_path / "a", "\ufeffone\r\n\r\n three\t\r\nfour".encode())
    assert list(text_lines.stripped_lines(path)) == ["one", "", "three", "four"]


def test_byte_order_mark_inside_the_file_stays(tmp_path):
    path = write(tmp_path / "a", "one\n\ufefftwo\n".encode())
    assert list(text_lines.stripped_lines(path)) == ["one", "\ufefftwo"]


def test_invalid_utf8_names_file_line_and_byte(tmp_path):
    path = write(tmp_path / "a", b"fine\nhalf \xe4 line\n")
    lines = text_lines.stripped_lines(path)
    assert next(lines) == "fine"
    with pytest.raises(ValueError, match=r"a, line 2, .*byte 6 is 0xe4.*iconv"):
        next(lines)


def test_utf16_is_recognised(tmp_path):
    path = write(tmp_path / "a", "hello\n".encode("utf-16"))
    with pytest.raises(ValueError, match="UTF-16"):
        list(text_lines.stripped_lines(path))


def test_parallel_lines_pairs_in_order(tmp_path):
    first = write(tmp_path / "a", b"1\n\n3\n")
    second = write(tmp_path / "b", b"x\ny\n\n")
    assert list(text_lines.parallel_lines(first, second)) == [("1", "x"), ("", "y"), ("3", "")]


@pytest.mark.parametrize("lengths", [(3, 5), (5, 3), (0, 1), (1, 0)])
def test_unequal_lengths_raise_with_both_counts(tmp_path, lengths):
    first = write(tmp_path / "a", b"l\n" * lengths[0])
    second = write(tmp_path / "b", b"l\n" * lengths[1])
    pairs = text_lines.parallel_lines(first, second)
    assert len(list(itertools.islice(pairs, min(lengths)))) == min(lengths)
    with pytest.raises(ValueError, match=f"{lengths[0]} lines in .*a, {lengths[1]} lines in .*b"):
        next(pairs)
    shorter = text_lines.parallel_lines(first, second, cut_to_shorter=True)
    assert len(list(shorter)) == min(lengths)


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))))
def test_any_lines_come_back_stripped(tmp_path, lines):
    path = write(tmp_path / "a", "".join(line + "\n" for line in ["first", *lines]).encode())
    assert list(text_lines.stripped_lines(path)) == ["first", *(line.strip() for line in lines)]
