import math
import os

import pytest

from t2t_keras.training.early_stopping import EarlyStopping
from t2t_keras.training.evaluation_history import EvaluationHistory
from t2t_keras.training.validation_metrics import choose_metric
from tests.training import runs

RULE = EarlyStopping("loss", num_steps=20, delta=0.5)


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([], False),
        ([(10, 5.0)], False),
        ([(10, 5.0), (20, 5.0)], False),  # too young
        ([(10, 5.0), (20, 5.0), (30, 5.0)], True),
        ([(10, 5.0), (20, 5.0), (30, 4.6)], True),  # better, but by less than delta
        ([(10, 5.0), (20, 5.0), (30, 4.5)], False),
        ([(10, 5.0), (20, 4.4), (30, 5.0)], False),  # better in between
        ([(10, 1.0), (20, 5.0), (30, 5.0), (40, 5.0)], True),  # compared with step 20
        ([(10, 5.0), (20, math.nan), (30, math.nan)], True),
        ([(0, 5.0), (10, 5.0), (45, 5.0), (50, 5.0)], True),  # k is the last at or before 30
    ],
)
def test_plateau(points, expected):
    assert RULE.is_plateau(points) == expected
    mirrored = EarlyStopping("accuracy", num_steps=20, delta=0.5, minimize=False)
    assert mirrored.is_plateau([(step, -value) for step, value in points]) == expected


def test_explanation_names_steps_and_values():
    text = RULE.explain([(10, 5.0), (20, 4.75), (30, 5.25)])
    assert text == (
        "loss hasn't fallen by 0.5 or more for 20 steps: 5 at step 10, at best 4.75 since"
    )


def test_history_survives_and_forgets_an_abandoned_future(tmp_path):
    directory = str(tmp_path / "eval")
    history = EvaluationHistory(directory)
    for step in (10, 20, 30):
        history.record(step, {"loss": step / 2, **({"BLEU_cased": 1.0} if step == 20 else {})})
    again = EvaluationHistory(directory)
    assert again.points("loss") == [(10, 5.0), (20, 10.0), (30, 15.0)]
    assert again.points("BLEU_cased") == [(20, 1.0)]
    resumed = EvaluationHistory(directory, first_step=20)
    assert resumed.steps == [10, 20]
    resumed.record(20, {"loss": 7.0, "other": math.inf})
    assert EvaluationHistory(directory).points("loss") == [(10, 5.0), (20, 7.0)]
    assert os.listdir(directory) == ["history.json"]


def test_damaged_history_is_begun_anew(tmp_path):
    (tmp_path / "history.json").write_text('[{"step": 10, "res')
    assert EvaluationHistory(str(tmp_path)).steps == []


def choose(name, translations=()):
    return choose_metric(
        name,
        prefix="metrics-p/targets/",
        problem_metrics=["accuracy", "neg_log_perplexity", "edit_distance"],
        translation_metrics=translations,
    )


def test_metrics_are_known_by_short_and_full_name_with_their_direction():
    assert choose("loss").minimize and choose("edit_distance").minimize
    assert choose("accuracy").tag == "metrics-p/targets/accuracy"
    assert choose("metrics-p/targets/accuracy") == choose("Accuracy")
    assert not choose("neg_log_perplexity").minimize
    assert choose("bleu_cased", ["BLEU_cased"]).tag == "BLEU_cased"


def test_unknown_metrics_get_near_matches():
    with pytest.raises(ValueError, match="Did you mean: accuracy"):
        choose("acuracy")
    with pytest.raises(ValueError, match="translate_every_evaluations"):
        choose("BLEU_cased")


STOPPING = dict(
    train_steps=40, early_stopping_steps=8, early_stopping_delta=100.0, eval_throttle_seconds=0,
    eval_start_delay_seconds=0,
)  # fmt: skip


@pytest.mark.parametrize("schedule", ["train_and_evaluate", "continuous_train_and_eval"])
def test_training_ends_at_the_plateau_and_stays_ended(schedule, data_dir, tmp_path, caplog):
    caplog.set_level("INFO")
    runs.train(tmp_path, data_dir, schedule=schedule, **STOPPING)
    # Evaluations at 4, 8 and 12: nothing falls by 100 within 8 steps.
    assert runs.last_step(tmp_path) == 12
    assert [step for step, _ in runs.curve(tmp_path / "eval")] == [4, 8, 12]
    assert "Stopped early at step 12" in caplog.text
    caplog.clear()
    files = sorted(os.listdir(tmp_path))
    runs.train(tmp_path, data_dir, schedule=schedule, **STOPPING)
    assert "has stopped early, at step 12" in caplog.text
    assert sorted(os.listdir(tmp_path)) == files
    runs.train(tmp_path, data_dir, schedule=schedule, **{**STOPPING, "early_stopping_steps": 12})
    assert runs.last_step(tmp_path) == 16


def test_an_improving_metric_does_not_stop_training(data_dir, tmp_path):
    settings = {**STOPPING, "train_steps": 20, "early_stopping_delta": 0.001}
    runs.train(tmp_path, data_dir, schedule="train_and_evaluate", **settings)
    assert runs.last_step(tmp_path) == 20


def test_the_decision_is_the_same_after_a_kill_before_the_evaluation(data_dir, tmp_path):
    # What a process killed between checkpoint 8 and its evaluation leaves behind.
    runs.train(tmp_path, data_dir, train_steps=8)
    EvaluationHistory(str(tmp_path / "eval")).record(4, {"loss": 5.0})
    runs.train(tmp_path, data_dir, schedule="continuous_train_and_eval", **STOPPING)
    assert EvaluationHistory(str(tmp_path / "eval")).steps == [4, 8, 12]
    assert runs.last_step(tmp_path) == 12


def test_plain_training_heeds_the_evaluations_of_another_process(data_dir, tmp_path):
    runs.train(tmp_path, data_dir, train_steps=4)
    evaluations = EvaluationHistory(str(tmp_path / "eval_eval"))
    for step in (4, 8, 12):
        evaluations.record(step, {"loss": 5.0})
    runs.train(tmp_path, data_dir, **STOPPING)
    assert runs.last_step(tmp_path) == 12


def test_evaluations_beside_the_training_end_at_the_plateau(data_dir, tmp_path):
    runs.train(tmp_path, data_dir, train_steps=12)
    evaluations = EvaluationHistory(str(tmp_path / "eval_eval"))
    for step in (4, 8):
        evaluations.record(step, {"loss": 5.0})
    settings = {**STOPPING, "eval_poll_seconds": 3600, "eval_timeout_mins": 60}
    results = runs.train(tmp_path, data_dir, schedule="continuous_eval", **settings)
    assert results["global_step"] == 12


def test_a_new_run_does_not_remember_an_old_one(data_dir, tmp_path):
    for folder in ("eval", "eval_eval"):
        history = EvaluationHistory(str(tmp_path / folder))
        for step in (4, 8, 12):
            history.record(step, {"loss": 5.0})
    runs.train(tmp_path, data_dir, **{**STOPPING, "train_steps": 16})
    assert runs.last_step(tmp_path) == 16


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(early_stopping_steps=5, early_stopping_metric="los"), "Did you mean: loss"),
        (dict(early_stopping_steps=0), "above 0"),
        (dict(early_stopping_steps=5, early_stopping_delta=-1.0), "0 or more"),
        (dict(best_checkpoint_metric="sacreBLEU"), "translate_every_evaluations"),
    ],
)
def test_mistakes_are_refused_before_anything_is_written(settings, message, data_dir, tmp_path):
    with pytest.raises(ValueError, match=message):
        runs.train(tmp_path, data_dir, schedule="train_and_evaluate", **settings)
    assert not os.listdir(tmp_path)
