"""Progress of long loops: a bar on a terminal, log lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from absl import logging

_SECONDS_BETWEEN_LINES = 30.0

T = TypeVar("T")


def progress(
    items: Iterable[T], description: str, unit: str, total: int | None = None
) -> Iterator[T]:
    """Yield the items and show how many there were, per second, and the time left if known.

    Args:
        items: what to loop over.
        description: what is being done.
        unit: name of an item, singular.
        total: number of items, if known.
    """
    if sys.stderr.isatty():
        import tqdm

        yield from tqdm.tqdm(items, desc=description, unit=f" {unit}s", total=total)
        return
    start = last = time.monotonic()
    for count, item in enumerate(items, start=1):
        yield item
        # Asking for the time is cheap, but not for free.
        if count % 1000 == 0 and time.monotonic() - last > _SECONDS_BETWEEN_LINES:
            last = time.monotonic()
            _log(description, unit, count, last - start, total)
    logging.info("%s: done in %.1f s", description, time.monotonic() - start)


def _log(description: str, unit: str, count: int, seconds: float, total: int | None) -> None:
    rate = count / seconds
    left = f", {(total - count) / rate:.0f} s left" if total else ""
    logging.info("%s: %d %ss, %.0f/s%s", description, count, unit, rate, left)
