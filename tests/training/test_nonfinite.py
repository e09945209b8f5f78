import json
import subprocess
import sys

import numpy as np
import pytest

from tests.training.nonfinite_program import is_same, make_features, make_step, observe, state_of


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_step_without_finite_loss_is_skipped(jit_compile):
    good, bad, after = observe(*make_step(1, skip_nonfinite=True, jit_compile=jit_compile))
    assert good["is_finite"] and good["changed"] and good["replica_sum"] == good["loss"]
    assert not bad["is_finite"] and not bad["changed"] and not bad["loss_is_finite"]
    assert bad["step"] == 2, "a skipped step counts"
    assert after["is_finite"] and after["changed"] and after["step"] == 3


@pytest.mark.parametrize("compiler", ["plain", "jit"])
def test_one_replica_without_finite_loss_skips_the_step_of_all(compiler):
    done = subprocess.run(
        [sys.executable, "-m", "tests.training.nonfinite_program", compiler],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    good, bad, after = json.loads(done.stdout.splitlines()[-1])
    assert good["replica_is_finite"] == [True, True] and good["is_finite"] and good["changed"]
    np.testing.assert_allclose(good["replica_sum"], good["loss"], rtol=1e-6)
    assert bad["replica_is_finite"] == [True, False]
    assert not bad["is_finite"] and not bad["changed"] and bad["step"] == 2
    assert after["is_finite"] and after["changed"]


def test_without_the_option_nothing_is_checked():
    step, model, optimizer = make_step(1)
    before = state_of(model, optimizer)
    result = step(make_features(bad=True))
    assert result.is_finite is None and not np.isfinite(result.replica_losses).any()
    assert not is_same(before, state_of(model, optimizer))
