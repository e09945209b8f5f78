"""`t2t-trainer` with translations, best checkpoints and early stopping, as a user runs it."""

import json
import os
import pathlib
import signal
import subprocess
import time

import pytest

from t2t_keras.training import checkpoints
from t2t_keras.training.event_files import read_events
from tests.bin.toy_run import ToyRun

SCORES = {"BLEU_uncased", "BLEU_cased", "sacreBLEU", "chrF"}


class Commands(ToyRun):
    """The commands on a small problem."""

    def trainer(self, output_dir, *flags, **changes):
        settings = {
            "train_steps": 40,
            "schedule": "train_and_evaluate",
            "local_eval_frequency": 10,
            "iterations_per_loop": 10,
            "eval_steps": 2,
            "decode_hparams": "beam_size=2,extra_length=3,num_samples=30",
        }
        return super().trainer(output_dir, *flags, **{**settings, **changes})

    def run(self, command, status=0):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stderr
        return done.stderr

    def decode(self, directory, source, output):
        return self.run(
            [
                *self.program("t2t_decoder"),
                f"--output_dir={directory}",
                f"--decode_from_file={source}",
                f"--decode_to_file={output}",
                "--decode_hparams=beam_size=2,extra_length=3",
            ]
        )


@pytest.fixture(scope="module")
def commands(tmp_path_factory):
    return Commands(tmp_path_factory.mktemp("commands"))


@pytest.fixture(scope="module")
def files(commands):
    """Parallel source and reference files."""
    sources = ["abcdef", "fedcba", "abc", "ffaabb", "cab"]
    source, reference = commands.folder / "source", commands.folder / "reference"
    source.write_text("".join(f"{text}\n" for text in sources))
    reference.write_text("".join(f"{text[::-1]}\n" for text in sources))
    return source, reference


VALIDATION = {
    "translate_every_evaluations": 2,
    "best_checkpoint_metric": "accuracy_top5",
    "eval_early_stopping_steps": 20,
    "eval_early_stopping_metric": "chrF",
    "eval_early_stopping_metric_delta": 1000,
}


@pytest.fixture(scope="module")
def stopped(commands):
    """A run that has stopped early, and its log."""
    output_dir = commands.folder / "stopped"
    log = commands.run(commands.trainer(output_dir, train_steps=200, **VALIDATION))
    return output_dir, log


def test_scores_are_drawn_and_training_stops(stopped):
    output_dir, log = stopped
    points = read_events(str(output_dir / "eval"))
    # Scores at 20 and 40, the second evaluations; chrF can't rise by 1000 within 20 steps.
    for score in SCORES:
        assert [step for step, tag, _ in points if tag == score] == [20, 40]
    assert [step for step, tag, _ in points if tag == "loss"] == [10, 20, 30, 40]
    assert checkpoints.step_of(checkpoints.latest_checkpoint(str(output_dir))) == 40
    assert "Stopped early at step 40" in log
    assert "tok:13a" in log and "TRANSLATION: " in log
    assert sorted(os.listdir(output_dir / "translations")) == ["20.txt", "40.txt"]
    assert (output_dir / "translations" / "40.txt").read_text().count("\n") == 30


def test_a_stopped_run_says_so_and_stays(commands, stopped):
    output_dir, _ = stopped
    before = (output_dir / "flags.txt").read_text()
    log = commands.run(commands.trainer(output_dir, train_steps=300, **VALIDATION))
    assert "has stopped early, at step 40" in log
    assert (output_dir / "flags.txt").read_text() == before
    assert checkpoints.step_of(checkpoints.latest_checkpoint(str(output_dir))) == 40


def test_best_is_all_that_decoding_needs(commands, stopped, files):
    output_dir, _ = stopped
    source, _ = files
    best = json.loads((output_dir / "best" / "best.json").read_text())
    points = read_events(str(output_dir / "eval"))
    curve = {s: v for s, tag, v in points if tag == best["metric"]}
    assert best["metric"] == "metrics-toy_reverse_words/targets/accuracy_top5"
    assert best["value"] == pytest.approx(max(curve.values()))
    assert curve[best["step"]] == pytest.approx(best["value"])
    log = commands.decode(output_dir / "best", source, commands.folder / "from_best")
    assert f"(step {best['step']})" in log
    assert (commands.folder / "from_best").read_text().count("\n") == 5


def test_files_are_translated_as_the_decoder_does(commands, files):
    source, reference = files
    output_dir = commands.folder / "with_files"
    commands.run(
        commands.trainer(
            output_dir, train_steps=20, decode_from_file=source, decode_reference=reference,
            decode_hparams="beam_size=2,extra_length=3", best_checkpoint_metric="bleu_cased",
        )
    )  # fmt: skip
    commands.decode(output_dir, source, commands.folder / "decoded")
    translated = (output_dir / "translations" / "20.txt").read_text()
    assert translated == (commands.folder / "decoded").read_text()


def test_translating_on_two_replicas_and_killed_changes_no_number(commands):
    plain, killed = commands.folder / "plain", commands.folder / "killed"
    commands.run(commands.trainer(plain, schedule="train", worker_gpu=2))
    command = commands.trainer(
        killed, worker_gpu=2, translate_every_evaluations=1, best_checkpoint_metric="loss"
    )
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while not (killed / "translations" / "20.txt").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert (killed / "translations" / "20.txt").exists()
    commands.run(command)
    ends = [checkpoints.latest_checkpoint(str(directory)) for directory in (plain, killed)]
    assert [checkpoints.step_of(end) for end in ends] == [40, 40]
    data = [pathlib.Path(f"{end}.data-00000-of-00001").read_bytes() for end in ends]
    assert data[0] == data[1]
    points = read_events(str(killed / "eval"))
    assert [step for step, tag, _ in points if tag == "sacreBLEU"] == [10, 20, 30, 40]
    losses = {step: value for step, tag, value in points if tag == "loss"}
    best = json.loads((killed / "best" / "best.json").read_text())
    assert losses[best["step"]] == min(losses.values())
