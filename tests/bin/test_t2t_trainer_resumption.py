"""`t2t-trainer` on an output directory that already has a run: refusals leave the run alone."""

import subprocess

import pytest

from tests.bin.toy_run import ToyRun
from tests.training import toy


class Run(ToyRun):
    """A short training run and the command that made it."""

    def __init__(self, folder):
        super().__init__(folder)
        self.output_dir = self.folder / "out"

    def train(self, *flags, **changes):
        output_dir = changes.pop("output_dir", self.output_dir)
        settings = {"train_steps": 2, "schedule": "train", **changes}
        return subprocess.run(
            self.trainer(output_dir, *flags, **settings),
            capture_output=True,
            text=True,
            check=False,
        )

    def description(self):
        names = ("flags.txt", "flags_t2t.txt", "hparams.json")
        return {name: (self.output_dir / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    made = Run(tmp_path_factory.mktemp("run"))
    done = made.train()
    assert done.returncode == 0, done.stderr
    return made


def refusal(run, *flags, **changes):
    """The message of a refused command; checks that the run is described as before."""
    before = run.description()
    done = run.train(*flags, **changes)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert run.description() == before
    return done.stderr


def test_hyperparameters_that_do_not_fit_the_checkpoint_leave_the_run_alone(run):
    wider = toy.TINY.replace("hidden_size=8", "hidden_size=16")
    assert "doesn't fit" in refusal(run, hparams=wider, train_steps=4)


def test_another_problem_is_refused_by_name(run):
    message = refusal(run, problem="toy_reverse_words_rev", train_steps=4)
    assert "toy_reverse_words_rev" in message and "--problem=toy_reverse_words." in message


def test_a_finished_run_says_that_there_is_nothing_to_do(run):
    before = run.description()
    done = run.train(train_steps=1)
    assert done.returncode == 0
    assert "Nothing to do" in done.stderr and "at step 2" in done.stderr
    assert run.description() == before


def test_a_short_run_tells_its_loss_and_that_it_finished(run):
    log = run.train(output_dir=run.folder / "short", train_steps=1).stderr
    assert "step 1 of 1 (100.0 %): loss" in log
    assert "Finished at step 1 in" in log
