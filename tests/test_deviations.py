import numpy as np
import pytest

from tests.deviations import largest_deviation, measured, table


class Node:
    def __init__(self) -> None:
        self.user_properties: list = []


@pytest.mark.parametrize("scale, passes", [(0.99, True), (1.01, False)])
@pytest.mark.parametrize("rtol, atol", [(1e-3, 0.0), (1e-4, 1e-5), (1e-2, 1.0)])
def test_a_deviation_within_the_tolerance_passes_and_no_other(scale, passes, rtol, atol):
    expected = np.array([3.0, -0.5, 0.01])
    actual = expected + scale * np.array([0, 1, 0]) * (atol + rtol * np.abs(expected))
    assert (largest_deviation(actual, expected, rtol, atol) <= rtol) == passes
    node = Node()
    check = measured(np.testing.assert_allclose, node)
    if passes:
        check(actual, expected, rtol=rtol, atol=atol)
    else:
        with pytest.raises(AssertionError):
            check(actual, expected, rtol, atol)
    ((name, (value, tolerance)),) = node.user_properties
    assert name == "deviation" and tolerance == rtol
    np.testing.assert_allclose(value, scale * rtol, rtol=1e-6)


def test_equal_infinities_do_not_deviate_and_other_shapes_do():
    assert largest_deviation([0.0, np.inf], [0.0, np.inf], 1e-4, 0.0) == 0.0
    assert largest_deviation(np.zeros(2), np.zeros(3), 1e-4, 0.0) == np.inf


def test_table_has_the_worst_comparison_of_each_test_and_the_reasons_of_skips():
    class Report:
        when, longrepr = "call", ("file", 1, "Skipped: not there")

        def __init__(self, nodeid, *pairs):
            self.nodeid = nodeid
            self.user_properties = [("deviation", pair) for pair in pairs]

    lines = list(
        table(
            {
                "passed": [Report("a.py::one", (1e-6, 1e-4), (5e-5, 1e-3)), Report("a.py::none")],
                "skipped": [Report("a.py::two")],
            }
        )
    )
    assert any(line.split() == ["a.py::one", "2", "5.0e-05", "1e-03"] for line in lines)
    assert "a.py::two  not there" in lines
    assert lines[-1].split() == ["a.py", "1", "1", "5.0%"]
    assert not any("none" in line for line in lines)


def test_what_is_covered_is_printed_last():
    class Report:
        when, nodeid = "call", "a.py::one"
        user_properties = (("deviation", (0.0, 1e-4)), ("coverage", "layers: 3 of 4"))

    assert list(table({"failed": [Report()]}))[-1] == "layers: 3 of 4"
