"""Builds the models of the recorded training cases, with tensor2tensor's start values."""

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.models.t2t_names import join_shards
from tests.reference_data import golden_path, load_golden_json


def case_names() -> list[str]:
    try:
        return sorted(load_golden_json("model", "cases.json.gz"))
    except pytest.skip.Exception:
        return []


def load_case(name: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    with np.load(golden_path("model", f"{name}.npz")) as archive:
        return load_golden_json("model", "cases.json.gz")[name], dict(archive)


def named(arrays: dict[str, np.ndarray], prefix: str) -> dict[str, np.ndarray]:
    """Arrays `<prefix>|NAME` by name, embedding shards joined."""
    found = {k.split("|", 1)[1]: v for k, v in arrays.items() if k.startswith(prefix + "|")}
    return join_shards(found)


def make_hparams(case: dict[str, Any]) -> Any:
    hparams = registry.hparams(case["hparams_set"])
    hparams.parse(case["overrides"])
    hparams.problem_hparams = HParams(loss_multiplier=case["problem"].get("loss_multiplier", 1.0))
    return hparams


def make_model(case: dict[str, Any], hparams: Any, arrays: dict[str, np.ndarray]) -> Any:
    model = registry.model(case["model"])(
        hparams,
        input_vocab_size=case["vocab_inputs"] if "inputs" in case["features"] else None,
        target_vocab_size=case["vocab_targets"],
        input_space_id=case["problem"].get("input_space_id", 0),
        target_space_id=case["problem"].get("target_space_id", 0),
    )
    values = named(arrays, "var")
    assert {v.path for v in model.variables} == set(values)
    for variable in model.variables:
        variable.assign(values[variable.path])
    return model


def features_of(arrays: dict[str, np.ndarray]) -> dict[str, tf.Tensor]:
    return {
        name: tf.constant(value.reshape(value.shape[:2]), tf.int32)
        for name, value in named(arrays, "feature").items()
    }
