"""Shapes compiled before the first step are not compiled again, and change nothing."""

import json
import subprocess
import sys

import pytest

from tests.training.compile_first_program import NUM_REPLICAS, SHAPES


@pytest.mark.parametrize("num_micro_batches", [1, 2])
def test_no_step_compiles_what_was_compiled_first(tmp_path, num_micro_batches):
    module = "tests.training.compile_first_program"
    done = subprocess.run(
        [sys.executable, "-m", module, str(tmp_path), str(num_micro_batches)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.splitlines()[-1])
    assert report["compiled_first"] == report["compiled"] == len(SHAPES) * NUM_REPLICAS
    assert report["traces_first"] == report["traces"] == len(SHAPES)
    assert report["unchanged"] and report["trained"]
    assert all(loss > 0.0 for loss in report["losses"])
