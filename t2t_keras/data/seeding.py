"""Seeds for data generation: T2T's, which decide the order of the examples in every shard.

T2T loads TensorFlow first and seeds then. Loading it draws from Python's generator and takes
seconds, and most problems do not need it. So it is not loaded here; should a problem load it later,
the generators afterwards are as if it had been there all the time.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import json
import os
import random
import sys
import types
from collections.abc import Sequence
from typing import Any

import numpy as np

from t2t_keras.text.text_files import remove_leftovers, write_text_atomically

# Libraries whose loading draws random numbers or is seeded.
_LIBRARIES = ("tensorflow", "tensorflow_datasets", "tensorflow_text", "keras")


def seed_generators(seed: int) -> None:
    """Seeds Python's, NumPy's and TensorFlow's generators, as T2T's datagen does before a problem.

    TensorFlow is seeded when it is loaded, if it is not yet.

    Args:
        seed: the seed.
    """
    random.seed(seed)
    np.random.seed(seed)
    sys.meta_path[:] = [item for item in sys.meta_path if not isinstance(item, _Finder)]
    if "tensorflow" in sys.modules:
        sys.modules["tensorflow"].random.set_seed(seed)
    sys.meta_path.insert(0, _Finder(seed))


def generator_state() -> str:
    """The state of Python's and NumPy's generators, as text."""
    kind, keys, *rest = np.random.get_state()
    return json.dumps([random.getstate(), [kind, np.asarray(keys).tolist(), *rest]])


def restore_generators(state: str) -> None:
    """Puts Python's and NumPy's generators into a state from `generator_state`."""
    (version, internal, gauss), numpy_state = json.loads(state)
    random.setstate((version, tuple(internal), gauss))
    np.random.set_state(tuple(numpy_state))


class SavedState:
    """State of the generators behind a finished step, for a run that starts again after it.

    A step that draws random numbers leaves the generators elsewhere than where a run finds them
    that need not do the step again. The state is kept in a hidden file beside the step's result.

    Args:
        path: path of the step's result.
    """

    def __init__(self, path: str) -> None:
        folder, name = os.path.split(path)
        self._path = os.path.join(folder, f".{name}.random_state.json")
        # A run with another seed has nothing to do with the state.
        self._start = _digest()

    def save(self) -> None:
        """Keeps the state as it is now, if the step changed it."""
        self.remove()
        if self._start == _digest():
            return
        write_text_atomically(
            self._path, json.dumps({"start": self._start, "state": generator_state()})
        )

    def restore(self) -> None:
        """Restores a kept state, if this run began as that one did."""
        if os.path.exists(self._path):
            with open(self._path, encoding="utf-8") as stream:
                saved = json.load(stream)
            if saved["start"] == self._start:
                restore_generators(saved["state"])

    def remove(self) -> None:
        """Forgets the state, when all is done."""
        remove_leftovers(self._path)
        if os.path.exists(self._path):
            os.remove(self._path)


def _digest() -> str:
    return hashlib.sha256(generator_state().encode()).hexdigest()


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the libraries as usual, and has them loaded without trace in the generators."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in _LIBRARIES:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self._seed)
        return spec


class _Loader(importlib.abc.Loader):
    """Loads a module and puts the generators back to where they were."""

    def __init__(self, loader: Any, seed: int) -> None:
        self._loader = loader
        self._seed = seed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        state = generator_state()
        # Modules keep their loader; nothing of this one shall remain.
        module.__loader__ = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = self._loader
        try:
            self._loader.exec_module(module)
        finally:
            restore_generators(state)
        if module.__name__ == "tensorflow":
            module.random.set_seed(self._seed)
