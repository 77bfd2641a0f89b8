"""SmolLM2-135M-Instruct, bf16, on the CPU: compile time, prefill, decode, memory.

Run by scripts/bench.sh first-light. The figures are those that kv-run prints; each is the median
of seven runs, with the roof of memory reads measured before each."""

import json
import os
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / "build/release/bin"
MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
RUNS = 7
PROMPT = 300
NEW = 100
PAGES = 5  # of 128 tokens: just enough, so that the pool's memory is all in use


def output(*command, **more):
    return subprocess.run(list(map(str, command)), check=True, text=True, capture_output=True,
                          **more).stdout


def kv_run(folder, threads):
    request = {"id": "bench", "tokens": [(i * 7919 + 13) % 49152 for i in range(PROMPT)],
               "max_new_tokens": NEW}
    text = output(BIN / "kv-run", folder / "model.so", "--weights",
                  folder / "weights.safetensors", "--threads", threads,
                  "--pages", PAGES, input=json.dumps(request) + "\n")
    return json.loads(text.splitlines()[-1])["statistics"]


def main():
    folder = ROOT / "build/bench/first-light"
    folder.mkdir(parents=True, exist_ok=True)
    output(sys.executable, ROOT / "tools/kv-import/kv-import", MODEL, "-o", folder,
           "--weights", "dense")
    compile_seconds = []
    for _ in range(RUNS):
        start = time.perf_counter()
        output(BIN / "kv-compile", folder / "model.mlir", "-o", folder / "model.so")
        compile_seconds.append(time.perf_counter() - start)

    cores = os.cpu_count()
    samples = {threads: [] for threads in (1, cores)}
    roofs = {threads: [] for threads in samples}
    for _ in range(RUNS):  # alternately, so that a noisy minute hits all alike
        for threads in samples:
            roofs[threads].append(float(output(BIN / "read-roof", threads)))
            samples[threads].append(kv_run(folder, threads))

    rows = []

    def row(case, metric, value, unit, aim=None, met=None, baseline=None, ratio=None):
        rows.append({"case": case, "metric": metric, "value": round(value, 3), "unit": unit,
                     "baseline": baseline, "ratio": ratio and round(ratio, 3), "aim": aim,
                     "met": met})

    median = statistics.median
    seconds = median(compile_seconds)
    row("30 layers", "compile", seconds, "s", "<= 5", seconds <= 5)
    for threads, runs in samples.items():
        case = f"{threads} thread{'s' if threads > 1 else ''}"
        prefill = median(r["prefill_tokens_per_second"] for r in runs)
        decode = median(r["decode_tokens_per_second"] for r in runs)
        floor = threads == cores
        row(case, f"prefill of {PROMPT}", prefill, "tokens/s", ">= 120" if floor else None,
            prefill >= 120 if floor else None)
        row(case, f"decode of {NEW}", decode, "tokens/s", ">= 30" if floor else None,
            decode >= 30 if floor else None)
        roof = median(roofs[threads])
        row(case, "weights read by decode", decode * runs[0]["weights_bytes"] / 1e9, "GB/s",
            baseline=f"{roof:.1f} GB/s read roof",
            ratio=median(r["decode_tokens_per_second"] * r["weights_bytes"] / 1e9 / f
                         for r, f in zip(runs, roofs[threads])))
    figures = samples[cores][0]
    spare = (max(r["peak_rss_bytes"] for r in samples[cores]) - figures["weights_bytes"]
             - figures["pool_bytes"]) / 1e6
    row("kv-run", "peak memory beyond weights and pool", spare, "MB", "<= 100", spare <= 100)

    report = {
        "machine": {"cpu": next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                                 if line.startswith("model name")), "unknown"),
                    "cores": cores, "system": platform.platform()},
        "commit": output("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip(),
        "runs": RUNS, "rows": rows}
    (ROOT / "build/bench/first-light.json").write_text(json.dumps(report, indent=1) + "\n")
    for r in rows:
        met = {True: "met", False: "MISSED", None: ""}[r["met"]]
        against = f"{r['ratio']} x {r['baseline']}" if r["ratio"] else (r["aim"] or "")
        print(f"{r['case']:10} {r['metric']:38} {r['value']:10.2f} {r['unit']:9} {against:32} {met}")
    return any(r["met"] is False for r in rows)


sys.exit(main())
