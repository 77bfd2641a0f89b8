import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The package kvmlir lies in a build's folder.
sys.path[:0] = [*(str(ROOT / "tools" / name) for name in ("kv-import", "kv-generate", "kv-serve")),
                str(Path(__file__).resolve().parent),
                os.environ.get("KV_PYTHON_PACKAGE") or str(ROOT / "build/release/python")]


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """In CTest nothing is skipped silently: a test that did not run has shown nothing."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("KV_NO_SKIP") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped: {report.longrepr[2]}"
