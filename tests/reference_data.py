"""Where tests find tensor2tensor's recorded outputs and the real corpora.

Both folders live outside the project. A test that needs a missing file is skipped and says which.
"""

import gzip
import json
import os
import pathlib
from typing import Any

import pytest

_PROJECT = pathlib.Path(__file__).resolve().parent.parent


def _folder(variable: str, default: str) -> pathlib.Path:
    return pathlib.Path(os.environ.get(variable) or _PROJECT.parent / "shared" / default)


def golden_path(*parts: str) -> pathlib.Path:
    """Path below $T2T_GOLDEN_DIR (default ../shared/golden); skips the test if it is absent."""
    return _existing(_folder("T2T_GOLDEN_DIR", "golden").joinpath(*parts), "T2T_GOLDEN_DIR")


def data_path(*parts: str) -> pathlib.Path:
    """Path below $T2T_DATA_DIR (default ../shared/data); skips the test if it is absent."""
    return _existing(_folder("T2T_DATA_DIR", "data").joinpath(*parts), "T2T_DATA_DIR")


def _existing(path: pathlib.Path, variable: str) -> pathlib.Path:
    if not path.exists():
        pytest.skip(f"reference file {path} is absent; set {variable} to the folder that has it")
    return path


def load_golden_json(*parts: str) -> Any:
    """Parsed content of a .json or .json.gz file of the golden folder."""
    path = golden_path(*parts)
    if path.suffix == ".gz":
        with gzip.open(path, "rt", encoding="utf-8") as stream:
            return json.load(stream)
    return json.loads(path.read_text(encoding="utf-8"))
