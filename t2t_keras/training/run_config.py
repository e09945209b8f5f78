"""What a run of the trainer is told beside the hyperparameters."""

import dataclasses

from t2t_keras.names import did_you_mean

__all__ = ["DECODING_SCHEDULES", "SCHEDULES", "RunConfig", "check_schedule"]

# Schedules and the trainer's method of each.
SCHEDULES = {
    "train": "train",
    "continuous_train_and_eval": "continuous_train_and_eval",
    "train_and_evaluate": "train_and_evaluate",
    "evaluate": "evaluate",
    "evaluate_on_train_data": "evaluate_on_train_data",
    "continuous_eval": "continuous_eval",
    "continuous_eval_on_train_data": "continuous_eval_on_train_data",
    "test": "test",
}

# Their runs leave flags.txt, flags_t2t.txt and hparams.json in the output directory.
TRAINING_SCHEDULES = ("train", "train_and_evaluate", "continuous_train_and_eval")

DECODING_SCHEDULES = (
    "decode",
    "train_eval_and_decode",
    "continuous_decode",
    "continuous_decode_on_train_data",
    "continuous_decode_on_eval_data",
    "continuous_decode_from_file",
)


def check_schedule(name: str) -> None:
    """Raises `ValueError`, with near matches, unless the trainer has this schedule."""
    if name in DECODING_SCHEDULES:
        raise ValueError(
            f"The trainer doesn't decode; run t2t-decoder on its output_dir. Received: {name!r}"
        )
    if name not in SCHEDULES:
        raise ValueError(
            f"Unknown schedule.{did_you_mean(name, SCHEDULES)} Received: {name!r}; "
            f"available: {', '.join(SCHEDULES)}"
        )


@dataclasses.dataclass(frozen=True)
class RunConfig:
    """Settings of a run, with the trainer's defaults.

    Attributes:
        output_dir: checkpoints, summaries and evaluations.
        data_dir: the problem's records and vocabularies.
        train_steps: global step at which training ends, earlier runs included.
        eval_steps: batches of an evaluation at most; None or a negative number for all.
        num_replicas: equal parts of each global batch, one a GPU (or logical CPU device).
        random_seed: None draws one; the run then keeps it when it is resumed.
        jit_compile: whether XLA compiles the step; batches are then padded to their bucket.
        local_eval_frequency: steps between checkpoints (and validations).
        iterations_per_loop: lower bound of the steps between checkpoints.
        save_checkpoints_secs: seconds between checkpoints; if above 0, steps don't count.
        keep_checkpoint_max: newest checkpoints to keep; 0 for all.
        keep_checkpoint_every_n_hours: of older ones, one per so many hours is kept.
        save_summary_steps: steps between points of the training curves.
        log_step_count_steps: steps between lines of the log.
        eval_throttle_seconds: least time between two evaluations while training.
        eval_start_delay_seconds: no evaluation in the first seconds of training.
        eval_use_test_set: evaluate on the test split instead of the dev split.
        eval_timeout_mins: how long `continuous_eval` waits for a checkpoint; -1 for ever.
        eval_poll_seconds: how often it looks for one.
        warm_start_from: checkpoint whose variables a new run starts from.
    """

    output_dir: str
    data_dir: str
    train_steps: int = 250000
    eval_steps: int | None = 100
    num_replicas: int = 1
    random_seed: int | None = None
    jit_compile: bool = False
    local_eval_frequency: int = 1000
    iterations_per_loop: int = 100
    save_checkpoints_secs: int = 0
    keep_checkpoint_max: int = 20
    keep_checkpoint_every_n_hours: float = 10000
    save_summary_steps: int = 100
    log_step_count_steps: int = 100
    eval_throttle_seconds: float = 600
    eval_start_delay_seconds: float = 120
    eval_use_test_set: bool = False
    eval_timeout_mins: float = 240
    eval_poll_seconds: float = 60
    warm_start_from: str | None = None

    @property
    def save_checkpoints_steps(self) -> int:
        """Steps between checkpoints, T2T's way."""
        return max(self.iterations_per_loop, self.local_eval_frequency, 1)

    @property
    def max_eval_batches(self) -> int | None:
        """Batches of an evaluation at most; None for all."""
        if self.eval_steps is None or self.eval_steps < 0:
            return None
        return self.eval_steps
