"""The step's losses, gradients and weights against those tensor2tensor recorded."""

import numpy as np
import pytest

from t2t_keras import registry
from t2t_keras.training.schedules import learning_rate_schedule
from t2t_keras.training.slots import slot_variables, state_scalars
from t2t_keras.training.step import TrainStep
from tests.training import golden_cases

pytestmark = pytest.mark.reference


def start(name):
    case, arrays = golden_cases.load_case(name)
    hparams = golden_cases.make_hparams(case)
    model = golden_cases.make_model(case, hparams, arrays)
    schedule = learning_rate_schedule(hparams)
    optimizer = registry.optimizer(hparams.optimizer)(schedule, hparams)
    step = TrainStep(model, optimizer, hparams, measure_gradient_norm=True)
    return case, arrays, model, optimizer, step


def assert_variables(model, expected):
    for variable in model.variables:
        np.testing.assert_allclose(
            variable.numpy(), expected[variable.path], rtol=1e-3, atol=1e-5, err_msg=variable.path
        )


@pytest.mark.parametrize("name", golden_cases.case_names())
def test_training_is_tensor2tensors(name):
    case, arrays, model, optimizer, step = start(name)
    features = golden_cases.features_of(arrays)
    losses, norms = [], []
    for number in range(case["nsteps"]):
        result = step(features)
        losses.append(float(result.loss))
        norms.append(float(result.gradient_norm))
        if number == 1:
            assert_variables(model, golden_cases.named(arrays, "var_after2"))
    np.testing.assert_allclose(losses, arrays["train|loss_curve"][:-1], rtol=1e-3)
    np.testing.assert_allclose(losses[0], arrays["train|loss"], rtol=1e-4)
    if not case["resolved_hparams"]["weight_decay"]:  # The recorded norm is the bare loss's.
        np.testing.assert_allclose(norms[0], arrays["train|grad_global_norm"], rtol=1e-3)
    assert step.num_traces == 1
    assert_slots(golden_cases.named(arrays, "slot_final"), optimizer, model, case["nsteps"])


def assert_slots(expected, optimizer, model, step):
    """Names, shapes and values of the optimizer's state; recorded in a few cases."""
    if not expected:
        return
    slots = slot_variables(optimizer, model.trainable_variables)
    actual = {name: slot.numpy() for name, slot in slots.items()}
    actual |= state_scalars(optimizer, step)
    assert set(actual) == set(expected)
    for name, value in expected.items():
        assert actual[name].shape == value.shape and actual[name].dtype == value.dtype, name
        # Rounding is relative to the largest entries: sums of many terms may nearly cancel.
        tolerance = 1e-5 * np.abs(value).max()
        np.testing.assert_allclose(actual[name], value, rtol=1e-3, atol=tolerance, err_msg=name)
