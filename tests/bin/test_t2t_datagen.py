import random

import numpy as np
import pytest
from absl import flags

from t2t_keras import registry
from t2t_keras.bin import t2t_datagen

KNOWN = ["algo_a", "algo_b", "translate_x", "translate_x_packed"]


@pytest.mark.parametrize(
    "wanted, excluded, expected",
    [
        ("translate_x", "", ["translate_x"]),
        ("algo_*", "", ["algo_a", "algo_b"]),
        ("translate_x, algo_b", "", ["algo_b", "translate_x"]),
        ("algo_*,algo_a,translate*", "", KNOWN),
        ("*", "", KNOWN),
        ("*", "packed, algo", ["translate_x"]),
        ("*", ",", KNOWN),
        ("tfds:a/b, text2text_tmpdir:vocab=99", "", ["text2text_tmpdir:vocab=99", "tfds:a/b"]),
    ],
)
def test_selection(wanted, excluded, expected):
    assert t2t_datagen.select_problems(wanted, excluded, KNOWN) == expected


@pytest.mark.parametrize(
    "wanted, excluded, message",
    [
        ("", "", r"--problem is missing"),
        (" , ", "", r"must name a problem"),
        ("translate_y", "", r"Did you mean: translate_x.*(\n.*)*  \* algo_a"),
        ("translate_x,nothing_here", "", r"--problem=nothing_here"),
        ("b*", "", r"No problem matches --problem=b\*"),
        ("translate_x", "late", r"No problem is left"),
        ("translate_x_rev", "", r"same files as translate_x:"),
        ("translate_x_copy_rev", "", r"same files as translate_x:"),
        ("tfds:a/b_rev", "", r"same files as tfds:a/b:"),
        ("tfds:a b", "", r"Received: 'a b'"),
        ("audio_timit_characters_test", "", r"T2T's generators"),
    ],
)
def test_selections_that_fail(wanted, excluded, message):
    with pytest.raises(ValueError, match=message):
        t2t_datagen.select_problems(wanted, excluded, KNOWN)


def test_all_known_problems_are_listed_when_none_matches():
    with pytest.raises(ValueError) as caught:
        t2t_datagen.select_problems("zzz", "", KNOWN)
    cause = "No problem matches --problem=zzz."
    assert str(caught.value).split("\n") == [
        cause,
        "Problems:",
        *(f"  * {name}" for name in KNOWN),
        cause,
    ]


def test_seed_covers_python_and_numpy():
    t2t_datagen.set_random_seed(5)
    first = random.random(), np.random.random()
    random.random(), np.random.random()
    t2t_datagen.set_random_seed(5)
    assert (random.random(), np.random.random()) == first


@pytest.mark.parametrize(
    "num_tasks, start, end, expected",
    [(5, -1, -1, range(5)), (5, 1, 3, range(1, 3)), (5, 0, 5, range(5))],
)
def test_task_range(num_tasks, start, end, expected):
    assert t2t_datagen._task_range(num_tasks, start, end) == expected


@pytest.mark.parametrize("start, end", [(2, -1), (-1, 2), (3, 3), (2, 6), (4, 2)])
def test_task_ranges_outside_the_tasks(start, end):
    with pytest.raises(ValueError, match=f"task_id_start={start} --task_id_end={end}"):
        t2t_datagen._task_range(5, start, end)


class FakeProblem:
    """Records how it is asked to generate."""

    name = "fake"
    multiprocess_generate = False
    num_generate_tasks = 3

    def __init__(self):
        self.calls = []

    def generate_data(self, data_dir, tmp_dir, task_id):
        self.calls.append((data_dir, tmp_dir, task_id))


@pytest.fixture
def datagen_flags(monkeypatch):
    values = flags.FlagValues()
    flags.DEFINE_integer("task_id", -1, "", flag_values=values)
    values(["test"])
    monkeypatch.setattr(t2t_datagen, "FLAGS", values)
    return values


@pytest.mark.parametrize(
    "in_tasks, task_id, expected",
    # In tasks and without a number is the pool, tested with real processes.
    [(False, -1, None), (False, 0, 0), (False, 2, 2), (True, 0, 0), (True, 2, 2)],
)
def test_single_process(datagen_flags, in_tasks, task_id, expected):
    datagen_flags.task_id = task_id
    problem = FakeProblem()
    problem.multiprocess_generate = in_tasks
    t2t_datagen.generate_data_for_problem(problem, "D", "T")
    assert problem.calls == [("D", "T", expected)]


def test_description_says_what_is_needed_and_there(tmp_path):
    data_dir, tmp_dir = tmp_path / "data", tmp_path / "tmp"
    problem = registry.problem("text2text_tmpdir:vocab=99")
    absent = t2t_datagen.describe(problem, str(data_dir), str(tmp_dir))
    assert absent.count(": absent") == 5 and "shards" not in absent
    assert not data_dir.exists() and not tmp_dir.exists()
    data_dir.mkdir()
    tmp_dir.mkdir()
    (tmp_dir / "inputs.train.txt").touch()
    (data_dir / problem.vocab_filename).touch()
    (data_dir / f"{problem.dataset_filename()}-dev-00000-of-00001").touch()
    there = t2t_datagen.describe(problem, str(data_dir), str(tmp_dir))
    assert f"  1 dev shards are in {data_dir} already" in there.split("\n")
    assert f"  vocabulary {data_dir / problem.vocab_filename}: there" in there.split("\n")
    assert f"  {tmp_dir / 'inputs.train.txt'}: there" in there.split("\n")
    assert there.count(": absent") == 3
