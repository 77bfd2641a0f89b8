"""What quantised weights and caches cost in quality: perplexity of SmolLM2-135M-Instruct on a fixed text.

Run by scripts/bench.sh perplexity. The text is Debian's copy of the GPL, version 3, its first 2048 tokens in windows of
512; each window's tokens but the first are predicted from those before. Perplexity is exp of the mean of
-log p, with all logits. llama.cpp computes the same windows from the same files."""

import json
import math
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from smollm2 import BIN, MODEL, PEERS, ROOT, VOCAB, imported, output
from table import Table

FOLDER = ROOT / "build/bench/perplexity"
TEXT = Path("/usr/share/common-licenses/GPL-3")
WINDOWS, WINDOW = 4, 512

# The cache's type in the module's text, whether it has a scale a row, and what attentions say of products.
CACHES = {"bf16": ("bf16", False, ""), "f16": ("f16", False, ""), "i8": ("i8", True, ""),
          "f8E4M3FN": ("f8E4M3FN", True, ""), "f8E4M3FN, no scales": ("f8E4M3FN", False, ""),
          "f8E4M3FN, no scales, products of it": ("f8E4M3FN", False, " products f8E4M3FN")}


def perplexity(rows, tokens):
    """rows f32 [WINDOWS * WINDOW, VOCAB]: the logits at every position."""
    total = 0.0
    for window, ids in enumerate(tokens):
        for i in range(WINDOW - 1):
            row = rows[window * WINDOW + i].astype(np.float64)
            peak = row.max()
            total += peak + math.log(np.exp(row - peak).sum()) - row[ids[i + 1]]
    return math.exp(total / (WINDOWS * (WINDOW - 1)))


def model(weights, dtype, activations=None):
    folder = FOLDER / "-".join(filter(None, (weights, dtype, activations)))
    if not (folder / "weights.safetensors").exists():
        imported(folder, "--weights", weights, "--dtype", dtype,
                 *(["--activations", activations] if activations else []))
    return folder


def ours(folder, cache, tokens):
    """With the cache in another type than the module says."""
    dtype, scaled, products = CACHES[cache]
    text, count = re.subn(
        r"<paged, \w+, (layers = \d+, heads = \d+, dim = (\d+), page = \d+)>",
        lambda m: f"<paged, {dtype}, {m[1]}" + (
            f", scale = #kv.scale<f32, group = {m[2]}>" if scaled else "") + ">",
        (folder / "model.mlir").read_text())
    assert count == 1
    text, count = re.subn(r"(kv\.attention .* scale [\d.e-]+)$", rf"\1{products}", text, flags=re.M)
    assert count == 1
    (folder / "cache.mlir").write_text(text)
    output(BIN / "kv-compile", folder / "cache.mlir", "-o", folder / "cache.so")
    requests = "".join(
        json.dumps({"id": f"{i}", "tokens": ids, "max_new_tokens": 0, "logits": "digest"}) + "\n"
        for i, ids in enumerate(tokens))
    dump = folder / "logits"
    output(BIN / "kv-run", folder / "cache.so", "--weights", folder / "weights.safetensors",
           "--dump-logits", dump, input=requests)
    rows = np.memmap(dump, dtype=np.float32, mode="r").reshape(-1, VOCAB)
    assert len(rows) == WINDOWS * WINDOW, len(rows)
    result = perplexity(rows, tokens)
    dump.unlink()
    return result


def llama_cpp(file, tokens):
    """One token after the other: the logits of each."""
    text = subprocess.run(
        [PEERS / "bin/python", "-c", """
import ctypes, json, sys
sys.path.insert(0, sys.argv[2])
from llama import Llama
for ids in json.load(sys.stdin):
    llama = Llama(sys.argv[1], 1)
    for token in ids:
        logits, = llama.step([token])
        sys.stdout.buffer.write(ctypes.string_at(logits, 4 * llama.vocab))
""", str(file), str(ROOT / "benchmarks/comparisons")], input=json.dumps(tokens).encode(), check=True,
        stdout=subprocess.PIPE).stdout
    return perplexity(np.frombuffer(text, np.float32).reshape(-1, VOCAB), tokens)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    dense = model("dense", "f32")
    tokenizer = Tokenizer.from_file(str(dense / "tokenizer.json"))
    ids = tokenizer.encode(TEXT.read_text()).ids[:WINDOWS * WINDOW]
    tokens = [ids[i:i + WINDOW] for i in range(0, len(ids), WINDOW)]
    table = Table()
    base = None
    cases = [("dense", "f32"), ("dense", "bf16"), ("dense", "bf16", "bf16"), ("q8_0", "bf16"),
             ("i8", "bf16"), ("keep", "bf16"), ("q4_0", "bf16")]
    for case in cases:
        weights, dtype, *activations = case
        folder = model(*case)
        for each in CACHES if case == ("dense", "bf16") else ["bf16"]:
            value = ours(folder, each, tokens)
            base = base or value
            name = {"dense": dtype, "keep": "q4_1 (the file)"}.get(weights, weights)
            name += f", rows of {activations[0]}" if activations else ""
            table.row(f"weights {name}", f"kv-run, cache {each}", value, "", None,
                      "f32 weights", value / base)
    for kind, file in (("q4_1 (the file)", MODEL),
                       *((k, ROOT / f"build/bench/generate/model.{k.upper()}.gguf")
                         for k in ("bf16", "q8_0", "q4_0"))):
        if file.exists():
            table.row(f"weights {kind}", "llama.cpp, cache f16", llama_cpp(file, tokens), "", None,
                      "f32 weights", None)
    return table.write("perplexity", text=str(TEXT), windows=WINDOWS, window=WINDOW)


if __name__ == "__main__":
    sys.exit(main())
