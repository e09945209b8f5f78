"""The recorded cases of single functions and layers, and what computes them here."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.reference_data import golden_path, load_golden_json


class Case:
    def __init__(self, name: str) -> None:
        self.name = name
        self.meta: dict[str, Any] = load_golden_json("layers.json.gz")["cases"][name]["meta"]
        archive = np.load(golden_path("layers.npz"))
        self.inputs, self.variables, self.outputs = (
            {
                key.split("|", 2)[2]: archive[key]
                for key in archive.files
                if key.startswith(f"{name}|{kind}|")
            }
            for kind in ("in", "var", "out")
        )

    def fill(self, layer: Any) -> Any:
        """Builds the layer and sets its variables, matched by the last two parts of the names."""
        layer.build()
        variables = {name.rsplit("/", 2)[-2:][-1]: v for name, v in self.variables.items()}
        variables |= {"/".join(name.split("/")[-2:]): v for name, v in self.variables.items()}
        assert len(layer.weights) == len(self.variables)
        for variable in layer.weights:
            variable.assign(variables["/".join(variable.path.split("/")[-2:])])
        return layer


Handler = Callable[[Case], dict[str, Any]]

HANDLERS: dict[str, Handler] = {}


def handles(*prefixes: str) -> Any:
    def register(function: Any) -> Any:
        for prefix in prefixes:
            HANDLERS[prefix] = function
        return function

    return register
