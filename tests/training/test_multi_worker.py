"""Two worker processes on the loopback interface."""

import json
import os
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

from tests.training import runs

NUM_STEPS = 22
TIMEOUT_SECONDS = 120


def free_addresses(count):
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{one.getsockname()[1]}" for one in sockets]
    except OSError as error:
        pytest.skip(f"no ports can be bound here: {error}")
    finally:
        for one in sockets:
            one.close()


def start(data_dir, output_dir, *signals, replicas=1, tf_config=None, schedule="train"):
    environment = {k: v for k, v in os.environ.items() if k != "TF_CONFIG"}
    if tf_config:
        environment["TF_CONFIG"] = json.dumps(tf_config)
    arguments = [data_dir, str(output_dir), str(replicas), str(NUM_STEPS), schedule, *signals]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.training.worker_program", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes):
    """Exit status, standard output and standard error of each process."""
    ended = []
    try:
        for process in processes:
            out, errors = process.communicate(timeout=TIMEOUT_SECONDS)
            ended.append((process.returncode, out, errors))
    finally:
        for process in processes:
            process.kill()
    return ended


def run_workers(data_dir, output_dir, *signals_of_second, cluster=None, **options):
    if cluster is None:
        cluster = {"worker": free_addresses(2)}
    tasks = [(job, index) for job in cluster for index in range(len(cluster[job]))]
    configs = [{"cluster": cluster, "task": {"type": j, "index": i}} for j, i in tasks]
    return finish(
        [
            start(data_dir, output_dir, *signals, tf_config=config, **options)
            for config, signals in zip(configs, [(), signals_of_second], strict=True)
        ]
    )


@pytest.fixture(scope="module")
def single_process(data_dir, tmp_path_factory):
    """Output directory of one process with two replicas."""
    directory = tmp_path_factory.mktemp("single")
    ((status, _, errors),) = finish([start(data_dir, directory, replicas=2)])
    assert status == 0, errors[-3000:]
    return directory


def assert_same_run(directory, expected_directory):
    values, expected = runs.values_of(directory), runs.values_of(expected_directory)
    assert values.keys() == expected.keys() and values["global_step"] == NUM_STEPS
    for name, value in expected.items():
        np.testing.assert_allclose(values[name], value, rtol=0, atol=1e-5, err_msg=name)
    for tag in ("loss", "input_stats/targets_nonpadding_tokens"):
        curves = [np.array(runs.curve(folder, tag)) for folder in (directory, expected_directory)]
        np.testing.assert_allclose(*curves, rtol=1e-5, err_msg=tag)


def test_killed_and_interrupted_workers_go_on_to_the_weights_of_one_process(
    data_dir, single_process, tmp_path
):
    # The second worker is killed; the first must not wait for it for ever.
    first, second = run_workers(data_dir, tmp_path, "SIGKILL@6")
    assert second[0] == -signal.SIGKILL, second[2][-3000:]
    assert first[0] == 1 and "WorkerLostError" in first[2], first[2][-3000:]
    assert "newest checkpoint" in first[2]
    assert runs.values_of(tmp_path)["global_step"] == 4
    # A signal to the second worker ends both after the same step, with a checkpoint.
    ended = run_workers(data_dir, tmp_path, "SIGTERM@11")
    for status, out, errors in ended:
        assert status == 0 and out.split() == ["signal", "15"], errors[-3000:]
    assert runs.values_of(tmp_path)["global_step"] == 20
    # The other way to name the first worker.
    addresses = free_addresses(2)
    cluster = {"chief": addresses[:1], "worker": addresses[1:]}
    for status, out, errors in run_workers(data_dir, tmp_path, cluster=cluster):
        assert status == 0 and out.split() == ["signal", "None"], errors[-3000:]
    assert_same_run(tmp_path, single_process)
