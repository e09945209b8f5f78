"""A run in two halves is a run in one go, bit for bit, order of examples included."""

import pytest

from tests.training import resumed_runs

# Of the toy data, with batches of 8 to 12 of them.
STEPS_OF_A_PASS = 300 // 8


@pytest.mark.parametrize(
    ("num_steps", "num_replicas", "compilation"),
    [
        (100, 1, {}),
        (20, 2, {}),
        (100, 1, {"jit_compile": True, "max_xla_shapes": 3}),
        # Each shape is compiled for both replicas.
        (20, 2, {"jit_compile": True, "max_xla_shapes": 1}),
    ],
)
def test_two_halves_are_a_whole(
    num_steps, num_replicas, compilation, data_dir, tmp_path, on_logical_cpus
):
    report = on_logical_cpus(
        resumed_runs.compare, str(tmp_path), data_dir, num_steps, num_replicas=num_replicas,
        **compilation,
    )  # fmt: skip
    whole, halves = report["batches"]["whole"], report["batches"]["halves"]
    assert len(whole) == num_steps and len(set(whole)) > num_steps // 2
    assert halves == whole and report["same_losses"]
    assert report["differing"] == [] and report["variables"] > 20
    # Every shape is traced once, in the first pass.
    traces, limit = report["traces"], compilation.get("max_xla_shapes", 1)
    assert traces[0] == 1 and min(limit, 2) <= traces[-1] <= limit
    assert set(traces[STEPS_OF_A_PASS:]) <= {traces[-1]}
