"""Names of registered things: how they are derived, taken apart, compared and listed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from typing import Any, NamedTuple

_FIRST_CAPITAL = re.compile(r"(.)([A-Z][a-z0-9]+)")
_LATER_CAPITAL = re.compile(r"([a-z0-9])([A-Z])")
_NUM_NEAR_MATCHES = 3


class RegistryKeyError(KeyError):
    """A name that can't be looked up or registered; its message is printed as is, unquoted."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


def camelcase_to_snakecase(name: str) -> str:
    """`TranslateEnde2018Wmt32k` -> `translate_ende2018_wmt32k`; digits don't start a new word."""
    name = _FIRST_CAPITAL.sub(r"\1_\2", name)
    return _LATER_CAPITAL.sub(r"\1_\2", name).lower()


def snakecase_to_camelcase(name: str) -> str:
    """`transformer_base` -> `TransformerBase`."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def default_name(class_or_function: Any) -> str:
    """The name under which an object is registered when none is given: its own in snake case."""
    return camelcase_to_snakecase(class_or_function.__name__)


def near_matches(name: str, known_names: Iterable[str]) -> list[str]:
    """The known names most like `name`, best first; empty if nothing is similar."""
    return difflib.get_close_matches(name, list(known_names), n=_NUM_NEAR_MATCHES)


def did_you_mean(name: str, known_names: Iterable[str]) -> str:
    """A sentence offering near matches of `name`, with a leading blank, or an empty string."""
    matches = near_matches(name, known_names)
    return f" Did you mean: {', '.join(matches)}?" if matches else ""


def display_list_by_prefix(names: Iterable[str], starting_spaces: int = 0) -> str:
    """Sorted names in groups, one line each.

    Args:
        names: the names to list.
        starting_spaces: indent of every line.

    Returns:
        Lines `<prefix>:` whenever the part before the first `_` changes, and `  * <name>`.
    """
    lines = []
    previous_prefix = None
    for name in sorted(names):
        prefix = name.split("_", 1)[0]
        if prefix != previous_prefix:
            lines.append(f"{prefix}:")
            previous_prefix = prefix
        lines.append(f"  * {name}")
    return "\n".join(" " * starting_spaces + line for line in lines)


class ProblemName(NamedTuple):
    """A problem's name taken apart."""

    base: str
    was_reversed: bool
    was_copy: bool


def parse_problem_name(name: str) -> ProblemName:
    """Takes the suffixes `_rev` and `_copy` off a problem's name, in whatever order.

    Raises:
        ValueError: a suffix occurs more than once.
    """
    base, was_reversed, was_copy = name, False, False
    while base.endswith(("_rev", "_copy")):
        base, _, suffix = base.rpartition("_")
        if (suffix == "rev" and was_reversed) or (suffix == "copy" and was_copy):
            raise ValueError(
                f"A problem's name must not contain multiple instances of _{suffix} at its end. "
                f"Received: {name!r}"
            )
        was_reversed = was_reversed or suffix == "rev"
        was_copy = was_copy or suffix == "copy"
    return ProblemName(base, was_reversed, was_copy)


def split_arguments(name: str) -> tuple[str, str]:
    """Takes a name `<name>:<arguments>` apart; the arguments of a plain name are ""."""
    base, _, arguments = name.partition(":")
    return base, arguments


def parse_arguments(arguments: str, allowed: Iterable[str]) -> dict[str, str]:
    """Reads the arguments `<key>=<value>` of a name, separated by colons.

    Args:
        arguments: as in "vocab=8192:source=en".
        allowed: the keys that may occur.

    Raises:
        ValueError: another key, a key given twice, or no value.
    """
    allowed = sorted(allowed)
    result: dict[str, str] = {}
    for part in arguments.split(":"):
        key, _, value = part.partition("=")
        if key not in allowed or key in result or not value:
            raise ValueError(
                f"Arguments in a name must be {':'.join(f'[{key}=…]' for key in allowed)}, each "
                f"at most once.{did_you_mean(key, allowed)} Received: {part!r} in {arguments!r}"
            )
        result[key] = value
    return result


def file_name(name: str) -> str:
    """A name as part of a file name: "tfds:a/b:vocab=9" becomes "tfds_a_b_vocab-9".

    Names without arguments stay as they are.
    """
    return re.sub(r"[:/\\*?\[\]\s]", "_", name).replace("=", "-")


def get_problem_name(base: str, was_reversed: bool = False, was_copy: bool = False) -> str:
    """The canonical name of a problem's variant: `<base>[_copy][_rev]`.

    Raises:
        ValueError: the base name itself ends in a suffix.
    """
    if base.endswith(("_rev", "_copy")):
        raise ValueError(
            f"The base name of a problem must not end in _rev or _copy. Received: {base!r}"
        )
    return base + ("_copy" if was_copy else "") + ("_rev" if was_reversed else "")
