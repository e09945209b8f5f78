"""Problems whose texts are files of the user, and the iterators that read them."""

import itertools

import pytest

from t2t_keras.data import text_problems
from t2t_keras.data.modes import DatasetSplit


class Tmpdir(text_problems.Text2textTmpdir):
    name = "tmpdir"


class TmpdirTokens(text_problems.Text2textTmpdirTokens):
    name = "tmpdir_tokens"


def test_files_of_the_user_become_samples(tmp_path):
    (tmp_path / "inputs.train.txt").write_text(" a b \nc\n")
    (tmp_path / "targets.train.txt").write_text("x\ny z\n")
    problem = Tmpdir()
    samples = list(problem.generate_samples("", str(tmp_path), DatasetSplit.TRAIN))
    assert samples == [{"inputs": "a b", "targets": "x"}, {"inputs": "c", "targets": "y z"}]
    with pytest.raises(FileNotFoundError, match="inputs.eval.txt"):
        problem.generate_samples("", str(tmp_path), DatasetSplit.TEST)


def test_empty_files_leave_no_vocabulary_behind(tmp_path):
    for name in Tmpdir.TRAIN_FILES:
        (tmp_path / name).write_text("\n")
    data = tmp_path / "data"
    with pytest.raises(ValueError, match="no words to build a vocabulary.* files empty"):
        Tmpdir().generate_data(str(data), str(tmp_path))
    assert not list(data.glob("*"))


def test_token_vocabulary_of_the_user(tmp_path):
    (tmp_path / "vocab.txt").write_text("a\nb\n")
    encoder = TmpdirTokens().get_or_create_vocab(str(tmp_path), str(tmp_path))
    assert (tmp_path / "vocab.tmpdir_tokens.tokens").read_text().split() == [
        "<pad>",
        "<EOS>",
        "<UNK>",
        "a",
        "b",
    ]
    assert encoder.encode("b other a") == [4, 2, 3]


def test_files_of_different_length_are_refused_at_the_end_of_the_shorter(tmp_path):
    for name, count in (("a", 3), ("b", 2), ("c", 3)):
        (tmp_path / name).write_text("line\n" * count)
    long, short, also_long = (str(tmp_path / name) for name in "abc")
    for paths in ((long, short), (short, long)):
        with pytest.raises(ValueError, match="2 lines"):
            list(text_problems.text2text_txt_iterator(*paths))
    with pytest.raises(ValueError, match="shorter"):
        list(text_problems.text2text_distill_iterator(long, also_long, short))
    assert len(list(text_problems.text2text_distill_iterator(long, also_long, long))) == 3


def test_tab_separated_lines(tmp_path):
    (tmp_path / "x.tsv").write_text("a \t b\tc\nno tab\n")
    expected = [{"inputs": "a", "targets": "b\tc"}]
    assert list(text_problems.text2text_txt_tab_iterator(str(tmp_path / "x.tsv"))) == expected
    assert list(text_problems.text2text_txt_tab_iterator(str(tmp_path / "*.tsv"))) == expected


def test_labelled_lines(tmp_path):
    (tmp_path / "text").write_text("a\nb\n")
    (tmp_path / "label").write_text("no\nyes\n")
    paths = str(tmp_path / "text"), str(tmp_path / "label")
    samples = text_problems.text2class_txt_iterator(*paths, class_strs=["no", "yes"])
    assert [sample["label"] for sample in samples] == [0, 1]
    with pytest.raises(ValueError, match="'yes'"):
        list(text_problems.text2class_txt_iterator(*paths, class_strs=["no", "maybe"]))


def test_all_iterators_strip(tmp_path):
    (tmp_path / "x").write_text(" a\u00a0\n\nb\n", encoding="utf-8")
    lines = text_problems.txt_line_iterator(str(tmp_path / "x"))
    assert list(itertools.islice(lines, 5)) == ["a", "", "b"]
