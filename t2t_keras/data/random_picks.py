"""Random numbers that are the same with every version of NumPy, and whose state is a few integers.

NumPy promises that of the raw output of its bit generators only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["RandomPicks"]


class RandomPicks:
    """A stream of raw 64-bit numbers.

    Args:
        seed: not negative.
    """

    def __init__(self, seed: int) -> None:
        self._generator = np.random.PCG64(seed)

    def many(self, count: int) -> list[int]:
        """`count` numbers of 64 bits; taken modulo a small number they pick one of so many."""
        return self._generator.random_raw(count).tolist()

    def below(self, limit: int) -> int:
        """A number from 0 to limit − 1."""
        return int(self._generator.random_raw()) % limit

    def state(self) -> dict[str, int]:
        """JSON values from which `restore` goes on."""
        whole: Any = self._generator.state
        return {name: int(value) for name, value in whole["state"].items()}

    def restore(self, state: dict[str, int]) -> None:
        """Goes on where `state` was taken."""
        whole: Any = dict(self._generator.state)
        whole.update(state=dict(state), has_uint32=0, uinteger=0)
        self._generator.state = whole
