"""Maps a function over a stream of items on several processes, results in the order of the items.

Nothing runs in parallel unless a program asks for it with `processes`: workers are fresh Python
processes (copies of a process in which TensorFlow's threads run can hang), and these load the
program's main module, which must therefore be safe to import.
"""

from __future__ import annotations

import collections
import contextlib
import contextvars
import dataclasses
import os
import pickle
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

from absl import logging

Item = TypeVar("Item")
Result = TypeVar("Result")

# Items a worker finds waiting when it has finished one.
_QUEUED_PER_WORKER = 2


@dataclasses.dataclass(frozen=True)
class _Settings:
    """Number of processes, and what each one calls first."""

    num_processes: int = 1
    initializer: Callable[..., None] | None = None
    arguments: tuple[Any, ...] = ()


_ONE_PROCESS = _Settings()
_settings = contextvars.ContextVar("t2t_keras_processes", default=_ONE_PROCESS)


@contextlib.contextmanager
def processes(
    num_processes: int | None, initializer: Callable[..., None] | None = None, *arguments: Any
) -> Iterator[None]:
    """Within the `with` block, `ordered_map` may use several processes.

    Args:
        num_processes: their number; None or 0: one for every CPU that this process may use.
        initializer: a function of a module, called first in every new process.
        *arguments: its arguments.
    """
    token = _settings.set(_Settings(num_processes or num_cpus(), initializer, arguments))
    try:
        yield
    finally:
        _settings.reset(token)


def num_cpus() -> int:
    """Number of CPUs that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def blocks(
    items: Iterable[Item], weight: Callable[[Item], int], block_weight: int
) -> Iterator[list[Item]]:
    """Yields the items in lists, each but the last of at least `block_weight`.

    Args:
        items: the items.
        weight: how much work an item is, in any unit.
        block_weight: a list ends with the item that brings it to this weight.
    """
    block: list[Item] = []
    size = 0
    for item in items:
        block.append(item)
        size += weight(item)
        if size >= block_weight:
            yield block
            block, size = [], 0
    if block:
        yield block


def ordered_map(
    function: Callable[[Item], Result],
    items: Iterable[Item],
    weight: Callable[[Item], int],
    serial_weight: int,
) -> Iterator[Result]:
    """Yields function(item) for every item, in order; with several processes for many items.

    Only a few items are in memory at a time.

    Args:
        function: what to apply; for several processes it must be picklable, else one is used.
        items: the items; picklable.
        weight: how much work an item is, in any unit.
        serial_weight: so much work is done in this process before others are started, which
            takes some tenths of a second.

    Yields:
        The results.
    """
    settings = _settings.get()
    iterator = iter(items)
    pickled = _pickled(function) if settings.num_processes > 1 else None
    if pickled is not None:
        done = 0
        for item in iterator:
            yield function(item)
            done += weight(item)
            if done >= serial_weight:
                yield from _map_in_pool(pickled, iterator, settings)
                return
        return
    yield from map(function, iterator)


def _pickled(function: Callable[..., Any]) -> bytes | None:
    try:
        return pickle.dumps(function)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        logging.info("Using one process, since the work can't be handed to others: %s", error)
        return None


def _map_in_pool(pickled: bytes, items: Iterator[Any], settings: _Settings) -> Iterator[Any]:
    # Loaded here: most programs never get here.
    import concurrent.futures
    import multiprocessing

    pool = concurrent.futures.ProcessPoolExecutor(
        max_workers=settings.num_processes,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(settings, pickled),
    )
    waiting: collections.deque[concurrent.futures.Future[Any]] = collections.deque()
    try:
        for item in items:
            waiting.append(pool.submit(_work, item))
            if len(waiting) > _QUEUED_PER_WORKER * settings.num_processes:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


_worker_function: Callable[[Any], Any] | None = None


def _start_worker(settings: _Settings, pickled: bytes) -> None:
    global _worker_function
    # The main process ends its workers; an interrupt from the keyboard reaches them as well.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent()
    if settings.initializer is not None:
        settings.initializer(*settings.arguments)
    _worker_function = pickle.loads(pickled)


def end_with_parent() -> None:
    """Makes this worker end when its parent does, even if the parent was killed."""
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def wait_and_exit() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=wait_and_exit, daemon=True).start()


def _work(item: Any) -> Any:
    assert _worker_function is not None
    return _worker_function(item)
