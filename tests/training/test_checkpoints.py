import os
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import hparams_lib, registry
from t2t_keras.training import checkpoints
from t2t_keras.training.adafactor import Adafactor
from t2t_keras.training.adam import Adam, MultistepAdam
from t2t_keras.training.gradient_descent import SGD
from t2t_keras.training.retention import CheckpointKeeper
from t2t_keras.training.slots import slot_variables
from tests.reference_data import golden_path, load_golden_json


def make_model(units=3, layers=("first", "second")):
    model = keras.Sequential([keras.layers.Dense(units, name=name) for name in layers], name="net")
    model.build([None, units])
    return model


def state(model):
    return {v.path: v.numpy() for v in model.variables}


def test_saved_variables_are_restored_by_name(tmp_path):
    model = make_model()
    optimizer = Adam(0.1)
    optimizer.build(model.trainable_variables)
    optimizer.apply([tf.ones_like(v.value) for v in model.trainable_variables])
    slots = slot_variables(optimizer, model.trainable_variables)
    prefix = checkpoints.save(str(tmp_path), model, 7, slots)
    assert os.path.basename(prefix) == "model.ckpt-7"
    shapes = tf.train.load_checkpoint(prefix).get_variable_to_shape_map()
    path = model.variables[0].path
    assert {path, f"training/{path}/Adam", f"training/{path}/Adam_1", "global_step"} <= set(shapes)
    other = make_model()
    assert checkpoints.load_model_variables(other, str(tmp_path)) == 7
    for name, value in state(model).items():
        np.testing.assert_array_equal(state(other)[name], value)


def test_misfits_are_listed_with_their_shapes(tmp_path):
    checkpoints.save(str(tmp_path), make_model(), 1)
    with pytest.raises(checkpoints.CheckpointError) as error:
        checkpoints.load_model_variables(make_model(4, ("first", "third")), str(tmp_path))
    message = str(error.value)
    assert "third/kernel [4, 4]" in message  # missing
    assert "second/kernel [3, 3]" in message  # left over
    assert "first/kernel [4, 4] in the model, [3, 3] in the file" in message


def test_nothing_is_assigned_if_something_misfits(tmp_path):
    checkpoints.save(str(tmp_path), make_model(), 1)
    model = make_model(3, ("first", "third"))
    before = state(model)
    with pytest.raises(checkpoints.CheckpointError):
        checkpoints.load_model_variables(model, str(tmp_path))
    for name, value in before.items():
        np.testing.assert_array_equal(state(model)[name], value)


@pytest.mark.parametrize("slot", ["", "/Adam_1"])
def test_shards_of_an_embedding_are_joined(tmp_path, slot):
    table = np.arange(24, dtype=np.float32).reshape(12, 2)
    name = "net/symbol_modality_12_2/shared/weights"
    values = {f"{name}_{row}{slot}": table[row : row + 1] for row in range(12)}
    checkpoints.write_values(str(tmp_path / "model.ckpt-1"), values)
    variable = keras.Variable(np.zeros([12, 2]), name="weights")
    checkpoints.load_variables(str(tmp_path / "model.ckpt-1"), {f"{name}{slot}": variable})
    np.testing.assert_array_equal(variable.numpy(), table)


def test_incomplete_files_are_no_checkpoint(tmp_path):
    model = make_model()
    checkpoints.save(str(tmp_path), model, 1)
    for ending in ("index", "data-00000-of-00001"):
        prefix = checkpoints.save(str(tmp_path), model, 2)
        os.remove(f"{prefix}.{ending}")
        assert checkpoints.step_of(checkpoints.latest_checkpoint(str(tmp_path))) == 1
    with pytest.raises(checkpoints.CheckpointError, match=r"available there: model.ckpt-1"):
        checkpoints.resolve(str(tmp_path / "model.ckpt-2"))


def test_a_killed_save_leaves_nothing_behind(tmp_path):
    model = make_model()
    dead = tmp_path / ".saving-99999999"
    dead.mkdir(parents=True)
    (dead / "model.ckpt-5.index").write_bytes(b"half")
    assert checkpoints.latest_checkpoint(str(tmp_path)) is None
    checkpoints.save(str(tmp_path), model, 6)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "model.ckpt-6.data-00000-of-00001", "model.ckpt-6.index"
    ]  # fmt: skip


def test_state_file_naming_an_absent_checkpoint_falls_back(tmp_path):
    model = make_model()
    keeper = CheckpointKeeper(str(tmp_path))
    for step in (1, 2):
        keeper.add(checkpoints.save(str(tmp_path), model, step))
    os.remove(tmp_path / "model.ckpt-2.index")
    assert checkpoints.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-1")
    (tmp_path / "checkpoint").write_bytes(b"\xff\x00 no state")
    assert checkpoints.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-1")


def test_resolve_takes_directory_prefix_and_file(tmp_path):
    prefix = checkpoints.save(str(tmp_path), make_model(), 3)
    for given in (str(tmp_path), prefix, f"{prefix}.index", f"{prefix}.data-00000-of-00001"):
        assert checkpoints.resolve(given) == prefix
    with pytest.raises(checkpoints.CheckpointError, match="No checkpoint"):
        checkpoints.resolve(str(tmp_path.parent))


def test_two_variables_of_one_name_are_refused(tmp_path):
    class Twins:
        variables = [keras.Variable(1.0, name="same"), keras.Variable(2.0, name="same")]

    with pytest.raises(checkpoints.CheckpointError, match="one name"):
        checkpoints.save(str(tmp_path), Twins(), 1)


def steps_left(directory):
    return [checkpoints.step_of(p) for p in checkpoints.complete_checkpoints(str(directory))]


def test_only_the_newest_stay(tmp_path):
    model = make_model()
    for step in range(1, 6):
        # A new keeper each time: the state file carries all it needs to know over a restart.
        keeper = CheckpointKeeper(str(tmp_path), max_to_keep=2)
        pathlib.Path(tmp_path, f"model.ckpt-{step}.input.index").write_bytes(b"")
        keeper.add(checkpoints.save(str(tmp_path), model, step))
    assert steps_left(tmp_path) == [4, 5]
    assert {p.name.split(".")[1] for p in tmp_path.glob("model*")} == {"ckpt-4", "ckpt-5"}


def test_one_checkpoint_every_few_hours_stays(tmp_path):
    model = make_model()
    hours = [0.0]
    keeper = CheckpointKeeper(str(tmp_path), 1, every_n_hours=2, clock=lambda: hours[0] * 3600)
    for step in range(1, 8):
        hours[0] += 1
        keeper.add(checkpoints.save(str(tmp_path), model, step))
    assert steps_left(tmp_path) == [2, 4, 6, 7]


def test_warm_start_takes_what_it_finds(tmp_path):
    source = make_model()
    checkpoints.save(str(tmp_path), source, 9)
    model = make_model(3, ("first", "third"))
    kept = checkpoints.warm_start(model, str(tmp_path))
    assert sorted(kept) == sorted(v.path for v in model.variables if "third" in v.path)
    np.testing.assert_array_equal(model.layers[0].kernel.numpy(), source.layers[0].kernel.numpy())


def slots_of(optimizer, model):
    optimizer.build(model.trainable_variables)
    return slot_variables(optimizer, model.trainable_variables)


@pytest.mark.parametrize(
    ("theirs", "ours", "message"),
    [
        (Adam(0.1), Adafactor(0.1), "state of optimizer=adam. Go on with --hparams=optimizer=adam"),
        (Adam(0.1), SGD(0.1), "state of optimizer=adam. .*Received: optimizer=new_one"),
        (MultistepAdam(0.1, 2), Adam(0.1), "state of optimizer=multistep_adam. "),
        (keras.optimizers.Nadam(0.1), Adam(0.1), "slots like training/nadam/.* Train with the new"),
    ],
)
def test_another_optimizer_is_named(tmp_path, theirs, ours, message):
    model = make_model()
    prefix = checkpoints.save(str(tmp_path), model, 7, slots_of(theirs, model))
    slots = slots_of(ours, model)
    with pytest.raises(checkpoints.CheckpointError, match=message) as error:
        checkpoints.load_training_state(prefix, model, slots, "new_one")
    assert f"--warm_start_from={tmp_path}. Received: optimizer=new_one" in str(error.value)


def test_another_model_is_told_before_another_optimizer(tmp_path):
    model = make_model()
    prefix = checkpoints.save(str(tmp_path), model, 7, slots_of(Adam(0.1), model))
    other = make_model(3, ("first", "third"))
    with pytest.raises(checkpoints.CheckpointError, match="1 .*missing|2 .*missing") as error:
        checkpoints.load_training_state(prefix, other, slots_of(SGD(0.1), other))
    assert "Adam" not in str(error.value)


@pytest.mark.parametrize("contents", [b"garbage\n", b"\xff\xfe\x00"])
def test_a_garbled_state_file_is_told_once(tmp_path, caplog, contents):
    checkpoints.save(str(tmp_path), make_model(), 7)
    (tmp_path / "checkpoint").write_bytes(contents)
    for _ in range(3):
        assert checkpoints.latest_checkpoint(str(tmp_path)) == f"{tmp_path}/model.ckpt-7"
    (record,) = caplog.records
    assert f"{tmp_path}/checkpoint can't be read and is ignored: " in record.getMessage()


@pytest.mark.reference
def test_tensor2tensors_own_checkpoint_is_read_whole():
    prefix = checkpoints.latest_checkpoint(str(golden_path("toy_ckpt")))
    hparams = hparams_lib.create_hparams_from_json(str(golden_path("toy_ckpt", "hparams.json")))
    shapes = load_golden_json("toy_ckpt", "variables.json")
    rows = [s[0] for name, (s, _) in shapes.items()
            if "symbol_modality" in name and not name.startswith("training/")]  # fmt: skip
    model = registry.model("transformer")(
        hparams, input_vocab_size=sum(rows), target_vocab_size=sum(rows)
    )
    optimizer = Adam(0.1)
    optimizer.build(model.trainable_variables)
    slots = slot_variables(optimizer, model.trainable_variables)
    step = checkpoints.load_training_state(prefix, model, slots)
    assert step == checkpoints.step_of(prefix)
    assert all(np.any(slot.numpy()) for name, slot in slots.items() if "kernel/Adam_1" in name)
