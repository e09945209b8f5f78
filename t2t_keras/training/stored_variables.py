"""What a checkpoint holds, under this package's names: the one reader of checkpoints, T2T's too."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from t2t_keras.models.t2t_names import group_shards
from t2t_keras.training.checkpoint_damage import READ_ERRORS
from t2t_keras.training.t2t_loss_scale import LOSS_SCALE, own_name

__all__ = [
    "BOOKKEEPING",
    "GLOBAL_STEP",
    "CheckpointError",
    "StoredVariables",
    "values_by_path",
]

GLOBAL_STEP = "global_step"
# Of tensor2tensor's variables, those that neither a model nor an optimizer's slots need.
BOOKKEEPING = (
    GLOBAL_STEP,
    "losses_avg/",
    "train_stats/",
    "training/beta1_power",
    "training/beta2_power",
    "training/iter",
    # Of mixed float16 training; a run that goes on in another precision has no use for it.
    LOSS_SCALE,
)
_MAX_LISTED = 10
_TABLE_SIZE = re.compile(r"/symbol_modality_(\d+)_")


class CheckpointError(ValueError):
    """A checkpoint that is absent, incomplete or doesn't fit the model."""


class StoredVariables:
    """The variables of a checkpoint, by this package's names.

    Embedding tables that T2T stored in shards are joined, and the state of T2T's loss scaling is
    found under the names it has here.

    Args:
        prefix: of a complete checkpoint.

    Attributes:
        prefix: as given.
        shapes: shape by name.

    Raises:
        CheckpointError: a shard of a table is missing.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self._reader = tf.train.load_checkpoint(prefix)
        stored = self._reader.get_variable_to_shape_map()
        try:
            parts_by_name = group_shards(stored)
        except ValueError as error:
            raise CheckpointError(f"{error} in {prefix}") from error
        self._parts = {own_name(name): parts for name, parts in parts_by_name.items()}
        self.shapes = {name: _joined_shape(parts, stored) for name, parts in self._parts.items()}

    @property
    def step(self) -> int:
        """The global step; 0 if none is stored."""
        return int(self.read(GLOBAL_STEP)) if GLOBAL_STEP in self.shapes else 0

    @property
    def model_names(self) -> list[str]:
        """Names of the model's variables."""
        return [n for n in self.shapes if not n.startswith(("training/", *BOOKKEEPING))]

    @property
    def slot_names(self) -> list[str]:
        """Names of the optimizer's slots."""
        return [n for n in self.shapes if n.startswith("training/") and not is_bookkeeping(n)]

    def read(self, name: str) -> np.ndarray:
        """A variable's value."""
        try:
            parts = [self._reader.get_tensor(part) for part in self._parts[name]]
        except READ_ERRORS as error:
            raise CheckpointError(
                f"The data of checkpoint {self.prefix} are damaged at {name} ({error})"
            ) from error
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=0)

    def read_all(self) -> dict[str, np.ndarray]:
        """All values by name."""
        return {name: self.read(name) for name in self.shapes}

    def refuse_misfits(
        self, variables: Mapping[str, Any], ignore_prefixes: Sequence[str] = ()
    ) -> None:
        """Checks that this checkpoint is one of these variables.

        Args:
            variables: variables, or anything with a `shape`, by name.
            ignore_prefixes: names in the checkpoint that may be left over.

        Raises:
            CheckpointError: a variable is missing, left over or of another shape; lists them all.
        """
        ignored = tuple(ignore_prefixes)
        missing = [f"{n} {list(v.shape)}" for n, v in variables.items() if n not in self.shapes]
        left_over = [
            f"{name} {shape}"
            for name, shape in self.shapes.items()
            if name not in variables and not (ignored and name.startswith(ignored))
        ]
        other_shape = [
            f"{name} {list(variable.shape)} in the model, {self.shapes[name]} in the file"
            for name, variable in variables.items()
            if name in self.shapes and list(variable.shape) != self.shapes[name]
        ]
        problems = [
            _listing("missing in the file", missing),
            _listing("unknown to the model", left_over),
            _listing("of another shape", other_shape),
        ]
        if any(problems):
            raise CheckpointError(
                f"The checkpoint {self.prefix} doesn't fit the model. Use the hyperparameters it "
                "was trained with (model, hparams_set, hparams, problem and vocabulary)."
                f"{_of_vocabularies(missing, left_over)}\n"
                + "\n".join(problem for problem in problems if problem)
            )

    def assign_to(self, variables: Mapping[str, Any], ignore_prefixes: Sequence[str] = ()) -> None:
        """Sets Keras variables by name, all or, if they don't fit (`refuse_misfits`), none."""
        self.refuse_misfits(variables, ignore_prefixes)
        for name, variable in variables.items():
            variable.assign(self.read(name))


def is_bookkeeping(name: str) -> bool:
    """Whether a stored variable is neither a model's nor a slot, but T2T's bookkeeping."""
    return name.startswith(BOOKKEEPING)


def _joined_shape(parts: Sequence[str], shapes: Mapping[str, Sequence[int]]) -> list[int]:
    shape = list(shapes[parts[0]])
    if len(parts) > 1:
        shape[0] = sum(shapes[part][0] for part in parts)
    return shape


def _of_vocabularies(missing: Sequence[str], left_over: Sequence[str]) -> str:
    """A sentence, if the tables tell that the checkpoint is of another vocabulary."""
    ours, theirs = (
        {match[1] for match in map(_TABLE_SIZE.search, names) if match}
        for names in (missing, left_over)
    )
    if not ours or not theirs or ours == theirs:
        return ""
    return (
        f" Its vocabulary has {' and '.join(sorted(theirs))} entries, that of the problem in "
        f"data_dir {' and '.join(sorted(ours))}."
    )


def _listing(title: str, names: Sequence[str]) -> str:
    if not names:
        return ""
    shown = "".join(f"\n    {name}" for name in names[:_MAX_LISTED])
    more = f"\n    … and {len(names) - _MAX_LISTED} more" if len(names) > _MAX_LISTED else ""
    return f"  {len(names)} variable(s) {title}:{shown}{more}"


def values_by_path(variables: Sequence[Any]) -> dict[str, Any]:
    """`{path: variable}`; raises `CheckpointError` if two variables share a path."""
    named: dict[str, Any] = {}
    for variable in variables:
        if variable.path in named and named[variable.path] is not variable:
            raise CheckpointError(
                f"Two variables have one name, so they can't be saved. Received: {variable.path!r}"
            )
        named[variable.path] = variable
    return named
