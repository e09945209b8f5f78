"""A run in two halves is a run in one go, bit for bit, order of examples included."""

import functools

import pytest

from tests.training import resumed_runs

NUM_STEPS = 20


@pytest.mark.parametrize(
    ("num_replicas", "compilation"),
    [
        (1, {}),
        (2, {}),
        (1, {"jit_compile": True, "max_xla_shapes": 2}),
        # Each shape is compiled for both replicas.
        (2, {"jit_compile": True, "max_xla_shapes": 1}),
    ],
)
def test_two_halves_are_a_whole(num_replicas, compilation, data_dir, tmp_path, on_logical_cpus):
    compare = functools.partial(resumed_runs.compare, num_replicas=num_replicas, **compilation)
    report = on_logical_cpus(compare, str(tmp_path), data_dir, NUM_STEPS)
    whole, halves = report["batches"]["whole"], report["batches"]["halves"]
    assert len(whole) == NUM_STEPS and len(set(whole)) > NUM_STEPS // 2
    assert halves == whole and report["same_losses"]
    assert report["differing"] == [] and report["variables"] > 20
