import functools

import numpy as np
import pytest

from t2t_keras.hparam import HParams
from t2t_keras.training.schedules import learning_rate_schedule
from tests.reference_data import load_golden_json


def paper_hparams(**values):
    defaults = dict(
        learning_rate_schedule="constant*linear_warmup*rsqrt_decay*rsqrt_hidden_size",
        learning_rate_constant=2.0,
        learning_rate_warmup_steps=8000,
        hidden_size=512,
    )
    return HParams(**{**defaults, **values})


@functools.cache
def recorded_sets():
    files = ("hparams_transformer.json.gz", "hparams_other.json.gz")
    return {name: values for file in files for name, values in load_golden_json(file).items()}


def golden_hparams(case):
    """From the recorded set, so that no set need be registered here."""
    values = recorded_sets()[case["hparams_set"]]
    hparams = HParams(**{name: value for name, value in values.items() if value != []})
    if "train_steps" in case.get("overrides", ""):
        hparams.add_hparam("train_steps", 1)
    hparams.parse(case.get("overrides", ""))
    for name, value in case.get("set", {}).items():
        if name in hparams:
            hparams.set_hparam(name, value)
        else:
            hparams.add_hparam(name, value)
    return hparams


@pytest.mark.reference
def test_values_are_tensor2tensors():
    golden = load_golden_json("learning_rate.json")
    assert golden["cases"]
    for name, case in golden["cases"].items():
        schedule = learning_rate_schedule(golden_hparams(case))
        values = [float(schedule(step)) for step in golden["steps"]]
        np.testing.assert_allclose(values, case["values"], rtol=1e-6, atol=1e-12, err_msg=name)


def test_the_papers_schedule():
    schedule = learning_rate_schedule(paper_hparams())
    for step, expected in [(0, 0.0), (999, 1.23402945e-4), (8000, 9.88211769e-4),
                           (100000, 2.79508497e-4)]:  # fmt: skip
        np.testing.assert_allclose(float(schedule(step)), expected, rtol=1e-6)


def test_accumulated_steps_count_once():
    plain = learning_rate_schedule(paper_hparams())
    accumulating = learning_rate_schedule(paper_hparams(optimizer_multistep_accumulate_steps=4))
    np.testing.assert_allclose(accumulating(4000), plain(1000), rtol=1e-6)


def test_blanks_and_empty_names_are_skipped():
    schedule = learning_rate_schedule(paper_hparams(learning_rate_schedule=" constant ** "))
    assert float(schedule(5)) == 2.0


def test_unknown_factor_offers_near_matches():
    with pytest.raises(ValueError, match="rsqrt_decay"):
        learning_rate_schedule(paper_hparams(learning_rate_schedule="constant*rsqrt_deca"))


def test_single_cycle_needs_steps_after_warmup():
    hparams = paper_hparams(learning_rate_schedule="single_cycle_cos_decay", train_steps=100)
    with pytest.raises(ValueError, match="train_steps"):
        learning_rate_schedule(hparams)
