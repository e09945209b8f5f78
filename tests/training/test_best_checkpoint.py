import json
import os
import shutil

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras.training import best_checkpoint, checkpoints, event_files
from t2t_keras.training.best_checkpoint import BestCheckpoints
from t2t_keras.training.retention import CheckpointKeeper
from t2t_keras.training.validation_metrics import ChosenMetric
from tests.training import runs

LOSS = ChosenMetric("loss", minimize=True)
BLEU = ChosenMetric("BLEU_cased", minimize=False)


class Run:
    """A directory with small checkpoints."""

    def __init__(self, directory):
        self.directory = str(directory)
        self.keeper = CheckpointKeeper(self.directory, max_to_keep=2)

    def save(self, step, weight=None):
        prefix = checkpoints.prefix_of_step(self.directory, step)
        weight = step if weight is None else weight
        checkpoints.write_values(prefix, {"weight": np.float32(weight), "global_step": step})
        self.keeper.add(prefix)


def kept(directory):
    """Step and weight of the checkpoint that users of `best/` get, and all steps there."""
    best = os.path.join(directory, "best")
    found = checkpoints.complete_checkpoints(best)
    weight = tf.train.load_checkpoint(checkpoints.resolve(best)).get_tensor("weight")
    return float(weight), [checkpoints.step_of(prefix) for prefix in found]


def description(directory):
    with open(os.path.join(directory, "best", "best.json"), encoding="utf-8") as stream:
        return json.load(stream)


@pytest.mark.parametrize(
    ("metric", "values", "best"),
    [
        (LOSS, [5.0, 3.0, 4.0, 3.5], 20),
        (LOSS, [5.0, 3.0, 3.0, 3.0], 20),  # equal values: the earlier one
        (LOSS, [float("nan"), 3.0, float("nan"), 2.0], 40),
        (BLEU, [1.0, 2.0, 30.0, 4.0], 30),
    ],
)
def test_the_best_survives_the_deletion_of_old_checkpoints(metric, values, best, tmp_path):
    run = Run(tmp_path)
    bests = BestCheckpoints(run.directory, metric)
    points = []
    for number, value in enumerate(values, start=1):
        run.save(10 * number)
        points.append((10 * number, value))
        is_new = bests.update(points)
        assert is_new == (bests.best is not None and bests.best[0] == 10 * number)
    assert kept(run.directory) == (best, [best])
    assert description(run.directory)["step"] == best
    assert description(run.directory)["metric"] == metric.tag
    assert len(checkpoints.complete_checkpoints(run.directory)) == 2


def test_several_are_kept_and_the_best_is_the_one_to_use(tmp_path):
    run = Run(tmp_path)
    bests = BestCheckpoints(run.directory, LOSS, num_kept=2)
    points = []
    for step, value in ((10, 5.0), (20, 3.0), (30, 4.0), (40, 3.5), (50, 6.0)):
        run.save(step)
        points.append((step, value))
        bests.update(points)
    assert kept(run.directory) == (20, [20, 40])
    entries = description(run.directory)["checkpoints"]
    assert [entry["step"] for entry in entries] == [20, 40]


def test_fewer_are_kept_only_from_the_next_evaluation_on(tmp_path):
    run = Run(tmp_path)
    points = [(10, 5.0), (20, 3.0), (30, 4.0)]
    bests = BestCheckpoints(run.directory, LOSS, num_kept=2)
    for number, (step, _) in enumerate(points, start=1):
        run.save(step)
        bests.update(points[:number])
    again = BestCheckpoints(run.directory, LOSS)
    again.make_up(points)
    assert kept(run.directory) == (20, [20, 30])
    run.save(40)
    again.update([*points, (40, 6.0)])
    assert kept(run.directory) == (20, [20])


def test_links_cost_no_space(tmp_path):
    run = Run(tmp_path)
    run.save(10)
    BestCheckpoints(run.directory, LOSS).update([(10, 1.0)])
    name = "model.ckpt-10.data-00000-of-00001"
    assert os.path.samefile(tmp_path / name, tmp_path / "best" / name)


def test_copies_where_there_are_no_hard_links(tmp_path, monkeypatch):
    def no_links(source, target):
        raise PermissionError("no hard links")

    monkeypatch.setattr(os, "link", no_links)
    run = Run(tmp_path)
    run.save(10)
    BestCheckpoints(run.directory, LOSS).update([(10, 1.0)])
    assert kept(run.directory) == (10, [10])
    assert not [name for name in os.listdir(tmp_path / "best") if ".tmp" in name]


def test_a_new_process_remembers_what_was_best(tmp_path):
    run = Run(tmp_path)
    run.save(10)
    BestCheckpoints(run.directory, LOSS).update([(10, 3.0)])
    for step in (20, 30, 40):
        run.save(step)
    bests = BestCheckpoints(run.directory, LOSS)
    assert bests.best == (10, 3.0)
    # The history is lost, and so is the run's own checkpoint of step 10.
    assert not bests.update([(40, 4.0)])
    assert kept(run.directory) == (10, [10])


def test_a_step_that_comes_again_replaces_its_former_self(tmp_path):
    run = Run(tmp_path)
    run.save(10)
    run.save(20, weight=-1)
    BestCheckpoints(run.directory, LOSS).update([(10, 4.0), (20, 3.0)])
    run.save(20, weight=-2)
    BestCheckpoints(run.directory, LOSS).update([(10, 4.0), (20, 2.0)])
    assert kept(run.directory) == (-2, [20])


@pytest.mark.parametrize("stage", ["link", "_write_state", "delete_checkpoint"])
def test_a_kill_in_between_leaves_a_usable_directory_and_is_made_up_for(
    stage, tmp_path, monkeypatch
):
    run = Run(tmp_path)
    run.save(10)
    BestCheckpoints(run.directory, LOSS).update([(10, 4.0)])
    run.save(20)

    def killed(*arguments):
        raise KeyboardInterrupt

    owner = {
        "link": os,
        "_write_state": BestCheckpoints,
        "delete_checkpoint": best_checkpoint.retention,
    }[stage]
    with monkeypatch.context() as patch:
        patch.setattr(owner, stage, killed)
        with pytest.raises(KeyboardInterrupt):
            BestCheckpoints(run.directory, LOSS).update([(10, 4.0), (20, 3.0)])
    assert kept(run.directory)[0] in (10, 20)
    BestCheckpoints(run.directory, LOSS).update([(10, 4.0), (20, 3.0)])
    assert kept(run.directory)[0] == 20
    assert description(run.directory)["value"] == 3.0


def test_another_metric_chooses_anew_among_what_is_left(tmp_path):
    run = Run(tmp_path)
    for step in (10, 20, 30):
        run.save(step)
    BestCheckpoints(run.directory, LOSS).update([(10, 1.0), (20, 2.0), (30, 3.0)])
    # Step 10 has gone before it could be kept; step 20 is the best that is there.
    assert kept(run.directory) == (20, [20])
    BestCheckpoints(run.directory, BLEU).update([(10, 9.0), (20, 8.0), (30, 8.5)])
    assert kept(run.directory) == (30, [30])


def test_a_new_run_puts_the_old_best_aside(tmp_path):
    run = Run(tmp_path)
    run.save(10)
    BestCheckpoints(run.directory, LOSS).update([(10, 1.0)])
    assert BestCheckpoints(run.directory, LOSS, is_new_run=True).best is None
    assert os.path.isfile(tmp_path / "best.old-1" / "best.json")
    assert not (tmp_path / "best").exists()


def test_none_kept_makes_no_sense(tmp_path):
    with pytest.raises(ValueError, match="Received: 0"):
        BestCheckpoints(str(tmp_path), LOSS, num_kept=0)


# In a run.


class Check:
    """Stands in for translation: best at step 8."""

    metric_names = ("score",)

    def __init__(self):
        self.steps = []

    def __call__(self, model, step):
        self.steps.append(step)
        return {"score": 100.0 - abs(step - 8)}


def train(directory, data_dir, check=None, schedule="train_and_evaluate", **settings):
    if check is not None:
        settings = dict(
            translate_every_evaluations=1, best_checkpoint_metric="score", **settings
        )  # fmt: skip
    runs.train(directory, data_dir, schedule=schedule, translation_check=check, **settings)


def test_a_run_keeps_its_best_and_trains_as_if_it_did_not(data_dir, tmp_path):
    train(tmp_path / "plain", data_dir, schedule="train", train_steps=16)
    train(tmp_path / "run", data_dir, Check(), train_steps=16, keep_checkpoint_max=1)
    assert [os.path.basename(runs.newest(tmp_path / d)) for d in ("run", "run/best")] == [
        "model.ckpt-16",
        "model.ckpt-8",
    ]
    runs.assert_same_values(tmp_path / "run", tmp_path / "plain")
    expected = checkpoints.prefix_of_step(str(tmp_path / "plain"), 8)
    runs.assert_same_values(tmp_path / "run" / "best", expected)
    points = event_files.read_events(str(tmp_path / "run" / "eval"))
    assert [(s, v) for s, tag, v in points if tag == "score"] == [
        (4, 96.0), (8, 100.0), (12, 96.0), (16, 92.0),
    ]  # fmt: skip


def test_a_resumed_run_remembers_its_best(data_dir, tmp_path):
    train(tmp_path, data_dir, Check(), train_steps=8)
    for name in os.listdir(tmp_path):
        if name.startswith("model.ckpt-4."):
            os.remove(tmp_path / name)
    train(tmp_path, data_dir, Check(), train_steps=12)
    assert runs.newest(tmp_path / "best").endswith("model.ckpt-8")


def test_weights_of_steps_without_a_checkpoint_are_saved(data_dir, tmp_path):
    settings = dict(local_eval_frequency=4, iterations_per_loop=12, train_steps=12)
    train(tmp_path / "run", data_dir, Check(), **settings)
    assert not checkpoints.is_complete(checkpoints.prefix_of_step(str(tmp_path / "run"), 8))
    model_only = runs.values_of(tmp_path / "run" / "best")
    assert model_only["global_step"] == 8
    train(tmp_path / "plain", data_dir, schedule="train", train_steps=8)
    expected = runs.values_of(tmp_path / "plain")
    for name, value in model_only.items():
        np.testing.assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize(("every", "expected"), [(1, [4, 8, 12, 14]), (2, [8, 14]), (3, [12, 14])])
def test_translations_come_every_so_many_evaluations_and_at_the_end(
    every, expected, data_dir, tmp_path
):
    check = Check()
    for _ in range(2):  # the second time there is only the end
        runs.train(
            tmp_path, data_dir, schedule="continuous_train_and_eval", translation_check=check,
            train_steps=14, translate_every_evaluations=every, eval_throttle_seconds=0,
            eval_start_delay_seconds=0,
        )  # fmt: skip
    assert check.steps == [*expected, 14]


def test_a_process_beside_the_training_keeps_the_best(data_dir, tmp_path):
    train(tmp_path, data_dir, schedule="train", train_steps=8)
    train(tmp_path, data_dir, Check(), schedule="continuous_eval", train_steps=8)
    assert runs.newest(tmp_path / "best").endswith("model.ckpt-8")
    assert os.path.isfile(tmp_path / "eval_eval" / "history.json")


def test_best_can_be_trained_from(data_dir, tmp_path):
    train(tmp_path / "run", data_dir, Check(), train_steps=8)
    shutil.move(tmp_path / "run" / "best", tmp_path / "moved")
    source = runs.values_of(tmp_path / "moved")
    train(tmp_path / "next", data_dir, schedule="train", train_steps=0,
          warm_start_from=str(tmp_path / "moved"))  # fmt: skip
    started = runs.values_of(tmp_path / "next")
    for name, value in started.items():
        if name.startswith("transformer/"):
            np.testing.assert_array_equal(value, source[name], err_msg=name)
