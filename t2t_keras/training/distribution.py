"""Where the replicas of a step run: one device, several GPUs, several machines, or a TPU.

Where GPUs are missing, replicas run on logical devices of the CPU, by the same code.
"""

import contextlib
import logging as std_logging
from collections.abc import Iterator
from typing import Any

import tensorflow as tf
from absl import logging

from t2t_keras.training.cluster import Cluster
from t2t_keras.training.tpu import tpu_strategy

__all__ = ["make_strategy", "use_gpus"]


def make_strategy(
    num_replicas: int = 1, cluster: Cluster | None = None, tpu: str | None = None
) -> tf.distribute.Strategy:
    """The strategy under which model and optimizer are made.

    Several replicas run on that many GPUs or, where there are fewer, on as many logical devices of
    the CPU (useful for tests: it isn't faster). The variables are mirrored.

    Args:
        num_replicas: how many in this process; 0 or 1 for one without the overhead of a
            distributed step.
        cluster: this process and its peers, each with `num_replicas`; None for a single process.
            With a cluster the call must come before TensorFlow's first operation.
        tpu: address of a TPU, as from `tpu.find_tpu`; its cores are the replicas then.

    Raises:
        ValueError: TensorFlow already runs, with too few logical CPU devices or without peers.
    """
    if tpu is not None:
        return tpu_strategy(tpu)
    if cluster is not None or num_replicas > 1:
        tf.get_logger().addFilter(_is_no_note_of_distribution)
    if cluster is not None:
        return _multi_worker_strategy(max(num_replicas, 1), cluster)
    if num_replicas <= 1:
        return tf.distribute.get_strategy()
    kind = _kind_of_devices(num_replicas)
    devices = [f"{kind}:{number}" for number in range(num_replicas)]
    if kind == "CPU":
        _ensure_logical_cpus(num_replicas)
    return tf.distribute.MirroredStrategy(devices, cross_device_ops=_cross_device_ops(kind))


def _is_no_note_of_distribution(record: std_logging.LogRecord) -> bool:
    """Holds back how TensorFlow routes each sum ("Reduce to …"); warnings pass."""
    return record.levelno >= std_logging.WARNING or "/distribute/" not in record.pathname


def _kind_of_devices(num_replicas: int) -> str:
    gpus = tf.config.get_visible_devices("GPU")
    if len(gpus) >= num_replicas:
        return "GPU"
    if gpus:
        logging.warning("%d GPUs for %d replicas: using the CPU.", len(gpus), num_replicas)
    return "CPU"


def _cross_device_ops(kind: str) -> Any:
    """NCCL joins GPUs; on logical CPUs the sums are plain additions."""
    return None if kind == "GPU" else tf.distribute.ReductionToOneDevice()


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


def _multi_worker_strategy(num_replicas: int, cluster: Cluster) -> tf.distribute.Strategy:
    """A strategy over all workers; returns once they have all called it.

    Every worker has the same number of replicas. TensorFlow's coordination service, in the first
    worker's process, notices within about ten seconds when one ends; the others' next sum of
    gradients then raises an error.
    """
    kind = _kind_of_devices(num_replicas)
    if kind == "CPU" and num_replicas > 1:
        _ensure_logical_cpus(num_replicas)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
        tf.train.ClusterSpec({"worker": list(cluster.workers)}),
        task_type="worker",
        task_id=cluster.index,
        num_accelerators={"GPU": num_replicas} if kind == "GPU" else {},
        rpc_layer="grpc",
    )
    logging.info(
        "This is worker %d of %s, with %d replica(s). Waiting for all workers.",
        cluster.index, ", ".join(cluster.workers), num_replicas,
    )  # fmt: skip
    try:
        with _cpu_replicas(num_replicas) if kind == "CPU" else contextlib.nullcontext():
            return tf.distribute.MultiWorkerMirroredStrategy(cluster_resolver=resolver)
    except RuntimeError as error:
        raise ValueError(
            "Workers must find each other before TensorFlow runs its first operation in this "
            f"process. Received: {error}"
        ) from error


@contextlib.contextmanager
def _cpu_replicas(count: int) -> Iterator[None]:
    """Lets a strategy over several workers have several CPU replicas in each.

    TensorFlow gives a worker without GPUs one replica. More have no use but this: a cluster of
    many GPUs can be tried, and tested, on one machine. No public setting does it: the devices are
    chosen by a private method, which is replaced while the strategy is made. It is there in the
    TensorFlow releases that this package allows.
    """
    from tensorflow.python.distribute import collective_all_reduce_strategy

    def local_devices(
        self: Any, cluster_resolver: Any, worker_device: str
    ) -> tuple[tuple[str, ...], str]:
        del self, cluster_resolver
        return tuple(f"{worker_device}/device:CPU:{number}" for number in range(count)), "CPU"

    extended = collective_all_reduce_strategy.CollectiveAllReduceExtended
    original = extended._initialize_local_devices
    extended._initialize_local_devices = local_devices
    try:
        yield
    finally:
        extended._initialize_local_devices = original


def use_gpus(count: int, order: str = "") -> None:
    """Chooses this process's GPUs; before TensorFlow's first operation.

    Args:
        count: how many are wanted; 0 for none.
        order: their numbers, separated by blanks, the first replica's first: "1 3 2 0". Empty for
            0, 1, 2, ….

    Raises:
        ValueError: `order` isn't made of different numbers of GPUs of this machine, or has fewer
            than `count`.
    """
    gpus = tf.config.list_physical_devices("GPU")
    if not order.strip() or not count:
        tf.config.set_visible_devices(gpus[:count] if count < len(gpus) else gpus, "GPU")
        return
    words = order.split()
    numbers = [int(word) for word in words if word.isdecimal()]
    if len(numbers) < len(words) or len(set(numbers)) < len(numbers):
        raise ValueError(
            "The order of GPUs is written as different numbers with blanks between them, as in "
            f"'1 3 2 0'. Received: {order!r}"
        )
    if not gpus:
        logging.warning("There are no GPUs here whose order could be %s.", order)
        return
    if max(numbers) >= len(gpus) or len(numbers) < count:
        raise ValueError(
            f"The order names GPUs that don't exist, or fewer than the {count} replicas. "
            f"Received: {order!r}; there are {len(gpus)} GPUs"
        )
    tf.config.set_visible_devices([gpus[number] for number in numbers], "GPU")
