"""Progress of XLA, which compiles the training step anew for every shape of a batch."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from absl import logging

__all__ = ["CompilationLog"]


class CompilationLog:
    """Says which shape is being compiled, how long it took, and how many are left at most.

    Args:
        is_compiled: whether XLA compiles the step; nothing is logged otherwise.
        shapes: rows and length of all batches there can be; empty if that isn't known.
        clock: seconds; replaceable in tests.
    """

    def __init__(
        self,
        is_compiled: bool,
        shapes: Sequence[tuple[int, int]],
        clock: Any = time.monotonic,
    ) -> None:
        self._is_compiled = is_compiled
        self._num_shapes = len(shapes)
        self._clock = clock
        self._seen: set[tuple[Any, ...]] = set()
        self._seconds = 0.0

    @contextlib.contextmanager
    def of_step(self, batches: Sequence[Mapping[str, Any]]) -> Iterator[None]:
        """Put around a training step.

        Args:
            batches: its micro-batches, feature name -> `[batch, length]`.
        """
        new = self._new_shapes(batches) if self._is_compiled else []
        if not new:
            yield
            return
        of_all = f" of at most {self._num_shapes}" if self._num_shapes else ""
        names = ", ".join(new)
        logging.info(
            "Compiling the training step: shape %d%s, %s (sentences x length) …",
            len(self._seen), of_all, names,
        )  # fmt: skip
        started = self._clock()
        yield
        seconds = self._clock() - started
        self._seconds += seconds
        logging.info("Compiled %s in %.1f s, its first step included.", names, seconds)
        if len(self._seen) == self._num_shapes:
            logging.info(
                "All %d shapes are compiled; that took %.1f s in all. No step waits any more.",
                self._num_shapes, self._seconds,
            )  # fmt: skip

    def _new_shapes(self, batches: Sequence[Mapping[str, Any]]) -> list[str]:
        """The shapes not seen before, in words; from now on they are."""
        new = []
        for features in batches:
            shape = tuple(sorted((name, *value.shape) for name, value in features.items()))
            if shape not in self._seen:
                self._seen.add(shape)
                rows, length = max(tuple(value.shape)[:2] for value in features.values())
                new.append(f"{rows} x {length}")
        return new
