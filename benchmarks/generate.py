"""SmolLM2-135M-Instruct on the CPU beside llama.cpp: tokens a second of prefill and decode.

Run by scripts/bench.sh generate. Every program runs once a round, one after the other, on one thread and
on all cores, with the roof of memory reads measured before; the figures are medians over the rounds, and
ratios are medians of the ratios within a round."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from table import Table

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / "build/release/bin"
MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
PEERS = ROOT / "build/bench/peers"
ROUNDS, PROMPT, NEW = 3, 300, 100


def output(*command, **more):
    return subprocess.run(list(map(str, command)), check=True, text=True, capture_output=True,
                          **more).stdout


def ours(folder, threads):
    request = {"id": "bench", "tokens": [(i * 7919 + 13) % 49152 for i in range(PROMPT)],
               "max_new_tokens": NEW}
    text = output(BIN / "kv-run", folder / "model.so", "--weights", folder / "weights.safetensors",
                  "--threads", threads, "--pages", 5, input=json.dumps(request) + "\n")
    statistics_ = json.loads(text.splitlines()[-1])["statistics"]
    return {"prefill": statistics_["prefill_tokens_per_second"],
            "decode": statistics_["decode_tokens_per_second"]}


def llama_cpp(model, threads):
    return json.loads(output(PEERS / "bin/python", ROOT / "benchmarks/llama_cpp.py", model, threads,
                             PROMPT, NEW).splitlines()[-1])


def main():
    folder = ROOT / "build/bench/generate"
    folder.mkdir(parents=True, exist_ok=True)
    output(sys.executable, ROOT / "tools/kv-import/kv-import", MODEL, "-o", folder)
    output(BIN / "kv-compile", folder / "model.mlir", "-o", folder / "model.so")
    files = {"Q4_1": MODEL}
    for kind in ("BF16", "F16", "Q8_0"):
        files[kind] = folder / f"model.{kind}.gguf"
        if not files[kind].exists():
            output(sys.executable, ROOT / "benchmarks/gguf_as.py", MODEL, kind, files[kind])
    weights = (folder / "weights.safetensors").stat().st_size

    cores = os.cpu_count()
    runs = {"kv-run, bf16": lambda threads: ours(folder, threads)}
    for kind, file in files.items():
        runs[f"llama.cpp, {kind.lower()}"] = lambda threads, file=file: llama_cpp(file, threads)
    samples = {(threads, name): [] for threads in (1, cores) for name in runs}
    roofs = {threads: [] for threads in (1, cores)}
    for _ in range(ROUNDS):
        for threads, roof in roofs.items():
            roof.append(float(output(BIN / "read-roof", threads)))
            for name, run in runs.items():
                samples[threads, name].append(run(threads))

    table = Table()
    own = "kv-run, bf16"
    for (threads, name), figures in samples.items():
        case = f"{threads} thread{'s' * (threads > 1)}"
        for metric in ("prefill", "decode"):
            baseline = ratio = None
            if name != own:
                baseline = "kv-run is so many times as fast"
                ratio = statistics.median(
                    a[metric] / b[metric] for a, b in zip(samples[threads, own], figures))
            elif metric == "decode":
                baseline = f"{statistics.median(roofs[threads]):.1f} GB/s read roof"
                ratio = statistics.median(
                    f[metric] * weights / 1e9 / roof for f, roof in zip(figures, roofs[threads]))
            table.row(case, f"{metric}, {name}", statistics.median(f[metric] for f in figures),
                      "tokens/s", baseline=baseline, ratio=ratio)
    table.write("generate", rounds=ROUNDS,
                peers=(ROOT / "benchmarks/requirements.txt").read_text().split("\n")[1:-1])


main()
