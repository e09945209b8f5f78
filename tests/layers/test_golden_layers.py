"""Single functions and layers against tensor2tensor's recorded results."""

from collections.abc import Callable

import numpy as np
import pytest

from tests.layers import golden_attention, golden_parts
from tests.layers.golden_case import HANDLERS, Case, Handler
from tests.reference_data import load_golden_json

pytestmark = pytest.mark.reference

# Importing them fills HANDLERS.
assert golden_attention and golden_parts


def case_names() -> list[str]:
    try:
        return sorted(load_golden_json("layers.json.gz")["cases"])
    except pytest.skip.Exception:
        return ["absent"]


def handler_of(name: str) -> Handler | None:
    return HANDLERS.get(name) or HANDLERS.get(name.split("/")[0])


def test_every_case_has_a_counterpart(record_property: Callable[[str, object], None]) -> None:
    """The count is printed below the table of `make golden`."""
    names = list(load_golden_json("layers.json.gz")["cases"])
    uncovered = [name for name in names if handler_of(name) is None]
    covered = len(names) - len(uncovered)
    record_property("coverage", f"layers: {covered} of {len(names)} recorded cases compared")
    assert names and not uncovered


@pytest.mark.parametrize("name", case_names())
def test_recorded_results(name: str) -> None:
    case = Case(name)
    handler = handler_of(name)
    if handler is None:
        pytest.fail(f"nothing here computes {name}")
    results = handler(case)
    assert set(results) == set(case.outputs)
    for key, expected in case.outputs.items():
        assert np.shape(results[key]) == expected.shape
        np.testing.assert_allclose(results[key], expected, rtol=1e-4, atol=1e-5, err_msg=key)
