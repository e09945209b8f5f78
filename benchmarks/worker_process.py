"""A worker of `workers/` as a process: started, asked, ended."""

import json
import os
import queue
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from typing import Any

WORKERS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "workers")
_MARK = "@benchmark "
_SHOWN_ERROR_LINES = 5


class WorkerError(Exception):
    """A worker that ended, or didn't answer in time."""


class WorkerProcess:
    """A program that does steps when told to, and sleeps in between.

    Args:
        python: the interpreter that has the worker's libraries.
        script: name of a file in `folder`.
        arguments: of its command line.
        folder: where the script lies.
        timeout: seconds to wait for an answer at most.

    Raises:
        WorkerError: it didn't get ready.
    """

    def __init__(
        self,
        python: str,
        script: str,
        arguments: Sequence[str] = (),
        folder: str = WORKERS,
        timeout: float = 600.0,
    ) -> None:
        self._timeout = timeout
        self._errors = tempfile.TemporaryFile("w+")
        self._answers: queue.Queue[str | None] = queue.Queue()
        try:
            self._process = subprocess.Popen(
                [python, os.path.join(folder, script), *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                text=True,
            )
        except OSError as error:
            raise WorkerError(f"{python}: {error.strerror}") from error
        threading.Thread(target=self._read, daemon=True).start()
        self.description = self._answer()

    def seconds(self, steps: int) -> list[float]:
        """Times of that many steps, one after another."""
        times: list[float] = self._ask(f"steps {steps}")["seconds"]
        return times

    def peak(self) -> dict[str, float]:
        """GFLOP/s of a float32 matrix product by each of the worker's libraries."""
        speeds: dict[str, float] = self._ask("peak")["peak"]
        return speeds

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        self._errors.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith(_MARK):
                self._answers.put(line[len(_MARK) :])
        self._answers.put(None)

    def _ask(self, command: str) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(command + "\n")
            self._process.stdin.flush()
        except OSError as error:
            raise self._failure("ended") from error
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        try:
            line = self._answers.get(timeout=self._timeout)
        except queue.Empty:
            raise self._failure(f"no answer in {self._timeout:.0f} s") from None
        if line is None:
            raise self._failure("ended")
        values: dict[str, Any] = json.loads(line)
        return values

    def _failure(self, what: str) -> WorkerError:
        self._errors.seek(0)
        last = self._errors.read().strip().splitlines()[-_SHOWN_ERROR_LINES:]
        self.close()
        return WorkerError("\n    ".join([what, *last]))
