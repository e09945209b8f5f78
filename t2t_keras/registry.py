"""Registries: what can be named on the command line, and how names are found.

A registry maps a name to a registered class or function. Decorators fill it:

```python
@registry.register_model                      # registered as "my_model"
class MyModel(keras.Model): ...

@registry.register_hparams("my_set")          # registered as "my_set"
def some_function(): ...
```

Every decorator works bare, with empty parentheses or with an explicit name, and returns the
decorated object unchanged. The name defaults to the snake case of the object's name.

What this package itself registers is loaded on the first look-up: problems and hyperparameter sets
by importing all their modules (they need no TensorFlow), models and optimizers by importing only
the one module that declares the wanted name. Listing names therefore needs no TensorFlow.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from absl import logging

from t2t_keras.names import RegistryKeyError as RegistryKeyError
from t2t_keras.names import camelcase_to_snakecase as camelcase_to_snakecase
from t2t_keras.names import default_name as default_name
from t2t_keras.names import did_you_mean as did_you_mean
from t2t_keras.names import display_list_by_prefix as display_list_by_prefix
from t2t_keras.names import get_problem_name as get_problem_name
from t2t_keras.names import near_matches as near_matches
from t2t_keras.names import parse_problem_name as parse_problem_name
from t2t_keras.names import snakecase_to_camelcase as snakecase_to_camelcase
from t2t_keras.names import split_arguments as split_arguments

T = TypeVar("T")

_LIST_INDENT = 4


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
        listing = display_list_by_prefix(names, _LIST_INDENT) or " " * _LIST_INDENT + "(none)"
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


def _check_num_arguments(wanted: str) -> Callable[[str, Any], None]:
    """A check that a function takes exactly the positional arguments named in `wanted`."""
    num_wanted = len(wanted.split(", "))
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)

    def check(key: str, function: Any) -> None:
        parameters = list(inspect.signature(function).parameters.values())
        fits = len(parameters) == num_wanted and all(p.kind in positional for p in parameters)
        if not fits:
            raise ValueError(
                f"{key!r} must take exactly {num_wanted} positional argument(s): ({wanted}). "
                f"Received: {function.__name__}{inspect.signature(function)}"
            )

    return check


def _mark_model(key: str, model_class: Any) -> None:
    model_class.REGISTERED_NAME = key


def _mark_problem(key: str, problem_class: Any) -> None:
    problem_class.name = key


def _check_problem_name(key: str, problem_class: Any) -> None:
    del problem_class
    if key.endswith(("_rev", "_copy")):
        raise RegistryKeyError(
            "A problem's name must not end in _rev or _copy: these suffixes ask for the reversed "
            f"or copied variant of a problem. Received: {key!r}"
        )
    if ":" in key:
        raise RegistryKeyError(
            "A problem's name must not contain a colon: what follows it are arguments. "
            f"Received: {key!r}"
        )


def _call_hparams_function(key: str, function: Any) -> Any:
    hparams_object = function()
    if hparams_object is None:
        raise TypeError(
            f"The hyperparameter set {key!r} gave None: its function {function.__name__} of module "
            f"{function.__module__} must end in `return hparams`."
        )
    return hparams_object


def _call(key: str, function: Any) -> Any:
    del key
    return function()


def _declared_in(package: str, attribute: str) -> Callable[[], dict[str, str]]:
    """Reads `{name: module}` from a package's attribute; importing it loads nothing heavy."""
    return lambda: getattr(importlib.import_module(package), attribute, {})


class Registries:
    """All registries. The engine is named by strings: the registry stands below everything."""

    models = Registry(
        "models",
        mark=_mark_model,
        declarations=_declared_in("t2t_keras.models", "MODEL_MODULES"),
    )
    hparams = Registry("hparams", transform=_call_hparams_function, package="t2t_keras.hparams")
    ranged_hparams = Registry(
        "ranged_hparams",
        check=_check_num_arguments("ranged_hparams"),
        package="t2t_keras.hparams",
    )
    problems = Registry(
        "problems",
        check=_check_problem_name,
        mark=_mark_problem,
        package="t2t_keras.problems",
    )
    optimizers = Registry(
        "optimizers",
        check=_check_num_arguments("learning_rate, hparams"),
        declarations=_declared_in("t2t_keras.training", "OPTIMIZER_MODULES"),
    )
    env_problems = Registry("env_problems", mark=_mark_problem)
    attacks = Registry("attacks", transform=_call)
    attack_params = Registry("attack_params", transform=_call)
    pruning_params = Registry("pruning_params", transform=_call)
    pruning_strategies = Registry("pruning_strategies")
    mtf_layers = Registry("mtf_layers", check=_check_num_arguments("x, hparams"))


register_model = Registries.models.register
list_models = Registries.models.keys
register_hparams = Registries.hparams.register
register_ranged_hparams = Registries.ranged_hparams.register
list_ranged_hparams = Registries.ranged_hparams.keys
register_problem = Registries.problems.register
register_base_problem = register_problem
register_problem_family = Registries.problems.register_family
list_problem_families = Registries.problems.families
list_problems = Registries.problems.keys
list_base_problems = list_problems
register_optimizer = Registries.optimizers.register
list_optimizers = Registries.optimizers.keys
register_env_problem = Registries.env_problems.register
list_env_problems = Registries.env_problems.keys
register_attack = Registries.attacks.register
list_attacks = Registries.attacks.keys
register_attack_params = Registries.attack_params.register
list_attack_params = Registries.attack_params.keys
register_pruning_params = Registries.pruning_params.register
list_pruning_params = Registries.pruning_params.keys
register_pruning_strategy = Registries.pruning_strategies.register
list_pruning_strategies = Registries.pruning_strategies.keys


def model(name: str) -> Any:
    """The model class registered as `name`; raises `KeyError` for an unknown name."""
    return Registries.models[name]


def hparams(name: str) -> Any:
    """A fresh `HParams` object of the set `name`.

    Raises:
        KeyError: unknown name.
        TypeError: the set's function returned None.
    """
    return Registries.hparams[name]


def list_hparams(prefix: str | None = None) -> list[str]:
    """Names of all hyperparameter sets, or of those that start with `prefix`."""
    return [name for name in Registries.hparams.keys() if name.startswith(prefix or "")]


def ranged_hparams(name: str) -> Any:
    """The function registered as `name` that fills a ranged hyperparameter object."""
    return Registries.ranged_hparams[name]


def optimizer(name: str) -> Any:
    """The optimizer function `(learning_rate, hparams)` registered as `name`.

    Names in TensorFlow 1's camel case (`Adam`, `SGD`, `RMSProp`) are translated, with a warning.
    """
    snake_name = camelcase_to_snakecase(name)
    if name != snake_name:
        logging.warning("Optimizer %r is called %r here; please use that name.", name, snake_name)
    return Registries.optimizers[snake_name]


def attack(name: str) -> Any:
    """The result of calling the attack function registered as `name`."""
    return Registries.attacks[name]


def attack_params(name: str) -> Any:
    """The result of calling the attack parameter function registered as `name`."""
    return Registries.attack_params[name]


def pruning_params(name: str) -> Any:
    """The result of calling the pruning parameter function registered as `name`."""
    return Registries.pruning_params[name]


def pruning_strategy(name: str) -> Any:
    """The pruning function registered as `name`."""
    return Registries.pruning_strategies[name]


def base_problem(name: str) -> Any:
    """The problem class registered as `name` (without suffixes).

    A name `<family>:<arguments>` is looked up in the family (`register_problem_family`), and
    `<name>:<arguments>` asks the class registered as `name` for a variant (`with_arguments`).
    """
    return Registries.problems[name]


def problem(name: str, **kwargs: Any) -> Any:
    """An instance of the problem `name`, which may carry the suffixes `_rev` and `_copy`.

    Arguments stand between name and suffix: `text2text_tmpdir:vocab=8192_rev`.

    The order of the suffixes doesn't matter: features are always reversed first, then copied. The
    instance's `name` stays the base name, so that its files are shared with the base problem.

    Args:
        name: name of a problem, with suffixes or not, or of an env problem.
        **kwargs: further arguments of the problem's constructor.

    Raises:
        KeyError: unknown name. (T2T answers every `KeyError` here, even one of the problem's own
            constructor, with the list of env problems; this function doesn't.)
        ValueError: a suffix occurs more than once.
    """
    base, was_reversed, was_copy = parse_problem_name(name)
    if base not in Registries.problems and name in Registries.env_problems:
        return env_problem(name, **kwargs)
    return base_problem(base)(was_reversed, was_copy, **kwargs)


def env_problem(name: str, **kwargs: Any) -> Any:
    """An instance of the env problem `name`, made and then initialised with `kwargs`."""
    instance = Registries.env_problems[name]()
    instance.initialize(**kwargs)
    return instance


def load_registered_by_package() -> None:
    """Imports this package's own problems and hyperparameter sets (no TensorFlow)."""
    for registry in (Registries.hparams, Registries.problems):
        registry.load()


def help_string() -> str:
    """All registered names, grouped, for `--registry_help`."""
    sections = [
        ("Models", list_models()),
        ("HParams", list_hparams()),
        ("RangedHParams", list_ranged_hparams()),
        ("Problems", list_problems()),
        ("Problem Families", [f"{prefix}:…" for prefix in list_problem_families()]),
        ("Optimizers", list_optimizers()),
        ("Attacks", list_attacks()),
        ("Attack HParams", list_attack_params()),
        ("Pruning HParams", list_pruning_params()),
        ("Pruning Strategies", list_pruning_strategies()),
        ("Env Problems", list_env_problems()),
    ]
    title = "Registry contents:"
    lines = [title, "-" * len(title)]
    for heading, names in sections:
        lines += ["", f"  {heading}:", display_list_by_prefix(names, _LIST_INDENT)]
    return "\n".join(lines)
