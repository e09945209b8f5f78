"""Registry: a mapping from names to registered objects that imports what it lacks when asked."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from t2t_keras.names import (
    RegistryKeyError,
    default_name,
    did_you_mean,
    display_list_by_prefix,
    split_arguments,
)

__all__ = ["LIST_INDENT", "Registry"]

T = TypeVar("T")

# Blanks before each name in a list of names.
LIST_INDENT = 4


class Registry:
    """A mapping from names to registered objects that can load them lazily.

    Args:
        name: what the registry holds, in the plural ("models"); used in messages.
        check: called as `check(key, value)` before registration; raises if the value won't do.
        mark: called as `mark(key, value)` after registration, e.g. to store the name in a class.
        transform: called as `transform(key, value)` at look-up; its result is handed out.
        package: dotted name of a package of which all modules are imported at the first look-up.
        declarations: called to get `{name: module}` of the names that a module registers when it is
            imported; the module is imported when that name is looked up.
    """

    def __init__(
        self,
        name: str,
        *,
        check: Callable[[str, Any], None] | None = None,
        mark: Callable[[str, Any], None] | None = None,
        transform: Callable[[str, Any], Any] | None = None,
        package: str | None = None,
        declarations: Callable[[], dict[str, str]] | None = None,
    ) -> None:
        self.name = name
        self._check = check
        self._mark = mark
        self._transform = transform
        self._package = package
        self._package_loaded = False
        self._declarations = declarations
        self._entries: dict[str, Any] = {}
        self._families: dict[str, Any] = {}
        # What was made for names with arguments.
        self._derived: dict[str, Any] = {}

    def register(self, key_or_value: Any = None) -> Any:
        """Registers a callable; usable as `@register`, `@register()` and `@register("key")`.

        Args:
            key_or_value: the object to register under its default name, or a name, or None.

        Returns:
            The object itself, or a decorator that registers and returns its argument.

        Raises:
            KeyError: the name is taken or not allowed in this registry.
            ValueError: the value isn't callable or takes the wrong arguments.
        """
        if key_or_value is None or isinstance(key_or_value, str):
            key = key_or_value

            def decorate(value: T) -> T:
                self[self._default_key(value) if key is None else key] = value
                return value

            return decorate
        self[self._default_key(key_or_value)] = key_or_value
        return key_or_value

    def _default_key(self, value: Any) -> str:
        if not callable(value):
            raise ValueError(
                f"Only classes and functions can be registered in {self.name}. Received: {value!r}"
            )
        return default_name(value)

    def __setitem__(self, key: str, value: Any) -> None:
        if not callable(value):
            raise ValueError(
                f"Only classes and functions can be registered in {self.name}; {key!r} isn't one. "
                f"Received: {value!r}"
            )
        self._raise_if_taken(key, value)
        if self._check is not None:
            self._check(key, value)
        self._entries[key] = value
        if self._mark is not None:
            self._mark(key, value)

    def _raise_if_taken(self, key: str, value: Any) -> None:
        if key in self._entries:
            owner = getattr(self._entries[key], "__module__", "another module")
        else:
            owner = self._declared().get(key, "")
            if owner in ("", getattr(value, "__module__", None)):
                return
        raise RegistryKeyError(
            f"{key!r} is already registered in {self.name}, by {owner}. Choose another name. "
            f"Received: {value!r} of module {getattr(value, '__module__', None)}"
        )

    def register_family(self, prefix: str) -> Callable[[T], T]:
        """Decorator for a function that makes what the names `<prefix>:<arguments>` stand for.

        The function is called with the arguments, and returns something new that could be
        registered. It is asked once for each name.

        Raises:
            KeyError: the prefix is taken, as a family or as a name.
        """

        def decorate(function: T) -> T:
            if prefix in self._families or prefix in self._entries:
                raise RegistryKeyError(f"{prefix!r} is already registered in {self.name}.")
            self._families[prefix] = function
            return function

        return decorate

    def families(self) -> list[str]:
        """The prefixes of all families, sorted."""
        self.load()
        return sorted(self._families)

    def _find_in_family(self, key: str) -> Any:
        """What a name with arguments stands for, made now or before."""
        if key in self._derived:
            return self._derived[key]
        prefix, arguments = split_arguments(key)
        if prefix in self._families:
            value = self._families[prefix](arguments)
        else:
            base = self._find(prefix)
            if not hasattr(base, "with_arguments"):
                raise RegistryKeyError(f"{prefix} takes no arguments. Received: {key!r}")
            value = base.with_arguments(arguments)
        if self._mark is not None:
            self._mark(key, value)
        self._derived[key] = value
        return value

    def remove(self, key: str) -> None:
        """Forgets a registered name (for notebooks and tests that register it anew)."""
        del self._entries[key]

    def load(self) -> None:
        """Imports this package's own modules for the registry, except merely declared ones."""
        if self._package is None or self._package_loaded:
            return
        # Set first: the modules being imported may themselves look names up.
        self._package_loaded = True
        try:
            package = importlib.import_module(self._package)
            for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
                importlib.import_module(f"{self._package}.{module}")
        except BaseException:
            # The next look-up must fail with the same error, not with "unknown name".
            self._package_loaded = False
            raise

    def _declared(self) -> dict[str, str]:
        return self._declarations() if self._declarations is not None else {}

    def _find(self, key: str) -> Any:
        """The registered object itself, loaded if needed."""
        if key not in self._entries:
            self.load()
        if key not in self._entries and ":" in str(key):
            return self._find_in_family(key)
        if key not in self._entries and key in self._declared():
            importlib.import_module(self._declared()[key])
        if key not in self._entries:
            raise RegistryKeyError(self._unknown_name_message(key))
        return self._entries[key]

    def _unknown_name_message(self, key: str) -> str:
        names = self.keys()
        listing = display_list_by_prefix(names, LIST_INDENT) or " " * LIST_INDENT + "(none)"
        return (
            f"{key!r} is not registered in {self.name}.{did_you_mean(str(key), names)}\n"
            f"Available {self.name}:\n{listing}"
        )

    def registered(self, key: str) -> Any:
        """The object registered under `key`, untransformed.

        Raises:
            KeyError: unknown name; lists near matches and everything available.
        """
        return self._find(key)

    def __getitem__(self, key: str) -> Any:
        value = self._find(key)
        return value if self._transform is None else self._transform(key, value)

    def get(self, key: str, default: Any = None) -> Any:
        """As `self[key]`, but `default` if nothing has that name."""
        return self[key] if key in self else default

    def __contains__(self, key: object) -> bool:
        return key in self.keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        return len(self.keys())

    def keys(self) -> list[str]:
        """All names, sorted, including declared ones whose module isn't imported yet."""
        self.load()
        return sorted({*self._entries, *self._declared()})

    def values(self) -> list[Any]:
        """What looking each name up gives, in the order of `keys`."""
        return [self[key] for key in self.keys()]

    def items(self) -> list[tuple[str, Any]]:
        """Pairs of name and look-up result, in the order of `keys`."""
        return [(key, self[key]) for key in self.keys()]
