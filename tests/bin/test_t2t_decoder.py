"""What `t2t-decoder` says to command lines that cannot work."""

import subprocess
import sys

import pytest


def decoder(*flags):
    return subprocess.run(
        [sys.executable, "-m", "t2t_keras.bin.t2t_decoder", *flags],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--output_dir=/nowhere", "--decode_from_file=/absent.txt"], "/absent.txt"),
        (["--output_dir=/nowhere", "--decode_from_file={file}"], "/nowhere"),
        (["--output_dir=/nowhere"], "directory of the training run, doesn't exist"),
        (["--score_file={file}"], "--decode_to_file"),
        (["--keep_timestamp", "--decode_from_file={file}"], "--checkpoint_path"),
        (["--decode_from_file={file}"], "--output_dir"),
        (["--output_dir={folder}", "--decode_from_file={file}"], "--problem is missing"),
        (["--decode_form_file={file}"], "decode_from_file"),
        (["--decode_hparams=beam_sise=4", "--decode_from_file={file}"], "beam_size"),
    ],
)
def test_mistakes_are_named_without_traceback(tmp_path, flags, message):
    path = tmp_path / "in.txt"
    path.write_text("one\n")
    done = decoder(*(flag.format(file=path, folder=tmp_path) for flag in flags))
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_missing_checkpoint_names_the_directory(tmp_path):
    (tmp_path / "flags.txt").write_text(
        "--problem=x\n--model=transformer\n--hparams_set=transformer_tiny\n"
    )
    (tmp_path / "in.txt").write_text("one\n")
    done = decoder(f"--output_dir={tmp_path}", f"--decode_from_file={tmp_path}/in.txt")
    assert done.returncode == 1
    assert str(tmp_path) in done.stderr and "checkpoint" in done.stderr
    assert "Traceback" not in done.stderr
