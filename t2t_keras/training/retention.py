"""Which checkpoints of a directory stay, and the state file that lists them."""

import os
import pathlib
import time
from collections.abc import Callable

from t2t_keras.training import checkpoints
from t2t_keras.training.checkpoint_damage import escape_glob

__all__ = ["CheckpointKeeper", "delete_checkpoint"]

_SECONDS_PER_HOUR = 3600.0
# Where the position holds the shuffled batches themselves it is large, and only needed to go on
# from a checkpoint.
_NUM_INPUT_POSITIONS = 2


class CheckpointKeeper:
    """Lists new checkpoints in the state file and deletes old ones.

    The newest `max_to_keep` stay. Of those that would be deleted, one per `every_n_hours` stays for
    good (as TensorFlow 1's `Saver` does).

    Args:
        directory: where the checkpoints are.
        max_to_keep: number of newest ones; 0 keeps all.
        every_n_hours: see above.
        clock: seconds since the epoch; replaceable in tests.
    """

    def __init__(
        self,
        directory: str,
        max_to_keep: int = 20,
        every_n_hours: float = 10000.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._directory = directory
        self._max_to_keep = max_to_keep
        self._interval = every_n_hours * _SECONDS_PER_HOUR
        self._clock = clock
        self._entries: list[tuple[str, float]] = []
        self._last_preserved = clock()
        self._read_state()

    def _read_state(self) -> None:
        state = checkpoints.read_state(self._directory)
        if state is None:
            return
        paths = list(state.all_model_checkpoint_paths)
        times = list(state.all_model_checkpoint_timestamps)
        times += [self._clock()] * (len(paths) - len(times))
        self._entries = [
            (path, stamp)
            for path, stamp in zip(paths, times, strict=False)
            if checkpoints.is_complete(path)
        ]
        self._last_preserved = state.last_preserved_timestamp or self._last_preserved

    def add(self, prefix: str) -> None:
        """Makes `prefix`, already written, the newest checkpoint, and deletes what is now old."""
        self._entries = [entry for entry in self._entries if entry[0] != prefix]
        self._entries.append((prefix, self._clock()))
        obsolete = []
        while self._max_to_keep and len(self._entries) > self._max_to_keep:
            oldest, stamp = self._entries.pop(0)
            if stamp - self._last_preserved >= self._interval:
                self._last_preserved = stamp
            else:
                obsolete.append(oldest)
        self._write_state()
        for path in obsolete:
            delete_checkpoint(path)
        for path, _ in self._entries[:-_NUM_INPUT_POSITIONS]:
            _delete_files(path, "input.index")
            _delete_files(path, "input.data-*")

    def _write_state(self) -> None:
        """Writes the state file, a CheckpointState protocol buffer in text form."""
        # Names, not paths: the directory can then be moved.
        names = [_quoted(pathlib.Path(path).name) for path, _ in self._entries]
        lines = [f"model_checkpoint_path: {names[-1]}"]
        lines += [f"all_model_checkpoint_paths: {name}" for name in names]
        lines += [f"all_model_checkpoint_timestamps: {stamp!r}" for _, stamp in self._entries]
        lines.append(f"last_preserved_timestamp: {self._last_preserved!r}")
        path = pathlib.Path(self._directory, checkpoints.STATE_FILE)
        temporary = path.with_name(f".{path.name}.tmp{os.getpid()}")
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.replace(temporary, path)


def _quoted(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def delete_checkpoint(prefix: str) -> None:
    """Deletes a checkpoint's files."""
    # The index first: without it nobody takes the rest for a checkpoint.
    for ending in ("index", "data-*-of-*", "meta", "input.*"):
        _delete_files(prefix, ending)


def _delete_files(prefix: str, ending: str) -> None:
    path = pathlib.Path(prefix)
    for file in path.parent.glob(f"{escape_glob(path.name)}.{ending}"):
        file.unlink(missing_ok=True)
