"""Runs the commands as they are installed."""

import pathlib
import subprocess
import sys


def line(name, *flags):
    """The command line of a console script of this Python's environment."""
    return [str(pathlib.Path(sys.executable).with_name(name)), *map(str, flags)]


def run(name, *flags, folder=None, status=0):
    """Runs a command, which has to end with the status; text of both its outputs."""
    done = subprocess.run(
        line(name, *flags), capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == status, done.stdout[-3000:] + done.stderr[-3000:]
    return done
