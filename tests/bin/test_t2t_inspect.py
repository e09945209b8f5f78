"""t2t-inspect and the stand-alone vocabulary builders, run as programs would be."""

import subprocess
import sys

import pytest

from t2t_keras.data import inspection, records
from t2t_keras.text import encoders, subwords


def run(command, *arguments):
    return subprocess.run(
        [sys.executable, "-m", f"t2t_keras.bin.{command}", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def shard(tmp_path):
    encoder = encoders.ByteTextEncoder()
    samples = [
        {"inputs": [*encoder.encode("Hé" * n), 1], "targets": [*encoder.encode("x" * n), 1]}
        for n in range(1, 11)
    ]
    path = tmp_path / "words-train-00000-of-00001"
    records.generate_files(samples, [str(path)])
    return path


def test_decoded_examples_and_lengths(shard):
    result = run(
        "t2t_inspect",
        f"--input_filename={shard.parent}/words-*",
        "--byte_text_encoder",
        "--print_inputs",
        "--max_length=16",
    )
    assert result.returncode == 0, result.stderr
    assert "inputs (4): Hé<EOS>" in result.stdout
    assert "targets (" not in result.stdout
    # Inputs have 3 n + 1 ids: n = 6 to 10 are longer than 16.
    assert "10 examples" in result.stdout
    assert "longer than 16: 50.00%" in result.stdout
    assert "drops 50.00%" in result.stdout
    assert result.stdout.count("#") > 10


def test_all_features_without_encoder(shard):
    result = run("t2t_inspect", f"--input_filename={shard}", "--print_all", "--max_examples=1")
    assert "targets (2): 122 1" in result.stdout
    assert "1 examples" in result.stdout


def test_padding_and_segments_are_no_length():
    lengths = inspection.Lengths()
    lengths.add({"targets": [5, 6, 0, 7, 0, 0], "targets_segmentation": [1, 1, 0, 2, 0, 0]})
    assert lengths.side("targets").tolist() == [4]
    assert lengths.num_padding == 2
    assert list(lengths.by_side) == ["targets"]


def test_histogram_counts_every_example():
    lengths = inspection.Lengths()
    for length in [1, 1, 1, 2, 40, 900]:
        lengths.add({"targets": [3] * length})
    counts = [
        int(line.split("#")[0].split()[-1].replace(",", ""))
        for line in inspection.histogram(lengths.side("targets")).splitlines()
    ]
    assert sum(counts) == 6


def test_a_picture_needs_matplotlib_or_is_drawn(shard, tmp_path):
    picture = tmp_path / "lengths.png"
    result = run("t2t_inspect", f"--input_filename={shard}", f"--plot={picture}")
    if result.returncode:
        assert "pip install 't2t_keras[plot]'" in result.stderr
    else:
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_vocabulary_of_text_files_and_of_counts(tmp_path):
    (tmp_path / "corpus.txt").write_text("the cat sat\nthe cat\n")
    (tmp_path / "counts.csv").write_text("the,2\ncat,2\nsat,1\n")
    for pattern in ("--corpus_filepattern=corpus.txt", "--vocab_filepattern=counts.csv"):
        flag, _, name = pattern.partition("=")
        result = run(
            "text_encoder_build_subword",
            f"{flag}={tmp_path / name}",
            "--min_count=2",
            f"--output_filename={tmp_path / flag[2:]}",
        )
        assert result.returncode == 0, result.stderr
    built = (tmp_path / "corpus_filepattern").read_bytes()
    assert built == (tmp_path / "vocab_filepattern").read_bytes()
    encoder = subwords.SubwordTextEncoder(str(tmp_path / "corpus_filepattern"))
    assert len(encoder.encode("the cat")) == 2


def test_vocabulary_of_a_problem(tmp_path):
    for name in ("inputs.train.txt", "targets.train.txt"):
        (tmp_path / name).write_text("the cat sat\nthe cat\n")
    arguments = [f"--data_dir={tmp_path / 'data'}", f"--tmp_dir={tmp_path}"]
    result = run("build_vocab", "--problem=text2text_tmpdir", *arguments)
    assert result.returncode == 0, result.stderr
    (vocabulary,) = (tmp_path / "data").iterdir()
    assert vocabulary.name == "vocab.text2text_tmpdir.32768.subwords"
    assert str(vocabulary) in result.stdout
    result = run("build_vocab", "--problem=algorithmic_identity_binary40", *arguments)
    assert "is no text problem" in result.stderr
