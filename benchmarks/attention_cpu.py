"""Attention on the CPU, one layer: generated code beside the runtime's reference kernel, and the roof of
memory reads.

Run by scripts/bench.sh attention-cpu. Every case runs once a round, one after the other, on one thread and
on all cores, with the roof measured before; the figures are the best of the rounds, and the ratio to the
reference kernel is the median of those within a round. A case is a loop in one artifact, so that threads are awake and pages are
mapped; the time of one attention is what a longer loop takes more than a shorter one."""

import ctypes
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.append(str(ROOT / "test/python"))
from host import View, view  # noqa: E402

BIN = ROOT / "build/release/bin"
HEADS, GROUP, DIM, PAGE = 8, 4, 128, 128
DTYPES = ("bf16",)
ROUNDS = 3
# Of the iterations of a case, as the kernel is slower.
KERNELS = {"vector": 1, "reference": 5}
# (cached tokens, new tokens, iterations)
CASES = [(2047, 1, 200), (16383, 1, 25), (65535, 1, 10), (1536, 512, 5)]


def module(dtype, kernel, iterations):
    queries = f"tensor<?x{HEADS * GROUP}x{DIM}xf32>"
    attribute = "{kv.kernel = #kv.kernel<reference>}" if kernel == "reference" else ""
    return f"""
        !kv = !kv.collection<paged, {dtype}, layers = 1, heads = {HEADS}, dim = {DIM}, page = {PAGE},
                             layout = cpu>
        func.func @f(%q: {queries}, %rows: tensor<?xi32>, %kv: !kv) -> {queries} attributes {{kv.entry}} {{
          %zero = arith.constant 0 : index
          %one = arith.constant 1 : index
          %n = arith.constant {iterations} : index
          %r = scf.for %i = %zero to %n step %one iter_args(%x = %q) -> {queries} {{
            %o = kv.attention %x in %kv[%zero] rows %rows mask <causal> scale 0.088388 {attribute}
                : {queries} in !kv, tensor<?xi32> -> {queries}
            scf.yield %o : {queries}
          }}
          return %r : {queries}
        }}"""


def compiled(folder, dtype, kernel, iterations):
    name = f"{dtype}-{kernel}-{iterations}"
    (folder / f"{name}.mlir").write_text(module(dtype, kernel, iterations))
    subprocess.run([BIN / "kv-compile", folder / f"{name}.mlir", "-o", folder / f"{name}.so"], check=True)
    return folder / f"{name}.so"


def inputs(dtype, cached, new):
    rng = np.random.default_rng(0)
    pages = -(-(cached + new) // PAGE)
    shape = (pages + 1, 1, HEADS, 2, PAGE, DIM)
    numbers = (rng.random(shape, np.float32) - 0.5).view(np.uint32) >> 16
    blocks = numbers.astype(np.uint16)  # bf16
    if dtype == "f16":
        blocks = (numbers << 16).view(np.float32).astype(np.float16)
    table = (rng.permutation(pages) + 1).astype(np.int32)[None]
    q = rng.standard_normal((new, HEADS * GROUP, DIM), np.float32)
    return [q, np.array([0, new], np.int32), blocks, np.array([cached], np.int32), table,
            np.array([[new, cached + new]], np.int32), np.zeros_like(q)]


def seconds(host, artifact, arrays, threads):
    views, message = (View * len(arrays))(*map(view, arrays)), ctypes.create_string_buffer(1000)
    start = time.perf_counter()
    status = host.kv_test_call(str(artifact).encode(), b"kv_entry_f", views, len(arrays), threads, message,
                               ctypes.c_size_t(1000))
    assert status == 0, message.value
    return time.perf_counter() - start


def main():
    folder = ROOT / "build/bench/attention"
    folder.mkdir(parents=True, exist_ok=True)
    host = ctypes.CDLL(str(ROOT / "build/release/lib/libKVTestHost.so"))
    cores = os.cpu_count()
    table = Table()
    for dtype in DTYPES:
        for cached, new, iterations in CASES:
            arrays = inputs(dtype, cached, new)
            counts = {kernel: iterations // fraction for kernel, fraction in KERNELS.items()}
            loops = {kernel: [compiled(folder, dtype, kernel, n) for n in (1, count + 1)]
                     for kernel, count in counts.items()}
            for threads in sorted({1, cores}):
                samples = {kernel: [] for kernel in KERNELS}
                roof = float(subprocess.run([BIN / "read-roof", str(threads)], check=True, text=True,
                                            capture_output=True).stdout)
                for _ in range(ROUNDS):
                    for kernel, (short, long) in loops.items():
                        base = seconds(host, short, arrays, threads)
                        samples[kernel].append(
                            (seconds(host, long, arrays, threads) - base) / counts[kernel])
                report(table, dtype, cached, new, threads, samples, roof)
    table.write("attention-cpu")


def report(table, dtype, cached, new, threads, samples, roof):
    case = f"{dtype}, {new} of {cached + new} tokens, {threads} thread{'s' * (threads > 1)}"
    generated, reference = (samples[kernel] for kernel in KERNELS)
    bytes_ = 2 * 2 * HEADS * DIM * (cached + new)
    flops = 4 * HEADS * GROUP * DIM * sum(cached + 1 + i for i in range(new))
    best = min(generated)
    table.row(case, "time", best * 1e3, "ms", None, "as fast as the reference kernel",
              statistics.median(r / g for g, r in zip(generated, reference)))
    if new == 1:
        table.row(case, "cache read", bytes_ / best / 1e9, "GB/s", None,
                  f"{roof:.1f} GB/s read roof", bytes_ / best / 1e9 / roof)
    else:
        table.row(case, "products", flops / best / 1e9, "GFLOP/s")


if __name__ == "__main__":
    main()
