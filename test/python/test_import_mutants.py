"""Changed model files through kv-import (import_mutants.py): 10,000 of them, scripts/test-full.sh a million."""

import subprocess
import sys
from pathlib import Path


def test_each_is_imported_or_refused_in_one_sentence():
    done = subprocess.run([sys.executable, Path(__file__).parent / "import_mutants.py", "10000", "0", "2"],
                          capture_output=True, text=True, timeout=800)
    assert done.returncode == 0, done.stderr[-3000:]
    # Text on standard error is what the tokenizers package writes when it panics.
    assert done.stderr == "", done.stderr[-3000:]
