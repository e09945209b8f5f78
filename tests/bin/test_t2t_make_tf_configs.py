import json
import subprocess
import sys

from t2t_keras.bin import t2t_make_tf_configs
from t2t_keras.training.cluster import Cluster, read_tf_config


def parts(line):
    quoted, tab, flags = line.partition("\t")
    assert tab and quoted[0] == quoted[-1] == "'"
    return json.loads(quoted[1:-1]), flags


def run(*flags):
    return subprocess.run(
        [sys.executable, "-m", "t2t_keras.bin.t2t_make_tf_configs", *flags],
        capture_output=True,
        text=True,
        check=False,
    )


def test_workers_lines_are_what_the_trainer_reads():
    done = run("--workers=a:1,b:2,c:3", "--worker_gpu=8")
    assert done.returncode == 0, done.stderr
    first, *lines = done.stdout.splitlines()
    assert "24 replicas" in first
    for index, line in enumerate(lines):
        config, flags = parts(line)
        assert read_tf_config(json.dumps(config)) == Cluster(("a:1", "b:2", "c:3"), index)
        assert flags == "--worker_gpu=8"
    assert len(lines) == 3


def test_one_master_trains_synchronously_as_in_t2t():
    _, *lines = t2t_make_tf_configs.parameter_server_lines(["m:1"], ["p:1", "p:2"])
    config, flags = parts(lines[0])
    assert list(config) == ["cluster", "task", "environment"] and config["environment"] == "cloud"
    assert config["cluster"] == {"ps": ["p:1", "p:2"], "master": ["m:1"]}
    assert config["task"] == {"type": "master", "index": 0}
    assert flags == (
        "--master=grpc://m:1 --ps_replicas=2 --worker_replicas=1 --worker_gpu=0 --worker_id=0 "
        "--ps_gpu=1 --sync --schedule=train --worker_job='/job:master'"
    )
    for index, line in enumerate(lines[1:]):
        config, flags = parts(line)
        assert config["task"] == {"type": "ps", "index": index}
        assert flags == "--schedule=run_std_server"
    assert len(lines) == 3


def test_several_masters_train_asynchronously_as_in_t2t():
    _, *lines = t2t_make_tf_configs.parameter_server_lines(["m:1", "m:2", "m:3"], ["p:1"])
    tasks = [parts(line)[0]["task"] for line in lines]
    assert [(task["type"], task["index"]) for task in tasks] == [
        ("chief", 0),
        ("worker", 0),
        ("worker", 1),
        ("ps", 0),
    ]
    config, flags = parts(lines[2])
    assert config["cluster"] == {"ps": ["p:1"], "chief": ["m:1"], "worker": ["m:2", "m:3"]}
    assert flags == (
        "--master=grpc://m:3 --ps_replicas=1 --worker_replicas=3 --worker_gpu=1 --worker_id=2 "
        "--ps_gpu=0  --schedule=train --worker_job='/job:worker'"
    )
