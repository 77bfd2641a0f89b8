"""Where the other programs are: beside this one in a checkout, a prefix or a wheel, or in PATH."""

import os
import shutil
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2]  # tools of a checkout, libexec of what is installed


class CommandFailure(Exception):
    """A single sentence for the user."""


def find(name):
    """The words that begin the program's command line."""
    script = FOLDER / name / name
    if script.is_file():
        return [sys.executable, str(script)]
    root = FOLDER.parent
    builds = sorted(root.glob(f"build/*/bin/{name}"), key=lambda path: path.parts[-3] != "release")
    for path in (root / "bin" / name, shutil.which(name), *builds):
        if path and os.access(path, os.X_OK):
            return [str(path)]
    raise CommandFailure(f"{name} is not there: this installation was built without it")


def become(name, arguments):
    command = [*find(name), *arguments]
    sys.stdout.flush()
    os.execv(command[0], command)
