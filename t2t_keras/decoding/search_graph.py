"""A search made into a graph, with a word while that takes time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Any

from absl import logging


class SearchGraph:
    """A compiled search; the log says when it is built, which takes as long as many sentences.

    Args:
        function: a `tf.function` of ids `[batch, length]`, limits `[batch]` and the buffers' static
            length, or of the first few of them.
        num_arguments: how many of them it takes.
        every_shape: whether every shape is compiled anew (XLA); else one graph, of the function's
            signature, serves all.
    """

    def __init__(self, function: Any, num_arguments: int, every_shape: bool = False) -> None:
        self._function = function
        self._num_arguments = num_arguments
        self._every_shape = every_shape
        self._built: set[Any] = set()

    def build(self) -> None:
        """Builds the graph that serves all shapes, if there is one to build."""
        if self._every_shape or self._built:
            return
        self._built.add("all")
        logging.info("Building the search …")
        started = time.monotonic()
        self._function.get_concrete_function()
        logging.info("Built in %.1f s.", time.monotonic() - started)

    def __call__(self, ids: Any, limits: Any, length: int | None) -> dict[str, Any]:
        """The function's result; see `search.infer`."""
        arguments = (ids, limits, length)[: self._num_arguments]
        if not self._every_shape:
            self.build()
            return self._function(*arguments)
        key = (*ids.shape, length)
        if key in self._built:
            return self._function(*arguments)
        self._built.add(key)
        with _above_progress_bars():
            logging.info("Compiling the search for %d x %d (sentences x length) …", *ids.shape)
        started = time.monotonic()
        result = self._function(*arguments)
        with _above_progress_bars():
            logging.info(
                "Compiled in %.1f s, the first batch included.", time.monotonic() - started
            )
        return result


@contextlib.contextmanager
def _above_progress_bars() -> Iterator[None]:
    """What is written meanwhile doesn't go on in a progress bar's line."""
    import tqdm

    with tqdm.tqdm.external_write_mode():
        yield
