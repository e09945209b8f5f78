import os

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from t2t_keras.decoding import record_files
from t2t_keras.decoding.decode_hparams import decode_hparams
from tests.reference_data import load_golden_json


def write(tmp_path, content):
    path = tmp_path / "records"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return str(path)


def golden_helper(prefix):
    helpers = load_golden_json("decode_helpers.json")
    (found,) = [value for key, value in helpers.items() if key.startswith(prefix)]
    assert found
    return found


@pytest.mark.reference
def test_order_is_t2ts(tmp_path):
    for case in golden_helper("sorted_inputs"):
        records = record_files.read_records(write(tmp_path, case["file"]), case["delimiter"])
        order = record_files.longest_first([len(record.split()) for record in records])
        assert [records[index] for index in order] == case["sorted_inputs"]
        places = {str(index): place for place, index in enumerate(order)}
        assert places == case["sorted_keys"]


@pytest.mark.reference
def test_output_names_are_t2ts():
    for base, overrides, expected, with_shard in golden_helper("decode_filename"):
        options = decode_hparams(overrides)
        path = record_files.default_output_path(
            base, options, "transformer", "transformer_base", "translate_ende_wmt32k"
        )
        assert path == expected
        assert record_files.with_shard_suffix(base, options) == with_shard


@pytest.mark.reference
def test_prompts_are_t2ts(tmp_path):
    for text, repetitions, expected in golden_helper("language_modeling_inputs"):
        records = record_files.read_records(write(tmp_path, text), strip=False)
        assert record_files.prompts(records, repetitions) == expected


@pytest.mark.parametrize(
    ("content", "records"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\nb", ["a", "b"]),
        ("a\n\nb\n\n", ["a", "", "b", ""]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("", []),
        ("\n", [""]),
        ("a\u2028b\x0bc\x85d\n e \n", ["a\u2028b\x0bc\x85d", "e"]),
        ("\ufeffa\n", ["a"]),
        ("\ufeff", []),
        ("A man .\n   ", ["A man .", ""]),
        (" ", [""]),
        ("a\n\r", ["a", ""]),
        (b"ok\nb\xffd\nlast", ["ok", "b\ufffdd", "last"]),
    ],
)
def test_reading(tmp_path, content, records):
    assert record_files.read_records(write(tmp_path, content)) == records


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    lines=st.lists(st.text("a \t\r\u2028é\x0b", max_size=5), max_size=6),
    ends=st.booleans(),
    strip=st.booleans(),
)
@example(lines=["A man .", "   "], ends=False, strip=True)
def test_as_many_records_as_lines(tmp_path, lines, ends, strip):
    """A last line counts with and without its end, but if there is nothing in it without one."""
    count = len(lines) if ends or not lines or lines[-1] else len(lines) - 1
    content = "\n".join(lines) + "\n" * (ends and bool(lines))
    records = record_files.read_records(write(tmp_path, content), strip=strip)
    assert len(records) == count
    # What is written for them has as many again.
    record_files.write_records(str(tmp_path / "out"), [record.strip() for record in records])
    assert (tmp_path / "out").read_bytes().count(b"\n") == count


def test_invalid_bytes_are_reported_with_their_line(tmp_path, caplog):
    with caplog.at_level("WARNING", logger="absl"):
        record_files.read_records(write(tmp_path, b"ok\nb\xffd\n"))
    assert "line 2" in caplog.text and "0xff" in caplog.text


def test_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="absent"):
        record_files.read_records(str(tmp_path / "absent"))


def test_written_file_is_complete_or_absent(tmp_path):
    path = str(tmp_path / "out")
    with pytest.raises(ValueError, match="Record 2"):
        record_files.write_records(path, ["a", "b\nc"])
    assert not os.listdir(tmp_path)
    record_files.write_records(path, ["a", "", "b"])
    assert record_files.read_records(path) == ["a", "", "b"]


def test_output_directory_is_made_beforehand(tmp_path):
    record_files.prepare_output(str(tmp_path / "new" / "out"))
    assert (tmp_path / "new").is_dir()
    with pytest.raises(ValueError, match="directory"):
        record_files.prepare_output(str(tmp_path))


def test_output_that_is_the_input_is_refused(tmp_path):
    path = write(tmp_path, "a\n")
    (tmp_path / "link").symlink_to(path)
    for output in (path, str(tmp_path / "link"), str(tmp_path / "." / "records")):
        with pytest.raises(ValueError, match="overwrite the file that is read"):
            record_files.prepare_output(output, path)
    record_files.prepare_output(str(tmp_path / "out"), path)
    assert sorted(os.listdir(tmp_path)) == ["link", "records"]


def test_output_where_nothing_can_be_made(tmp_path):
    with pytest.raises(ValueError, match=r"'/proc/out' cannot be written"):
        record_files.prepare_output("/proc/out")
