"""Where the programs of kv-mlir are."""

import os
import shutil
from pathlib import Path

from .errors import ImportFailure

ROOT = Path(__file__).resolve().parents[3]


def program(name):
    """The path of kv-opt and the like: named by KV_OPT, in PATH, or built in the checkout."""
    for path in (os.environ.get(name.upper().replace("-", "_")), shutil.which(name),
                 ROOT / "build/release/bin" / name):
        if path and os.access(path, os.X_OK):
            return str(path)
    raise ImportFailure(f"{name} is needed: in PATH, or named by "
                        f"{name.upper().replace('-', '_')}")
