"""Ranges of hyperparameters, for tuning: what a registered ranged set fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar


class RangedHParams:
    """Hyperparameters with the values that a search may try; T2T's class of that name.

    A name belongs to one of four kinds, each a dictionary from the name to a tuple:
    `categorical_params` and `discrete_params` to `(name, choices, length)` and
    `(name, choices, scale, length)`; `float_params` and `int_params` to
    `(name, minimum, maximum, scale, length)`. `length` is the number of values of a list-valued
    hyperparameter, None for a single value; `scale` is one of the class's constants or None.
    """

    LINEAR_SCALE: ClassVar[int] = 1
    LOG_SCALE: ClassVar[int] = 2
    REVERSE_LOG_SCALE: ClassVar[int] = 3

    # As tuning services spell them.
    SCALES_STR: ClassVar[dict[int, str]] = {
        LINEAR_SCALE: "UNIT_LINEAR_SCALE",
        LOG_SCALE: "UNIT_LOG_SCALE",
        REVERSE_LOG_SCALE: "UNIT_REVERSE_LOG_SCALE",
    }

    def __init__(self) -> None:
        self.categorical_params: dict[str, tuple[Any, ...]] = {}
        self.discrete_params: dict[str, tuple[Any, ...]] = {}
        self.float_params: dict[str, tuple[Any, ...]] = {}
        self.int_params: dict[str, tuple[Any, ...]] = {}

    def set_categorical(
        self, name: str, categories: Sequence[str], length: int | None = None
    ) -> None:
        """Declares a choice among texts; raises `ValueError` if `name` is of another kind."""
        self._set(self.categorical_params, (name, categories, length))

    def set_discrete(
        self,
        name: str,
        feasible_points: Sequence[float],
        scale: int | None = None,
        length: int | None = None,
    ) -> None:
        """Declares a choice among numbers; raises `ValueError` if `name` is of another kind."""
        self._set(self.discrete_params, (name, feasible_points, scale, length))

    def set_float(
        self,
        name: str,
        min_val: float,
        max_val: float,
        scale: int | None = None,
        length: int | None = None,
    ) -> None:
        """Declares a range of floats; raises `ValueError` if `name` is of another kind."""
        self._set(self.float_params, (name, min_val, max_val, scale, length))

    def set_int(
        self,
        name: str,
        min_val: int,
        max_val: int,
        scale: int | None = None,
        length: int | None = None,
    ) -> None:
        """Declares a range of ints; raises `ValueError` if `name` is of another kind."""
        self._set(self.int_params, (name, min_val, max_val, scale, length))

    def _set(self, kind: dict[str, tuple[Any, ...]], entry: tuple[Any, ...]) -> None:
        """Declares a name anew or changes its range."""
        name = entry[0]
        kinds = (self.categorical_params, self.discrete_params, self.float_params, self.int_params)
        if any(name in other for other in kinds if other is not kind):
            raise ValueError(
                f"The range of {name!r} has been declared as one of another kind (categorical, "
                f"discrete, float, int). Received: {entry}"
            )
        kind[name] = entry
