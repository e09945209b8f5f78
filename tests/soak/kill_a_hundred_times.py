"""Kills a training run again and again, and compares its end with a run that was left alone.

    python tests/soak/kill_a_hundred_times.py --kills=100

`t2t-trainer`, as it is installed, trains a tiny model for 300 steps with a checkpoint every 10. The
first run is left alone. The second gets `kill -9` at random moments: most of them just after the
step that is due, so that the run advances and every phase of a step and of saving is hit, some
while the program still loads or restores. After each kill the same command starts again. At the end
every variable in the last checkpoints (model, optimizer, global step) and every point of the loss
curves must be the same, bit for bit. Takes about 10 seconds a kill; the exit status is 1 if
anything differs.
"""

import argparse
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import tensorflow as tf

from t2t_keras.training import checkpoints
from t2t_keras.training.event_files import read_events

_USER_MODULE = '''
import random

from t2t_keras import registry
from t2t_keras.data import text_problems


@registry.register_problem
class SoakReverseLetters(text_problems.Text2TextProblem):
    """Letters, and the same letters backwards."""

    vocab_type = text_problems.VocabType.CHARACTER
    is_generate_per_split = False
    dataset_splits = [{"split": "train", "shards": 3}, {"split": "dev", "shards": 1}]

    def generate_samples(self, data_dir, tmp_dir, dataset_split):
        rng = random.Random(3)
        for _ in range(3000):
            text = "".join(rng.choice("abcdef") for _ in range(rng.randint(2, 12)))
            yield {"inputs": text, "targets": text[::-1]}
'''
_STEP = re.compile(r"step (\d+) of ")
_SHARE_OF_EARLY_KILLS = 0.15
_LONGEST_DELAY = 0.12  # seconds after a step; a step and a checkpoint of this model take less


class Run:
    """Training in one output directory."""

    def __init__(self, folder: pathlib.Path, name: str, steps: int) -> None:
        self.output_dir = folder / name
        script = pathlib.Path(sys.executable).parent / "t2t-trainer"
        self._command = [
            str(script), f"--t2t_usr_dir={folder / 'soak_problems'}",
            "--problem=soak_reverse_letters", "--model=transformer",
            "--hparams_set=transformer_tiny", f"--data_dir={folder / 'data'}",
            f"--tmp_dir={folder / 'tmp'}", f"--output_dir={self.output_dir}",
            "--hparams=num_hidden_layers=1,hidden_size=8,filter_size=16,num_heads=2,batch_size=128,"
            "max_length=32,learning_rate_warmup_steps=20,batch_shuffle_size=8",
            "--random_seed=1", "--schedule=train", f"--train_steps={steps}",
            "--iterations_per_loop=10", "--local_eval_frequency=10", "--log_step_count_steps=1",
            "--keep_checkpoint_max=3",
        ]  # fmt: skip

    def start(self, *flags: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*self._command, *flags], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )

    def finish(self, *flags: str) -> None:
        process = self.start(*flags)
        _, log = process.communicate()
        if process.returncode:
            sys.exit(f"The run ended with status {process.returncode}:\n{log[-5000:]}")

    def kill_after(self, step: int, delay: float) -> int:
        """Kills the run so many seconds after a step; returns the last step its log has."""
        process = self.start()
        last, lines = 0, []
        for line in process.stderr or ():
            lines.append(line)
            match = _STEP.search(line)
            last = int(match[1]) if match else last
            if last >= step:
                # The log is read on meanwhile: a full pipe would stop the run.
                threading.Thread(target=process.stderr.read, daemon=True).start()
                time.sleep(delay)
                process.kill()
                break
        process.wait()
        if process.returncode > 0:
            sys.exit(f"The run ended with status {process.returncode}:\n{''.join(lines)[-5000:]}")
        return last

    def kill_at(self, seconds: float) -> None:
        """Kills the run so many seconds after its start."""
        process = self.start()
        threading.Thread(target=process.stderr.read, daemon=True).start()
        time.sleep(seconds)
        process.kill()
        process.wait()

    def step(self) -> int:
        prefix = checkpoints.latest_checkpoint(str(self.output_dir))
        return checkpoints.step_of(prefix) if prefix else -1

    def values(self) -> dict[str, np.ndarray]:
        """Every variable of the newest checkpoint."""
        reader = tf.train.load_checkpoint(checkpoints.latest_checkpoint(str(self.output_dir)))
        return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}

    def losses(self) -> list[tuple[int, float]]:
        events = read_events(str(self.output_dir))
        return sorted((step, value) for step, tag, value in events if tag == "loss")


def kill_again_and_again(run: Run, kills: int, steps: int, rng: random.Random) -> None:
    """Kills the run so often, the last time shortly before its end."""
    started = time.monotonic()
    startup = 0.0  # seconds until the step that is due; known after the first kill
    for number in range(1, kills + 1):
        if startup and rng.random() < _SHARE_OF_EARLY_KILLS:
            seconds = rng.uniform(0.0, startup)
            run.kill_at(seconds)
            how = f"{seconds:.1f} s after its start"
        else:
            begun = time.monotonic()
            due = max(1, steps * number // (kills + 1))
            # At once where the run is ahead: it mustn't end before the last kill.
            delay = rng.uniform(0.0, _LONGEST_DELAY) if run.step() <= due else 0.0
            last = run.kill_after(due, delay)
            startup = time.monotonic() - begun
            how = f"after step {last}"
        print(
            f"kill {number} of {kills} {how}; newest checkpoint: step {run.step()}; "
            f"{time.monotonic() - started:.0f} s",
            flush=True,
        )


def differences(run: Run, expected: Run) -> list[str]:
    """What differs at the end of two runs."""
    found, wanted = run.values(), expected.values()
    names = sorted(set(found) ^ set(wanted))
    differing = [f"{name} is in one run only" for name in names]
    for name in sorted(set(found) & set(wanted)):
        if found[name].tobytes() != wanted[name].tobytes():
            distance = np.abs(np.asarray(found[name], "f8") - wanted[name]).max()
            differing.append(f"{name} differs by {distance:.3g}")
    if run.losses() != expected.losses():
        differing.append("the loss curves differ")
    return differing


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1, help="of the moments")
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="t2t_soak_"))
    print(f"Everything is in {folder}")
    (folder / "soak_problems").mkdir()
    (folder / "soak_problems" / "__init__.py").write_text(_USER_MODULE)
    whole, killed = (Run(folder, name, arguments.steps) for name in ("whole", "killed"))
    whole.finish("--generate_data")
    print(f"The undisturbed run is at step {whole.step()}", flush=True)
    kill_again_and_again(killed, arguments.kills, arguments.steps, random.Random(arguments.seed))
    killed.finish()
    leftovers = [name for name in os.listdir(killed.output_dir) if "tmp" in name.lower()]
    leftovers += [name for name in os.listdir(killed.output_dir) if name.startswith(".saving")]
    differing = differences(killed, whole)
    print(
        f"{len(whole.values())} variables and {len(whole.losses())} losses after "
        f"{arguments.kills} kills: {'; '.join(differing) or 'identical'}. "
        f"Left behind: {', '.join(leftovers) or 'nothing'}"
    )
    if differing:
        sys.exit(1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
