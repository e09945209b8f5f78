"""Progress of building the training step; XLA compiles it anew for every shape of a batch."""

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from absl import logging

__all__ = ["CompilationLog"]


class CompilationLog:
    """Says which shape is being compiled, how long it took, and how many are left at most.

    Args:
        is_compiled: whether XLA compiles the step; else one graph serves all shapes.
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
        self._shapes = list(shapes)
        self._num_shapes = len(shapes)
        self._clock = clock
        self._seen: set[tuple[Any, ...]] = set()
        self._seconds = 0.0
        self._has_graph = False

    def compile_all(
        self,
        features: Mapping[str, Any],
        compile_for: Callable[[dict[str, Any]], None],
        should_stop: Callable[[], bool],
    ) -> None:
        """Compiles every shape there can be that isn't compiled yet.

        Args:
            features: some batch padded to its bucket, feature name -> `[batch, length, …]`.
            compile_for: is called with a batch of zeros of each shape.
            should_stop: asked before each; if true, the others are left for later.
        """
        if not self._is_compiled:
            return
        if not self._shapes:
            logging.warning(
                "The shapes of this problem's batches aren't known beforehand: each is compiled at "
                "the first batch that has it."
            )
        for shape in self._shapes:
            example = _zeros_of_shape(features, *shape)
            if self._key(example) in self._seen or should_stop():
                continue
            with self.of_step([example]):
                compile_for(example)

    @contextlib.contextmanager
    def of_step(self, batches: Sequence[Mapping[str, Any]]) -> Iterator[None]:
        """Put around a training step.

        Args:
            batches: its micro-batches, feature name -> `[batch, length]`.
        """
        if not self._is_compiled:
            with self._of_graph():
                yield
            return
        new = self._new_shapes(batches)
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
        logging.info("Compiled %s in %.1f s.", names, seconds)
        if len(self._seen) == self._num_shapes:
            logging.info(
                "All %d shapes are compiled; that took %.1f s in all. No step waits any more.",
                self._num_shapes, self._seconds,
            )  # fmt: skip

    @contextlib.contextmanager
    def _of_graph(self) -> Iterator[None]:
        """The same without XLA: one graph, built at the first step, serves all shapes."""
        if self._has_graph:
            yield
            return
        self._has_graph = True
        logging.info("Building the training step …")
        started = self._clock()
        yield
        logging.info("Built in %.1f s, the first step included.", self._clock() - started)

    def _new_shapes(self, batches: Sequence[Mapping[str, Any]]) -> list[str]:
        """The shapes not seen before, in words; from now on they are."""
        new = []
        for features in batches:
            key = self._key(features)
            if key not in self._seen:
                self._seen.add(key)
                rows, length = max(tuple(value.shape)[:2] for value in features.values())
                new.append(f"{rows} x {length}")
        return new

    @staticmethod
    def _key(features: Mapping[str, Any]) -> tuple[Any, ...]:
        return tuple(sorted((name, *value.shape) for name, value in features.items()))


def _zeros_of_shape(features: Mapping[str, Any], rows: int, length: int) -> dict[str, np.ndarray]:
    """Zeros of the types of `features`, `[rows, length, …]`; what isn't padded keeps its length."""
    padded = max(value.shape[1] for value in features.values() if len(value.shape) > 1)
    zeros = {}
    for name, value in features.items():
        shape = [rows, *value.shape[1:]]
        if len(shape) > 1 and shape[1] == padded:
            shape[1] = length
        zeros[name] = np.zeros(shape, np.dtype(getattr(value.dtype, "as_numpy_dtype", value.dtype)))
    return zeros
