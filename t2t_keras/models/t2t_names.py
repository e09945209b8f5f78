"""T2T's variable names and this package's: the same, but for the shards of embedding tables.

T2T stores a table as `…/weights_0`, `…/weights_1`, …: its rows, split into nearly equal runs of
which the first (rows mod shards) have one more. Here a table is one variable `…/weights`. An
optimizer's slots of a shard, `…/weights_3/Adam`, are named and joined likewise.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

__all__ = [
    "assign_variables",
    "group_shards",
    "is_sharded_table",
    "join_shards",
    "shard_sizes",
    "split_shards",
    "split_tables",
]

_TABLE = r"(?P<table>.*symbol_modality_[^/]*/[^/]+/weights)"
_SHARD = re.compile(rf"^{_TABLE}_(?P<number>\d+)(?P<slot>/.*)?$")
_WHOLE_TABLE = re.compile(rf"^{_TABLE}(?P<slot>/.*)?$")


def is_sharded_table(name: str) -> bool:
    """Whether a variable of this package is a table (or a slot of one) that T2T splits."""
    return _WHOLE_TABLE.match(name) is not None


def group_shards(names: Iterable[str]) -> dict[str, list[str]]:
    """The names in a checkpoint, shards in order, by the name that the joined value has here.

    Raises:
      ValueError: a shard is missing.
    """
    groups: dict[str, list[str]] = {}
    shards: dict[str, dict[int, str]] = {}
    for name in sorted(names):
        match = _SHARD.match(name)
        if match is None:
            groups[name] = [name]
        else:
            table = match["table"] + (match["slot"] or "")
            shards.setdefault(table, {})[int(match["number"])] = name
    for table, parts in shards.items():
        missing = sorted(set(range(max(parts) + 1)) - set(parts))
        if missing:
            raise ValueError(
                f"Table {table} lacks shards {missing}. Received shards: {sorted(parts)}"
            )
        groups[table] = [parts[number] for number in range(len(parts))]
    return groups


def join_shards(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Replaces the shards of every table by the whole table.

    Args:
      arrays: values by T2T name, optimizer slots included.

    Returns:
      values by this package's names, other entries unchanged.

    Raises:
      ValueError: a shard is missing.
    """
    return {
        name: arrays[parts[0]]
        if parts == [name]
        else np.concatenate([arrays[part] for part in parts], axis=0)
        for name, parts in group_shards(arrays).items()
    }


def shard_sizes(num_rows: int, num_shards: int) -> list[int]:
    """How many rows each of a table's shards has."""
    return [num_rows // num_shards + (i < num_rows % num_shards) for i in range(num_shards)]


def split_shards(table: np.ndarray, num_shards: int) -> list[np.ndarray]:
    """The shards T2T would make of a table `[rows, depth]`: the inverse of `join_shards`."""
    return np.split(table, np.cumsum(shard_sizes(len(table), num_shards))[:-1], axis=0)


def split_tables(arrays: Mapping[str, np.ndarray], num_shards: int) -> dict[str, np.ndarray]:
    """Values by T2T name: every `symbol_modality_…/weights` split into shards, others unchanged.

    Slots are split like their tables. Adafactor's slot of columns, which has one run of values for
    each shard, comes apart in the same way.
    """
    split: dict[str, np.ndarray] = {}
    for name, array in arrays.items():
        match = _WHOLE_TABLE.match(name)
        if match is None:
            split[name] = array
            continue
        for number, shard in enumerate(split_shards(array, num_shards)):
            split[f"{match['table']}_{number}{match['slot'] or ''}"] = shard
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
