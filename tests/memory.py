"""Memory of tests that are over: without this a process that runs many files grows by gigabytes."""

import ctypes
import gc
import sys

__all__ = ["free_graphs"]


def free_graphs() -> None:
    """Lets go of the TensorFlow graphs of finished tests, and gives the memory back.

    A graph that uses `tf.custom_gradient` never ends by itself: TensorFlow keeps the gradient's
    function, and with it the graph's tensors, under a name of its own for as long as the process
    lives. No public function takes the names away. They are looked up only while a graph that
    has them is differentiated; what is built later registers its own.
    """
    if "tensorflow" not in sys.modules:
        return
    from tensorflow.python.framework import ops

    registered = ops.gradient_registry._registry
    for name in [name for name in registered if name.startswith("CustomGradient-")]:
        del registered[name]
    gc.collect()
    if sys.platform == "linux":  # The allocator of glibc keeps what is freed unless told.
        ctypes.CDLL(None).malloc_trim(0)
