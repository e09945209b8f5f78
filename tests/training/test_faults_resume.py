"""A run in two halves is a run in one go, bit for bit, order of examples included."""

import json
import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("num_replicas", "compilation"), [(1, "plain"), (2, "plain"), (1, "jit"), (2, "jit")]
)
def test_two_halves_are_a_whole(num_replicas, compilation, tmp_path):
    steps = 20
    done = subprocess.run(
        [
            sys.executable, "-m", "tests.training.resume_program", str(tmp_path), str(steps),
            str(num_replicas), compilation,
        ],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["steps"] == steps and report["different_batches"] > steps // 2
    assert report["same_order"] and report["same_losses"]
    assert report["differing"] == [] and report["variables"] > 20
