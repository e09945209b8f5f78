"""`t2t-trainer` as a user runs it: data, training, kill -9, resumption, evaluation."""

import json
import os
import signal
import subprocess

import pytest

from t2t_keras.training.event_files import read_events
from tests.end_to_end import commands
from tests.training import runs

pytestmark = pytest.mark.end_to_end

_USER_MODULE = '''
import random

from t2t_keras import registry
from t2t_keras.data import text_problems


@registry.register_problem
class ReverseLetters(text_problems.Text2TextProblem):
    """Letters, and the same letters backwards."""

    vocab_type = text_problems.VocabType.CHARACTER
    is_generate_per_split = False
    dataset_splits = [{"split": "train", "shards": 2}, {"split": "dev", "shards": 1}]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        rng = random.Random(3)
        for _ in range(300):
            text = "".join(rng.choice("abcdef") for _ in range(rng.randint(2, 12)))
            yield {"inputs": text, "targets": text[::-1]}
'''

_FLAGS = [
    "--t2t_usr_dir=my_problems", "--problem=reverse_letters", "--model=transformer",
    "--hparams_set=transformer_tiny", "--data_dir=data", "--tmp_dir=tmp", "--generate_data",
    "--hparams=num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2,batch_size=128",
    "--hp_learning_rate_warmup_steps", "20", "--random_seed=5", "--train_steps=30",
    "--iterations_per_loop=10", "--local_eval_frequency=10", "--log_step_count_steps=5",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "my_problems").mkdir()
    (tmp_path / "my_problems" / "__init__.py").write_text(_USER_MODULE)
    return tmp_path


def start(folder, output_dir, *flags):
    command = commands.line("t2t-trainer", *_FLAGS, *flags, f"--output_dir={output_dir}")
    return subprocess.Popen(
        command, cwd=folder, stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )  # fmt: skip


def finish(process):
    _, log = process.communicate()
    assert process.returncode == 0, log[-3000:]
    return log


def interrupt(process, when, signal_number):
    """Sends the signal when the log says `when`; returns the exit status."""
    for line in process.stderr:
        if when in line:
            process.send_signal(signal_number)
            break
    process.communicate()
    return process.returncode


def test_killed_and_terminated_runs_end_like_a_whole_one(folder):
    log = finish(start(folder, "whole"))
    assert "step 30 of 30" in log and "metrics-reverse_letters/targets/accuracy" in log
    hparams = json.loads((folder / "whole" / "hparams.json").read_text())
    assert hparams["train_steps"] == 30 and hparams["learning_rate_warmup_steps"] == 20
    assert {"flags.txt", "flags_t2t.txt", "checkpoint"} <= set(os.listdir(folder / "whole"))
    assert "--problem=reverse_letters" in (folder / "whole" / "flags.txt").read_text()

    killed = interrupt(start(folder, "part", "--schedule=train"), "step 15 of", signal.SIGKILL)
    assert killed == -signal.SIGKILL
    terminated = interrupt(start(folder, "part"), "step 15 of", signal.SIGTERM)
    assert terminated == 0
    assert 15 <= runs.last_step(folder / "part") < 30
    finish(start(folder, "part"))

    runs.assert_same_values(folder / "part", folder / "whole")
    evaluated = {step for step, _, _ in read_events(str(folder / "part" / "eval"))}
    assert 30 in evaluated
