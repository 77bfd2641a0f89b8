"""SmolLM2-135M-Instruct on the CPU beside llama.cpp: tokens a second of prefill and decode.

Run by scripts/bench.sh generate. Every program runs once a round, one after the other, on one thread and
on all cores, with the roof of memory reads of as many bytes as the weights measured in each round; the figures
are medians over the rounds, and ratios are medians of the ratios within a round."""

import json
import os
import statistics
import sys

from level import record
from smollm2 import (CACHE_BYTES_A_TOKEN, MODEL, PEERS, ROOT, compiled, gguf, imported, output,
                     read_roof, slug, tokens_a_second)
from table import Table

FOLDER = ROOT / "build/bench" / record("generate")
ROUNDS = 3

# (name, tokens of a prompt, new tokens). Of few new ones the time is not held against anything.
CASES = [("300 + 100", 300, 100), ("2000 + 8", 2000, 8)]
# How many times llama.cpp's tokens, and how much of the read roof the weights and the cache take.
PREFILL = 1.5
DECODE = {"q8_0": 1.4, "q4_0": 1.5, "q4_1": 1.5}
ROOF = {"bf16": 0.9, "bf16, rows of bf16": 0.9, "q8_0": 0.85, "q4_0": 0.8, "q4_1": 0.8}


def llama_cpp(model, *numbers):
    return json.loads(output(PEERS / "bin/python", ROOT / "benchmarks/comparisons/llama.py", model,
                             *numbers).splitlines()[-1])


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    files = {"q4_1": MODEL} | {kind: gguf(kind.upper()) for kind in ("bf16", "f16", "q8_0", "q4_0")}
    files["bf16, rows of bf16"] = files["bf16"]  # as llama.cpp rounds them for weights of bf16
    options = {"bf16": ["--weights", "dense"], "bf16, rows of bf16": ["--weights", "dense", "--activations", "bf16"]}
    folders = {kind: compiled(imported(FOLDER / slug(kind), *options.get(kind, []), source=files[kind]))
               for kind in files if kind != "f16"}
    sizes = {kind: (folder / "weights.safetensors").stat().st_size for kind, folder in folders.items()}

    samples, roofs = {}, {}
    for _ in range(ROUNDS):
        for threads in (1, os.cpu_count()):
            for kind, file in files.items():
                if kind in folders:
                    roofs.setdefault((threads, kind), []).append(read_roof(threads, sizes[kind]))
                for name, *numbers in CASES:
                    of = (threads, name, kind)
                    if kind in folders:
                        samples.setdefault((*of, "kv-run"), []).append(
                            tokens_a_second(folders[kind], threads, *numbers))
                    samples.setdefault((*of, "llama.cpp"), []).append(llama_cpp(file, threads, *numbers))

    table = Table()
    for (threads, name, kind, program), figures in samples.items():
        case = f"{threads} thread{'s' * (threads > 1)}, {name}"
        _, prompt, new = next(each for each in CASES if each[0] == name)
        for metric in ("prefill", "decode"):
            value = statistics.median(f[metric] for f in figures)
            label = f"{metric}, {program}, {kind}"
            if program != "kv-run":
                table.row(case, label, value, "tokens/s")
                continue
            aim = PREFILL if metric == "prefill" else DECODE.get(kind) if new > 8 else None
            table.at_least(case, label, value, "tokens/s", "llama.cpp's", statistics.median(
                a[metric] / b[metric]
                for a, b in zip(figures, samples[threads, name, kind, "llama.cpp"])), aim)
        if program == "kv-run" and new > 8:
            bytes_ = sizes[kind] + CACHE_BYTES_A_TOKEN * (prompt + new / 2)
            limits = roofs[threads, kind]
            table.at_least(case, f"read by decode, kv-run, {kind}",
                           statistics.median(f["decode"] for f in figures) * bytes_ / 1e9, "GB/s",
                           f"{statistics.median(limits):.1f} GB/s read roof",
                           statistics.median(f["decode"] * bytes_ / 1e9 / roof
                                             for f, roof in zip(figures, limits)), ROOF[kind])
    return table.write(record("generate"), rounds=ROUNDS, peers=[
        line for line in (ROOT / "benchmarks/requirements.txt").read_text().splitlines()
        if not line.startswith("#")])


if __name__ == "__main__":
    sys.exit(main())
