import json

import pytest

from t2t_keras.training.cluster import Cluster, read_tf_config


def config(task_type, index, **jobs):
    return json.dumps({"cluster": jobs, "task": {"type": task_type, "index": index}})


@pytest.mark.parametrize(
    ("text", "cluster"),
    [
        (None, None),
        ("", None),
        ("{}", None),
        (config("worker", 0, worker=["a:1"]), None),
        (config("worker", 1, worker=["a:1", "b:1"]), Cluster(("a:1", "b:1"), 1)),
        # tensor2tensor's and TensorFlow's older names of the first worker.
        (config("master", 0, master=["a:1"], worker=["b:1"]), Cluster(("a:1", "b:1"), 0)),
        (config("worker", 0, chief=["a:1"], worker=["b:1"]), Cluster(("a:1", "b:1"), 1)),
        (config("worker", 0, chief=["a:1"], worker=["b:1"], evaluator=["c:1"]),
         Cluster(("a:1", "b:1"), 1)),
    ],
)  # fmt: skip
def test_all_forms_of_a_cluster(text, cluster):
    found = read_tf_config(text)
    assert found == cluster
    assert found is None or found.is_chief == (found.index == 0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "no JSON"),
        ("[1]", "no dictionary"),
        ('{"cluster": ["a:1"]}', "no dictionary of jobs"),
        (config("worker", 2, worker=["a:1", "b:1"]), "worker 2 isn't among"),
        (config("worker", "x", worker=["a:1", "b:1"]), "no number"),
        (config(None, 0, worker=["a:1", "b:1"]), "isn't among"),
        (config("worker", 0, worker=["a:1", "a:1"]), "same address"),
        (config("worker", 0, workers=["a:1", "b:1"]), "unknown job 'workers'"),
        (config("master", 0, master=["a:1"], ps=["b:1"]), "Parameter servers"),
        (config("ps", 0, worker=["a:1"]), "t2t-make-tf-configs --workers"),
        (config("evaluator", 0, worker=["a:1"], evaluator=["b:1"]), "--schedule=continuous_eval"),
    ],
)
def test_mistakes_are_named_with_the_way_out(text, message):
    with pytest.raises(ValueError, match=message) as caught:
        read_tf_config(text)
    assert "Received: TF_CONFIG=" in str(caught.value)
