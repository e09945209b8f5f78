import pytest

from t2t_keras import registry
from t2t_keras.data.problem import DatasetSplit


def write_side(folder, side, lines, split="train"):
    (folder / f"{side}.{split}.txt").write_text("".join(f"{line}\n" for line in lines))


def test_lines_of_both_files_together(tmp_path):
    write_side(tmp_path, "inputs", ["a", "", "b\x85b"])
    write_side(tmp_path, "targets", ["x ", "y", ""])
    problem = registry.problem("text2text_tmpdir")
    samples = list(problem.generate_samples("", str(tmp_path), DatasetSplit.TRAIN))
    assert [tuple(sample.values()) for sample in samples] == [("a", "x"), ("", "y"), ("b\x85b", "")]


@pytest.mark.parametrize("split", [DatasetSplit.EVAL, DatasetSplit.TEST])
def test_test_and_eval_read_the_eval_files(tmp_path, split):
    write_side(tmp_path, "inputs", ["a"], "eval")
    write_side(tmp_path, "targets", ["x"], "eval")
    problem = registry.problem("text2text_tmpdir")
    assert len(list(problem.generate_samples("", str(tmp_path), split))) == 1


def test_files_of_different_lengths_are_refused(tmp_path):
    write_side(tmp_path, "inputs", ["a", "b"])
    write_side(tmp_path, "targets", ["x"])
    problem = registry.problem("text2text_tmpdir")
    with pytest.raises(ValueError, match=r"2 lines in .*inputs.*, 1 lines in .*targets"):
        list(problem.generate_samples("", str(tmp_path), DatasetSplit.TRAIN))


def test_missing_files_are_named(tmp_path):
    problem = registry.problem("text2text_tmpdir")
    with pytest.raises(FileNotFoundError, match=r"inputs\.train\.txt"):
        list(problem.generate_samples("", str(tmp_path), DatasetSplit.TRAIN))


def test_token_vocabulary_from_tmp_dir(tmp_path):
    (tmp_path / "vocab.txt").write_text("hello\nworld\n")
    problem = registry.problem("text2text_tmpdir_tokens")
    encoder = problem.get_or_create_vocab(str(tmp_path), str(tmp_path))
    lines = (tmp_path / "vocab.text2text_tmpdir_tokens.tokens").read_text().split()
    assert lines == ["<pad>", "<EOS>", "<UNK>", "hello", "world"]
    assert encoder.encode("world unknown hello") == [4, 2, 3]
