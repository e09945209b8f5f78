"""Whether the graph under construction goes to XLA: some computations have a better form for it."""

import contextvars
import functools
from collections.abc import Callable
from typing import Any

__all__ = ["for_xla", "materialized", "traced_for_xla"]

_FOR_XLA: contextvars.ContextVar[bool] = contextvars.ContextVar("for_xla", default=False)


def traced_for_xla(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; while it runs, that is, is traced, `for_xla` is true."""

    @functools.wraps(function)
    def traced(*args: Any, **kwargs: Any) -> Any:
        token = _FOR_XLA.set(True)
        try:
            return function(*args, **kwargs)
        finally:
            _FOR_XLA.reset(token)

    return traced


def for_xla() -> bool:
    """Whether what is being traced will be compiled by XLA, as far as is known."""
    return _FOR_XLA.get()


def materialized(x: Any) -> Any:
    """`x` itself; XLA will not merge its computation with that of what reads it."""
    # The operation has no public name in TensorFlow 2.21.
    from tensorflow.compiler.tf2xla.ops import gen_xla_ops

    return gen_xla_ops.xla_optimization_barrier(input=[x])[0]
