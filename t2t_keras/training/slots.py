"""Optimizers whose state has TensorFlow 1's names."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import keras
import numpy as np

__all__ = [
    "Slot",
    "SlotOptimizer",
    "count_skipped_update",
    "optimizer_of",
    "slot_variables",
    "state_scalars",
]

# The optimizer (hparam `optimizer`) by its slots' names; multistep_adam has more of adam's.
_OPTIMIZERS = {
    "Adafactor": "adafactor",
    "Adagrad": "adagrad",
    "Adam": "adam",
    "AdamW": "adam_w",
    "Ftrl": "ftrl",
    "Momentum": "momentum",
    "RMSProp": "rms_prop",
}
_MULTISTEP_SLOT = "Adam_2"


class Slot(NamedTuple):
    """One piece of state that an optimizer keeps for a variable."""

    shape: Sequence[int]
    initial_value: float = 0.0


class SlotOptimizer(keras.optimizers.Optimizer):
    """An optimizer with slots: variables that belong to one trainable variable each.

    A subclass says in `make_slots` which slots a variable has and updates it in `update_step`.
    """

    # T2T's checkpoints call a variable's slots <variable>/<name>, <variable>/<name>_1, ….
    slot_name = ""

    def build(self, var_list: Sequence[Any]) -> None:
        """Makes the slots of all variables (called by Keras)."""
        if self.built:
            return
        super().build(var_list)
        self._slots = [
            [
                self.add_variable(
                    shape=tuple(slot.shape),
                    initializer=keras.initializers.Constant(slot.initial_value),
                    dtype=variable.dtype,
                    name=f"{variable.path.replace('/', '_')}_{name}",
                )
                for name, slot in zip(self._names(), self.make_slots(variable), strict=False)
            ]
            for variable in var_list
        ]

    def _names(self) -> list[str]:
        return [self.slot_name, *(f"{self.slot_name}_{number}" for number in range(1, 4))]

    def make_slots(self, variable: Any) -> list[Slot]:
        """The slots of a Keras variable, in T2T's order."""
        raise NotImplementedError

    def slots_of(self, variable: Any) -> list[Any]:
        """The variables in a variable's slots, for `update_step`: `tf.Variable`s."""
        return [slot.value for slot in self._slots[self._get_variable_index(variable)]]

    def slot_variables(self, variable: Any) -> dict[str, Any]:
        """The Keras variables in a variable's slots by their name in a checkpoint."""
        slots = self._slots[self._get_variable_index(variable)]
        return dict(zip(self._names(), slots, strict=False))

    def skip(self, variables: Sequence[Any]) -> None:
        """Lets a step pass without an update."""
        del variables
        self.iterations.assign_add(1)

    def state_scalars(self, step: int) -> Mapping[str, np.ndarray]:
        """What T2T's checkpoint of a global step has besides, by name; here it isn't state."""
        del step
        return {}


def count_skipped_update(optimizer: keras.optimizers.Optimizer, variables: Sequence[Any]) -> None:
    """Counts a step whose gradients aren't used; in a replica, as the optimizer's `apply`."""
    if isinstance(optimizer, SlotOptimizer):
        optimizer.skip(variables)
    else:
        optimizer.iterations.assign_add(1)


def slot_variables(
    optimizer: keras.optimizers.Optimizer, trainable_variables: Sequence[Any]
) -> dict[str, Any]:
    """The optimizer's state by the name it has in a checkpoint.

    T2T's names, `training/<variable>/<slot>`, where the optimizer knows its slots; for any other
    Keras optimizer `training/<path of the optimizer's variable>`. The count of updates isn't among
    them: it is the global step.

    Args:
        optimizer: built.
        trainable_variables: the variables it was built on.
    """
    if isinstance(optimizer, SlotOptimizer):
        return {
            f"training/{variable.path}/{slot}": slot_variable
            for variable in trainable_variables
            for slot, slot_variable in optimizer.slot_variables(variable).items()
        }
    own = {id(optimizer.iterations), id(getattr(optimizer, "_learning_rate", None))}
    return {f"training/{v.path}": v for v in optimizer.variables if id(v) not in own}


def optimizer_of(names: Iterable[str]) -> str:
    """T2T's name of the optimizer whose slots have these names; "" if they don't tell.

    Args:
        names: as in a checkpoint, `training/<variable>/<slot>`.
    """
    slots = {name.rpartition("/")[2] for name in names}
    if _MULTISTEP_SLOT in slots:
        return "multistep_adam"
    kinds = {re.sub(r"_\d+$", "", slot) for slot in slots}
    return _OPTIMIZERS.get(kinds.pop(), "") if len(kinds) == 1 else ""


def state_scalars(optimizer: keras.optimizers.Optimizer, step: int) -> dict[str, np.ndarray]:
    """`training/<name>` and value of what T2T's optimizer stores that follows from the step."""
    if not isinstance(optimizer, SlotOptimizer):
        return {}
    return {f"training/{name}": value for name, value in optimizer.state_scalars(step).items()}
