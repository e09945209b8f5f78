"""Ranges for tuning hold tensor2tensor's values."""

import json

import pytest

from t2t_keras import registry
from t2t_keras.ranged_hparam import RangedHParams
from tests.reference_data import load_golden_json


@pytest.mark.reference
def test_ranges_equal_the_reference():
    golden = load_golden_json("ranged_hparams_transformer.json")
    assert golden
    for name, wanted in golden.items():
        ranges = RangedHParams()
        registry.ranged_hparams(name)(ranges)
        assert json.loads(json.dumps(vars(ranges))) == wanted, name


def test_a_name_has_one_kind():
    ranges = RangedHParams()
    ranges.set_int("a", 1, 5)
    ranges.set_int("a", 2, 6, scale=ranges.LINEAR_SCALE)
    assert ranges.int_params == {"a": ("a", 2, 6, ranges.LINEAR_SCALE, None)}
    for declare in (
        lambda: ranges.set_float("a", 1.0, 5.0),
        lambda: ranges.set_discrete("a", [1, 5]),
        lambda: ranges.set_categorical("a", ["x"]),
    ):
        with pytest.raises(ValueError, match="'a' has been declared"):
            declare()
