"""Every valid module of test/ survives bytecode: the text after it is the text before it."""

import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tools import ROOT, find

sys.path.append(str(ROOT / "test/lit"))
import rows  # noqa: E402

KV_OPT = find("kv-opt")
pytestmark = pytest.mark.skipif(KV_OPT is None, reason="kv-opt is not built")

FILES = sorted(path for folder in ("dialect", "passes", "lowering", "tools", "integration")
               for path in (ROOT / "test" / folder).rglob("*.mlir"))


def kv_opt(data, *options):
    return subprocess.run([KV_OPT, *options, "-o", "-"], input=data, capture_output=True,
                          timeout=120)


def pieces(path):
    """A file's modules, each with its text."""
    text = path.read_text()
    if "RUN: %rows" in text:
        text = "\n// -----\n".join(rows.modules(text))
    return re.split(r"^// -----.*$", text, flags=re.M)


def printed(path, piece):
    """A module as it is printed; None for what does not parse, which only a file of errors may hold."""
    done = kv_opt(piece.encode(), "--allow-unregistered-dialect")
    assert done.returncode == 0 or "errors" in path.name, done.stderr.decode()
    return done.stdout if done.returncode == 0 else None


def survives(path, piece, text):
    data = piece.encode()
    options = ("--allow-unregistered-dialect",)
    bytecode = kv_opt(data, *options, "--emit-bytecode")
    assert bytecode.returncode == 0, bytecode.stderr.decode()
    # What the dialect encodes is not there as text.
    for name in (b"kv.collection<", b"kv.cache<", b"kv.mask<", b"kv.quant<"):
        assert name not in bytecode.stdout, path
    again = kv_opt(bytecode.stdout, *options)
    assert again.returncode == 0, again.stderr.decode()
    assert again.stdout == text, path
    both = kv_opt(data, *options, "--verify-roundtrip")
    assert both.returncode == 0 and both.stdout == text, both.stderr.decode()


def check(path):
    count = 0
    for piece in pieces(path):
        text = printed(path, piece)
        if text is not None:
            survives(path, piece, text)
            count += 1
    return count


def test_every_valid_module():
    with ThreadPoolExecutor(2) as pool:
        counts = dict(zip(FILES, pool.map(check, FILES)))
    assert sum(counts.values()) >= 30, counts
    for path, count in counts.items():
        assert count > 0 or "errors" in path.name, path
