"""Where the programs of kv-mlir are, and how they are run."""

import os
import re
import shutil
import signal
import subprocess
from pathlib import Path

from ..model.errors import ImportFailure

ROOT = Path(__file__).resolve().parents[4]
# A bar of tqdm: "Loading weights: 100%|███| 37/37 [00:01<00:00]".
PROGRESS = re.compile(r"\d+%\||\bit/s\b|\bs/it\b")
LONGEST = 2000  # characters of an error that are shown


def program(name):
    """The path of kv-opt and the like: named by KV_OPT, in PATH, or built in the checkout."""
    for path in (os.environ.get(name.upper().replace("-", "_")), shutil.which(name),
                 ROOT / "build/release/bin" / name):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise ImportFailure(f"{name} is needed: in PATH, or named by "
                        f"{name.upper().replace('-', '_')}")


def first_error(text):
    """What a program's standard error says went wrong, in one line: from its first error on, or from the
    exception at the end of a traceback on, without progress bars."""
    lines = [line for line in text.splitlines() if line.strip() and not PROGRESS.search(line)]
    errors = [line for line in lines if "error: " in line]
    if errors:
        return errors[0].strip()
    traced = [i for i, line in enumerate(lines) if line.startswith("Traceback ")]
    if traced:
        # The frames are indented; the exception is not.
        after = lines[traced[-1] + 1:]
        first = next((i for i, line in enumerate(after) if not line.startswith(" ")), 0)
        lines = [" ".join(" ".join(after[first:]).split())]
    return lines[-1].strip()[:LONGEST] if lines else "no message"


def how_it_ended(done):
    """The reason of a process that failed: its error, or the signal that ended it."""
    said = first_error(done.stderr)
    # A shell between the two says 128 + the signal's number.
    number = -done.returncode if done.returncode < 0 else done.returncode - 128
    if number <= 0:
        return said
    try:
        name = signal.Signals(number).name
    except ValueError:
        return said
    last = f"; the last line that it wrote: {said}" if said != "no message" else ""
    return f"it crashed ({name}){last}"


def output_of(command, what, **options):
    """What a program writes to standard output; a failure with its reason where it fails."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise ImportFailure(f"{what} failed: {how_it_ended(done)}")
    return done.stdout
