"""Checkpoints of tensor2tensor's training in float16: its loss scale comes along, and goes back."""

import re

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.migration import t2t_checkpoint
from t2t_keras.models.t2t_names import split_tables
from t2t_keras.training import checkpoints
from t2t_keras.training.averaging import average_values
from t2t_keras.training.precision import loss_scale_for
from t2t_keras.training.slots import slot_variables, state_scalars
from tests.models.tiny import tiny_hparams, tiny_model

SCALE, GOOD_STEPS, BAD_STEPS = 1024.0, 7, 1
BY_LOSS_SCALING = {
    "loss_scale": np.array(SCALE, np.float32),
    "good_steps": np.array(GOOD_STEPS, np.int32),
    "bad_steps": np.array(BAD_STEPS, np.int32),
}
BY_GRAPH_REWRITE = {
    "current_loss_scale": np.array(SCALE, np.float32),
    "good_steps": np.array(GOOD_STEPS, np.int64),
}
SCALING_NAMES = {*BY_LOSS_SCALING, *BY_GRAPH_REWRITE}
STEP = 5


class Run:
    """A checkpoint with the names that tensor2tensor 1.15.7 gives its variables."""

    def __init__(self, directory, overrides, state, branch):
        self.hparams = tiny_hparams(overrides=overrides)
        self.model = tiny_model(overrides=overrides)
        self.optimizer = registry.optimizer(self.hparams.optimizer)(0.0, self.hparams)
        self.optimizer.build(self.model.trainable_variables)
        variables = {variable.path: variable for variable in self.model.variables}
        variables |= slot_variables(self.optimizer, self.model.trainable_variables)
        scalars = {
            name.replace("training/", f"training/{branch}"): value
            for name, value in state_scalars(self.optimizer, STEP).items()
        }
        self.values = {
            **split_tables({name: v.numpy() for name, v in variables.items()}, 1),
            **scalars,
            **state,
            **t2t_checkpoint._CONSTANTS,
            "global_step": np.array(STEP, np.int64),
        }
        self.prefix = checkpoints.write_values(f"{directory}/model.ckpt-{STEP}", self.values)


@pytest.fixture(
    params=[
        ("activation_dtype=float16", BY_LOSS_SCALING, "cond/"),
        (
            "activation_dtype=float16,optimizer=multistep_adam,"
            "optimizer_multistep_accumulate_steps=2",
            BY_LOSS_SCALING, "cond/",
        ),
        ("gpu_automatic_mixed_precision=True", BY_GRAPH_REWRITE, "cond_1/"),
    ],
    ids=["loss scaling", "multistep", "graph rewrite"],
)  # fmt: skip
def run(request, tmp_path):
    return Run(tmp_path / "run", *request.param)


def stored(prefix):
    reader = tf.train.load_checkpoint(prefix)
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def test_decoding_leaves_it_aside(run):
    assert checkpoints.load_model_variables(run.model, run.prefix) == STEP


def test_training_goes_on_with_it(run, tmp_path):
    imported = t2t_checkpoint.import_checkpoint(
        run.prefix, str(tmp_path / "here"), run.model, run.optimizer
    )
    for prefix in (run.prefix, imported):
        scale = loss_scale_for(run.hparams)
        slots = slot_variables(run.optimizer, run.model.trainable_variables)
        checkpoints.load_training_state(prefix, run.model, {**slots, **scale.variables})
        # The graph rewrite halves its scale at once, so it has no bad steps to count.
        expected = [SCALE, GOOD_STEPS, BAD_STEPS if "bad_steps" in run.values else 0]
        assert [float(v.numpy()) for v in scale.variables.values()] == expected


def export(run, source, directory):
    prefix = t2t_checkpoint.export_checkpoint(source, str(directory), run.optimizer, run.hparams)
    return stored(prefix)


def assert_same(actual, expected):
    assert set(actual) == set(expected)
    for name, value in expected.items():
        assert actual[name].dtype == value.dtype, name
        np.testing.assert_array_equal(actual[name], value, err_msg=name)


def test_there_and_back_again(run, tmp_path):
    imported = t2t_checkpoint.import_checkpoint(
        run.prefix, str(tmp_path / "here"), run.model, run.optimizer
    )
    assert stored(imported)["training/loss_scale_good_steps"].dtype == np.int32
    assert_same(export(run, imported, tmp_path / "back"), run.values)


def test_a_scale_that_is_absent_starts_anew_in_what_is_taken_back(run, tmp_path):
    bare = {name: v for name, v in run.values.items() if name not in SCALING_NAMES}
    prefix = checkpoints.write_values(f"{tmp_path}/bare/model.ckpt-{STEP}", bare)
    back = export(run, prefix, tmp_path / "back")
    assert set(back) == set(run.values)
    new = {name for name in back if name not in bare}
    assert {float(back[name]) for name in new} == {2.0**15, 0.0}


def test_a_run_without_scaling_takes_back_none(run, tmp_path):
    run.hparams = tiny_hparams(overrides=f"optimizer={run.hparams.optimizer}")
    expected = {re.sub("cond(_1)?/", "", name) for name in run.values} - SCALING_NAMES
    assert set(export(run, run.prefix, tmp_path / "back")) == expected


def test_averages_have_none(run):
    assert not SCALING_NAMES & set(average_values([run.prefix]))


def test_without_slots_the_scale_is_restored_all_the_same(tmp_path):
    model = tiny_model()
    scale = loss_scale_for(tiny_hparams(overrides="activation_dtype=float16"))
    values = {variable.path: variable.numpy() for variable in model.variables}
    values["training/loss_scale"] = np.array(SCALE, np.float32)
    prefix = checkpoints.write_values(f"{tmp_path}/model.ckpt-{STEP}", values)
    checkpoints.load_training_state(prefix, model, scale.variables)
    assert float(scale.value()) == SCALE
