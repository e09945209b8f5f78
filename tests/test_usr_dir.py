"""Importing the user's package, and what is said when it is wrong."""

import re
import subprocess
import sys

import pytest

from t2t_keras import compat, registry, usr_dir

PROBLEM = """
from t2t_keras import registry

@registry.register_problem("{name}")
class SomeProblem:
    def __init__(self, was_reversed=False, was_copy=False):
        pass
"""


@pytest.fixture
def make_package(tmp_path):
    """Makes a user directory from file names and texts; forgets it after the test."""
    before = set(sys.modules)
    problems_before = set(registry.list_problems())

    def make(name, **files):
        directory = tmp_path / name
        directory.mkdir()
        for file_name, text in files.items():
            (directory / f"{file_name}.py").write_text(text)
        return str(directory)

    yield make
    compat.uninstall()
    for name in set(sys.modules) - before:
        if not name.startswith("t2t_keras."):
            del sys.modules[name]
    for name in set(registry.list_problems()) - problems_before:
        registry.Registries.problems.remove(name)


@pytest.mark.parametrize("ending", ["", "/"])
def test_import_registers_and_leaves_the_path_alone(make_package, ending, caplog):
    directory = make_package(
        "my_usr", __init__="from . import mine", mine=PROBLEM.format(name="toy_of_usr_dir")
    )
    path_before = list(sys.path)
    usr_dir.import_usr_dir(directory + ending)
    assert sys.path == path_before
    assert registry.problem("toy_of_usr_dir_rev").name == "toy_of_usr_dir"
    assert "can't be found" not in caplog.text
    usr_dir.import_usr_dir(directory)  # again: nothing is registered twice


def test_package_that_changes_the_path(make_package):
    directory = make_package("my_usr", __init__="import sys\nsys.path.insert(0, '/added/by/user')")
    path_before = list(sys.path)
    try:
        usr_dir.import_usr_dir(directory)
        assert sys.path == ["/added/by/user", *path_before]
    finally:
        sys.path[:] = path_before


@pytest.mark.parametrize("nothing", [None, ""])
def test_nothing_to_import(nothing):
    usr_dir.import_usr_dir(nothing)


def test_home_directory_is_expanded(make_package, tmp_path, monkeypatch):
    make_package("my_usr", __init__="from . import a", a=PROBLEM.format(name="toy_of_home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    usr_dir.import_usr_dir("~/my_usr")
    assert "toy_of_home" in registry.list_problems()


def test_internal_package(make_package, tmp_path, monkeypatch):
    make_package(usr_dir.INTERNAL_USR_DIR_PACKAGE, __init__=PROBLEM.format(name="toy_internal"))
    monkeypatch.syspath_prepend(str(tmp_path))
    usr_dir.import_usr_dir(usr_dir.INTERNAL_USR_DIR_PACKAGE)
    assert "toy_internal" in registry.list_problems()


def test_modules_that_are_not_imported_are_named(make_package, caplog):
    directory = make_package(
        "my_usr",
        __init__="from . import seen",
        seen=PROBLEM.format(name="toy_seen"),
        forgotten=PROBLEM.format(name="toy_forgotten"),
        helper="x = 'register_problem is only mentioned here'",
    )
    usr_dir.import_usr_dir(directory)
    assert [path.name for path in usr_dir.unimported_registration_files(directory)] == [
        "forgotten.py"
    ]
    assert "from . import forgotten" in caplog.text
    assert "seen.py" not in caplog.text and "helper" not in caplog.text


def test_wrong_directories(make_package, tmp_path):
    with pytest.raises(FileNotFoundError, match="no/such/dir"):
        usr_dir.import_usr_dir("/no/such/dir")
    with pytest.raises(FileNotFoundError, match=r"no __init__\.py"):
        usr_dir.import_usr_dir(make_package("empty_usr"))
    with pytest.raises(ValueError, match="must not contain a dot"):
        usr_dir.import_usr_dir(make_package("usr.v2", __init__=""))
    with pytest.raises(ValueError, match="'json' is taken"):
        usr_dir.import_usr_dir(make_package("json", __init__=""))


@pytest.mark.parametrize(
    "line, message",
    [
        ("from tensor2tensor.utils import regisry", r"utils\.regisry is not .* mean: registry"),
        ("import tensor2tensor.utils.t2t_model as m", r"derive from tensor2tensor\.models"),
        ("from tensor2tensor.utils.metrics import Metric", r"metrics\.Metric is .* mean: Metrics"),
        ("from tensor2tensor.utils import hparam; hparam.HParam()", r"mean: HParams\?.* has: HP"),
    ],
)
def test_what_is_missing_of_tensor2tensor_is_explained(make_package, line, message):
    directory = make_package("my_usr", __init__="from . import old", old=f"import os\n{line}")
    with pytest.raises(ImportError, match=r"old\.py, line 2: tensor2tensor\..*" + message):
        usr_dir.import_usr_dir(directory)


def test_errors_of_the_package_are_its_own(make_package):
    directory = make_package("my_usr", __init__="import no_such_module_anywhere")
    with pytest.raises(ModuleNotFoundError, match=r"__init__\.py, line 1: .*no_such_module_any"):
        usr_dir.import_usr_dir(directory)


@pytest.mark.parametrize(
    "text, message",
    [
        ("import os\ndef f(:\n    pass", r"SyntaxError: invalid syntax"),
        ("import os\nimport no_such_module_anywhere", r"No module named 'no_such_module_anywhere'"),
        ("import os\nfrom os import no_such_name", r"cannot import name 'no_such_name'"),
    ],
)
@pytest.mark.parametrize("in_init", [True, False])
def test_faulty_packages_are_told_by_file_and_line_only(make_package, text, message, in_init):
    name = "__init__" if in_init else "mine"
    files = {"__init__": "from . import mine", name: text}
    directory = make_package("my_usr", **files)
    command = [sys.executable, "-m", "t2t_keras.bin.t2t_datagen", f"--t2t_usr_dir={directory}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert re.search(rf"{name}\.py, line 2: {message}", done.stderr)
    assert "Traceback" not in done.stderr


def test_a_taken_name_is_blamed_on_the_user(make_package):
    directory = make_package(
        "my_usr",
        __init__="from t2t_keras import registry\n"
        "@registry.register_hparams('transformer_base')\ndef mine(): pass",
    )
    script = f"from t2t_keras import usr_dir; usr_dir.import_usr_dir({directory!r})"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert "'transformer_base' is already registered in hparams" in result.stderr
    assert "by t2t_keras.hparams.transformer" in result.stderr and "my_usr" in result.stderr
