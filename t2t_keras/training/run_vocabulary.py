"""Whether a run goes on with the vocabulary it was started with, kept in `vocabulary.json`.

Another vocabulary of the same size would be trained on without a word, and spoil the model.
"""

import hashlib
import json
import os
import tempfile
from typing import Any

from t2t_keras.text.text_files import write_text_atomically

__all__ = [
    "FILE",
    "VocabularyError",
    "describe",
    "refuse_another",
    "remember",
    "require_that_of_run",
]

FILE = "vocabulary.json"


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
    """Writes a run's vocabularies into its directory, unless they are there.

    Those of an earlier run, whose checkpoints are gone, are replaced.
    """
    if description and description != _remembered(directory):
        text = json.dumps(description, indent=1, sort_keys=True) + "\n"
        write_text_atomically(os.path.join(directory, FILE), text)


def _remembered(directory: str) -> dict[str, Any]:
    """Empty for a run of another program, or if the file is damaged: nothing is known."""
    try:
        with open(os.path.join(directory, FILE), encoding="utf-8") as stream:
            return json.load(stream)
    except (OSError, ValueError):
        return {}


def refuse_another(directory: str, description: dict[str, Any]) -> None:
    """Makes sure that a run goes on with its vocabularies.

    Args:
        directory: the run's.
        description: of the present ones; see `describe`.

    Raises:
        VocabularyError: one is another than at the start of the run.
    """
    of_run = _remembered(directory)
    for feature, present in description.items():
        before = of_run.get(feature)
        if before and before.get("sha256") != present["sha256"]:
            kind = "" if before["size"] != present["size"] else ", of the same size"
            raise VocabularyError(
                f"The vocabulary of {feature} is not the one that the run in {directory} was "
                f"started with{kind}: {_entry(present)} now, {_entry(before)} then. Give the "
                f"--data_dir that has it (a new model needs another --output_dir); if every id "
                f"means the same in both, delete {os.path.join(directory, FILE)}. "
                f"Received: {present['file'] or feature}"
            )


def require_that_of_run(directory: str, hparams: Any, data_dir: str) -> None:
    """Makes sure, before a trained model is used, that its vocabularies are at hand.

    Args:
        directory: the run's; of another program, it doesn't say what they were.
        hparams: with `problem` and `problem_hparams`.
        data_dir: where the vocabularies' files are.

    Raises:
        VocabularyError: one is another than at the start of the run.
    """
    if os.path.exists(os.path.join(directory, FILE)):
        vocabulary = hparams.problem_hparams.vocabulary
        refuse_another(directory, describe(hparams.problem, vocabulary, data_dir))


def _entry(description: dict[str, Any]) -> str:
    file = f" in {description['file']}" if description.get("file") else ""
    return f"{description['size']:,} entries{file} (sha256 {description['sha256'][:12]}…)"
