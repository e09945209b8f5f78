"""What the flags and TF_CONFIG say about where a run computes: GPUs, other machines, a TPU."""

from __future__ import annotations

import os
from typing import Any

from absl import flags

from t2t_keras.bin import command_line

FLAGS = flags.FLAGS


def cluster() -> Any:
    """The run's workers, a `training.cluster.Cluster`; None if it is this process alone.

    TF_CONFIG counts for schedules that train. The others are single processes beside the cluster.

    Raises:
        ValueError: TF_CONFIG can't be used, or not together with the other flags.
    """
    from t2t_keras.training.cluster import read_tf_config
    from t2t_keras.training.run_config import TRAINING_SCHEDULES

    if FLAGS.schedule not in (*TRAINING_SCHEDULES, "test"):
        return None
    found = read_tf_config(os.environ.get("TF_CONFIG"))
    if found is not None and FLAGS.generate_data:
        raise command_line.UsageError(
            "Workers can't all make the same data. Run t2t-datagen first, and the workers without "
            "--generate_data. Received: --generate_data, and TF_CONFIG with "
            f"{len(found.workers)} workers"
        )
    return found


def refuse_tpu_conflicts() -> None:
    """Raises `UsageError` for flags that don't go together with `--use_tpu`."""
    if FLAGS.schedule != "train":
        raise command_line.UsageError(
            "A TPU trains only: use --schedule=train, and evaluate in another process, on GPU or "
            f"CPU, with --schedule=continuous_eval. Received: --schedule={FLAGS.schedule}"
        )
    if cluster() is not None:
        raise command_line.UsageError(
            "--use_tpu is for one process; unset TF_CONFIG. Received: both"
        )


def tpu() -> str | None:
    """Address of the TPU that `--use_tpu` asks for; None without that flag.

    Raises:
        ValueError: there is none, or it can't be used together with the other flags.
    """
    if not FLAGS.use_tpu:
        return None
    refuse_tpu_conflicts()
    from t2t_keras.training.tpu import find_tpu

    name = FLAGS.cloud_tpu_name if FLAGS["cloud_tpu_name"].present else None
    return find_tpu(name, FLAGS.master)


def configure_gpus() -> None:
    """Chooses the GPUs that `--worker_gpu` and `--gpu_order` ask for."""
    from t2t_keras.training.distribution import use_gpus

    use_gpus(FLAGS.worker_gpu, FLAGS.gpu_order)
