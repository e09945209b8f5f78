"""Long texts cut into pieces, and tasks that share the files."""

import pytest

from t2t_keras.data import records, text_problems
from t2t_keras.data.modes import DatasetSplit
from t2t_keras.text import encoders


def read(paths):
    return [records.parse_example(r) for path in paths for r in records.read_records(str(path))]


class Chopped(text_problems.ChoppedTextProblem):
    name = "chopped"
    sequence_length = 4
    vocab_type = text_problems.VocabType.CHARACTER
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 2},
        {"split": DatasetSplit.EVAL, "shards": 1},
    ]
    max_dev_chars = 6

    def train_text_filepaths(self, tmp_dir):
        return [f"{tmp_dir}/{k}.txt" for k in range(3)]

    def dev_text_filepaths(self, tmp_dir):
        return [f"{tmp_dir}/dev.txt"]


class ChoppedDropping(Chopped):
    remainder_policy = "drop"


@pytest.fixture
def long_texts(tmp_path):
    for name, text in {"0": "abcdefgh", "1": "ijk", "2": "lmn", "dev": "opqrstuv"}.items():
        (tmp_path / f"{name}.txt").write_text(text)
    return str(tmp_path)


def pieces(problem, tmp_dir, task_id):
    encoder = encoders.ByteTextEncoder()
    samples = problem.example_generator(encoder, tmp_dir, task_id)
    return ["".join(chr(i - 2) if i else "." for i in s["targets"]) for s in samples]


def test_long_text_is_cut_into_equal_pieces(long_texts):
    assert pieces(Chopped(), long_texts, 0) == ["abcd", "efgh", "lmn."]
    assert pieces(Chopped(), long_texts, 1) == ["ijk."]
    assert pieces(Chopped(), long_texts, 2) == ["opqr", "st.."]
    assert pieces(ChoppedDropping(), long_texts, 0) == ["abcd", "efgh"]


def test_every_task_makes_its_shard(long_texts):
    problem = Chopped()
    for task_id in range(problem.num_generate_tasks):
        problem.generate_data(long_texts, long_texts, task_id)
    train = problem.training_filepaths(long_texts, 2, True)
    assert [records.count_records(path) for path in train] == [3, 1]
    assert len(read(problem.dev_filepaths(long_texts, 1, True))) == 2
    with pytest.raises(ValueError, match="Received: 3"):
        problem.generate_data(long_texts, long_texts, 3)


class Distributed(text_problems.DistributedText2TextProblem):
    name = "distributed"
    vocab_type = text_problems.VocabType.CHARACTER
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 2},
        {"split": DatasetSplit.EVAL, "shards": 1},
    ]

    def input_files(self, dataset_split=DatasetSplit.TRAIN):
        return list("abcde") if dataset_split == DatasetSplit.TRAIN else ["z"]

    def generate_samples(self, data_dir, tmp_dir, dataset_split, input_files):
        for name in input_files:
            yield {"inputs": name, "targets": name}


def test_distributed_tasks_share_the_files(tmp_path):
    problem = Distributed()
    for task_id in range(problem.num_generate_tasks):
        problem.generate_data(str(tmp_path), "", task_id)
    found = {
        path.name: sorted(chr(example["inputs"][0] - 2) for example in read([path]))
        for path in tmp_path.glob("distributed-*")
    }
    assert found == {
        "distributed-train-00000-of-00002": ["a", "b", "c"],
        "distributed-train-00001-of-00002": ["d", "e"],
        "distributed-dev-00000-of-00001": ["z"],
    }


# ---- Text files ----
