"""A process with several logical CPU devices, for what runs on several replicas.

The devices must be made before TensorFlow starts, so it can't be the process of the tests. One
serves all tests of a session: starting TensorFlow takes longer than most of them.
"""

import concurrent.futures
import contextlib
import importlib
import multiprocessing
from collections.abc import Callable, Iterator
from typing import Any

from tests import memory

NUM_CPUS = 4


@contextlib.contextmanager
def process_with_logical_cpus() -> Iterator[Callable[..., Any]]:
    """Yields a function that calls a module's function with arguments there."""
    with concurrent.futures.ProcessPoolExecutor(
        max_workers=1,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_make_logical_cpus,
    ) as pool:

        def call(function: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
            # By name: an import that fails there is told, and doesn't end the process.
            names = (function.__module__, function.__name__)
            return pool.submit(_call, names, arguments, options).result()

        yield call


def _make_logical_cpus() -> None:
    from t2t_keras.training.distribution import make_strategy

    make_strategy(NUM_CPUS)


def _call(names: tuple[str, str], arguments: tuple[Any, ...], options: dict[str, Any]) -> Any:
    module, name = names
    try:
        return getattr(importlib.import_module(module), name)(*arguments, **options)
    finally:
        memory.free_graphs()
