"""What every command does before and after its own work.

A command module `bin/t2t_x.py` has:

```python
def define_flags() -> None: ...      # defines the flags, with absl
def main(argv: list[str]) -> None: ...  # flags are parsed, the user's package is imported
def entry_point() -> None:
    command_line.run(main, define_flags)
```
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

from absl import app, flags, logging

from t2t_keras import registry, usr_dir
from t2t_keras.bin import environment, error_messages, flag_checks, unsupported_flags
from t2t_keras.bin import flags as t2t_flags
from t2t_keras.bin.flag_checks import UsageError

FLAGS = flags.FLAGS

# What an output directory remembers, so that decoding and exporting need no more than its name.
REMEMBERED_FLAGS = ("problem", "model", "hparams_set", "data_dir", "t2t_usr_dir")

_HPARAM_PREFIXES = ("--hp_", "-hp_")
_HELP_ARGUMENTS = ("--help", "-help", "-h", "--helpshort", "--helpfull")
_DIRECTORY_FLAGS = (
    "data_dir",
    "output_dir",
    "tmp_dir",
    "t2t_usr_dir",
    "model_dir",
    "export_dir",
    "tfds_data_dir",
    "tfds_manual_dir",
)
# tensor2tensor writes these into flags.txt; programs there have them from libraries.
_FORGIVEN_FLAGS = (
    "test_random_seed",
    "test_randomize_ordering_seed",
    "test_srcdir",
    "test_tmpdir",
    "xml_output_file",
    "op_conversion_fallback_to_while_loop",
)


def run(
    main: Callable[[list[str]], None],
    define_flags: Callable[[], None],
    argv: Sequence[str] | None = None,
    *,
    hparam_arguments: bool = False,
) -> None:
    """Runs a command.

    Prepares the environment, defines and parses the flags, reports those that can't be honoured,
    imports the user's package and answers `--registry_help`; then calls `main`. A user's error is
    printed as one message, without a traceback unless `--verbosity=1` is given; see
    `error_messages`.

    Args:
        main: the command; gets the program's name and the arguments that are no flags (there are
            none: they are refused).
        define_flags: defines the command's flags.
        argv: program name and arguments; default `sys.argv`.
        hparam_arguments: whether `--hp_<name> <value>` is understood: `--hparams=<name>=<value>`.

    Raises:
        SystemExit: after a user's error, with status 1; after printing help, with status 0.
    """
    environment.prepare_environment()
    arguments = list(sys.argv if argv is None else argv)
    program = os.path.basename(arguments[0])
    try:
        define_flags()
        parse_flags(arguments, hparam_arguments=hparam_arguments)
        if _answer_help(main, arguments):
            sys.exit(0)
        unsupported_flags.report_unsupported_flags(FLAGS)
        usr_dir.import_usr_dir(_flag("t2t_usr_dir"))
        if _flag("registry_help"):
            print(registry.help_string())
            sys.exit(0)
        main(arguments[:1])
    except KeyboardInterrupt:
        sys.exit(f"{program}: interrupted")
    except BrokenPipeError:
        # The reader of our output has gone (| head). Python flushes once more on exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except Exception as error:
        if _wants_traceback():
            raise
        message = error_messages.message_of(program, error)
        if not message:
            raise
        sys.exit(message)


def parse_flags(arguments: list[str], *, hparam_arguments: bool = False) -> None:
    """Parses program name and arguments into absl's flags; expands `~` in directories.

    Raises:
        UsageError: unknown flag (the message has near matches), a value of another type, or an
            argument that is no flag.
    """
    app.define_help_flags()
    FLAGS.set_default("verbosity", logging.INFO)
    FLAGS.set_gnu_getopt(True)
    remaining, overrides = arguments, ""
    if hparam_arguments:
        remaining, overrides = split_hparam_arguments(arguments)
    if any(argument in _HELP_ARGUMENTS for argument in remaining[1:]):
        remaining = remaining[:1]
    forgiven = f"--undefok={','.join(_FORGIVEN_FLAGS)}"
    try:
        positional = FLAGS([remaining[0], forgiven, *remaining[1:]])[1:]
    except flags.UnrecognizedFlagError as error:
        hint = registry.did_you_mean(error.flagname, FLAGS)
        raise UsageError(f"There is no flag --{error.flagname}.{hint}") from error
    except flags.Error as error:
        raise flag_checks.explain(error) from error
    if positional:
        raise UsageError(
            "Arguments must be flags, --name=value or --name value, with two hyphens and no blanks "
            f"around '='. Received: {' '.join(positional)}"
        )
    if overrides:
        FLAGS["hparams"].value = ",".join(part for part in (_flag("hparams"), overrides) if part)
    logging.use_absl_handler()
    _adopt_directories()


def _adopt_directories() -> None:
    """Expands `~`; `--job-dir`, where given, is the output directory."""
    if _flag("job-dir"):
        FLAGS["output_dir"].value = _flag("job-dir")
    for name in _DIRECTORY_FLAGS:
        if _flag(name):
            FLAGS[name].value = os.path.expanduser(_flag(name))


def split_hparam_arguments(arguments: list[str]) -> tuple[list[str], str]:
    """Takes `--hp_<name> <value>` and `--hp_<name>=<value>` out of a command line.

    Returns:
        The other arguments, and the overrides as `name=value,name=value`.

    Raises:
        UsageError: the last such argument has no value.
    """
    others: list[str] = []
    overrides = []
    rest = iter(arguments)
    for argument in rest:
        if not argument.startswith(_HPARAM_PREFIXES):
            others.append(argument)
            continue
        name, has_value, value = argument.split("hp_", 1)[1].partition("=")
        if not has_value:
            next_argument = next(rest, None)
            if next_argument is None:
                raise UsageError(f"{argument} needs a value: --hp_<name> <value>")
            value = next_argument
        overrides.append(f"{name}={value}")
    return others, ",".join(overrides)


def fill_from_output_dir(flag_values: flags.FlagValues = FLAGS) -> None:
    """Takes problem, model, set, data and user directory from a run's `flags.txt` if not given.

    The run's directory is `output_dir`, else that of `checkpoint_path`. A user directory found
    there is imported. Does nothing if the directory or its `flags.txt` doesn't exist.

    Raises:
        UsageError: a directory named in `flags.txt` doesn't exist here, and it is needed.
    """
    directory = flag_values["output_dir"].value
    if not directory and "checkpoint_path" in flag_values and flag_values["checkpoint_path"].value:
        path = os.path.expanduser(flag_values["checkpoint_path"].value)
        directory = path if os.path.isdir(path) else os.path.dirname(path)
    if directory:
        fill_from_directory(directory, flag_values)


def fill_from_directory(
    directory: str, flag_values: flags.FlagValues = FLAGS, *, needs_problem: bool = True
) -> None:
    """As `fill_from_output_dir`, for a given directory.

    Args:
        directory: the run's.
        flag_values: the flags.
        needs_problem: whether the command can't do without the problem and its data; otherwise
            directories that don't exist any more are left out.

    Raises:
        UsageError: a directory named in `flags.txt` doesn't exist here, and it is needed.
    """
    path = os.path.join(directory, "flags.txt")
    if not os.path.isfile(path):
        return
    remembered = read_flags_file(path)
    for name in REMEMBERED_FLAGS:
        if name not in flag_values or flag_values[name].value or not remembered.get(name):
            continue
        if name == "data_dir" and not os.path.isdir(os.path.expanduser(remembered[name])):
            if needs_problem:
                raise UsageError(_gone(path, name, remembered[name]))
            continue
        if name == "t2t_usr_dir":
            _import_remembered_usr_dir(path, remembered[name], flag_values, needs_problem)
            continue
        flag_values[name].value = remembered[name]
        logging.info("--%s=%s, as in %s", name, remembered[name], path)


def _import_remembered_usr_dir(
    path: str, usr_directory: str, flag_values: flags.FlagValues, needs_problem: bool
) -> None:
    """Imports a run's user directory; if it has gone, nothing is lost if all names are known."""
    is_directory = os.path.isdir(os.path.expanduser(usr_directory))
    if is_directory or usr_directory == usr_dir.INTERNAL_USR_DIR_PACKAGE:
        flag_values["t2t_usr_dir"].value = usr_directory
        logging.info("--t2t_usr_dir=%s, as in %s", usr_directory, path)
        usr_dir.import_usr_dir(usr_directory)
        return
    message = _gone(path, "t2t_usr_dir", usr_directory)
    unknown = _unregistered_names(flag_values)
    if unknown and needs_problem:
        raise UsageError(f"{message} It had these names: {', '.join(unknown)}.")
    logging.warning("%s", message)


def _unregistered_names(flag_values: flags.FlagValues) -> list[str]:
    """Of problem, model and set, those given that aren't registered."""
    registered = {
        "problem": registry.list_base_problems,
        "model": registry.list_models,
        "hparams_set": registry.list_hparams,
    }
    unknown = []
    for name, list_names in registered.items():
        value = flag_values[name].value if name in flag_values else None
        if value and name == "problem":
            value = registry.parse_problem_name(value).base
        if value and value.partition(":")[0] not in list_names():
            unknown.append(f"--{name}={value}")
    return unknown


def _gone(path: str, name: str, value: str) -> str:
    return (
        f"{path} names --{name}={value}, and there is no such directory here. "
        f"Give the present one: --{name}=…"
    )


def read_flags_file(path: str) -> dict[str, str]:
    """Names and values of the lines `--name=value` of a `flags.txt`; switches are left out."""
    with open(path, encoding="utf-8") as stream:
        lines = [line.rstrip("\n") for line in stream]
    assignments = [line[2:].partition("=") for line in lines if line.startswith("--")]
    return {name: value for name, equals, value in assignments if equals}


def save_flags(output_dir: str, flag_values: flags.FlagValues = FLAGS) -> None:
    """Writes `flags.txt` (a flag file: `--flagfile=`) and `flags_t2t.txt` into a directory.

    `flags.txt` holds every flag that has a value, with absolute directories, so that it can be used
    from anywhere; `flags_t2t.txt` holds the shared flags, also those without a value (`None`).
    """
    os.makedirs(output_dir, exist_ok=True)
    given = {name: flag_values[name].value for name in _DIRECTORY_FLAGS if name in flag_values}
    try:
        for name, value in given.items():
            if value and value != usr_dir.INTERNAL_USR_DIR_PACKAGE:
                flag_values[name].value = os.path.abspath(value)
        write_text(os.path.join(output_dir, "flags.txt"), flag_values.flags_into_string())
    finally:
        for name, value in given.items():
            flag_values[name].value = value
    shared = [f"--{spec.name}={flag_values[spec.name].value}" for spec in t2t_flags.SHARED_FLAGS]
    write_text(os.path.join(output_dir, "flags_t2t.txt"), "\n".join(shared))


def write_text(path: str, text: str) -> None:
    """Writes a whole file or nothing."""
    temporary = f"{path}.tmp{os.getpid()}"
    with open(temporary, "w", encoding="utf-8") as stream:
        stream.write(text)
    os.replace(temporary, path)


def _flag(name: str) -> Any:
    """A flag's value, or None if the command doesn't have it."""
    return FLAGS[name].value if name in FLAGS else None


def _answer_help(main: Callable[[list[str]], None], arguments: list[str]) -> bool:
    """Prints the command's description and its flags if help was asked for."""
    if not any(argument in _HELP_ARGUMENTS for argument in arguments[1:]):
        return False
    module = sys.modules[main.__module__]
    print(module.__doc__ or "")
    # A module that is run as the program (python -m) is known to absl by its file's name.
    own = ("t2t_keras", "__main__", sys.argv[0])
    for name in sorted(FLAGS.flags_by_module_dict()):
        if name.startswith(own) or "--helpfull" in arguments:
            print(FLAGS.module_help(name))
    print("\n--helpfull lists the flags of libraries as well: --verbosity, --flagfile, …")
    return True


def _wants_traceback() -> bool:
    return FLAGS.is_parsed() and FLAGS.verbosity >= logging.DEBUG
