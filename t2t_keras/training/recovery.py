"""From which checkpoint a run goes on, and what becomes of damaged ones."""

import os
import pathlib

from absl import logging

from t2t_keras.training import checkpoints
from t2t_keras.training.checkpoint_damage import escape_glob, find_damage, find_damaged_values

__all__ = ["checkpoint_to_resume", "set_aside"]

_FOLDER = "damaged"


def checkpoint_to_resume(directory: str, *, moves_damaged: bool = True) -> str | None:
    """The newest checkpoint of which every value can be read; None in the directory of a new run.

    Newer ones that can't be read are moved to `<directory>/damaged`: training writes new ones under
    their names.

    Args:
        directory: the output directory.
        moves_damaged: whether this process may move files there.

    Raises:
        CheckpointError: there are only damaged ones: starting anew would overwrite them.
    """
    if moves_damaged:
        _remove_orphans(directory)
    damaged: dict[str, str] = {}
    for prefix in _newest_first(directory):
        damage = find_damaged_values(prefix)
        if damage is None:
            for other, what in damaged.items():
                _leave_out(other, what, prefix, moves_damaged)
            return prefix
        damaged[prefix] = damage
    if damaged:
        causes = "\n  ".join(damaged.values())
        raise checkpoints.CheckpointError(
            "The run's checkpoints are all damaged. Delete them to start anew. "
            f"Received: {', '.join(sorted(damaged))}\n  {causes}"
        )
    return None


def _remove_orphans(directory: str) -> None:
    """Removes input positions whose checkpoint was never finished: the process was killed."""
    pattern = f"{escape_glob(checkpoints.BASENAME)}-*.input.*"
    for path in pathlib.Path(directory).glob(pattern):
        if not path.with_name(path.name.split(".input.")[0] + ".index").exists():
            path.unlink(missing_ok=True)


def _newest_first(directory: str) -> list[str]:
    """All checkpoints with an index; that of the state file comes first if it is whole."""
    pattern = f"{escape_glob(checkpoints.BASENAME)}-*.index"
    found = (str(path)[: -len(".index")] for path in pathlib.Path(directory).glob(pattern))
    numbered = [prefix for prefix in found if checkpoints.step_of(prefix) >= 0]
    numbered.sort(key=checkpoints.step_of, reverse=True)
    state = checkpoints.read_state(directory)
    named = str(state.model_checkpoint_path) if state is not None else ""
    if named and find_damage(named) is None:
        return [named, *(prefix for prefix in numbered if prefix != named)]
    return numbered


def _leave_out(prefix: str, damage: str, used: str, moves: bool) -> None:
    if checkpoints.step_of(prefix) < checkpoints.step_of(used):
        logging.warning("%s; not used.", damage)
        return
    where = f"; its files are now in {set_aside(prefix)}" if moves else ""
    logging.warning(
        "%s%s. Going on from the checkpoint before it, %s: the steps after it are done again.",
        damage, where, used,
    )  # fmt: skip


def set_aside(prefix: str) -> str:
    """Moves all files of a checkpoint into a folder beside it; returns the folder."""
    path = pathlib.Path(prefix)
    files = sorted(path.parent.glob(f"{escape_glob(path.name)}.*"))
    number, folder = 1, path.parent / _FOLDER
    while any((folder / file.name).exists() for file in files):
        number += 1
        folder = path.parent / f"{_FOLDER}-{number}"
    folder.mkdir(exist_ok=True)
    # The index first: without it nobody takes the rest for a checkpoint.
    for file in sorted(files, key=lambda file: file.suffix != ".index"):
        os.replace(file, folder / file.name)
    return str(folder)
