"""Data generated on Apache Beam is that generated without it."""

import os

import pytest

from t2t_keras.data import seeding

beam = pytest.importorskip(
    "apache_beam", reason="Apache Beam (the extra `beam`) is not installed", exc_type=ImportError
)

USER_PACKAGE = """
import random
from t2t_keras import registry
from t2t_keras.data import text_problems
from t2t_keras.data.modes import DatasetSplit


class BeamWords(text_problems.Text2TextProblem):
    is_generate_per_split = True
    approx_vocab_size = 100
    dataset_splits = [
        {"split": DatasetSplit.TRAIN, "shards": 5},
        {"split": DatasetSplit.EVAL, "shards": 2},
    ]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        for number in range(203 if dataset_split == DatasetSplit.TRAIN else 31):
            word = random.choice(["apple", "pear", "plum"])
            yield {"inputs": f"{word} {number}", "targets": f"{number} {word}"}


@registry.register_problem
class BeamWordsOnePass(BeamWords):
    is_generate_per_split = False


@registry.register_problem
class BeamWordsPacked(BeamWords):
    packed_length = 40


registry.register_problem(BeamWords)
"""


@pytest.fixture(scope="module")
def user_directory(tmp_path_factory):
    folder = tmp_path_factory.mktemp("users") / "beam_words_package"
    folder.mkdir()
    (folder / "__init__.py").write_text(USER_PACKAGE)
    return str(folder)


def contents(folder):
    return {
        name: open(os.path.join(folder, name), "rb").read()  # noqa: SIM115
        for name in sorted(os.listdir(folder))
    }


@pytest.mark.parametrize("name", ["beam_words", "beam_words_one_pass", "beam_words_packed"])
@pytest.mark.parametrize("num_tasks", [1, 2, 32])
def test_same_files_as_without_beam(tmp_path, user_directory, name, num_tasks):
    from t2t_keras.data import beam_generation

    plain, on_beam = tmp_path / "plain", tmp_path / "beam"
    plain.mkdir()
    on_beam.mkdir()
    job = beam_generation.Job(name, str(on_beam), str(tmp_path), user_directory)
    problem = job.problem()
    seeding.seed_generators(3)
    problem.generate_data(str(plain), str(tmp_path))
    beam_generation.generate(job, 3, "DirectRunner", num_tasks=num_tasks)
    assert contents(on_beam) == contents(plain)


def test_problems_that_cannot_be_divided_are_refused(tmp_path, user_directory):
    from t2t_keras.data import beam_generation

    job = beam_generation.Job("algorithmic_identity_binary40", str(tmp_path), str(tmp_path))
    with pytest.raises(ValueError, match="can't be divided"):
        beam_generation.generate(job, 3, "DirectRunner")
