"""Data that several tests read."""

import pytest

from tests.data import numbers_problem


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    """Shards of `numbers_problem.Numbers`; not to be written to."""
    folder = tmp_path_factory.mktemp("numbers")
    for split in ("train", "dev"):
        numbers_problem.write_shards(folder, split)
    return str(folder)
