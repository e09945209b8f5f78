r"""Trains and evaluates a model.

    t2t-trainer --data_dir=DATA --problem=translate_ende_wmt32k --model=transformer \
        --hparams_set=transformer_base --output_dir=OUTPUT --train_steps=250000

The same command again goes on where the run stopped. `--schedule` chooses what is done: train,
continuous_train_and_eval (the default), train_and_evaluate, evaluate, ….
"""

import functools
import glob
import os
import random
import sys
from typing import Any

from absl import flags, logging

from t2t_keras import hparam_checks, hparams_lib, registry
from t2t_keras.bin import (
    command_line,
    distribution_flags,
    environment,
    flag_checks,
    run_hparams,
    validation_flags,
)
from t2t_keras.bin import flags as t2t_flags
from t2t_keras.data import source_options

FLAGS = flags.FLAGS

_REQUIRED = ("output_dir", "problem", "model", "hparams_set", "data_dir")
# Flags that do something only beside one of others.
_ONLY_BESIDE = {
    "max_xla_shapes": ("xla_compile", "use_tpu"),
    "xla_compile_first": ("xla_compile", "use_tpu"),
    "best_checkpoints_to_keep": ("best_checkpoint_metric",),
}
_AT_LEAST_0 = (
    "train_steps",
    "worker_gpu",
    "worker_id",
    "keep_checkpoint_max",
    "keep_checkpoint_every_n_hours",
    "save_checkpoints_secs",
    "local_eval_frequency",
    "iterations_per_loop",
    "log_step_count_steps",
    "max_xla_shapes",
    "effective_batch_tokens",
    "inter_op_parallelism_threads",
    "intra_op_parallelism_threads",
)
# They read what another run has written.
_ONLY_EVALUATE = ("evaluate", "evaluate_on_train_data")


def define_flags() -> None:
    """Defines the trainer's flags."""
    t2t_flags.define_trainer_flags()


def main(argv: list[str]) -> None:
    """Runs the schedule that the flags ask for."""
    del argv
    flag_checks.require(*_REQUIRED)
    from t2t_keras.training.run_config import TRAINING_SCHEDULES, check_schedule

    check_schedule(FLAGS.schedule)
    _refuse_bad_values()
    _warn_of_idle_flags()
    validation_flags.refuse_bad_flags()
    if FLAGS.schedule in (*TRAINING_SCHEDULES, "test"):
        _refuse_another_run()
    # Mistakes are told before anything slow, and before anything is written.
    distribution_flags.cluster()
    hparams = run_hparams.create(FLAGS.output_dir)
    hparam_checks.check_accumulation(hparams, FLAGS.effective_batch_tokens)
    validation_flags.refuse_unknown_metrics(registry.problem(FLAGS.problem))
    if FLAGS.use_tpu:
        distribution_flags.refuse_tpu_conflicts()
        environment.load_tensorflow()
        distribution_flags.tpu()
    if FLAGS.generate_data:
        _generate_data()
    if not os.path.isdir(FLAGS.data_dir):
        raise FileNotFoundError(
            "data_dir is no directory; run t2t-datagen, or add --generate_data. "
            f"Received: {FLAGS.data_dir}"
        )
    # Only now: the problem's hyperparameters depend on its vocabulary.
    hparams_lib.add_problem_hparams(hparams, FLAGS.problem)
    translation_check = validation_flags.translation_check(hparams)
    validation_flags.require_data(hparams.problem)
    _configure_tensorflow()
    from t2t_keras.training.trainer import Trainer

    describes_run = FLAGS.schedule in TRAINING_SCHEDULES and FLAGS.worker_id == 0
    on_ready = functools.partial(save_metadata, hparams) if describes_run else None
    trainer = Trainer(
        hparams,
        FLAGS.model,
        run_config(),
        on_ready=on_ready,
        translation_check=translation_check,
    )
    outcome = trainer.run(FLAGS.schedule)
    exit_status = getattr(outcome, "exit_status", 0)
    if exit_status:
        sys.exit(exit_status)


def _refuse_bad_values() -> None:
    flag_checks.require_at_least(0, *_AT_LEAST_0)
    flag_checks.require_at_least(-1, "eval_timeout_mins")
    if FLAGS.on_nan not in ("stop", "skip"):
        raise command_line.UsageError(f"--on_nan must be stop or skip. Received: {FLAGS.on_nan!r}")
    if FLAGS.eval_steps == 0 and FLAGS.schedule not in ("train", "test"):
        raise command_line.UsageError(
            "--eval_steps must be 1 or more, or -1 for the whole data set. Received: 0"
        )
    t2t_flags.check_source_flags()
    flag_checks.require_can_be_made("output_dir")
    if FLAGS.schedule in _ONLY_EVALUATE:
        flag_checks.require_directories("output_dir")
        flag_checks.require_checkpoint("output_dir")
    elif not flag_checks.has_checkpoint(FLAGS.output_dir):
        flag_checks.require_checkpoint("warm_start_from")


def _warn_of_idle_flags() -> None:
    for name, others in _ONLY_BESIDE.items():
        if FLAGS[name].present and not any(FLAGS[other].value for other in others):
            logging.warning("--%s has no effect without --%s.", name, others[0])


def _refuse_another_run() -> None:
    """A run in the output directory can only be gone on with as what it is."""
    path = os.path.join(FLAGS.output_dir, "flags.txt")
    if not os.path.isfile(path) or not glob.glob(
        os.path.join(glob.escape(FLAGS.output_dir), "*.index")
    ):
        return
    remembered = command_line.read_flags_file(path)
    for name in ("problem", "model"):
        of_run = remembered.get(name)
        if of_run and of_run != FLAGS[name].value:
            raise command_line.UsageError(
                f"{FLAGS.output_dir} holds a run with --{name}={of_run}. Train another {name} in "
                "another --output_dir; to start it from this run's weights, add "
                f"--warm_start_from={FLAGS.output_dir}. Received: --{name}={FLAGS[name].value}"
            )


def _generate_data() -> None:
    """Makes the problem's data, as t2t-datagen does with one process."""
    random.seed(FLAGS.random_seed)
    base_name = registry.parse_problem_name(FLAGS.problem).base
    logging.info("Generating data for %s", base_name)
    with (
        flag_checks.made_directories(data_dir=FLAGS.data_dir, tmp_dir=FLAGS.tmp_dir),
        source_options.use(t2t_flags.source_options()),
    ):
        registry.problem(base_name).generate_data(FLAGS.data_dir, FLAGS.tmp_dir)


def _configure_tensorflow() -> None:
    """Thread numbers, device logging and memory growth must be set before the first operation."""
    environment.load_tensorflow()
    import tensorflow as tf

    if FLAGS.inter_op_parallelism_threads:
        tf.config.threading.set_inter_op_parallelism_threads(FLAGS.inter_op_parallelism_threads)
    if FLAGS.intra_op_parallelism_threads:
        tf.config.threading.set_intra_op_parallelism_threads(FLAGS.intra_op_parallelism_threads)
    if FLAGS.log_device_placement:
        tf.debugging.set_log_device_placement(True)
    distribution_flags.configure_gpus()
    for gpu in tf.config.get_visible_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)


def run_config() -> Any:
    """The run's settings as the flags have them."""
    from t2t_keras.training.run_config import RunConfig

    return RunConfig(
        output_dir=FLAGS.output_dir,
        data_dir=FLAGS.data_dir,
        train_steps=FLAGS.train_steps,
        eval_steps=FLAGS.eval_steps,
        num_replicas=max(FLAGS.worker_gpu, 1),
        cluster=distribution_flags.cluster(),
        tpu=distribution_flags.tpu(),
        random_seed=FLAGS.random_seed,
        jit_compile=FLAGS.xla_compile or FLAGS.use_tpu,
        max_xla_shapes=FLAGS.max_xla_shapes,
        compile_all_shapes_first=FLAGS.xla_compile_first,
        effective_batch_tokens=FLAGS.effective_batch_tokens,
        on_nan=FLAGS.on_nan,
        local_eval_frequency=FLAGS.local_eval_frequency,
        iterations_per_loop=FLAGS.iterations_per_loop,
        save_checkpoints_secs=FLAGS.save_checkpoints_secs,
        keep_checkpoint_max=FLAGS.keep_checkpoint_max,
        keep_checkpoint_every_n_hours=FLAGS.keep_checkpoint_every_n_hours,
        log_step_count_steps=FLAGS.log_step_count_steps,
        eval_throttle_seconds=FLAGS.eval_throttle_seconds,
        eval_use_test_set=FLAGS.eval_use_test_set,
        eval_timeout_mins=FLAGS.eval_timeout_mins,
        warm_start_from=FLAGS.warm_start_from,
        **validation_flags.settings(),
    )


def save_metadata(hparams: Any) -> None:
    """Writes flags.txt, flags_t2t.txt and hparams.json into the output directory."""
    from t2t_keras.training.trainer import declare

    described = {
        "model_dir": FLAGS.output_dir,
        "data_dir": FLAGS.data_dir,
        "train_steps": FLAGS.train_steps,
        "eval_steps": FLAGS.eval_steps,
        "schedule": FLAGS.schedule,
        "warm_start_from": FLAGS.warm_start_from,
        "std_server_protocol": FLAGS.std_server_protocol,
        "eval_freq_in_steps": FLAGS.local_eval_frequency,
        "eval_timeout_mins": FLAGS.eval_timeout_mins,
    }
    for name, value in described.items():
        declare(hparams, name, value)
    command_line.save_flags(FLAGS.output_dir)
    hparams_lib.save_hparams(hparams, FLAGS.output_dir)


def entry_point() -> None:
    """The console script `t2t-trainer`."""
    command_line.run(main, define_flags, hparam_arguments=True)


if __name__ == "__main__":
    entry_point()
