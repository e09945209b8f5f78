"""The workers of a run among themselves: what they must agree on, and what only one does.

Every worker reads the same batches in the same order, trains on its replicas' parts of them and
holds the same weights. Worker 0, the chief, alone writes and evaluates; the others meanwhile wait
for it in the next step's sum of gradients.
"""

import contextlib
import dataclasses
import glob
import os
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import tensorflow as tf
from absl import logging

from t2t_keras.data.modes import ModeKeys
from t2t_keras.training.cluster import Cluster
from t2t_keras.training.interruption import Interruption
from t2t_keras.training.run_config import RunConfig

__all__ = ["WorkerLostError", "Workers"]

# Steps between two questions whether somebody wants to stop. Every question waits for all workers,
# which they do in every step anyway, but also for the results of the steps before.
STEPS_BETWEEN_QUESTIONS = 10
# Above all signals' numbers: stop in the ordinary way.
_STOP_WITHOUT_SIGNAL = 1000
# Of a `RunConfig`: each worker has its own number and may mount directories elsewhere; the chief's
# seed is everybody's.
_SETTINGS_OF_ONE_WORKER = ("cluster", "output_dir", "data_dir", "warm_start_from", "random_seed")
# Of a message's quotation, in characters.
_LONGEST_VALUE = 300
# Of a value that another worker tells: a multiple of the bytes that go into one whole number.
_LONGEST_ANSWER = 42
_BYTES_AT_ONCE = 7
_WAY_OUT = (
    "All workers must be started with the same flags, on copies of the same data, and with an "
    "output_dir that they share."
)


class WorkerLostError(ConnectionError):
    """Another worker has ended or doesn't answer; what this process holds can't be saved."""


class Workers:
    """All workers of a run, seen from one of them. A run without a cluster has one worker.

    Args:
        strategy: the run's.
        cluster: None for a single process.
    """

    def __init__(self, strategy: tf.distribute.Strategy, cluster: Cluster | None) -> None:
        self.strategy = strategy
        self._cluster = cluster
        self._gather_function: Any = None
        self._has_asked = False

    @property
    def is_chief(self) -> bool:
        """Whether this process writes files and evaluates."""
        return self._cluster is None or self._cluster.is_chief

    def _gather(self, value: int) -> np.ndarray:
        """Every worker's value, int64 `[workers]`; waits for all."""
        if self._cluster is None:
            return np.array([value], np.int64)
        own = np.zeros([len(self._cluster.workers)], np.int64)
        own[self._cluster.index] = value
        if self._gather_function is None:
            self._gather_function = tf.function(self._sum_over_workers)
        with self.explained():
            return self._gather_function(tf.constant(own)).numpy()

    def _sum_over_workers(self, values: tf.Tensor) -> tf.Tensor:
        def one_replica(values: tf.Tensor) -> tf.Tensor:
            context = tf.distribute.get_replica_context()
            # One replica a worker counts; local numbers are 0, 1, ….
            is_first = _number_within_worker(context) == 0
            # Not the argument itself: a sum needs to know on which device its parts are.
            values = tf.identity(values) if is_first else tf.zeros_like(values)
            return context.all_reduce(tf.distribute.ReduceOp.SUM, values)

        results = self.strategy.run(one_replica, args=(values,))
        return self.strategy.experimental_local_results(results)[0]

    def from_chief(self, value: int) -> int:
        """The chief's value, on every worker."""
        return int(self._gather(value)[0])

    def barrier(self) -> None:
        """Waits until all workers are here."""
        self._gather(0)

    def require_same_run(self, hparams: Any, config: RunConfig, restored_from: str | None) -> None:
        """Makes sure that all workers do the same, on the same data, from the same checkpoint.

        Args:
            hparams: with `problem`.
            config: settings of the run.
            restored_from: the checkpoint found in the output directory, or None.

        Raises:
            ValueError: they don't.
        """
        if self._cluster is None:
            return
        step = os.path.basename(restored_from) if restored_from else "none"
        self.require_equal("newest checkpoint in output_dir", step)
        self._require_equal_values("settings", _comparable_settings(config))
        self._require_equal_values("hyperparameters", _comparable_hparams(hparams))
        files = sorted(glob.glob(hparams.problem.filepattern(config.data_dir, ModeKeys.TRAIN)))
        sizes = {os.path.basename(path): os.path.getsize(path) for path in files}
        self.require_equal("set of training files", sizes)

    def _require_equal_values(self, what: str, values: Mapping[str, Any]) -> None:
        """Makes sure that all workers have the same values; names those that differ.

        Raises:
            ValueError: on every worker, if they haven't.
        """
        if not self._differing(values).size:
            return
        self.require_equal(f"list of {what}", list(values))
        # Asked again one by one, by all workers.
        different = [name for name, value in values.items() if self._differing(value).size]
        descriptions = [f"{name} is {self._answers(values[name])}" for name in different]
        raise ValueError(
            f"The workers have different {what}: {'; '.join(descriptions)}. {_WAY_OUT}"
        )

    def _answers(self, value: Any) -> str:
        """All workers' values, each with the numbers of the workers that have it."""
        workers_of: dict[str, list[str]] = {}
        for number, answer in enumerate(self._gather_text(str(value))):
            workers_of.setdefault(answer, []).append(str(number))
        return ", ".join(f"{text} at worker {', '.join(at)}" for text, at in workers_of.items())

    def _gather_text(self, text: str) -> list[str]:
        """Every worker's text, as far as it is shown."""
        size = _BYTES_AT_ONCE
        own = text.encode("utf-8")[:_LONGEST_ANSWER].ljust(_LONGEST_ANSWER, b"\0")
        pieces = [
            self._gather(int.from_bytes(own[start : start + size], "big"))
            for start in range(0, _LONGEST_ANSWER, size)
        ]
        answers = [
            b"".join(int(number).to_bytes(size, "big") for number in numbers)
            for numbers in zip(*pieces, strict=True)
        ]
        return [answer.rstrip(b"\0").decode("utf-8", "replace") for answer in answers]

    def _differing(self, value: Any) -> np.ndarray:
        """Numbers of the workers that don't have what worker 0 has."""
        numbers = self._gather(zlib.crc32(repr(value).encode("utf-8")))
        return np.flatnonzero(numbers != numbers[0])

    def require_equal(self, what: str, value: Any) -> None:
        """Makes sure that all workers have the same.

        Raises:
            ValueError: on every worker, if they don't.
        """
        if self._cluster is None:
            return
        differing = self._differing(value)
        if differing.size:
            text = str(value)
            raise ValueError(
                f"Worker {', '.join(map(str, differing))} has another {what} than worker 0. "
                f"{_WAY_OUT} Received, at worker {self._cluster.index}: {text[:_LONGEST_VALUE]}"
            )

    def should_stop(self, step: int, interruption: Interruption, stop_training: bool) -> bool:
        """Whether training ends after `step` steps: the same answer on all workers.

        A signal to one worker ends all; it may take `STEPS_BETWEEN_QUESTIONS` steps. The others'
        `interruption` then holds its number too.

        Args:
            step: steps done.
            interruption: whether this process has been asked to end.
            stop_training: whether it should end for another reason.
        """
        if self._cluster is None:
            return interruption.requested or stop_training
        if self._has_asked and step % STEPS_BETWEEN_QUESTIONS:
            return False
        self._has_asked = True
        wish = interruption.signal_number or (_STOP_WITHOUT_SIGNAL if stop_training else 0)
        wishes = [number for number in self._gather(wish) if number]
        if wishes and min(wishes) < _STOP_WITHOUT_SIGNAL and not interruption.requested:
            interruption.signal_number = int(min(wishes))
            logging.info("Another worker is asked to end: stopping here too.")
        return bool(wishes)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Turns TensorFlow's errors about lost workers into one that says what to do.

        Raises:
            WorkerLostError: another worker has ended or can't be reached.
        """
        try:
            yield
        except (
            tf.errors.UnavailableError,
            tf.errors.AbortedError,
            tf.errors.CancelledError,
            tf.errors.DeadlineExceededError,
            tf.errors.FailedPreconditionError,
            tf.errors.InternalError,
        ) as error:
            if self._cluster is None or not _tells_of_peers(error):
                raise
            index = self._cluster.index
            raise WorkerLostError(
                "Another worker of the run has ended or can't be reached; its log tells why. Start "
                "all workers again with the same commands: training goes on from the newest "
                f"checkpoint. Received, at worker {index} of {', '.join(self._cluster.workers)}: "
                f"{_gist(error)}"
            ) from error


def _number_within_worker(context: Any) -> int:
    """Number of a replica among those of its worker; by the strategy's device list."""
    strategy = context.strategy
    local_count = len(strategy.extended.worker_devices)
    number = context.replica_id_in_sync_group
    number = int(tf.get_static_value(number) if tf.is_tensor(number) else number)
    return number % local_count


def _comparable_settings(config: RunConfig) -> dict[str, Any]:
    """Names and values that are the same on all workers if the flags are."""
    return {
        field.name: getattr(config, field.name)
        for field in dataclasses.fields(config)
        if field.name not in _SETTINGS_OF_ONE_WORKER
    }


def _comparable_hparams(hparams: Any) -> dict[str, str]:
    """Names and values that are the same on all workers if the flags are."""
    return {
        name: str(value)
        for name, value in sorted(hparams.values().items())
        if isinstance(value, (bool, int, float, str)) and not name.endswith("_dir")
    }


def _tells_of_peers(error: tf.errors.OpError) -> bool:
    words = ("Collective ops", "collective", "remote", "/job:worker", "heartbeat", "unhealthy")
    return any(word in error.message for word in words)


def _gist(error: tf.errors.OpError) -> str:
    """The sentence of TensorFlow's message that isn't about nodes of a graph."""
    text = error.message.split("Collective ops is aborted by: ")[-1]
    return " ".join(text.split("\n\t")[0].split())[:300]
