import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from t2t_keras.models.t2t_names import (
    assign_variables,
    join_shards,
    split_shards,
    split_tables,
)
from tests.models.tiny import tiny_model

TABLE = "transformer/symbol_modality_11_8/shared/weights"


@given(st.integers(1, 60), st.integers(1, 20))
def test_shards_are_as_t2t_makes_them(rows: int, num_shards: int) -> None:
    table = np.arange(2.0 * rows).reshape(rows, 2)
    shards = split_shards(table, num_shards)
    sizes = [rows // num_shards + (i < rows % num_shards) for i in range(num_shards)]
    assert [len(shard) for shard in shards] == sizes
    named = split_tables({TABLE: table, "other/weights": table}, num_shards)
    assert f"{TABLE}_0" in named
    joined = join_shards(named)
    assert set(joined) == {TABLE, "other/weights"}
    np.testing.assert_array_equal(joined[TABLE], table)


def test_join_in_numeric_order_and_with_slots() -> None:
    shards = {f"{TABLE}_{i}/Adam": np.full((1, 2), i) for i in reversed(range(12))}
    joined = join_shards(shards)
    np.testing.assert_array_equal(joined[f"{TABLE}/Adam"][:, 0], np.arange(12))


def test_missing_shard() -> None:
    with pytest.raises(ValueError, match=r"lacks shards \[1\]"):
        join_shards({f"{TABLE}_0": np.zeros((1, 2)), f"{TABLE}_2": np.zeros((1, 2))})


def test_assign_round_trip() -> None:
    source, target = tiny_model(), tiny_model()
    for variable in target.weights:
        variable.assign(variable * 0 - 1)
    values = {variable.path: variable.numpy() for variable in source.weights}
    assign_variables(target, split_tables(values, 3))
    for ours, theirs in zip(target.weights, source.weights, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_assign_complains_and_changes_nothing() -> None:
    model = tiny_model()
    values = {variable.path: variable.numpy() * 0 - 1 for variable in model.weights}
    before = model.weights[0].numpy()
    lost = next(name for name in values if name.endswith("output_transform/kernel"))
    del values[lost]
    values["transformer/extra"] = np.zeros(3)
    values[TABLE] = values[TABLE][:-1]
    with pytest.raises(ValueError) as caught:
        assign_variables(model, values)
    message = str(caught.value)
    assert f"missing: {lost}" in message
    assert "not in the model: transformer/extra" in message
    assert f"shape of {TABLE}" in message
    np.testing.assert_array_equal(model.weights[0], before)
