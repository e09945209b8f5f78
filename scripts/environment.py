"""Makes the virtual environment of `make demo` and `make test`, or repairs it.

    python3 scripts/environment.py --venv .venv --extras test,dev

Run by any Python 3.10 to 3.13, with nothing installed. Does nothing if the environment is whole and
was made for the present pyproject.toml; installs what is missing; makes it anew if it is damaged.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import venv

PROJECT = pathlib.Path(__file__).resolve().parent.parent
STAMP = "t2t_keras_environment.json"
OLDEST, NEWEST = (3, 10), (3, 13)

# Runs inside the environment: whether it is one, has pip, and every installed file is there.
_INSPECT = """
import importlib.metadata, importlib.util, sys
if sys.prefix == sys.base_prefix:
    sys.exit("it is no virtual environment")
if importlib.util.find_spec("pip") is None:
    sys.exit("pip is missing")
for package in importlib.metadata.distributions():
    for file in package.files or ():
        if file.suffix != ".pyc" and not file.locate().exists():
            sys.exit(f"a file of {package.metadata['Name']} is missing: {file}")
"""


def say(text: str) -> None:
    """Tells what is being done, at once."""
    print(f"== {text}", flush=True)


def python_of(folder: pathlib.Path) -> pathlib.Path:
    """The environment's interpreter."""
    return folder / "bin" / "python"


def damage(folder: pathlib.Path) -> str | None:
    """What is wrong with an environment, None if nothing is."""
    if not (folder / "pyvenv.cfg").is_file() or not os.access(python_of(folder), os.X_OK):
        return "it is incomplete"
    try:
        inspection = subprocess.run(
            [python_of(folder), "-c", _INSPECT], capture_output=True, text=True, check=False
        )
    except OSError as error:
        return str(error)
    lines = inspection.stderr.strip().splitlines()
    return (lines[-1] if lines else "its Python fails") if inspection.returncode else None


def read_stamp(folder: pathlib.Path) -> dict[str, object]:
    """What the environment was made for; empty if that is unknown."""
    try:
        return json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}


def create(folder: pathlib.Path) -> None:
    """Makes an empty environment, in place of what is there."""
    if folder.exists() and any(folder.iterdir()):
        # Remains of an environment, not somebody's files: bin and lib alone might be /usr.
        ours = folder.resolve().parent == PROJECT and folder.name.startswith(".venv")
        marks = (folder / STAMP, folder / "pyvenv.cfg", folder / "bin" / "activate")
        if not ours and not any(path.exists() for path in marks):
            sys.exit(f"{folder} holds other things than a virtual environment; choose VENV=…")
        shutil.rmtree(folder)
    say(f"creating the virtual environment {folder}")
    venv.create(folder, with_pip=True)


def install(folder: pathlib.Path, extras: list[str]) -> None:
    """Installs the project and what it needs."""
    target = str(PROJECT) + (f"[{','.join(extras)}]" if extras else "")
    also = f" and its extras {', '.join(extras)}" if extras else ""
    say(f"installing t2t_keras{also} into {folder} (TensorFlow is about 600 MB)")
    pip = [python_of(folder), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--editable", target], check=True)


def main() -> None:
    """Brings the environment into the state asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--venv", required=True, type=pathlib.Path)
    parser.add_argument("--extras", default="")
    arguments = parser.parse_args()
    if not OLDEST <= sys.version_info[:2] <= NEWEST:
        sys.exit(
            "Python 3.10 to 3.13 is needed; choose one with PYTHON=…. "
            f"Received: {sys.version.split()[0]}"
        )
    folder, extras = arguments.venv, [extra for extra in arguments.extras.split(",") if extra]
    pyproject = hashlib.sha256((PROJECT / "pyproject.toml").read_bytes()).hexdigest()
    if folder.exists():
        fault = damage(folder)
        if fault:
            say(f"{folder} is damaged: {fault}; making it anew")
            create(folder)
    else:
        create(folder)
    stamp = read_stamp(folder)
    known = stamp.get("extras") if stamp.get("pyproject") == pyproject else None
    if isinstance(known, list) and set(extras) <= set(known):
        return
    wanted = sorted({*extras, *(known or [])}) if isinstance(known, list) else sorted(extras)
    install(folder, wanted)
    temporary = folder / f"{STAMP}.tmp"
    temporary.write_text(json.dumps({"pyproject": pyproject, "extras": wanted}), encoding="utf-8")
    temporary.replace(folder / STAMP)


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as failure:
        sys.exit(f"failed with status {failure.returncode}; the same command tries again")
    except KeyboardInterrupt:
        sys.exit("interrupted; the same command goes on")
