"""SmolLM2-135M-Instruct, bf16, on the CPU: compile time, prefill, decode, memory.

Run by scripts/bench.sh first-light. The figures are those that kv-run prints; each is the median
of seven runs, with the roof of memory reads measured before each."""

import os
import sys
import time
from statistics import median

from smollm2 import ROOT, compiled, generated, imported, read_roof
from table import Table

RUNS, PROMPT, NEW = 7, 300, 100
# Tokens a second on all cores.
FLOORS = {"prefill": 120, "decode": 30}


def main():
    folder = imported(ROOT / "build/bench/first-light", "--weights", "dense")
    compile_seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        compiled(folder)
        compile_seconds.append(time.perf_counter() - start)

    cores = os.cpu_count()
    size = (folder / "weights.safetensors").stat().st_size
    samples = {threads: [] for threads in (1, cores)}
    roofs = {threads: [] for threads in samples}
    for _ in range(RUNS):  # alternately, so that a noisy minute hits all alike
        for threads in samples:
            roofs[threads].append(read_roof(threads, size))
            samples[threads].append(generated(folder, threads, PROMPT, NEW))

    table = Table()
    table.row("30 layers", "compile", median(compile_seconds), "s", 5)
    for threads, runs in samples.items():
        case = f"{threads} thread{'s' * (threads > 1)}"
        for metric, count in (("prefill", PROMPT), ("decode", NEW)):
            value = median(run[f"{metric}_tokens_per_second"] for run in runs)
            floor = FLOORS[metric]
            table.at_least(case, f"{metric} of {count}", value, "tokens/s",
                           f"the floor of {floor} tokens/s", value / floor,
                           1 if threads == cores else None)
        read = [run["decode_tokens_per_second"] * run["weights_bytes"] / 1e9 for run in runs]
        table.row(case, "weights read by decode", median(read), "GB/s", None,
                  f"{median(roofs[threads]):.1f} GB/s read roof",
                  median(r / roof for r, roof in zip(read, roofs[threads])))
    figures = samples[cores][0]
    spare = (max(run["peak_rss_bytes"] for run in samples[cores]) - figures["weights_bytes"]
             - figures["pool_bytes"]) / 1e6
    table.row("kv-run", "peak memory beyond weights and pool", spare, "MB", 100)
    return table.write("first-light", runs=RUNS)


sys.exit(main())
