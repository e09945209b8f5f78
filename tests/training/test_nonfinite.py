import numpy as np
import pytest

from tests.training import nonfinite_runs, tiny_step


@pytest.mark.parametrize("jit_compile", [False, True])
def test_a_step_without_finite_loss_is_skipped(jit_compile):
    good, bad, after = nonfinite_runs.observe(1, jit_compile)
    assert good["is_finite"] and good["changed"] and good["replica_sum"] == good["loss"]
    assert not bad["is_finite"] and not bad["changed"] and not bad["loss_is_finite"]
    assert bad["step"] == 2, "a skipped step counts"
    assert after["is_finite"] and after["changed"] and after["step"] == 3


@pytest.mark.parametrize("jit_compile", [False, True])
def test_one_replica_without_finite_loss_skips_the_step_of_all(jit_compile, on_logical_cpus):
    good, bad, after = on_logical_cpus(nonfinite_runs.observe, 2, jit_compile)
    assert good["replica_is_finite"] == [True, True] and good["is_finite"] and good["changed"]
    np.testing.assert_allclose(good["replica_sum"], good["loss"], rtol=1e-6)
    assert bad["replica_is_finite"] == [True, False]
    assert not bad["is_finite"] and not bad["changed"] and bad["step"] == 2
    assert after["is_finite"] and after["changed"]


def test_without_the_option_nothing_is_checked():
    step, model, optimizer = nonfinite_runs.make_step(1)
    before = tiny_step.state_of(model, optimizer)
    result = step(nonfinite_runs.make_features(bad=True))
    assert result.is_finite is None and not np.isfinite(result.replica_losses).any()
    assert not nonfinite_runs.is_same(before, tiny_step.state_of(model, optimizer))
