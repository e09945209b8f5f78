"""Worker: training steps of t2t_keras, the trainer's own, on the CPU."""

import os
import sys

import worker

sys.path.insert(1, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir))


def main():
    """Builds the model and serves."""
    from training_step import Work, make_train_step, random_batch, timed_step

    arguments = worker.parse_arguments(__doc__)
    from t2t_keras.bin import environment

    environment.prepare_environment()
    environment.load_tensorflow()
    import keras
    import tensorflow as tf

    work = Work(
        arguments.hparams_set,
        arguments.vocabulary,
        arguments.sentences,
        arguments.length,
        arguments.hparams,
    )
    step, batch = make_train_step(work, arguments.xla), random_batch(work)
    worker.serve(
        lambda: timed_step(step, batch),
        version=f"tensorflow {tf.__version__}, keras {keras.__version__}",
    )


if __name__ == "__main__":
    main()
