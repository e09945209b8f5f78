"""What workers agree on, with the other workers' answers made up."""

import concurrent.futures
import dataclasses
import re
import signal
import threading
import zlib

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training.cluster import Cluster
from t2t_keras.training.distribution import use_gpus
from t2t_keras.training.interruption import Interruption
from t2t_keras.training.session import TrainingSession
from t2t_keras.training.workers import STEPS_BETWEEN_QUESTIONS, WorkerLostError, Workers
from tests.training import toy

CLUSTER = Cluster(("a:1", "b:1", "c:1"), 1)


class MadeUpWorkers(Workers):
    """Worker 1 of 3; the others give fixed answers."""

    def __init__(self, first, last):
        super().__init__(tf.distribute.get_strategy(), CLUSTER)
        self.others, self.questions = (first, last), 0

    def _gather(self, value):
        self.questions += 1
        return np.array([self.others[0], value, self.others[1]], np.int64)


def interrupted(number=None):
    interruption = Interruption()
    interruption.signal_number = number
    return interruption


def test_a_single_process_stops_at_once():
    workers = Workers(tf.distribute.get_strategy(), None)
    assert workers.is_chief
    assert not workers.should_stop(7, interrupted(), False)
    assert workers.should_stop(7, interrupted(signal.SIGTERM), False)
    assert workers.should_stop(7, interrupted(), True)
    assert workers.from_chief(5) == 5


def test_a_signal_to_another_worker_is_taken_over():
    interruption = interrupted()
    assert MadeUpWorkers(0, int(signal.SIGTERM)).should_stop(20, interruption, False)
    assert interruption.signal_number == signal.SIGTERM


def test_another_worker_that_stops_early_is_no_signal():
    interruption = interrupted()
    workers = MadeUpWorkers(0, 0)
    workers.others = (1000, 0)
    assert workers.should_stop(20, interruption, False) and not interruption.requested


def test_own_wishes_wait_for_the_next_question():
    workers = MadeUpWorkers(0, 0)
    assert not workers.should_stop(3, interrupted(), False)  # The first call always asks.
    for step in range(4, STEPS_BETWEEN_QUESTIONS):
        assert not workers.should_stop(step, interrupted(signal.SIGTERM), True)
    assert workers.questions == 1
    assert workers.should_stop(STEPS_BETWEEN_QUESTIONS, interrupted(signal.SIGTERM), False)


def test_workers_of_different_runs_are_named():
    same = zlib.crc32(repr(4).encode())
    MadeUpWorkers(same, same).require_equal("step", 4)
    with pytest.raises(ValueError, match=r"Worker 2 has another step.*worker 1: 4"):
        MadeUpWorkers(same, same + 1).require_equal("step", 4)


class OneOfTwo(Workers):
    """A worker of two, each in a thread of its own."""

    def __init__(self, index, answers, both_are_here):
        super().__init__(tf.distribute.get_strategy(), Cluster(("a:1", "b:1"), index))
        self.index, self.answers, self.both_are_here = index, answers, both_are_here

    def _gather(self, value):
        self.answers[self.index] = value
        self.both_are_here.wait(timeout=60)
        gathered = np.array(self.answers, np.int64)
        self.both_are_here.wait(timeout=60)
        return gathered


def errors_of_two(data_dir, tmp_path, settings, **hparams_of_second):
    """What each of two workers says of the other's settings; None where it says nothing.

    The second worker has these settings and hyperparameters.
    """
    answers, both_are_here = [0, 0], threading.Barrier(2)

    def error_of(index):
        own = settings if index else {}
        config = toy.make_config(tmp_path, data_dir)
        workers = OneOfTwo(index, answers, both_are_here)
        config = dataclasses.replace(config, cluster=workers._cluster, **own)
        hparams = toy.make_hparams(data_dir)
        for name, value in hparams_of_second.items() if index else ():
            setattr(hparams, name, value)
        try:
            workers.require_same_run(hparams, config, None)
        except ValueError as error:
            return str(error)
        return None

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(error_of, range(2)))


@pytest.mark.parametrize(
    "setting",
    [
        {"train_steps": 13},
        {"jit_compile": True},
        {"num_replicas": 2},
        {"effective_batch_tokens": 512},
        {"on_nan": "skip"},
        {"max_xla_shapes": 2},
        {"compile_all_shapes_first": True},
        {"save_checkpoints_secs": 600},
    ],
)
def test_a_worker_with_other_settings_is_named(setting, data_dir, tmp_path):
    ((name, value),) = setting.items()
    usual = getattr(toy.make_config(tmp_path, data_dir), name)
    first, second = errors_of_two(data_dir, tmp_path, setting)
    wanted = f"different settings: {name} is {usual} at worker 0, {value} at worker 1. All workers"
    assert wanted in first and second == first


def test_different_hyperparameters_are_named_with_all_values(data_dir, tmp_path):
    usual = toy.make_hparams(data_dir).batch_size
    long = "x" * 60
    first, second = errors_of_two(
        data_dir, tmp_path, {}, batch_size=1024, layer_preprocess_sequence=long
    )
    assert second == first
    assert re.search(
        rf"different hyperparameters: batch_size is {usual} at worker 0, 1024 at worker 1; "
        r"layer_preprocess_sequence is n at worker 0, x{42} at worker 1\. All workers",
        first,
    )


def test_workers_may_differ_in_paths_and_seed(data_dir, tmp_path):
    other = {"output_dir": "/mnt/run", "warm_start_from": "/mnt/old", "random_seed": 5}
    assert errors_of_two(data_dir, tmp_path, other) == [None, None]


def test_ways_to_read_the_data_are_compared(data_dir, tmp_path, monkeypatch):
    compared = {}
    monkeypatch.setattr(
        Workers, "require_equal", lambda self, what, value: compared.update({what: value})
    )
    hparams = toy.make_hparams(data_dir)
    session = TrainingSession(hparams, "transformer", toy.make_config(tmp_path, data_dir))
    session.close()
    way = compared["way to read the data"]
    assert way["batches"]["batch_size"] == hparams.batch_size
    assert way["data"]["files"].startswith("2 files, ")


def test_lost_workers_are_explained_and_other_errors_are_not():
    workers = MadeUpWorkers(0, 0)
    message = "Collective ops is aborted by: Connection refused\nAdditional"
    with pytest.raises(WorkerLostError, match=r"newest checkpoint.*Connection refused"):
        with workers.explained():
            raise tf.errors.UnavailableError(None, None, message)
    with pytest.raises(tf.errors.InternalError):
        with workers.explained():
            raise tf.errors.InternalError(None, None, "a fault of the arithmetic")
    alone = Workers(tf.distribute.get_strategy(), None)
    with pytest.raises(tf.errors.UnavailableError):
        with alone.explained():
            raise tf.errors.UnavailableError(None, None, message)


@pytest.mark.parametrize("order", ["1,0", "0 0", "a"])
def test_an_order_of_gpus_that_is_none_is_refused(order):
    with pytest.raises(ValueError, match="different numbers"):
        use_gpus(2, order)
