"""Finding a TPU, and the strategy that trains on it.

Not tried on a TPU: written from TensorFlow's documentation, for a TPU VM with its `tensorflow-tpu`
build. The step that runs there is the same program for all cores, so a core's number is a tensor.
"""

import glob
import socket
import urllib.parse

import tensorflow as tf
from absl import logging

__all__ = ["LOCAL", "find_tpu", "tpu_strategy"]

# TensorFlow's name for the TPU of the machine itself.
LOCAL = "local"
_CONNECT_SECONDS = 10.0
# Device files of a TPU VM, older and newer generations.
_DEVICE_FILES = ("/dev/accel*", "/dev/vfio/[0-9]*")


def find_tpu(name: str | None = None, master: str = "") -> str:
    """The address of a TPU that answers.

    Args:
        name: of a Cloud TPU; None or "local" for this machine's.
        master: its address, `grpc://host:port`, instead of the name.

    Returns:
        "local" or `grpc://host:port`.

    Raises:
        ValueError: there is none.
    """
    if not master and name in (None, "", LOCAL):
        if tf.config.list_physical_devices("TPU"):
            return LOCAL
        found = [path for pattern in _DEVICE_FILES for path in glob.glob(pattern)]
        cause = "This TensorFlow sees no TPU; it takes the build tensorflow-tpu"
        raise ValueError(
            f"{cause if found else 'There is no TPU on this machine'}. Without --use_tpu the same "
            "program runs on GPU or CPU; a TPU elsewhere is named by --master=grpc://host:port or "
            f"--cloud_tpu_name. Received: use_tpu, with {', '.join(found) or 'no TPU devices'}"
        )
    address = master or _address_of(str(name))
    parts = urllib.parse.urlparse(address if "://" in address else f"grpc://{address}")
    try:
        if not parts.hostname or not parts.port:
            raise OSError("no address of the form grpc://host:port")
        socket.create_connection((parts.hostname, parts.port), _CONNECT_SECONDS).close()
    except (OSError, ValueError) as error:
        raise ValueError(
            f"No TPU answers ({error}). Without --use_tpu the same program runs on GPU or CPU. "
            f"Received: {address!r}"
        ) from error
    return f"grpc://{parts.hostname}:{parts.port}"


def _address_of(name: str) -> str:
    try:
        return str(tf.distribute.cluster_resolver.TPUClusterResolver(tpu=name).master())
    except Exception as error:  # It depends on which client of Google's cloud is installed.
        raise ValueError(
            f"No Cloud TPU by this name can be found ({error}). Give its address instead, "
            f"--master=grpc://host:port. Received: {name!r}"
        ) from error


def tpu_strategy(address: str) -> tf.distribute.Strategy:
    """A strategy over all cores of a TPU; before TensorFlow's first operation.

    Args:
        address: as from `find_tpu`.
    """
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=address)
    if address != LOCAL:
        tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    logging.info("TPU %s with %d cores", address, strategy.num_replicas_in_sync)
    return strategy
