"""What a run of the trainer is told beside the hyperparameters."""

import dataclasses

from t2t_keras.names import did_you_mean
from t2t_keras.training.cluster import Cluster

__all__ = ["ON_NAN", "DECODING_SCHEDULES", "SCHEDULES", "RunConfig", "check_schedule"]

# Schedules and the trainer's method of each.
SCHEDULES = {
    "train": "train",
    "continuous_train_and_eval": "continuous_train_and_eval",
    "train_and_evaluate": "train_and_evaluate",
    "train_eval_and_decode": "train_and_evaluate",
    "evaluate": "evaluate",
    "evaluate_on_train_data": "evaluate_on_train_data",
    "continuous_eval": "continuous_eval",
    "continuous_eval_on_train_data": "continuous_eval_on_train_data",
    "test": "test",
}

# What a step with a loss of NaN may do.
ON_NAN = ("stop", "skip")

# Their runs leave flags.txt, flags_t2t.txt and hparams.json in the output directory.
TRAINING_SCHEDULES = (
    "train",
    "train_and_evaluate",
    "continuous_train_and_eval",
    "train_eval_and_decode",
)

DECODING_SCHEDULES = (
    "decode",
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
        num_replicas: replicas of this process, one a GPU (or logical CPU device). Each takes an
            equal part of a global batch.
        cluster: the workers of the run, all with as many replicas; None: this process alone.
        tpu: address of a TPU, as from `tpu.find_tpu`, whose cores are then the replicas.
        random_seed: None draws one; the run then keeps it when it is resumed.
        jit_compile: whether XLA compiles the step; batches are then padded to their bucket.
        effective_batch_tokens: tokens of an update: gradients are accumulated over as many
            micro-batches, of `batch_size` on each replica, as come nearest to it; 0 for one.
        on_nan: what happens at a step whose loss or gradients are NaN or infinite: "stop" ends
            training, "skip" leaves the step out.
        max_xla_shapes: so many shapes of batches at most are compiled: neighbouring buckets are
            joined; 0 for no limit.
        compile_all_shapes_first: whether all shapes are compiled before the first step, not each at
            the first batch that has it.
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
        translate_every_evaluations: evaluations from one that also translates to the next, and the
            last one; 0 for none. The trainer must be given something to translate.
        best_checkpoint_metric: result of evaluations by which `best/` is kept: `loss`, a metric of
            the problem or a score of translations; "" for no `best/`.
        best_checkpoints_to_keep: how many checkpoints stay in `best/`.
        early_stopping_steps: training ends when the metric below hasn't improved for so many steps;
            None for never.
        early_stopping_metric: a result of evaluations, as above.
        early_stopping_delta: the least change that is an improvement.
        early_stopping_minimize: T2T's way to say which direction is better; it is known, and
            another one is ignored with a message.
    """

    output_dir: str
    data_dir: str
    train_steps: int = 250000
    eval_steps: int | None = 100
    num_replicas: int = 1
    cluster: Cluster | None = None
    tpu: str | None = None
    random_seed: int | None = None
    jit_compile: bool = False
    effective_batch_tokens: int = 0
    on_nan: str = "stop"
    max_xla_shapes: int = 16
    compile_all_shapes_first: bool = False
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
    translate_every_evaluations: int = 0
    best_checkpoint_metric: str = ""
    best_checkpoints_to_keep: int = 1
    early_stopping_steps: int | None = None
    early_stopping_metric: str = "loss"
    early_stopping_delta: float = 0.1
    early_stopping_minimize: bool | None = None

    def __post_init__(self) -> None:
        """Raises `ValueError` for an unknown `on_nan`."""
        if self.on_nan not in ON_NAN:
            raise ValueError(
                f"on_nan must be one of {', '.join(ON_NAN)}. Received: {self.on_nan!r}"
            )

    @property
    def total_replicas(self) -> int:
        """Replicas of all workers."""
        return self.num_replicas * (len(self.cluster.workers) if self.cluster else 1)

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
