"""What tests of training share."""

import pytest

from tests.training import logical_cpus, toy


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory):
    """The toy problem's data; tests don't change them."""
    return toy.make_data(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="session")
def on_logical_cpus():
    """Calls a function of a module in a process with several logical CPU devices."""
    with logical_cpus.process_with_logical_cpus() as call:
        yield call
