import importlib.util
import pathlib
import shutil
import sys

import pytest

_PATH = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "environment.py"


@pytest.fixture
def environment(monkeypatch):
    """The script as a module; what it would install is only noted, in `installed`."""
    spec = importlib.util.spec_from_file_location("environment_script", _PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    module.installed = []
    monkeypatch.setattr(module, "install", lambda _, extras: module.installed.append(extras))
    return module


def _run(environment, monkeypatch, folder, extras=""):
    arguments = ["environment.py", "--venv", str(folder), "--extras", extras]
    monkeypatch.setattr(sys, "argv", arguments)
    environment.main()


def test_environment_is_made_kept_widened_and_repaired(environment, monkeypatch, tmp_path, capsys):
    folder = tmp_path / "venv"
    _run(environment, monkeypatch, folder)
    assert environment.installed == [[]]
    assert environment.damage(folder) is None
    # Whole: nothing to do.
    _run(environment, monkeypatch, folder)
    assert environment.installed == [[]]
    # More extras than before; afterwards fewer are no reason to install.
    _run(environment, monkeypatch, folder, "test,dev")
    _run(environment, monkeypatch, folder)
    assert environment.installed == [[], ["dev", "test"]]
    capsys.readouterr()
    # Without this file its Python would install into the system.
    (folder / "pyvenv.cfg").unlink()
    _run(environment, monkeypatch, folder, "test")
    assert "damaged" in capsys.readouterr().out
    assert environment.damage(folder) is None
    assert environment.installed[-1] == ["test"]
    # A package that was installed and is gone.
    pip = next(folder.glob("lib/python*/site-packages/pip"))
    shutil.rmtree(pip / "_vendor")
    assert "pip is missing" in environment.damage(folder)
    shutil.rmtree(pip)
    assert environment.damage(folder) == "pip is missing"


def test_folder_with_other_things_is_left_alone(environment, monkeypatch, tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    for name in ("bin", "lib"):
        (tmp_path / name).mkdir()
    with pytest.raises(SystemExit, match="other things"):
        _run(environment, monkeypatch, tmp_path)
    assert (tmp_path / "thesis.tex").read_text() == "years of work"
