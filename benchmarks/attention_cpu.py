"""Attention on the CPU, one layer: generated code beside ggml's and the runtime's reference kernel, and the
roofs of memory reads and of multiply-adds.

Run by scripts/bench.sh attention-cpu. Every case runs once a round, one after the other, on one thread and
on all cores, with the roofs measured before; the figures are medians over the rounds, and ratios are medians of
those within a round. A case is a loop in one artifact, so that threads are awake and pages are
mapped; the time of one attention is what a longer loop takes more than a shorter one."""

import ctypes
import os
import statistics
import sys
import time

import numpy as np

from level import level, record
from smollm2 import BIN, PEERS, ROOT, output, read_roof
from table import Table

sys.path.append(str(ROOT / "test/python"))
from host import View, view  # noqa: E402

HEADS, GROUP, DIM, PAGE = 8, 4, 128, 128
# The cache's type, and ggml's that is nearest to it.
DTYPES = {"f16": "f16", "bf16": "f16", "i8": "q8_0"}
ROUNDS = 3
# (cached tokens, new tokens, iterations)
CASES = [(1023, 1, 200), (2047, 1, 200), (4095, 1, 100), (16383, 1, 25), (65535, 1, 10), (131071, 1, 4),
         (0, 512, 10), (1536, 512, 5)]
# How many times as fast as ggml a decode over so many keys is to be, and a prefill; parts of the roofs.
DECODE = {2048: 4, 16384: 2, 65536: 2}
PREFILL = 1.3
READ, FMA = 0.7, 0.6


def module(dtype, kernel, iterations):
    """`kernel` is vector, reference, or matrix: with rows of bf16, for which a machine with AMX uses it."""
    queries = f"tensor<?x{HEADS * GROUP}x{DIM}xf32>"
    attribute = "{kv.kernel = #kv.kernel<reference>}" if kernel == "reference" else ""
    rows = "attributes {kv.activations = bf16}" if kernel == "matrix" else ""
    scale = f"scale = #kv.scale<f32, group = {DIM}>," if dtype == "i8" else ""
    return f"""
        !kv = !kv.collection<paged, {dtype}, layers = 1, heads = {HEADS}, dim = {DIM}, page = {PAGE},
                             {scale} layout = cpu>
        module {rows} {{
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
        }}
        }}"""


def compiled(folder, dtype, kernel, iterations):
    name = f"{dtype}-{kernel}-{iterations}"
    (folder / f"{name}.mlir").write_text(module(dtype, kernel, iterations))
    output(BIN / "kv-compile", folder / f"{name}.mlir", "-o", folder / f"{name}.so",
           f"--mcpu={level()}")
    return folder / f"{name}.so"


def inputs(dtype, cached, new):
    """The arguments of the entry, the output last."""
    rng = np.random.default_rng(0)
    pages = -(-(cached + new) // PAGE)
    shape = (pages + 1, 1, HEADS, 2, PAGE, DIM)
    numbers = rng.random(shape, np.float32) - 0.5
    caches = {"f16": lambda: [numbers.astype(np.float16)],
              "bf16": lambda: [(numbers.view(np.uint32) >> 16).astype(np.uint16)],
              "i8": lambda: [(numbers * 254).astype(np.int8), np.full(shape[:-1] + (1,), 1 / 254, np.float32)]}
    table = (rng.permutation(pages) + 1).astype(np.int32)[None]
    q = rng.standard_normal((new, HEADS * GROUP, DIM), np.float32)
    blocks, *scales = caches[dtype]()
    return [q, np.array([0, new], np.int32), blocks, np.array([cached], np.int32), table,
            np.array([[new, cached + new]], np.int32), *scales, np.zeros_like(q)]


def seconds(host, artifact, arrays, threads):
    views, message = (View * len(arrays))(*map(view, arrays)), ctypes.create_string_buffer(1000)
    start = time.perf_counter()
    status = host.kv_test_call(str(artifact).encode(), b"kv_entry_f", views, len(arrays), threads, message,
                               ctypes.c_size_t(1000))
    assert status == 0, message.value
    return time.perf_counter() - start


def timer(folder, host, dtype, kernel, arrays, iterations):
    """What measures the seconds of one attention by this kernel on so many threads."""
    short, long = (compiled(folder, dtype, kernel, n) for n in (1, iterations + 1))

    def run(threads):
        base = seconds(host, short, arrays, threads)
        return (seconds(host, long, arrays, threads) - base) / iterations

    return run


def ggml(dtype, cached, new, iterations):
    return lambda threads: float(output(
        PEERS / "bin/python", ROOT / "benchmarks/comparisons/ggml_attention.py", DTYPES[dtype], cached, new, iterations,
        threads, HEADS, GROUP, DIM))


def main():
    folder = ROOT / "build/bench" / record("attention")
    folder.mkdir(parents=True, exist_ok=True)
    host = ctypes.CDLL(str(ROOT / "build/release/lib/libKVTestHost.so"))
    table = Table()
    for dtype in DTYPES:
        for cached, new, iterations in CASES:
            arrays = inputs(dtype, cached, new)
            few = max(1, iterations // 5)
            kernels = {
                "vector": timer(folder, host, dtype, "vector", arrays, iterations),
                "ggml": ggml(dtype, cached, new, iterations),
                "reference": timer(folder, host, dtype, "reference", arrays, few)}
            if dtype == "bf16":
                kernels["matrix"] = timer(folder, host, dtype, "matrix", arrays, iterations)
            read = sum(array.nbytes for array in arrays[2:-1])
            for threads in sorted({1, os.cpu_count()}):
                roof = (read_roof(threads, read) if new == 1 else
                        float(output(BIN / "fma-peak", threads)))
                rounds = [{name: run(threads) for name, run in kernels.items()} for _ in range(ROUNDS)]
                report(table, dtype, cached, new, threads, rounds, read, roof)
    return table.write(record("attention-cpu"), rounds=ROUNDS)


def report(table, dtype, cached, new, threads, rounds, read, roof):
    """Rows of a case; `read` in bytes, `roof` in GB/s of a decode, in GFLOP/s of a prefill."""
    total = cached + new
    case = f"{dtype}, {new} of {total} tokens, {threads} thread{'s' * (threads > 1)}"
    times = {name: statistics.median(each[name] for each in rounds) for name in rounds[0]}
    table.row(case, "reference kernel", times["reference"] * 1e3, "ms")
    table.row(case, f"ggml, {DTYPES[dtype]}", times["ggml"] * 1e3, "ms")
    table.at_least(case, "generated", times["vector"] * 1e3, "ms", "as fast as ggml",
                   statistics.median(each["ggml"] / each["vector"] for each in rounds),
                   DECODE.get(total) if new == 1 else PREFILL)
    if "matrix" in times:
        table.at_least(case, "generated, rows of bf16", times["matrix"] * 1e3, "ms", "as fast as without",
                       statistics.median(each["vector"] / each["matrix"] for each in rounds), None)
    if new == 1:
        table.at_least(case, "cache read", read / times["vector"] / 1e9, "GB/s", f"{roof:.1f} GB/s read roof",
                       read / times["vector"] / 1e9 / roof, READ if total == 65536 and threads > 1 else None)
    else:
        flops = 4 * HEADS * GROUP * DIM * sum(cached + 1 + i for i in range(new))
        table.at_least(case, "products", flops / times["vector"] / 1e9, "GFLOP/s", f"{roof:.0f} GFLOP/s of fma",
                       flops / times["vector"] / 1e9 / roof, FMA)


if __name__ == "__main__":
    sys.exit(main())
