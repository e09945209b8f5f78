"""Signals while training."""

import signal
import subprocess
import sys
import time

import pytest

from t2t_keras.training import checkpoints
from t2t_keras.training.interruption import Interruption, catch_signals


@pytest.mark.parametrize(
    ("number", "status"), [(None, 0), (signal.SIGTERM, 0), (signal.SIGINT, 130)]
)
def test_exit_status(number, status):
    interruption = Interruption()
    interruption.signal_number = number
    assert interruption.exit_status == status


@pytest.fixture
def heeded():
    """Both signals act as in the foreground; in the background SIGINT may be ignored."""
    handlers = {signal.SIGTERM: signal.SIG_DFL, signal.SIGINT: signal.default_int_handler}
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("heeded")
def test_an_ignored_signal_stays_ignored():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with catch_signals() as interruption:
        signal.raise_signal(signal.SIGINT)
        assert not interruption.requested
        signal.raise_signal(signal.SIGTERM)
        assert interruption.signal_number == signal.SIGTERM
        assert signal.getsignal(signal.SIGINT) == signal.SIG_IGN


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_is_noted_and_the_second_of_either_kind_acts(first):
    with pytest.raises(KeyboardInterrupt), catch_signals() as interruption:
        # To this thread: another one might take a signal to the process, and somewhat later.
        signal.raise_signal(first)
        time.sleep(0.01)
        assert interruption.requested and interruption.signal_number == first
        signal.raise_signal(signal.SIGINT)
        time.sleep(5)  # cut short by the signal


def test_handlers_are_as_before_afterwards():
    before = [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)]
    with catch_signals():
        pass
    assert [signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)] == before


def test_the_command_saves_and_ends_without_failure(tmp_path):
    from tests.training import toy

    (tmp_path / "my_problems").mkdir()
    (tmp_path / "my_problems" / "__init__.py").write_text("from tests.training import toy\n")
    (tmp_path / "data").mkdir()
    data_dir = toy.make_data(tmp_path / "data")
    process = subprocess.Popen(
        [
            sys.executable, "-m", "t2t_keras.bin.t2t_trainer",
            f"--t2t_usr_dir={tmp_path / 'my_problems'}", "--problem=toy_reverse_words",
            "--model=transformer", "--hparams_set=transformer_tiny", f"--hparams={toy.TINY}",
            f"--data_dir={data_dir}", f"--output_dir={tmp_path / 'out'}", "--schedule=train",
            "--train_steps=100000", "--log_step_count_steps=1",
        ],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    log = []
    for line in process.stderr:
        log.append(line)
        if "step 5 of" in line:
            process.send_signal(signal.SIGTERM)
            break
    log.append(process.communicate()[1])
    text = "".join(log)
    assert process.returncode == 0, text[-3000:]
    step = checkpoints.step_of(checkpoints.latest_checkpoint(str(tmp_path / "out")))
    assert step >= 5 and f"Interrupted at step {step}" in text
    assert "A second signal stops at once" in text
