"""tensor2tensor's recorded models: one per case of model/cases.json.gz."""

import functools
from typing import Any

import numpy as np
import pytest

from t2t_keras import registry
from t2t_keras.hparam import HParams
from t2t_keras.models.t2t_names import assign_variables
from tests.reference_data import golden_path, load_golden_json


def case_names() -> list[str]:
    """Names of all cases; one placeholder when the recordings are absent."""
    try:
        return sorted(load_golden_json("model", "cases.json.gz"))
    except pytest.skip.Exception:
        return ["absent"]


def names_with(prefix: str) -> list[str]:
    """Names of the cases in which arrays `prefix|…` are recorded."""
    try:
        return [
            name
            for name in case_names()
            if any(key.startswith(prefix + "|") for key in _arrays(name).files)
        ]
    except pytest.skip.Exception:
        return ["absent"]


def _arrays(name: str) -> Any:
    return np.load(golden_path("model", f"{name}.npz"))


class GoldenCase:
    """A model with recorded start values, its batch and the recorded results."""

    def __init__(self, name: str) -> None:
        description = load_golden_json("model", "cases.json.gz")[name]
        self.problem: dict[str, Any] = description["problem"]
        self.arrays = dict(_arrays(name))
        # These T2T's model sets itself, to the functions that follow from problem and prepend_mode.
        settings = {
            key: value
            for key, value in description["resolved_hparams"].items()
            if key not in ("bottom", "loss", "name", "top", "weights_fn")
        }
        self.hparams = HParams(**settings)
        self.model = self._make_model(description)
        self.features = self.part("feature")
        assign_variables(self.model, self.part("var"))

    def _make_model(self, description: dict[str, Any]) -> Any:
        return registry.model(description["model"])(
            self.hparams,
            input_vocab_size=description["vocab_inputs"],
            target_vocab_size=description["vocab_targets"],
            input_space_id=self.problem.get("input_space_id", 0),
            target_space_id=self.problem.get("target_space_id", 0),
        )

    def part(self, prefix: str) -> dict[str, np.ndarray]:
        """The arrays recorded as `prefix|NAME`, by NAME."""
        start = prefix + "|"
        return {k[len(start) :]: v for k, v in self.arrays.items() if k.startswith(start)}

    def logits(self, mode: str) -> np.ndarray:
        """`[batch, length, vocab]`, recorded in mode "eval" or "train"."""
        return self.arrays[f"{mode}|logits"][:, :, 0, 0]


@functools.lru_cache(maxsize=1)
def golden_case(name: str) -> GoldenCase:
    """The case, kept for the next test that asks for the same one."""
    return GoldenCase(name)
