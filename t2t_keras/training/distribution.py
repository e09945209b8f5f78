"""Where the replicas of a step run: one device, several GPUs, or several logical CPU devices."""

from typing import Any

import tensorflow as tf
from absl import logging

__all__ = ["make_strategy"]


def make_strategy(num_replicas: int = 1) -> tf.distribute.Strategy:
    """The strategy under which model and optimizer are made.

    Several replicas run on that many GPUs or, where there are fewer, on as many logical devices of
    the CPU (useful for tests: it isn't faster). The variables are mirrored.

    Args:
        num_replicas: how many; 0 or 1 for one without the overhead of a distributed step.

    Raises:
        ValueError: TensorFlow already runs with too few logical CPU devices.
    """
    if num_replicas <= 1:
        return tf.distribute.get_strategy()
    gpus = tf.config.list_physical_devices("GPU")
    if len(gpus) >= num_replicas:
        devices = [f"GPU:{number}" for number in range(num_replicas)]
    else:
        if gpus:
            logging.warning("%d GPUs for %d replicas: using the CPU.", len(gpus), num_replicas)
        _ensure_logical_cpus(num_replicas)
        devices = [f"CPU:{number}" for number in range(num_replicas)]
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=_cross_device_ops(devices))


def _cross_device_ops(devices: list[str]) -> Any:
    """NCCL joins GPUs; on logical CPUs the sums are plain additions."""
    return None if devices[0].startswith("GPU") else tf.distribute.ReductionToOneDevice()


def _ensure_logical_cpus(count: int) -> None:
    cpu = tf.config.list_physical_devices("CPU")[0]
    configured = tf.config.get_logical_device_configuration(cpu)
    if configured is not None and len(configured) >= count:
        return
    devices = [tf.config.LogicalDeviceConfiguration() for _ in range(count)]
    try:
        tf.config.set_logical_device_configuration(cpu, devices)
    except RuntimeError:
        available = len(tf.config.list_logical_devices("CPU"))
        if available < count:
            raise ValueError(
                f"{count} replicas on the CPU need {count} logical devices, which must be made "
                "before TensorFlow runs its first operation in this process. "
                f"Received: {available} logical devices"
            ) from None
