"""Nowhere in either pipeline is a buffer with the shape of blocks or scales allocated or copied:
every entry of test/, and every geometry. Nothing else here has six dimensions."""

import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from test_bytecode import FILES, pieces
from test_caches import GEOMETRIES, attentions
from tools import find

KV_OPT = find("kv-opt")
SIX = r"(?:memref|tensor)<(?:[?\d]+x){6}"
FORBIDDEN = re.compile(
    r"\b(?:memref\.(?:copy|alloca?|realloc)|linalg\.copy|tensor\.empty|"
    rf"bufferization\.(?:clone|alloc_tensor|to_tensor|to_buffer))\b.*{SIX}")


def dump(text, pipeline):
    """The status, and the IR after each pass: in files, since the standard error has no buffer."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([KV_OPT, f"--{pipeline}", "--mlir-print-ir-after-all",
                               f"--mlir-print-ir-tree-dir={folder}", "-o", "/dev/null", "--mlir-disable-threading"],
                              input=text.encode(), capture_output=True, timeout=120)
        return done.returncode, "".join(path.read_text() for path in Path(folder).rglob("*.mlir"))


def copies(ir):
    return [line for line in ir.splitlines() if FORBIDDEN.search(line)]


def modules():
    for path in FILES:
        if "errors" in path.name or path.name == "no-copy.mlir":
            continue
        for i, piece in enumerate(pieces(path)):
            if re.search(r"attributes \{[^}]*kv\.entry", piece):
                yield f"{path.name}:{i}", piece
    for g in GEOMETRIES:
        yield str(g), attentions(g, g.heads * 2, [("causal", 0, True)])


@pytest.mark.parametrize("pipeline", ("kv-cpu", "kv-reference"))
def test_no_copy_of_a_cache(pipeline):
    texts = dict(modules())
    assert len(texts) > len(GEOMETRIES) + 5
    with ThreadPoolExecutor(2) as pool:
        dumps = dict(zip(texts, pool.map(lambda t: dump(t, pipeline), texts.values())))
    lowered = [name for name, (code, _) in dumps.items() if code == 0]
    # What is left out are entries that hold another pass's form.
    assert len(lowered) >= len(GEOMETRIES) + 5
    for name, (_, ir) in dumps.items():
        assert not copies(ir), (name, copies(ir)[:3])


def test_a_copy_is_seen():
    ir = dump("""
        func.func @f(%n: index, %b: memref<?x2x2x16x2x16xbf16>) -> memref<?x2x2x16x2x16xbf16> {
          %c = memref.alloc(%n) : memref<?x2x2x16x2x16xbf16>
          memref.copy %b, %c : memref<?x2x2x16x2x16xbf16> to memref<?x2x2x16x2x16xbf16>
          return %c : memref<?x2x2x16x2x16xbf16>
        }""", "canonicalize")[1]
    assert len(copies(ir)) == 2
