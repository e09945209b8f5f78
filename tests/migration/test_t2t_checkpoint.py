"""Runs of tensor2tensor brought here, trained on, and taken back."""

import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import hparams_lib, registry
from t2t_keras.migration import t2t_checkpoint
from t2t_keras.models.t2t_names import join_shards, split_tables
from t2t_keras.training import checkpoints
from t2t_keras.training.event_files import read_events
from t2t_keras.training.run_config import RunConfig
from t2t_keras.training.trainer import Trainer
from tests.data.golden_problems import GoldenReverse
from tests.reference_data import golden_path, load_golden_json
from tests.training import golden_cases

pytestmark = pytest.mark.reference

RUNS = ["toy_ckpt", "published_ckpt", "multi30k_ckpt"]
# Numbers that follow from the step, and constants: all that isn't a model's variable or a slot.
BOOKKEEPING = ("losses_avg/", "train_stats/", "training/beta1_power", "training/beta2_power")


def stored(directory):
    reader = tf.train.load_checkpoint(checkpoints.latest_checkpoint(str(directory)))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


def assert_same(actual, expected):
    assert set(actual) == set(expected)
    for name, value in expected.items():
        assert actual[name].dtype == value.dtype, name
        np.testing.assert_array_equal(actual[name], value, err_msg=name)


def make_parts(directory, overrides=""):
    """Model, optimizer and hparams of a run, from its own files alone."""
    hparams = hparams_lib.create_hparams(
        "transformer_base", overrides, hparams_path=f"{directory}/hparams.json"
    )
    model = t2t_checkpoint.make_model("transformer", hparams, str(directory))
    return model, registry.optimizer(hparams.optimizer)(0.0, hparams), hparams


def import_run(source, target):
    model, optimizer, _ = make_parts(source)
    return t2t_checkpoint.import_checkpoint(str(source), str(target), model, optimizer)


def export_run(source, target):
    _, optimizer, hparams = make_parts(source)
    return t2t_checkpoint.export_checkpoint(str(source), str(target), optimizer, hparams)


@pytest.mark.parametrize("run", RUNS)
def test_there_and_back_again(run, tmp_path):
    source = golden_path(run)
    original = stored(source)
    prefix = import_run(source, tmp_path / "here")
    assert checkpoints.step_of(prefix) == original["global_step"]
    here = stored(tmp_path / "here")
    assert_same(here, join_shards(original))
    assert (tmp_path / "here" / "hparams.json").read_text() == (source / "hparams.json").read_text()
    assert checkpoints.latest_checkpoint(str(tmp_path / "here")) == prefix
    export_run(tmp_path / "here", tmp_path / "back")
    assert_same(stored(tmp_path / "back"), original)
    # As after training here, when only model, slots and step are stored.
    bare = {name: value for name, value in here.items() if not name.startswith(BOOKKEEPING)}
    shutil.copytree(tmp_path / "here", tmp_path / "bare")
    checkpoints.write_values(str(tmp_path / "bare" / pathlib.Path(prefix).name), bare)
    export_run(tmp_path / "bare", tmp_path / "rebuilt")
    assert_same(stored(tmp_path / "rebuilt"), original)


def test_names_and_shapes_are_the_recorded_ones(tmp_path):
    import_run(golden_path("toy_ckpt"), tmp_path / "here")
    export_run(tmp_path / "here", tmp_path / "back")
    recorded = load_golden_json("toy_ckpt", "variables.json")
    values = stored(tmp_path / "back")
    assert {n: [list(v.shape), str(v.dtype)] for n, v in values.items()} == recorded


@pytest.mark.parametrize("name", golden_cases.case_names())
def test_every_recorded_model_is_made_from_its_checkpoint(name, tmp_path):
    case, arrays = golden_cases.load_case(name)
    hparams = golden_cases.make_hparams(case)
    del hparams.problem_hparams
    values = {k.split("|", 1)[1]: v for k, v in arrays.items() if k.startswith("var|")}
    prefix = checkpoints.write_values(str(tmp_path / "model.ckpt-3"), values)
    model = t2t_checkpoint.make_model(case["model"], hparams, prefix)
    optimizer = registry.optimizer(hparams.optimizer)(0.0, hparams)
    t2t_checkpoint.import_checkpoint(prefix, str(tmp_path / "here"), model, optimizer)
    assert_same(stored(tmp_path / "here"), join_shards(values))
    t2t_checkpoint.export_checkpoint(
        str(tmp_path / "here"), str(tmp_path / "back"), optimizer, hparams
    )
    back = stored(tmp_path / "back")
    assert_same({n: v for n, v in back.items() if n in values}, values)


def test_misfits_are_listed_and_nothing_is_written(tmp_path):
    source = golden_path("toy_ckpt")
    model, optimizer, _ = make_parts(source, "num_hidden_layers=1,filter_size=48")
    with pytest.raises(checkpoints.CheckpointError) as error:
        t2t_checkpoint.import_checkpoint(str(source), str(tmp_path / "new"), model, optimizer)
    message = str(error.value)
    assert "decoder/layer_1/encdec_attention" in message and "unknown to the model" in message
    assert "ffn/conv1/kernel [32, 48] in the model, [32, 64] in the file" in message
    assert not (tmp_path / "new").exists()


def test_another_vocabulary_is_told_by_its_size(tmp_path):
    hparams = hparams_lib.create_hparams(
        "transformer_base", "", hparams_path=str(golden_path("toy_ckpt", "hparams.json"))
    )
    model = registry.model("transformer")(hparams, input_vocab_size=60, target_vocab_size=60)
    optimizer = registry.optimizer(hparams.optimizer)(0.0, hparams)
    source = str(golden_path("toy_ckpt"))
    with pytest.raises(checkpoints.CheckpointError, match="has 90 entries, .* 60"):
        t2t_checkpoint.import_checkpoint(source, str(tmp_path / "new"), model, optimizer)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("lost", "message"),
    [
        ("model.ckpt-400.data-00001-of-00002", "1 of 2 data files .* are absent"),
        ("model.ckpt-400.index", r"model.ckpt-400.index is absent"),
    ],
)
def test_a_checkpoint_that_isnt_whole_is_told_apart_from_none(lost, message, tmp_path):
    for path in golden_path("toy_ckpt").iterdir():
        if path.name != lost:
            shutil.copyfile(path, tmp_path / path.name)
    with pytest.raises(checkpoints.CheckpointError, match=f"is complete: .*{message}"):
        checkpoints.resolve(str(tmp_path))


def test_the_state_of_another_optimizer_is_refused_or_left_behind(tmp_path):
    source = golden_path("toy_ckpt")
    model, optimizer, _ = make_parts(source, "optimizer=adafactor")
    with pytest.raises(checkpoints.CheckpointError, match="Adafactor"):
        t2t_checkpoint.import_checkpoint(str(source), str(tmp_path), model, optimizer)
    t2t_checkpoint.import_checkpoint(
        str(source), str(tmp_path), model, optimizer, optimizer_state=False
    )
    assert not any(name.startswith("training/") for name in stored(tmp_path))


def test_a_directory_with_checkpoints_is_refused(tmp_path):
    import_run(golden_path("toy_ckpt"), tmp_path)
    with pytest.raises(ValueError, match="already has checkpoints"):
        import_run(golden_path("toy_ckpt"), tmp_path)


def test_a_missing_shard_is_named(tmp_path):
    values = stored(golden_path("toy_ckpt"))
    del values["transformer/symbol_modality_90_32/shared/weights_7"]
    prefix = checkpoints.write_values(str(tmp_path / "model.ckpt-1"), values)
    with pytest.raises(checkpoints.CheckpointError, match=r"lacks shards \[7\].*model.ckpt-1"):
        t2t_checkpoint.make_model("transformer", registry.hparams("transformer_base"), prefix)


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory):
    """Vocabulary and records of the recorded run's problem."""
    directory = tmp_path_factory.mktemp("data")
    for path in golden_path("toy_ckpt").glob("*.subwords"):
        shutil.copyfile(path, directory / path.name)
    for path in golden_path("datagen", "files").glob("golden_reverse-*"):
        shutil.copyfile(path, directory / path.name)
    return directory


def trainer_of(directory, data_dir, until, **settings):
    """The trainer of a run."""
    hparams = hparams_lib.create_hparams(
        "transformer_base", "batch_shuffle_size=16", str(data_dir), None,
        f"{directory}/hparams.json",
    )  # fmt: skip
    hparams_lib.add_problem_hparams(hparams, GoldenReverse())
    config = RunConfig(
        output_dir=str(directory), data_dir=str(data_dir), train_steps=until, random_seed=1,
        save_summary_steps=1, log_step_count_steps=50, **settings,
    )  # fmt: skip
    return Trainer(hparams, "transformer", config)


def loss_on_training_data(directory, data_dir):
    return trainer_of(directory, data_dir, 0).evaluate_on_train_data()["loss"]


def train(directory, data_dir, until, **settings):
    """Trains a run on; returns the losses of its new steps."""
    trainer_of(directory, data_dir, until, **settings).train()
    return [value for _, name, value in read_events(str(directory)) if name == "loss"]


def is_state(name):
    return not name.startswith((*BOOKKEEPING, "training/iter"))


def state_of(directory):
    return {n: v for n, v in stored(directory).items() if is_state(n)}


def test_trained_100_steps_further_and_taken_back(data_dir, tmp_path):
    import_run(golden_path("toy_ckpt"), tmp_path / "here")
    before = loss_on_training_data(tmp_path / "here", data_dir)
    losses = train(tmp_path / "here", data_dir, 500)
    assert len(losses) == 100
    # It goes on where it was: no loss is that of an untrained model, and it still falls. (That is
    # seen without dropout and on the same examples; single steps' losses differ by more.)
    assert loss_on_training_data(tmp_path / "here", data_dir) < before
    recorded = load_golden_json("toy_ckpt", "decodes.json.gz")["eval_loss"]["training"]
    assert max(losses) < 0.5 * (recorded + np.log(90))
    export_run(tmp_path / "here", tmp_path / "back")
    back = stored(tmp_path / "back")
    original = stored(golden_path("toy_ckpt"))
    assert {n: (v.shape, v.dtype) for n, v in back.items()} == {
        n: (v.shape, v.dtype) for n, v in original.items()
    }
    assert back["global_step"] == 500
    import_run(tmp_path / "back", tmp_path / "again")
    assert_same(state_of(tmp_path / "again"), stored(tmp_path / "here"))
    # Trained on, both are the same. (The position in the input stays behind, so drop it here too.)
    for path in (tmp_path / "here").glob("*.input.*"):
        path.unlink()
    for name in ("here", "again"):
        train(tmp_path / name, data_dir, 505)
    assert_same(stored(tmp_path / "again"), stored(tmp_path / "here"))


def test_trainer_goes_on_in_tensor2tensors_own_directory(data_dir, tmp_path):
    shutil.copytree(golden_path("toy_ckpt"), tmp_path / "old", copy_function=shutil.copyfile)
    (tmp_path / "old").chmod(0o755)
    import_run(golden_path("toy_ckpt"), tmp_path / "new")
    losses = train(tmp_path / "old", data_dir, 403)
    assert train(tmp_path / "new", data_dir, 403) == losses
    assert_same(stored(tmp_path / "new"), stored(tmp_path / "old"))
    # The moments have a part in that.
    model, optimizer, _ = make_parts(golden_path("toy_ckpt"))
    t2t_checkpoint.import_checkpoint(
        str(golden_path("toy_ckpt")), str(tmp_path / "bare"), model, optimizer,
        optimizer_state=False,
    )  # fmt: skip
    bare = train(tmp_path / "bare", data_dir, 403)
    assert bare[0] == losses[0] and bare[-1] != losses[-1]
    assert stored(tmp_path / "bare")["global_step"] == 403


def test_new_run_starts_from_tensor2tensors_weights(data_dir, tmp_path):
    source = golden_path("toy_ckpt")
    shutil.copyfile(source / "hparams.json", tmp_path / "hparams.json")
    train(tmp_path, data_dir, 0, warm_start_from=str(source))
    values, original = stored(tmp_path), join_shards(stored(source))
    assert values["global_step"] == 0
    for name, value in values.items():
        if name.startswith("transformer/"):
            np.testing.assert_array_equal(value, original[name])
        elif name.startswith("training/"):
            assert not np.any(value)


def test_adafactors_slots_are_split_and_joined():
    table = "transformer/symbol_modality_5_4/shared/weights"
    rows, columns = np.arange(5.0), np.arange(12.0)
    slots = {f"training/{table}/Adafactor": rows, f"training/{table}/Adafactor_1": columns}
    split = split_tables(slots, 3)
    np.testing.assert_array_equal(split[f"training/{table}_1/Adafactor"], [2, 3])
    np.testing.assert_array_equal(split[f"training/{table}_1/Adafactor_1"], [4, 5, 6, 7])
    assert_same(join_shards(split), slots)
