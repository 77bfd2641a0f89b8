"""SmolLM2-135M-Instruct as the benchmarks run it: imported, compiled, and generating by kv-run."""

import json
import subprocess
import sys
from pathlib import Path

from level import level

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / "build/release/bin"
MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
PEERS = ROOT / "build/bench/peers"
VOCAB = 49152
PAGE = 128
CACHE_BYTES_A_TOKEN = 30 * 2 * 3 * 64 * 2  # layers, keys and values, heads, elements, bf16


def output(*command, **more):
    return subprocess.run(list(map(str, command)), check=True, text=True, capture_output=True,
                          **more).stdout


def slug(name):
    """A name of a table as that of a folder."""
    return name.replace(", ", "-").replace(" ", "-")


def imported(folder, *options, source=MODEL):
    """`folder`, with the module and the weights of a model file."""
    folder.mkdir(parents=True, exist_ok=True)
    output(sys.executable, ROOT / "tools/kv-import/kv-import", source, "-o", folder, *options)
    return folder


def compiled(folder):
    output(BIN / "kv-compile", folder / "model.mlir", "-o", folder / "model.so", f"--mcpu={level()}")
    return folder


def gguf(kind):
    """The model as a GGUF file whose matrices have this type, such as Q8_0."""
    path = ROOT / f"build/bench/generate/model.{kind}.gguf"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        output(sys.executable, ROOT / "benchmarks/gguf_as.py", MODEL, kind, path)
    return path


def prompts(length, count=1):
    """`count` prompts that share no page."""
    return [[(i * 7919 + 13 + 101 * k) % VOCAB for i in range(length)] for k in range(count)]


def generated(folder, threads, prompt, new, batch=1):
    """kv-run's statistics for `batch` requests side by side, in a pool of just the pages that they take."""
    requests = "".join(json.dumps({"id": str(k), "tokens": tokens, "max_new_tokens": new}) + "\n"
                       for k, tokens in enumerate(prompts(prompt, batch)))
    # The null page; and side by side kv-run admits a request only where a page more than it needs is free.
    pages = batch * (-(-(prompt + new) // PAGE) + (batch > 1)) + 1
    text = output(BIN / "kv-run", folder / "model.so", "--weights", folder / "weights.safetensors",
                  "--threads", threads, "--pages", pages, "--max-batch", batch,
                  "--max-batch-tokens", prompt * batch, input=requests)
    return json.loads(text.splitlines()[-1])["statistics"]


def tokens_a_second(folder, *numbers):
    """kv-run's, of prefill and decode; takes what generated() takes."""
    figures = generated(folder, *numbers)
    return {each: figures[f"{each}_tokens_per_second"] for each in ("prefill", "decode")}


def read_roof(threads, bytes_):
    """GB/s at which so many threads read a buffer of that size."""
    return float(output(BIN / "read-roof", threads, max(1, round(bytes_ / 2**20))))
