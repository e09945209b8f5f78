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
from collections.abc import Callable
from typing import Any

from absl import logging

from t2t_keras.lazy_registry import LIST_INDENT
from t2t_keras.lazy_registry import Registry as Registry
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
        lines += ["", f"  {heading}:", display_list_by_prefix(names, LIST_INDENT)]
    return "\n".join(lines)
