"""T2T's variable names and this package's: the same, but for the shards of embedding tables.

T2T stores a table as `…/weights_0`, `…/weights_1`, …: its rows, split into nearly equal runs of
which the first (rows mod shards) have one more. Here a table is one variable `…/weights`.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

_SHARD = re.compile(
    r"^(?P<table>.*symbol_modality_[^/]*/[^/]+/weights)_(?P<number>\d+)(?P<rest>/.*)?$"
)


def join_shards(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Replaces the shards of every table by the whole table.

    Args:
      arrays: values by T2T name. Optimizer slots (`…/weights_3/Adam`) are joined, too, if they
        have rows like their table.

    Returns:
      values by this package's names, other entries unchanged.

    Raises:
      ValueError: a shard is missing.
    """
    joined: dict[str, np.ndarray] = {}
    shards: dict[str, dict[int, np.ndarray]] = {}
    for name, array in arrays.items():
        match = _SHARD.match(name)
        if match is None:
            joined[name] = array
        else:
            table = match["table"] + (match["rest"] or "")
            shards.setdefault(table, {})[int(match["number"])] = array
    for table, parts in shards.items():
        missing = sorted(set(range(max(parts) + 1)) - set(parts))
        if missing:
            raise ValueError(
                f"Table {table} lacks shards {missing}. Received shards: {sorted(parts)}"
            )
        joined[table] = np.concatenate([parts[i] for i in range(len(parts))], axis=0)
    return joined


def split_shards(table: np.ndarray, num_shards: int) -> list[np.ndarray]:
    """The shards T2T would make of a table `[rows, depth]`: the inverse of `join_shards`."""
    return np.array_split(table, num_shards, axis=0)


def split_tables(arrays: Mapping[str, np.ndarray], num_shards: int) -> dict[str, np.ndarray]:
    """Values by T2T name: every `symbol_modality_…/weights` split into shards, others unchanged."""
    split: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        if re.match(r".*symbol_modality_[^/]*/[^/]+/weights$", name):
            for number, shard in enumerate(split_shards(array, num_shards)):
                split[f"{name}_{number}"] = shard
        else:
            split[name] = array
    return split


def assign_variables(model: Any, arrays: Mapping[str, np.ndarray]) -> None:
    """Sets every variable of a model from values by T2T name (or by this package's).

    Args:
      model: a built Keras model.
      arrays: values; shards of tables are joined.

    Raises:
      ValueError: names that are missing or left over, or shapes that differ; all of them listed,
        and nothing has been assigned.
    """
    values = join_shards(arrays)
    variables = {variable.path: variable for variable in model.weights}
    complaints = _complaints(variables, values)
    if complaints:
        raise ValueError(
            f"The values do not fit model {model.name!r}:\n  " + "\n  ".join(complaints)
        )
    for name, variable in variables.items():
        variable.assign(values[name])


def _complaints(variables: Mapping[str, Any], values: Mapping[str, np.ndarray]) -> Sequence[str]:
    complaints = [f"missing: {name}" for name in sorted(set(variables) - set(values))]
    complaints += [f"not in the model: {name}" for name in sorted(set(values) - set(variables))]
    for name in sorted(set(variables) & set(values)):
        expected, found = tuple(variables[name].shape), tuple(values[name].shape)
        if expected != found:
            complaints.append(f"shape of {name}: expected {expected}. Received: {found}")
    return complaints
