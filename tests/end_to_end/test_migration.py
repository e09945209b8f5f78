"""Commands that import and export checkpoints, and what is said of directories that have gone."""

import shutil

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training import checkpoints
from tests.end_to_end import commands
from tests.end_to_end.t2t_run import Run
from tests.reference_data import golden_path

pytestmark = [pytest.mark.reference, pytest.mark.end_to_end]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("run"))


def test_imported_run_is_decoded_and_exported_without_further_flags(run):
    new, back = run.folder / "new", run.folder / "back"
    done = commands.run(
        "t2t-import-checkpoint",
        f"--model_dir={golden_path('toy_ckpt')}",
        f"--output_dir={new}",
        f"--data_dir={run.data_dir}",
        f"--t2t_usr_dir={run.folder / 'my_problems'}",
    )
    assert done.stdout.splitlines()[-1] == str(new / "model.ckpt-400")
    output = run.folder / "out.txt"
    commands.run(
        "t2t-decoder",
        f"--output_dir={new}",
        f"--decode_from_file={golden_path('decoder_cli', 'inputs.txt')}",
        f"--decode_to_file={output}",
    )
    assert output.read_bytes() == golden_path("decoder_cli", "out_beam4.txt").read_bytes()
    commands.run("t2t-export-checkpoint", f"--model_dir={new}", f"--output_dir={back}")
    original, exported = (
        tf.train.load_checkpoint(checkpoints.latest_checkpoint(str(directory)))
        for directory in (golden_path("toy_ckpt"), back)
    )
    names = original.get_variable_to_shape_map()
    assert exported.get_variable_to_shape_map() == names
    for name in names:
        np.testing.assert_array_equal(exported.get_tensor(name), original.get_tensor(name))
    assert (back / "vocabulary.json").read_bytes() == (new / "vocabulary.json").read_bytes()
    _refuse_another_vocabulary(run, new, back)


def _refuse_another_vocabulary(run, new, back):
    """The run remembers the one it was imported with, there and back."""
    swapped = run.folder / "swapped"
    shutil.copytree(run.data_dir, swapped)
    (vocabulary,) = swapped.glob("vocab*")
    lines = vocabulary.read_text(encoding="utf-8").splitlines(keepends=True)
    lines[-1], lines[-2] = lines[-2], lines[-1]
    vocabulary.write_text("".join(lines), encoding="utf-8")
    inputs, output = golden_path("decoder_cli", "inputs.txt"), run.folder / "none.txt"
    decoding = ["t2t-decoder", f"--decode_from_file={inputs}", f"--decode_to_file={output}"]
    importing = ["t2t-import-checkpoint", f"--model_dir={back}"]
    for command in ([*decoding, f"--output_dir={new}"], [*importing, f"--output_dir={output}"]):
        done = commands.run(*command, f"--data_dir={swapped}", status=1)
        assert "is not the one that the run" in done.stderr
        assert not output.exists()


def test_directories_that_have_gone_are_named_with_the_flag_to_give(run):
    inputs = golden_path("decoder_cli", "inputs.txt")
    flags = [f"--output_dir={golden_path('toy_ckpt')}", f"--decode_from_file={inputs}"]
    done = commands.run("t2t-decoder", *flags, status=1)
    assert "--data_dir=DATA_DIR" in done.stderr and "Give the present one" in done.stderr
    done = commands.run("t2t-decoder", *flags, f"--data_dir={run.data_dir}", status=1)
    assert "--t2t_usr_dir=USR_DIR" in done.stderr and "--problem=golden_reverse" in done.stderr


def test_missing_flags_and_directories(tmp_path):
    done = commands.run("t2t-import-checkpoint", f"--model_dir={tmp_path}", status=1)
    assert "--output_dir" in done.stderr
    done = commands.run(
        "t2t-import-checkpoint",
        f"--model_dir={tmp_path}/gone",
        f"--output_dir={tmp_path}/new",
        status=1,
    )
    assert "model_dir doesn't exist" in done.stderr
    done = commands.run(
        "t2t-import-checkpoint", f"--model_dir={tmp_path}", f"--output_dir={tmp_path}/new", status=1
    )
    assert "--model" in done.stderr
