"""Settings of the whole test run, and what it reports at its end."""

import os
from collections.abc import Iterator

import pytest

from tests import deviations, memory

# TensorFlow reads these once, when it loads.
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")


@pytest.fixture(scope="module", autouse=True)
def graphs_end_with_their_file() -> Iterator[None]:
    """Frees the graphs of a file's tests after the last of them."""
    yield
    memory.free_graphs()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Measures the comparisons of tests with tensor2tensor's results."""
    if item.get_closest_marker("reference"):
        with deviations.measuring(item):
            yield
    else:
        yield


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints the table of deviations when the tests marked `reference` were asked for."""
    if "reference" in (terminalreporter.config.option.markexpr or "").split():
        terminalreporter.section("deviations from tensor2tensor's results")
        for line in deviations.table(terminalreporter.stats):
            terminalreporter.write_line(line)
