"""What `t2t-trainer` says to command lines that can't work, before anything is written."""

import subprocess
import sys

import pytest


def trainer(*flags):
    return subprocess.run(
        [sys.executable, "-m", "t2t_keras.bin.t2t_trainer", *flags],
        capture_output=True,
        text=True,
        check=False,
    )


WORKING = {
    "problem": "translate_ende_wmt32k",
    "model": "transformer",
    "hparams_set": "transformer_tiny",
    "data_dir": "{folder}/data",
    "output_dir": "{folder}/out",
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"output_dir": ""}, "--output_dir"),
        ({"schedule": "continuous_train_and_evaluate"}, "continuous_train_and_eval"),
        ({"problem": "translate_ende_wmt32"}, "translate_ende_wmt32k"),
        ({"model": "transfomer"}, "transformer"),
        ({"hparams_set": "transformer_tyny"}, "transformer_tiny"),
        ({"hparams": "hiden_size=4"}, "hidden_size"),
        ({"data_dir": "{folder}/absent"}, "t2t-datagen"),
        ({"train_step": "4"}, "train_steps"),
        ({"train_steps": "-4"}, "--train_steps must not be negative"),
        ({"worker_gpu": "-1"}, "--worker_gpu must not be negative"),
        ({"on_nan": "ignore"}, "--on_nan must be stop or skip"),
        ({"data_dir": "{folder}/file", "generate_data": "true"}, "--data_dir can't be made"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(tmp_path, changes, message):
    (tmp_path / "data").mkdir()
    (tmp_path / "file").write_text("")
    flags = {**WORKING, **changes}
    done = trainer(*(f"--{name}={value.format(folder=tmp_path)}" for name, value in flags.items()))
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out").exists()


def test_registry_help_needs_no_output_dir():
    done = trainer("--registry_help")
    assert done.returncode == 0
    assert "transformer_base" in done.stdout and "adam" in done.stdout
