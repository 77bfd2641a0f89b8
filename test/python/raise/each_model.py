"""What scripts/check-raise.sh's programs have in common: models one by one, and a verdict."""

import os
import sys
import tempfile
from pathlib import Path


def check_each(names, check):
    """check(name, folder) says (a sentence, whether the model passes). With KV_KEEP what is made stays in
    that folder. Exits with the names of the models that fail."""
    failed = []
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            kept = os.environ.get("KV_KEEP")
            folder = Path(kept, name) if kept else Path(folder)
            folder.mkdir(parents=True, exist_ok=True)
            sentence, passed = check(name, folder)
        print(f"{name}: {'pass' if passed else 'FAIL'}: {sentence}", flush=True)
        if not passed:
            failed.append(name)
    if failed:
        sys.exit(f"check-raise: {', '.join(failed)} failed")
