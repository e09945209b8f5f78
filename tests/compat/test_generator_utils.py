"""T2T's generator_utils under its own names."""

import gzip
import os

import pytest

from t2t_keras.compat import generator_utils, misc_utils, problem_hparams, text_encoder
from t2t_keras.data import records
from t2t_keras.hparam import HParams


def test_files(tmp_path):
    source = tmp_path / "corpus.gz"
    source.write_bytes(gzip.compress(b"one\ntwo\n"))
    copied = generator_utils.maybe_download(str(tmp_path / "tmp"), "mine.gz", str(source))
    assert copied == str(tmp_path / "tmp" / "mine.gz")
    source.unlink()
    assert generator_utils.maybe_download(str(tmp_path / "tmp"), "mine.gz", str(source)) == copied
    with pytest.raises(FileNotFoundError, match="Put the file at .*other.gz"):
        generator_utils.maybe_download(str(tmp_path / "tmp"), "other.gz", str(source))
    plain = tmp_path / "text"
    generator_utils.gunzip_file(copied, str(plain))
    assert plain.read_text() == "one\ntwo\n"
    plain.write_text("kept")
    generator_utils.gunzip_file(copied, str(plain))
    assert plain.read_text() == "kept"


def test_names():
    assert generator_utils.sharded_name("a/b", 3, 12) == "a/b-00003-of-00012"
    assert generator_utils.shard_filepath("b", 2) == ["b-00000-of-00002", "b-00001-of-00002"]
    assert generator_utils.combined_data_filenames("p", "d", 2) == [
        "d/p-train-00000-of-00002",
        "d/p-train-00001-of-00002",
        "d/p-dev-00000-of-00001",
        "d/p-test-00000-of-00001",
    ]


def test_writing(tmp_path):
    def samples(first):
        return ({"inputs": [number], "targets": [1]} for number in range(first, first + 6))

    train = generator_utils.train_data_filenames("p-unshuffled", str(tmp_path), 2)
    dev = generator_utils.dev_data_filenames("p-unshuffled", str(tmp_path), 1)
    assert generator_utils.outputs_exist(train) is None
    generator_utils.generate_dataset_and_shuffle(samples(0), train, samples(50), dev)
    final = [records.final_path(path) for path in (*train, *dev)]
    names = {os.path.basename(path) for path in final}
    assert set(os.listdir(tmp_path)) == names | {"shard_sizes.json"}
    assert generator_utils.outputs_exist(train) == final[0]
    numbers = [
        sorted(records.parse_example(record)["inputs"][0] for record in records.read_records(path))
        for path in final
    ]
    assert numbers == [[0, 2, 4], [1, 3, 5], [50, 51, 52, 53, 54, 55]]
    copy = str(tmp_path / "copy")
    generator_utils.write_records(records.read_records(final[0]), copy)
    assert records.read_records(copy) == records.read_records(final[0])
    with pytest.raises(ValueError, match="-unshuffled.*plain"):
        generator_utils.generate_dataset_and_shuffle([], ["plain"], [], dev)


def test_vocabularies(tmp_path):
    (tmp_path / "a.txt").write_text("the cat sat\nthe rat sat\n" * 30)
    (tmp_path / "b.txt").write_text("die Katze\n" * 30)
    (tmp_path / "c.tsv").write_text("unseen\tthe seen\nno column\n" * 30)
    data_dir = str(tmp_path / "data")
    corpora = [["", ("a.txt", "b.txt")]]
    made = generator_utils.get_or_generate_vocab(data_dir, str(tmp_path), "v", 60, corpora)
    assert made.decode(made.encode("die cat")) == "die cat"
    assert "Katze_" in made.all_subtoken_strings
    (tmp_path / "a.txt").unlink()
    read = generator_utils.get_or_generate_vocab(data_dir, str(tmp_path), "v", 60, corpora)
    assert read.all_subtoken_strings == made.all_subtoken_strings

    column = generator_utils.get_or_generate_tabbed_vocab(
        data_dir, str(tmp_path), "c.tsv", 1, "column", 60
    )
    assert "seen_" in column.all_subtoken_strings
    assert not any("unseen" in piece for piece in column.all_subtoken_strings)
    assert "c" not in column.all_subtoken_strings  # of "no column", which has none
    lines = generator_utils.get_or_generate_txt_vocab(
        None, "lines", 90, [str(tmp_path / "b.*"), str(tmp_path / "c.*")]
    )
    assert "unseen_" in lines.all_subtoken_strings
    with pytest.raises(FileNotFoundError, match="no_file"):
        generator_utils.get_or_generate_txt_vocab(None, "lines", 40, str(tmp_path / "no_file*"))
    reserved = generator_utils.get_or_generate_vocab_inner(
        None, "v", 30, ["x y"], reserved_tokens=["<pad>", "<EOS>", "<MORE>"]
    )
    assert reserved.all_subtoken_strings[2] == "<MORE>_"


def test_texts_and_bytes():
    assert text_encoder.native_to_unicode("é") == text_encoder.native_to_unicode("é".encode())
    assert text_encoder.to_unicode_ignore_errors(b"a\xffb") == "ab"
    with pytest.raises(UnicodeDecodeError):
        text_encoder.to_unicode_utf8(b"a\xffb")
    assert text_encoder.unicode_to_native("é") == "é"
    assert text_encoder.is_unicode("") and not text_encoder.is_unicode(b"")


def test_problem_of_two_sizes():
    hparams = problem_hparams.test_problem_hparams(9, 11)
    assert hparams.vocab_size == {"inputs": 9, "targets": 11}
    assert hparams.modality == {"inputs": "symbol", "targets": "symbol"}
    assert problem_hparams.test_problem_hparams(None, 11).vocab_size == {"targets": 11}
    with pytest.raises(ValueError, match="target_vocab_size"):
        problem_hparams.test_problem_hparams(9)


def test_pretty_print():
    text = misc_utils.pprint_hparams(HParams(b=1, a="x"))
    assert text == '{\n  "a": "x",\n  "b": 1\n}'
