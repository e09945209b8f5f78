import os

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


@pytest.mark.parametrize("size", [60, 90])
def test_size_of_the_vocabulary_is_chosen_in_the_name(tmp_path, size):
    words = ["".join(chr(97 + (i * j) % 26) for j in range(1, 6)) for i in range(200)]
    for split in ("train", "eval"):
        write_side(tmp_path, "inputs", words, split)
        write_side(tmp_path, "targets", words[::-1], split)
    name = f"text2text_tmpdir:vocab={size}"
    data_dir = str(tmp_path / "data")
    registry.problem(name).generate_data(data_dir, str(tmp_path))
    problem = registry.problem(f"{name}_rev")
    vocabulary = f"vocab.text2text_tmpdir_vocab-{size}.{size}.subwords"
    assert problem.vocab_filename == vocabulary
    assert abs(problem.feature_encoders(data_dir)["inputs"].vocab_size - size) <= size // 5
    shards = set(os.listdir(data_dir)) - {vocabulary, "shard_sizes.json"}
    assert len(shards) == 101
    assert all(path.startswith(f"text2text_tmpdir_vocab-{size}-") for path in shards)


@pytest.mark.parametrize(
    "name, message",
    [
        ("text2text_tmpdir:vocab=0", "at least 3. Received: '0'"),
        ("text2text_tmpdir:vocab=-5", "Received: '-5'"),
        ("text2text_tmpdir:vocab=8k", "Received: '8k'"),
        ("text2text_tmpdir:size=800", "Received: 'size=800'"),
        ("text2text_tmpdir_tokens:vocab=800", "no subword vocabulary of its own"),
        ("translate_ende_wmt_characters:vocab=800", "no subword vocabulary of its own"),
        ("translate_ende_wmt32k_packed:vocab=800", "no subword vocabulary of its own"),
    ],
)
def test_sizes_that_can_not_be_chosen(name, message):
    with pytest.raises(ValueError, match=message):
        registry.problem(name)
