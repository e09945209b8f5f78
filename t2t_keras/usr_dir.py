"""Importing the user's own package of problems, models and sets (`--t2t_usr_dir`)."""

from __future__ import annotations

import importlib
import os
import pathlib
import re
import sys
import traceback
from types import ModuleType

from absl import logging

from t2t_keras import registry

# A package of this name is installed beside the programs when a job was shipped elsewhere.
INTERNAL_USR_DIR_PACKAGE = "t2t_usr_dir_internal"

# Named by a string: it stands above this module.
_COMPAT = "t2t_keras.compat"

_REGISTRATION = re.compile(r"^\s*@(?:\w+\.)*register_\w+", re.MULTILINE)


def import_usr_dir(usr_dir: str | None) -> None:
    """Imports a directory as a package, so that what it registers can be named.

    The directory is imported by its own name; its `__init__.py` must import the modules that
    register something. Files with registrations that it doesn't import are named in a warning.
    The package may be one for tensor2tensor: its imports of `tensor2tensor.…` lead here, see
    `t2t_keras.compat`.

    Args:
        usr_dir: path of the directory (`~` allowed); nothing is done if it is None or empty. The
            name `t2t_usr_dir_internal` stands for the installed package of that name.

    Raises:
        FileNotFoundError: there is no such directory, or no `__init__.py` in it.
        ValueError: its name can't be imported.
        ImportError: it has a syntax error, or imports something that isn't there; the message
            begins with file and line.
    """
    if not usr_dir:
        return
    # First of all: should a name be taken twice, the blame is on the user's package.
    registry.load_registered_by_package()
    if usr_dir == INTERNAL_USR_DIR_PACKAGE:
        importlib.import_module(_COMPAT).install()
        importlib.import_module(INTERNAL_USR_DIR_PACKAGE)
        return
    directory = pathlib.Path(os.path.abspath(os.path.expanduser(usr_dir)))
    _raise_if_not_a_package(directory, usr_dir)
    logging.info("Importing user module %s from %s", directory.name, directory.parent)
    _import_package(directory)
    hint = unimported_files_hint(usr_dir)
    if hint:
        logging.warning("%s", hint)


def _raise_if_not_a_package(directory: pathlib.Path, received: str) -> None:
    if not directory.is_dir():
        raise FileNotFoundError(f"t2t_usr_dir is not a directory. Received: {received}")
    if not (directory / "__init__.py").is_file():
        raise FileNotFoundError(
            f"t2t_usr_dir has no __init__.py. Create {directory / '__init__.py'} and import in it "
            f"the modules that register something (from . import my_problem). Received: {received}"
        )
    if "." in directory.name:
        raise ValueError(
            "The name of the t2t_usr_dir is imported as a package and must not contain a dot; "
            f"rename the directory. Received: {received}"
        )


def _import_package(directory: pathlib.Path) -> None:
    """Imports the directory by its name from its parent, leaving `sys.path` as it was."""
    parent = str(directory.parent)
    importlib.import_module(_COMPAT).import_as_user_package(str(directory))
    sys.path.insert(0, parent)
    try:
        module = importlib.import_module(directory.name)
    except SyntaxError as error:
        place = f"{error.filename}, line {error.lineno}"
        raise ImportError(f"{place}: {type(error).__name__}: {error.msg}") from error
    except ModuleNotFoundError as error:
        message = f"{_place_in(directory, error)}: {error}"
        raise ModuleNotFoundError(message, name=error.name) from error
    except (ImportError, AttributeError) as error:
        if isinstance(error, AttributeError) and not str(error).startswith("tensor2tensor."):
            raise
        raise ImportError(f"{_place_in(directory, error)}: {error}") from error
    finally:
        # The package may itself have changed sys.path: remove this entry, not just the first.
        if parent in sys.path:
            sys.path.remove(parent)
    _raise_if_another_module(module, directory)


def _place_in(directory: pathlib.Path, error: Exception) -> str:
    """File and line of the user's package where an error came about."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if pathlib.Path(frame.filename).is_relative_to(directory)]
    return f"{own[-1].filename}, line {own[-1].lineno}" if own else str(directory)


def _raise_if_another_module(module: ModuleType, directory: pathlib.Path) -> None:
    """A module of the same name that was loaded before hides the user's package."""
    found = pathlib.Path(module.__file__ or "").parent
    if not found.exists() or not os.path.samefile(found, directory):
        raise ValueError(
            f"The name {directory.name!r} is taken by another module, {module.__file__}; rename "
            f"the t2t_usr_dir. Received: {directory}"
        )


def unimported_registration_files(usr_dir: str) -> list[pathlib.Path]:
    """Files below a user directory that register something but haven't been imported."""
    imported = {
        os.path.realpath(file_name)
        for module in list(sys.modules.values())
        if (file_name := getattr(module, "__file__", None))
    }
    directory = pathlib.Path(os.path.abspath(os.path.expanduser(usr_dir)))
    return [
        path
        for path in sorted(directory.rglob("*.py"))
        if os.path.realpath(path) not in imported
        and _REGISTRATION.search(path.read_text(encoding="utf-8", errors="replace"))
    ]


def unimported_files_hint(usr_dir: str | None) -> str:
    """A sentence naming the files with registrations that aren't imported, or an empty string."""
    if not usr_dir or usr_dir == INTERNAL_USR_DIR_PACKAGE:
        return ""
    files = unimported_registration_files(usr_dir)
    if not files:
        return ""
    root = pathlib.Path(os.path.abspath(os.path.expanduser(usr_dir)))
    lines = []
    for path in files:
        relative = path.relative_to(root).with_suffix("")
        package = "." + ".".join(relative.parts[:-1])
        lines.append(f"  {path}  (from {package} import {relative.name})")
    return (
        f"What these files register can't be found: {root / '__init__.py'} doesn't import them. "
        "Add the line in brackets to it:\n" + "\n".join(lines)
    )
