"""How far results are from tensor2tensor's: a table at the end of `pytest -m reference`.

Every `np.testing.assert_allclose` of a test marked `reference` is measured. A deviation is
`|actual - expected| / (|expected| + atol / rtol)`: what may be as large as rtol, which is the
tolerance shown. The row of a test is that of its comparison nearest to its tolerance.
"""

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

_PROPERTY = "deviation"
# A test may record a line of this name, for instance on how much of a file it compares.
_COVERAGE = "coverage"


def largest_deviation(actual: Any, expected: Any, rtol: float, atol: float) -> float:
    """See above; 0 where nothing differs, infinite where something that differs mustn't."""
    try:
        actual, expected = np.broadcast_arrays(
            np.asarray(actual, np.float64), np.asarray(expected, np.float64)
        )
    except (TypeError, ValueError):  # other shapes, or no numbers: for the assertion to tell
        return float("inf")
    if not expected.size:
        return 0.0
    with np.errstate(invalid="ignore"):  # infinities that are equal
        difference = np.where(actual == expected, 0.0, np.abs(actual - expected))
    scale = np.abs(expected) + (atol / rtol if rtol else 0.0)
    ratios = np.divide(difference, scale, out=np.zeros_like(difference), where=difference != 0)
    return float(np.max(ratios))


def measured(assert_allclose: Callable[..., None], node: pytest.Item) -> Callable[..., None]:
    """The assertion, with a note of the deviation on the test."""

    @functools.wraps(assert_allclose)
    def wrapped(
        actual: Any, desired: Any, rtol: float = 1e-7, atol: float = 0, *args: Any, **kwargs: Any
    ) -> None:
        value = largest_deviation(actual, desired, rtol, float(np.max(atol)))
        node.user_properties.append((_PROPERTY, (value, float(rtol))))
        assert_allclose(actual, desired, rtol, atol, *args, **kwargs)

    return wrapped


@contextlib.contextmanager
def measuring(node: pytest.Item) -> Iterator[None]:
    """Measures the comparisons of a test while it runs."""
    original = np.testing.assert_allclose
    np.testing.assert_allclose = measured(original, node)
    try:
        yield
    finally:
        np.testing.assert_allclose = original


def table(reports: dict[str, list[Any]]) -> Iterator[str]:
    """Lines for the terminal.

    Args:
        reports: pytest's, by outcome, as the terminal reporter has them.
    """
    rows = []
    for outcome in ("passed", "failed"):
        for report in reports.get(outcome, []):
            values = [v for name, v in getattr(report, "user_properties", []) if name == _PROPERTY]
            if values and report.when == "call":
                deviation, tolerance = max(values, key=lambda pair: pair[0] / (pair[1] or 1.0))
                rows.append((report.nodeid, len(values), deviation, tolerance, outcome))
    width = max((len(row[0]) for row in rows), default=0)
    yield f"{'test':{width}}  comparisons  deviation  tolerance"
    for name, count, deviation, tolerance, outcome in sorted(rows):
        note = "" if outcome == "passed" else "  FAILED"
        yield f"{name:{width}}  {count:11}  {deviation:9.1e}  {tolerance:9.0e}{note}"
    skipped = sorted(
        {(report.nodeid, str(report.longrepr[2])) for report in reports.get("skipped", [])}
    )
    if skipped:
        yield ""
        yield "skipped:"
    for name, reason in skipped:
        yield f"{name}  {reason.removeprefix('Skipped: ')}"
    yield ""
    yield from _by_file(rows, skipped)
    lines = [
        str(value)
        for report in (*reports.get("passed", []), *reports.get("failed", []))
        for name, value in getattr(report, "user_properties", [])
        if name == _COVERAGE and report.when == "call"
    ]
    if lines:
        yield ""
        yield from sorted(lines)


def _by_file(rows: list[Any], skipped: list[tuple[str, str]]) -> Iterator[str]:
    """A line for every file: how many compared, how many skipped, the worst."""
    files: dict[str, list[Any]] = {}
    for row in rows:
        files.setdefault(row[0].split("::")[0], []).append(row)
    for name, _ in skipped:
        files.setdefault(name.split("::")[0], [])
    width = max(map(len, files), default=0)
    yield f"{'file':{width}}  compared  skipped  largest share of the tolerance"
    for name, own in sorted(files.items()):
        share = max((row[2] / row[3] for row in own if row[3]), default=0.0)
        count = sum(skipped_name.startswith(name + "::") for skipped_name, _ in skipped)
        yield f"{name:{width}}  {len(own):8}  {count:7}  {share:7.1%}"
