"""The tools as a user runs them: processes."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KV_IMPORT = ROOT / "tools/kv-import/kv-import"
KV_GENERATE = ROOT / "tools/kv-generate/kv-generate"


def run(tool, *arguments, **more):
    return subprocess.run([sys.executable, str(tool), *map(str, arguments)], text=True,
                          capture_output=True, timeout=120, **more)


def fails(tool, *arguments, **more):
    """The one sentence of a run that must fail with exit status 1."""
    done = run(tool, *arguments, **more)
    assert done.returncode == 1, done
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and "Traceback" not in done.stderr, done.stderr
    return lines[0]
