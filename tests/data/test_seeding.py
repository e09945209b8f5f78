"""Generators of random numbers in data generation."""

import random
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from t2t_keras.data import seeding


@pytest.fixture(autouse=True)
def keep_generators():
    state, finders = seeding.generator_state(), sys.meta_path[:]
    yield
    seeding.restore_generators(state)
    sys.meta_path[:] = finders


def test_a_state_can_be_restored():
    seeding.seed_generators(3)
    state = seeding.generator_state()
    drawn = random.random(), np.random.rand(3).tolist(), random.gauss(0, 1)
    seeding.restore_generators(state)
    assert drawn == (random.random(), np.random.rand(3).tolist(), random.gauss(0, 1))


def test_loading_tensorflow_later_changes_nothing():
    program = textwrap.dedent(
        """
        import random, sys
        import numpy as np
        from t2t_keras.data import seeding
        seeding.seed_generators(5)
        assert "tensorflow" not in sys.modules
        random.random()
        import tensorflow as tf
        print(random.random(), np.random.rand(), float(tf.random.uniform([])))
        assert "importlib" in tf.__spec__.loader.__class__.__module__
        """
    )
    import tensorflow as tf

    seeding.seed_generators(5)
    random.random()
    loaded_first = random.random(), np.random.rand(), float(tf.random.uniform([]))
    printed = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, check=True, text=True
    ).stdout
    assert tuple(map(float, printed.split())) == loaded_first


def test_a_kept_state_is_for_runs_that_began_alike(tmp_path):
    path = str(tmp_path / "vocabulary")
    random.seed(1)
    kept = seeding.SavedState(path)
    random.random()
    kept.save()
    expected = random.random()
    for seed, same in ((1, True), (2, False)):
        random.seed(seed)
        seeding.SavedState(path).restore()
        assert (random.random() == expected) == same
    kept.remove()
    random.seed(1)
    seeding.SavedState(path).restore()
    assert random.random() != expected
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_kept_if_nothing_was_drawn(tmp_path):
    seeding.SavedState(str(tmp_path / "vocabulary")).save()
    assert list(tmp_path.iterdir()) == []
