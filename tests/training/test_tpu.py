"""What of training on a TPU can be tried without one."""

import socket

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training import tpu
from tests.training import replica_runs
from tests.training.tiny_step import batch, make_step


def test_a_machine_without_tpu_is_told_so():
    with pytest.raises(ValueError, match="There is no TPU on this machine"):
        tpu.find_tpu()


@pytest.mark.parametrize("master", ["nowhere", "grpc://127.0.0.1:1", "grpc://host:port"])
def test_an_address_that_does_not_answer_is_refused(master):
    with pytest.raises(ValueError, match=rf"No TPU answers.*{master}"):
        tpu.find_tpu(master=master)


def test_an_address_that_answers_is_taken():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert tpu.find_tpu(master=f"127.0.0.1:{port}") == f"grpc://127.0.0.1:{port}"


def test_a_replica_number_known_at_run_time_only_gives_the_same_dropout_seed():
    step, _, _ = make_step()
    for micro_batch in (None, tf.constant(3)):
        for replica in range(3):
            expected = step._dropout_seed(replica, micro_batch)
            found = step._dropout_seed(tf.constant(replica), micro_batch)
            np.testing.assert_array_equal(expected, found)


def test_a_replica_number_known_at_run_time_only_gives_the_same_part():
    step, _, _ = make_step()
    step._num_replicas = 4
    features = batch(rows=8)
    for replica in range(4):
        expected = step._part_of_batch(features, replica)
        found = step._part_of_batch(features, tf.constant(replica))
        for name in features:
            np.testing.assert_array_equal(expected[name], found[name])


def test_replicas_without_static_numbers_train_the_same(on_logical_cpus):
    report = on_logical_cpus(replica_runs.compare, "", "tensor")
    assert report["differences"][2]["weights"] < 1e-5
