import subprocess
import sys

import pytest

from tests.reference_data import golden_path


def avg_all(*flags):
    return subprocess.run(
        [sys.executable, "-m", "t2t_keras.bin.t2t_avg_all", *flags],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.reference
def test_writes_the_files_tensor2tensor_writes(tmp_path):
    source = golden_path("avg_ckpt", "src")
    done = avg_all(f"--model_dir={source}", f"--output_dir={tmp_path}", "--n=3")
    assert done.returncode == 0, done.stderr
    recorded = {path.name for path in golden_path("avg_ckpt", "out_avg_all_n3").iterdir()}
    assert {p.name for p in tmp_path.iterdir()} == recorded | {"checkpoint", "averages_of.txt"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "--model_dir"),
        (["--model_dir=/nowhere"], "/nowhere"),
        (["--model_dir={folder}"], "needs 8 checkpoints"),
        (["--model_dir={folder}", "--n=0"], "at least 1"),
        (["--model_dir={folder}", "--output_dir={folder}/."], "output_dir must not be model_dir"),
    ],
)
def test_mistakes_are_named_without_traceback(tmp_path, flags, message):
    done = avg_all(*(flag.format(folder=tmp_path) for flag in flags))
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
