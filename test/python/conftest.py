import collections
import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The package kvmlir lies in a build's folder.
sys.path[:0] = [*(str(ROOT / "tools" / name) for name in ("kv-import", "kv-generate", "kv-serve", "docs", ".")),
                *(str(Path(__file__).resolve().parent / folder) for folder in (".", "kvmlir", "proofs", "raise", "serving")),
                os.environ.get("KV_PYTHON_PACKAGE") or str(ROOT / "build/release/python")]
# The package of a build has no programs of its own.
os.environ.setdefault("KV_COMPILE", str(ROOT / "build/release/bin/kv-compile"))
# What is refused is not tried through PyTorch, even where its environment is there.
os.environ.setdefault("KV_EXPORTER_PYTHON", "none")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """In CTest nothing is skipped silently: a test that did not run has shown nothing."""
    outcome = yield
    report = outcome.get_result()
    if report.skipped and os.environ.get("KV_NO_SKIP") and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped: {report.longrepr[2]}"


def pytest_configure(config):
    config.addinivalue_line("markers", "machine(has, what): runs where the processor has it")


def pytest_collection_modifyitems(config, items):
    """What the processor lacks no setup brings: such tests are left out, and the summary says so."""
    config.lacking = collections.Counter()
    kept, left_out = [], []
    for item in items:
        lacks = [mark.args[1] for mark in item.iter_markers("machine") if not mark.args[0]]
        config.lacking.update(lacks)
        (left_out if lacks else kept).append(item)
    config.hook.pytest_deselected(items=left_out)
    items[:] = kept


def pytest_terminal_summary(terminalreporter, config):
    for what, count in config.lacking.items():
        terminalreporter.write_line(f"{count} tests left out: this processor has no {what}")
