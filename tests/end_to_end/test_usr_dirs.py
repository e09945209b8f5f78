"""A user directory written for tensor2tensor, through the installed commands."""

import pathlib
import random

import pytest

from tests.end_to_end import commands

pytestmark = pytest.mark.end_to_end

_USR_DIRS = pathlib.Path(__file__).parents[1] / "compat" / "usr_dirs"


def run(folder, command, *flags):
    """What a command wrote."""
    done = commands.run(command, *flags, folder=folder)
    return done.stdout + done.stderr


@pytest.fixture
def folder(tmp_path):
    """Text files for the problem of the directory `loud`, in `tmp`."""
    rng = random.Random(4)
    (tmp_path / "tmp").mkdir()
    for split, size in (("train", 200), ("eval", 10)):
        lines = [" ".join(rng.choices("one two three four five".split(), k=4)) for _ in range(size)]
        (tmp_path / "tmp" / f"inputs.{split}.txt").write_text("\n".join(lines) + "\n")
        doubled = [" ".join(f"{word} {word}" for word in line.split()) for line in lines]
        (tmp_path / "tmp" / f"targets.{split}.txt").write_text("\n".join(doubled) + "\n")
    return tmp_path


def test_generate_train_decode(folder):
    usr_dir = f"--t2t_usr_dir={_USR_DIRS / 'loud'}"
    run(
        folder, "t2t-datagen", usr_dir, "--problem=doubled_words", "--data_dir=data",
        "--tmp_dir=tmp",
    )  # fmt: skip
    assert (folder / "data" / "vocab.doubled_words.64.subwords").exists()
    log = run(
        folder, "t2t-trainer", usr_dir, "--problem=doubled_words", "--data_dir=data",
        "--model=loud_transformer", "--hparams_set=loud_transformer_test", "--output_dir=out",
        "--train_steps=3", "--eval_steps=1", "--hparams=loudness=1.25",
    )  # fmt: skip
    assert (folder / "out" / "model.ckpt-3.index").exists()
    assert "metrics-doubled_words/targets/approx_bleu_score" in log
    (folder / "questions.txt").write_text("one two\nthree\n")
    # Problem, model, set and user directory come from the run's flags.txt.
    run(
        folder, "t2t-decoder", "--output_dir=out", "--decode_from_file=questions.txt",
        "--decode_to_file=answers.txt", "--decode_hparams=beam_size=2,extra_length=2",
    )  # fmt: skip
    assert len((folder / "answers.txt").read_text().splitlines()) == 2


def test_what_the_directories_register_is_listed(folder):
    listing = run(
        folder, "t2t-trainer", "--registry_help", f"--t2t_usr_dir={_USR_DIRS / 'nested'}/"
    )
    for name in ("counting_up", "mood_of_words", "transformer_nested", "transformer_base"):
        assert f"  * {name}" in listing
    names = run(
        folder, "t2t-datagen", "--only_list", "--problem=letters_*",
        f"--t2t_usr_dir={_USR_DIRS / 'reversals'}",
    )  # fmt: skip
    assert "  * letters_to_words" in names


def test_a_missing_name_is_one_message(folder):
    (folder / "old").mkdir()
    (folder / "old" / "__init__.py").write_text("from tensor2tensor.models import lstm\n")
    result = commands.run(
        "t2t-datagen", "--problem=x", "--t2t_usr_dir=old", folder=folder, status=1
    )
    assert "Traceback" not in result.stderr
    assert "old/__init__.py, line 1: tensor2tensor.models.lstm is not among" in result.stderr
