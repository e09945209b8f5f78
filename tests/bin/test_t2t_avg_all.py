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


def test_a_damaged_checkpoint(tmp_path):
    (tmp_path / "model.ckpt-7.index").touch()
    done = avg_all(f"--model_dir={tmp_path}", f"--output_dir={tmp_path}/new")
    assert done.returncode == 1 and "model.ckpt-7" in done.stderr
    assert "move them to another directory" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "new").exists()
