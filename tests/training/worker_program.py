"""One worker, or a single process, of a small training run; TF_CONFIG says which.

Arguments: data directory, output directory, replicas, last step, schedule, and `signal@step`
entries: the process sends itself that signal after that step.
"""

import os
import signal
import sys

import keras

from t2t_keras.training.cluster import read_tf_config
from t2t_keras.training.trainer import Trainer
from tests.training import toy


class SignalSelf(keras.callbacks.Callback):
    def __init__(self, number, step):
        super().__init__()
        self.number, self.step = number, step

    def on_train_batch_end(self, batch, logs=None):
        if batch + 1 == self.step:
            os.kill(os.getpid(), self.number)


def main():
    data_dir, output_dir, replicas, last_step, schedule, *signals = sys.argv[1:]
    callbacks = []
    for entry in signals:
        name, _, step = entry.partition("@")
        callbacks.append(SignalSelf(signal.Signals[name], int(step)))
    config = toy.make_config(
        output_dir,
        data_dir,
        num_replicas=int(replicas),
        cluster=read_tf_config(os.environ.get("TF_CONFIG")),
        train_steps=int(last_step),
        eval_start_delay_seconds=0,
    )
    trainer = Trainer(toy.make_hparams(data_dir), "transformer", config, callbacks)
    outcome = trainer.run(schedule)
    print("signal", outcome.signal_number)


if __name__ == "__main__":
    main()
