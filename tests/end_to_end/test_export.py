"""`t2t-exporter` writes what a program without this package loads, and answers as `t2t-decoder`."""

import json
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from t2t_keras import hparams_lib, registry
from t2t_keras.text import subword_builder, tokenizer
from t2t_keras.training import checkpoints
from tests.end_to_end import commands

pytestmark = pytest.mark.end_to_end

LINES = [
    "the cat sat on the mat",
    "a cat and a rat",
    "",
    "the hat, the cat; the bat",
    "x",
    "Ünknown ☃ characters_and\\escapes",
    "mat " * 12,
] + [f"the {number} cats and {2 * number} rats" for number in range(30)]
OPTIONS = "beam_size=3,extra_length=4"

# Knows TensorFlow and tensorflow-text only.
CLIENT = """
import json, sys
import tensorflow as tf, tensorflow_text
lines = json.load(sys.stdin)
answer = tf.saved_model.load(sys.argv[1]).signatures["serving_default"]
def outputs(texts):
    found = answer(inputs=tf.constant(texts, tf.string))["outputs"].numpy()
    return [text.decode() for text in found]
one_by_one = [outputs([line])[0] for line in lines]
in_batches = outputs(lines[:32]) + outputs(lines[32:])
ours = sorted(name for name in sys.modules if name.split(".")[0] == "t2t_keras")
print(json.dumps([one_by_one, in_batches, outputs([]), ours]))
"""


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A run's directory with a small model of random weights, its vocabulary beside it."""
    folder = tmp_path_factory.mktemp("export")
    (folder / "run").mkdir()
    counts = tokenizer.count_tokens(LINES)
    vocabulary = subword_builder.build_from_token_counts(counts, 1, num_iterations=2)
    problem = registry.problem("text2text_tmpdir")
    vocabulary.store_to_file(str(folder / problem.vocab_filename))
    hparams = hparams_lib.create_hparams(
        "transformer_tiny",
        "num_hidden_layers=1,hidden_size=32,filter_size=32,num_heads=2",
        data_dir=str(folder),
        problem_name="text2text_tmpdir",
    )
    model = registry.model("transformer").from_hparams(hparams)
    generator = np.random.default_rng(5)
    for variable in model.variables:
        variable.assign(generator.normal(0.0, 0.4, variable.shape))
    checkpoints.save(str(folder / "run"), model, step=7)
    hparams_lib.save_hparams(hparams, str(folder / "run"))
    (folder / "run" / "flags.txt").write_text(
        "--problem=text2text_tmpdir\n--model=transformer\n--hparams_set=transformer_tiny\n"
        f"--data_dir={folder}\n"
    )
    return folder / "run"


def _decoded(run_dir: pathlib.Path, batch_size: int) -> list[str]:
    source = run_dir / "lines.txt"
    source.write_text("".join(f"{line}\n" for line in LINES), encoding="utf-8")
    commands.run(
        "t2t-decoder",
        "--output_dir=run",
        f"--decode_hparams={OPTIONS},batch_size={batch_size}",
        f"--decode_from_file={source}",
        f"--decode_to_file={run_dir}/decoded.txt",
        folder=run_dir.parent,
    )
    return (run_dir / "decoded.txt").read_text(encoding="utf-8").split("\n")[:-1]


def test_answers_as_the_decoder_in_a_program_without_this_package(run_dir: pathlib.Path) -> None:
    exporter = ("t2t-exporter", "--output_dir=run", f"--decode_hparams={OPTIONS}")
    printed = commands.run(*exporter, folder=run_dir.parent).stdout
    (version,) = os.listdir(run_dir / "export")
    assert version.isdigit()
    assert printed.split()[-1] == os.path.join("run", "export", version)
    elsewhere = run_dir.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "client.py").write_text(CLIENT)
    client = subprocess.run(
        [sys.executable, "client.py", str(run_dir / "export" / version)],
        input=json.dumps(LINES), capture_output=True, text=True, cwd=elsewhere,
    )  # fmt: skip
    assert client.returncode == 0, client.stderr
    one_by_one, in_batches, empty, ours = json.loads(client.stdout.splitlines()[-1])
    assert ours == []
    assert empty == []
    assert one_by_one == _decoded(run_dir, batch_size=1)
    assert in_batches == _decoded(run_dir, batch_size=32)
    assert len(set(in_batches)) > len(LINES) // 2


def test_hub_modules_are_refused_with_a_way_out(run_dir: pathlib.Path) -> None:
    done = commands.run("t2t-exporter", f"--output_dir={run_dir}", "--export_as_tfhub", status=1)
    assert "--export_as_tfhub can't be honoured" in done.stderr and "hub.load" in done.stderr
    assert "Traceback" not in done.stderr
