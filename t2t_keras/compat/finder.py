"""The import machinery behind `tensor2tensor.…`: a finder, and modules that look names up late."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from absl import logging

from t2t_keras import registry
from t2t_keras.compat import table
from t2t_keras.names import did_you_mean

# Longer lists are left out of messages that offer near matches.
_MOST_LISTED = 40


class AliasModule(ModuleType):
    """A module `tensor2tensor.…`: every name in it is looked up when it is first used."""

    # Every alias is a package: then `from module import name` of a missing name asks the finder,
    # whose message tells more than Python's.
    __path__: list[str]

    def __getattr__(self, name: str) -> Any:
        if name == "__all__":
            return available_names(self.__name__)
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if table.sources(f"{self.__name__}.{name}") is not None:
            return importlib.import_module(f"{self.__name__}.{name}")
        value = _look_up(self.__name__, name)
        setattr(self, name, value)
        return value

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *available_names(self.__name__)})


class AliasFinder(MetaPathFinder, Loader):
    """Finds `tensor2tensor` and what is in it by the table, unless a real one is installed."""

    def __init__(self) -> None:
        self._has_warned = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`.

        Raises:
            ModuleNotFoundError: the module, or member of a module, isn't provided; the message has
                near matches and what there is.
        """
        del path, target
        if fullname == table.ROOT:
            return None if self._is_installed() else self._spec(fullname)
        if not fullname.startswith(f"{table.ROOT}."):
            return None
        if not isinstance(sys.modules.get(table.ROOT), AliasModule):
            return None
        if table.sources(fullname) is None:
            # Without a `name`: `from package import name` swallows the error if it has one.
            raise ModuleNotFoundError(missing_message(fullname))
        return self._spec(fullname)

    def _spec(self, fullname: str) -> ModuleSpec:
        return ModuleSpec(fullname, self, origin="t2t_keras.compat", is_package=True)

    def _is_installed(self) -> bool:
        """Whether there's another tensor2tensor; a mere directory of that name isn't one."""
        for finder in sys.meta_path:
            if isinstance(finder, AliasFinder) or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(table.ROOT, None)
            if spec is not None and spec.origin is not None:
                if not self._has_warned:
                    self._has_warned = True
                    logging.warning(
                        "tensor2tensor is installed (%s): what a package registers through it is "
                        "unknown to t2t_keras. Use an environment without it.",
                        spec.origin,
                    )
                return True
        return False

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """See `importlib.abc.Loader`."""
        return AliasModule(spec.name, f"{spec.name}, provided by t2t_keras.")

    def exec_module(self, module: ModuleType) -> None:
        """Runs nothing: names are looked up when they are used."""

    @staticmethod
    def forget_modules() -> None:
        """Removes all aliases from the modules that Python knows."""
        for name, module in list(sys.modules.items()):
            if isinstance(module, AliasModule):
                del sys.modules[name]


def _look_up(module: str, name: str) -> Any:
    """The object that a name in a module stands for.

    Raises:
        AttributeError: there is none; the message has near matches and what there is.
    """
    for source in table.sources(module) or ():
        if isinstance(source, table.Names):
            ours = source.renamed().get(name)
            if ours is not None:
                return getattr(importlib.import_module(source.module), ours)
        elif name in _names_of(source):
            if isinstance(source, table.Sets):
                return _registry_of_set(name).registered(name)
            return getattr(importlib.import_module(source.module), name)
    raise AttributeError(missing_message(f"{module}.{name}"))


def _registry_of_set(name: str) -> registry.Registry:
    if name in registry.Registries.hparams:
        return registry.Registries.hparams
    return registry.Registries.ranged_hparams


def _names_of(source: table.Source) -> list[str]:
    """The names that a source provides."""
    if isinstance(source, table.Names):
        return list(source.renamed())
    if isinstance(source, table.Sets):
        names = [*registry.list_hparams(), *registry.list_ranged_hparams()]
        return [name for name in names if name.startswith(source.prefix)]
    module = importlib.import_module(source.module)
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == source.module
    ]


def available_names(module: str) -> list[str]:
    """Everything that can be imported from a module, sorted."""
    names = set(table.submodules(module))
    for source in table.sources(module) or ():
        names.update(_names_of(source))
    return sorted(names)


def missing_message(fullname: str) -> str:
    """Says that a module or member isn't provided, what is like it, and what there is."""
    parent, _, name = fullname.rpartition(".")
    while table.sources(parent) is None:
        parent, _, name = parent.rpartition(".")
    available = available_names(parent)
    near = did_you_mean(name, available).strip()
    parts = [
        f"{fullname} is not among what t2t_keras provides of tensor2tensor.",
        table.reason_left_out(fullname),
        near,
    ]
    if not near or len(available) <= _MOST_LISTED:
        parts.append(f"{parent} has: {', '.join(available) or 'nothing'}.")
    return " ".join(part for part in parts if part)
