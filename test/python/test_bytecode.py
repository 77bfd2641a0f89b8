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
    return subprocess.run([KV_OPT, "--split-input-file", "--allow-unregistered-dialect", *options, "-o", "-"],
                          input=data, capture_output=True, timeout=120)


def pieces(path):
    """A file's modules, each with its text."""
    text = path.read_text()
    if "RUN: %rows" in text:
        text = "\n// -----\n".join(rows.modules(text))
    return re.split(r"^// -----.*$", text, flags=re.M)


def check(path):
    """How many of a file's modules are valid; only a file of errors has others."""
    data = "// -----\n".join(pieces(path)).encode()
    plain = kv_opt(data)
    assert plain.returncode == 0 or "errors" in path.name, plain.stderr.decode()
    # As text and as bytecode; an error of its own would be one more.
    both = kv_opt(data, "--verify-roundtrip")
    assert (both.stdout, both.stderr) == (plain.stdout, plain.stderr), (path, both.stderr.decode())
    bytecode = kv_opt(data, "--emit-bytecode").stdout
    count = len([text for text in plain.stdout.split(b"// -----") if text.strip()])
    assert bytecode.count(b"ML\xefR") == count, path
    # What the dialect encodes is not there as text.
    for name in (b"kv.collection<", b"kv.cache<", b"kv.mask<", b"kv.quant<"):
        assert name not in bytecode, path
    return count


def test_every_valid_module():
    with ThreadPoolExecutor(2) as pool:
        counts = dict(zip(FILES, pool.map(check, FILES)))
    assert sum(counts.values()) >= 30, counts
    for path, count in counts.items():
        assert count > 0 or "errors" in path.name, path
