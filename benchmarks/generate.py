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
FOLDER = ROOT / "build/bench/generate"
ROUNDS, PROMPT, NEW = 3, 300, 100

# How many times llama.cpp's tokens, and how much of the read roof the weights take.
AIMS = {"prefill": dict.fromkeys(("bf16", "q8_0", "q4_0", "q4_1"), 1.5),
        "decode": {"q8_0": 1.4, "q4_0": 1.5, "q4_1": 1.5},
        "roof": {"bf16": 0.9, "q8_0": 0.85, "q4_0": 0.8, "q4_1": 0.8}}


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


def built(name, source, *options):
    """The folder of a model that is imported and compiled."""
    folder = FOLDER / name
    folder.mkdir(parents=True, exist_ok=True)
    output(sys.executable, ROOT / "tools/kv-import/kv-import", source, "-o", folder, *options)
    output(BIN / "kv-compile", folder / "model.mlir", "-o", folder / "model.so")
    return folder


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = {"q4_1": MODEL}
    for kind in ("bf16", "f16", "q8_0", "q4_0"):
        files[kind] = FOLDER / f"model.{kind.upper()}.gguf"
        if not files[kind].exists():
            output(sys.executable, ROOT / "benchmarks/gguf_as.py", MODEL, kind.upper(), files[kind])
    folders = {kind: built(kind, files[kind], *(["--weights", "dense"] if kind == "bf16" else []))
               for kind in files if kind != "f16"}

    cores = os.cpu_count()
    # Each of ours, then llama.cpp with the same file.
    runs = {}
    for kind, file in files.items():
        if kind in folders:
            runs["kv-run", kind] = lambda threads, kind=kind: ours(folders[kind], threads)
        runs["llama.cpp", kind] = lambda threads, file=file: llama_cpp(file, threads)
    samples = {(threads, name): [] for threads in (1, cores) for name in runs}
    roofs = {threads: [] for threads in (1, cores)}
    for _ in range(ROUNDS):
        for threads, roof in roofs.items():
            roof.append(float(output(BIN / "read-roof", threads)))
            for name, run in runs.items():
                samples[threads, name].append(run(threads))

    table = Table()
    for (threads, (program, kind)), figures in samples.items():
        case = f"{threads} thread{'s' * (threads > 1)}"
        for metric in ("prefill", "decode"):
            value = statistics.median(f[metric] for f in figures)
            name = f"{metric}, {program}, {kind}"
            if program != "kv-run":
                table.row(case, name, value, "tokens/s")
                continue
            peers = samples[threads, ("llama.cpp", kind)]
            table.at_least(case, name, value, "tokens/s", "llama.cpp's",
                           statistics.median(a[metric] / b[metric]
                                             for a, b in zip(figures, peers)),
                           AIMS[metric].get(kind))
            if metric == "decode":
                size = (folders[kind] / "weights.safetensors").stat().st_size / 1e9
                table.at_least(case, f"weights read by {name}", value * size, "GB/s",
                               f"{statistics.median(roofs[threads]):.1f} GB/s read roof",
                               statistics.median(f[metric] * size / roof
                                                 for f, roof in zip(figures, roofs[threads])),
                               AIMS["roof"].get(kind))
    return table.write("generate", rounds=ROUNDS,
                       peers=(ROOT / "benchmarks/requirements.txt").read_text().split("\n")[1:-1])


sys.exit(main())
