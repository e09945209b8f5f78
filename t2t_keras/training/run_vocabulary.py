"""Whether a run goes on with the vocabulary it was started with, kept in `vocabulary.json`.

Another vocabulary of the same size would be trained on without a word, and spoil the model.
"""

import contextlib
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

from t2t_keras.text.text_files import write_text_atomically
from t2t_keras.training.stored_variables import CheckpointError, StoredVariables

__all__ = ["VocabularyError", "describe", "explained", "refuse_another", "remember"]

FILE = "vocabulary.json"
# Names of embedding tables tell the size: `symbol_modality_<vocabulary>_<hidden size>`.
_TABLE = re.compile(r"symbol_modality_(\d+)_\d+")


class VocabularyError(ValueError):
    """Not the vocabulary that a run was trained with."""


def describe(problem: Any, vocabulary: dict[str, Any], data_dir: str) -> dict[str, Any]:
    """Size, check sum and, where it is known, file of every feature's vocabulary.

    Args:
        problem: the problem.
        vocabulary: its encoders by feature, as in `problem_hparams`.
        data_dir: where its files are.
    """
    described = {}
    for feature, encoder in sorted(vocabulary.items()):
        try:
            size = getattr(encoder, "vocab_size", None)
        except NotImplementedError:  # Ids without a limit.
            continue
        if isinstance(size, int):
            described[feature] = {
                "size": size,
                "sha256": _checksum(encoder),
                "file": _file(problem, data_dir),
            }
    return described


def _checksum(encoder: Any) -> str:
    """Of the vocabulary as the encoder writes it; of nothing for one without."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "vocabulary")
        encoder.store_to_file(path)
        contents = b""
        if os.path.exists(path):
            with open(path, "rb") as stream:
                contents = stream.read()
    return hashlib.sha256(contents).hexdigest()


def _file(problem: Any, data_dir: str) -> str:
    name = getattr(problem, "vocab_filename", None)
    path = os.path.join(os.path.abspath(data_dir), str(name))
    return path if name and os.path.exists(path) else ""


def remember(directory: str, description: dict[str, Any]) -> None:
    """Writes a run's vocabularies into its directory, unless they are there."""
    path = os.path.join(directory, FILE)
    if description and not os.path.exists(path):
        write_text_atomically(path, json.dumps(description, indent=1, sort_keys=True) + "\n")


def refuse_another(directory: str, description: dict[str, Any]) -> None:
    """Makes sure that a run goes on with its vocabularies.

    Args:
        directory: the run's.
        description: of the present ones; see `describe`.

    Raises:
        VocabularyError: one is another than at the start of the run.
    """
    try:
        with open(os.path.join(directory, FILE), encoding="utf-8") as stream:
            of_run = json.load(stream)
    except (OSError, ValueError):
        return  # A run of another program, or damaged: nothing is known.
    for feature, present in description.items():
        before = of_run.get(feature)
        if before and before.get("sha256") != present["sha256"]:
            kind = "" if before["size"] != present["size"] else ", of the same size"
            raise VocabularyError(
                f"The vocabulary of {feature} is not the one that the run in {directory} was "
                f"started with{kind}: {_entry(present)} now, {_entry(before)} then. Go on with "
                f"that file in --data_dir, or train in another --output_dir. "
                f"Received: {present['file'] or feature}"
            )


def _entry(description: dict[str, Any]) -> str:
    file = f" in {description['file']}" if description.get("file") else ""
    return f"{description['size']:,} entries{file} (sha256 {description['sha256'][:12]}…)"


@contextlib.contextmanager
def explained(prefix: str, model: Any, description: dict[str, Any]) -> Iterator[None]:
    """Says so if a checkpoint doesn't fit a model because of the vocabulary's size.

    Args:
        prefix: of the checkpoint.
        model: the Keras model.
        description: of the present vocabularies.

    Raises:
        VocabularyError: that is why it doesn't fit.
    """
    try:
        yield
    except CheckpointError as error:
        old = _table_sizes(StoredVariables(prefix).shapes)
        new = _table_sizes(variable.path for variable in model.variables)
        if not old or old == new:
            raise
        files = sorted({d["file"] for d in description.values() if d.get("file")})
        raise VocabularyError(
            f"{prefix} was trained with a vocabulary of {_sizes(old)} entries, the present one has "
            f"{_sizes(new)} ({', '.join(files) or 'no file'}). Give the --data_dir that the run "
            f"was started with, or train in another --output_dir.\n{error}"
        ) from error


def _table_sizes(names: Iterable[str]) -> set[int]:
    return {int(match[1]) for name in names if (match := _TABLE.search(name))}


def _sizes(sizes: set[int]) -> str:
    return " and ".join(f"{size:,}" for size in sorted(sizes))
