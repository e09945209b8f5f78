"""HParams: hyperparameters by name, typed by their first value, overridable by a short text.

The override text is a list of clauses, `name=value` separated by commas:

```
clause  := name [ "[" digits "]" ] "=" ( value | "[" list "]" ) ( end | "," blanks )
name    := letter (letter | digit | "_" | ".")*
value   := any characters except "," and "["        (may be empty)
list    := any characters except "]", split at blanks and commas
```
"""

from __future__ import annotations

import copy
import json
import numbers
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from t2t_keras.names import RegistryKeyError, did_you_mean

_CLAUSE = re.compile(
    r"(?P<name>[a-zA-Z][a-zA-Z0-9_.]*)\s*"
    r"(?:\[\s*(?P<index>[0-9]+)\s*\])?\s*=\s*"
    r"(?:(?P<value>[^,\[]*)|\[(?P<list>[^\]]*)\])"
    r"(?:$|,\s*)"
)
_LIST_SEPARATORS = re.compile(r"[ ,]+")
_BOOLEANS = {"true": True, "True": True, "false": False, "False": False}


class HParamType(NamedTuple):
    """Type of a hyperparameter.

    `element` is the type of the value, or of a list's elements; it is None if the first value was
    None, and then anything goes.
    """

    element: type | None
    is_list: bool

    @property
    def label(self) -> str:
        """The type in words, for messages."""
        name = "any" if self.element is None else self.element.__name__
        return f"list of {name}" if self.is_list else name


def _type_of(name: str, value: Any) -> HParamType:
    if not isinstance(value, list):
        return HParamType(None if value is None else type(value), is_list=False)
    if not value:
        raise ValueError(
            f"The list hyperparameter {name!r} needs at least one element, which gives its type. "
            "Received: []"
        )
    return HParamType(type(value[0]), is_list=True)


def _is_castable(element: type | None, value: Any) -> bool:
    """Whether a value may stand for the type: ints may be floats, but only bools are bools."""
    if element is None:
        return True
    if issubclass(element, bool) or isinstance(value, bool):
        return issubclass(element, bool) and isinstance(value, bool)
    if issubclass(element, (str, bytes)):
        return isinstance(value, (str, bytes))
    if issubclass(element, numbers.Integral):
        return isinstance(value, numbers.Integral)
    if issubclass(element, numbers.Real):
        return isinstance(value, numbers.Real)
    return isinstance(value, element)


def _cast(name: str, element: type | None, value: Any) -> Any:
    """The value in the hyperparameter's type; raises `ValueError` if it would change its nature."""
    if not _is_castable(element, value):
        assert element is not None
        raise ValueError(
            f"Hyperparameter {name!r} is of type {element.__name__}. "
            f"Received: {value!r} of type {type(value).__name__}"
        )
    if element is None or isinstance(value, element):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return element(value)


def _read_untyped(text: str) -> Any:
    """The value a text most likely means, for a hyperparameter whose first value was None.

    T2T raises `TypeError` for every override of such a parameter.
    """
    if text == "None":
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            pass
    return text


def _read(element: type | None, text: str) -> Any:
    """The value of a type that the text stands for; raises `ValueError` if it stands for none."""
    if element is None:
        return _read_untyped(text)
    if issubclass(element, bool):
        return _BOOLEANS[text] if text in _BOOLEANS else bool(int(text))
    if issubclass(element, str):
        return text
    if issubclass(element, (int, float)):
        return element(text)
    raise ValueError(f"no text stands for a {element.__name__}")


def _without_callables(value: Any) -> Any:
    """The value with functions and classes dropped from all its dictionaries and lists."""
    if isinstance(value, dict):
        return {k: _without_callables(v) for k, v in value.items() if not callable(v)}
    if isinstance(value, (list, tuple)):
        return [_without_callables(element) for element in value if not callable(element)]
    return value


class HParams:
    """Hyperparameters, read and written as attributes.

    ```python
    hparams = HParams(hidden_size=512, dropout=0.1, layers=[1, 2])
    hparams.parse("hidden_size=64,layers=[3,4,5]")
    hparams.hidden_size  # 64
    ```

    A hyperparameter is declared by the constructor or by `add_hparam`, and has the type of its
    first value. Assigning to an attribute checks nothing; an attribute that isn't declared is none
    of the hyperparameters: it can't be overridden by text and is neither saved nor copied.

    Args:
        **initial_values: names and first values.
    """

    _types: dict[str, HParamType]

    def __init__(self, **initial_values: Any) -> None:
        self._types = {}
        for name, value in initial_values.items():
            self.add_hparam(name, value)

    def __getattr__(self, name: str) -> Any:
        # Only reached if there's no such attribute; also before __init__, while unpickling.
        hint = "" if name.startswith("_") else did_you_mean(name, self._types)
        raise AttributeError(f"There is no hyperparameter {name!r}.{hint}")

    if TYPE_CHECKING:
        # Tells type checkers that any attribute may be assigned.
        def __setattr__(self, name: str, value: Any) -> None: ...

    def add_hparam(self, name: str, value: Any) -> None:
        """Declares a hyperparameter with its first value.

        Raises:
            ValueError: an attribute of that name exists and isn't None, or the value is an empty
                list.
        """
        # Not by getattr: it would look for near matches of every new name.
        present = vars(self).get(name, getattr(type(self), name, None))
        if present is not None:
            raise ValueError(
                f"The name {name!r} is taken: it is a hyperparameter or another attribute with the "
                f"value {present!r}. Received: {value!r}"
            )
        self._types[name] = _type_of(name, value)
        setattr(self, name, value)

    def set_hparam(self, name: str, value: Any) -> None:
        """Sets a declared hyperparameter, cast to its type.

        Raises:
            KeyError: it isn't declared.
            ValueError: the value is of another type.
        """
        if name not in self._types:
            raise RegistryKeyError(
                f"There is no hyperparameter {name!r}.{did_you_mean(name, self._types)}"
            )
        element, is_list = self._types[name]
        if isinstance(value, list) and element is not None:
            self._raise_unless_list(name, received_list=True, received=value)
            setattr(self, name, [_cast(name, element, item) for item in value])
            return
        if is_list:
            self._raise_unless_list(name, received_list=False, received=value)
        setattr(self, name, _cast(name, element, value))

    def _raise_unless_list(self, name: str, received_list: bool, received: Any) -> None:
        """Raises if a list is given for a single value or the other way round."""
        declared = self._types[name]
        if declared.is_list == received_list:
            return
        wanted = "must be a list, as in name=[1,2]" if declared.is_list else "can't be a list"
        raise ValueError(
            f"Hyperparameter {name!r} ({declared.label}) {wanted}. Received: {received!r}"
        )

    def del_hparam(self, name: str) -> None:
        """Removes a hyperparameter; does nothing if it isn't declared."""
        if self._types.pop(name, None) is not None:
            delattr(self, name)

    def parse(self, text: str) -> HParams:
        """Applies overrides written as `name=value,name=[value,value]`; all of them or none.

        A bool is written `true`, `True`, `false`, `False` or as an int; a str is taken as it
        stands, quotes included. A parameter whose first value was None takes an int, float, bool,
        `None` or else a str, whatever the text looks like.

        Args:
            text: the overrides.

        Returns:
            The object itself.

        Raises:
            ValueError: text of another form, unknown name, name assigned twice, value that doesn't
                fit the type.
        """
        overrides: dict[str, Any] = {}
        position = 0
        while position < len(text):
            clause = _CLAUSE.match(text, position)
            if clause is None:
                raise ValueError(
                    "Malformed hyperparameters: expected name=value or name=[value,value], "
                    f"separated by commas, at {text[position:]!r}. Received: {text!r}"
                )
            name = clause["name"]
            value = self._read_clause(clause, text)
            if name in overrides:
                raise ValueError(f"Hyperparameter {name!r} is assigned twice. Received: {text!r}")
            overrides[name] = value
            position = clause.end()
        return self.override_from_dict(overrides)

    def _read_clause(self, clause: re.Match[str], text: str) -> Any:
        """The value, or list of values, that a clause assigns."""
        name = clause["name"]
        if name not in self._types:
            raise ValueError(
                f"There is no hyperparameter {name!r}.{did_you_mean(name, self._types)} "
                f"Received: {text!r}"
            )
        element, is_list = self._types[name]
        values = clause["value"] if clause["list"] is None else clause["list"]
        # T2T's grammar has `name[0]=value`, but no parameter ever accepts it. (quirk)
        self._raise_unless_list(name, clause["list"] is not None, text)
        if clause["index"] is not None:
            raise ValueError(
                f"A single element of hyperparameter {name!r} can't be set; give the whole list. "
                f"Received: {text!r}"
            )
        texts = [part for part in _LIST_SEPARATORS.split(values) if part] if is_list else [values]
        try:
            parsed = [_read(element, part) for part in texts]
        except ValueError:
            raise ValueError(
                f"Hyperparameter {name!r} is of type {self._types[name].label} and can't be "
                f"{values!r}. Received: {text!r}"
            ) from None
        return parsed if is_list else parsed[0]

    def override_from_dict(self, values: dict[str, Any]) -> HParams:
        """Calls `set_hparam` for each entry; returns the object itself."""
        for name, value in values.items():
            self.set_hparam(name, value)
        return self

    def parse_json(self, text: str) -> HParams:
        """Calls `set_hparam` for each entry of a JSON object; returns the object itself."""
        return self.override_from_dict(json.loads(text))

    def values(self) -> dict[str, Any]:
        """Names and values of all declared hyperparameters, in the order of their declaration."""
        return {name: getattr(self, name) for name in self._types}

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a hyperparameter, or `default` if it isn't declared.

        Raises:
            ValueError: `default` isn't None and not of the hyperparameter's type.
        """
        if name not in self._types:
            return default
        element, is_list = self._types[name]
        if default is not None and element is not None:
            self._raise_unless_list(name, isinstance(default, list), default)
            for item in default if is_list else [default]:
                _cast(name, element, item)
        return getattr(self, name)

    def __contains__(self, name: object) -> bool:
        return name in self._types

    def to_json(
        self,
        indent: int | None = None,
        separators: tuple[str, str] | None = None,
        sort_keys: bool = False,
    ) -> str:
        """`values()` as a JSON object, without functions and classes.

        Args:
            indent: as of `json.dumps`.
            separators: as of `json.dumps`.
            sort_keys: as of `json.dumps`.
        """
        return json.dumps(
            _without_callables(self.values()),
            indent=indent,
            separators=separators,
            sort_keys=sort_keys,
        )

    def copy(self) -> HParams:
        """A new object with the same declared hyperparameters; other attributes aren't copied.

        A parameter that has had no type yet gets that of its present value. (In T2T every type is
        derived anew, so that a list that has become empty can't be copied.)
        """
        duplicate = HParams()
        for name, value in self.values().items():
            declared = self._types[name]
            if declared.element is None and value not in (None, []):
                declared = _type_of(name, value)
            duplicate._types[name] = declared
            setattr(duplicate, name, copy.copy(value) if isinstance(value, (list, dict)) else value)
        return duplicate

    def __repr__(self) -> str:
        return f"HParams({', '.join(f'{name}={value!r}' for name, value in self.values().items())})"
