"""How compile time grows: layers of Llama-70B's shape, unrolled, through kv-cpu, and a module of a
million operations beside the stock mlir-opt.

Run by scripts/bench.sh compile. One core, one thread; what is compared runs alternately in one
run, and figures are medians of the runs."""

import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/kv-import"))

from kv_import.model.config import ModelConfig  # noqa: E402
from kv_import.writers.module_writer import ModuleWriter  # noqa: E402
from kv_import.model.rope import Rope  # noqa: E402

LAYERS = (10, 20, 40, 80, 160, 320)
MILLION = 1_000_000
CORE = min(os.sched_getaffinity(0))

COLLECTION = "!kv.collection<paged, bf16, layers = 80, heads = 8, dim = 128, page = 128>"


def output(*command):
    return subprocess.run(list(map(str, command)), check=True, text=True,
                          capture_output=True).stdout


def measured(*command):
    """Seconds of user and system time, and the peak of memory in MB, on one core."""
    process = subprocess.Popen(["taskset", "-c", str(CORE), *map(str, command)],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    error = process.stderr.read().decode()
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"compile: {' '.join(map(str, command))}: exit status {status}\n{error}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def instructions(*command):
    """Counted by callgrind: what no cache and no neighbour changes."""
    error = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                            *map(str, command)], check=True, text=True,
                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE).stderr
    return int(re.search(r"Collected : (\d+)", error).group(1))


def unrolled(kv_opt, folder, layers):
    """What kv-import writes for such a model, with every function inlined."""
    config = ModelConfig(
        name="Llama-70B", architecture="llama", layers=layers, hidden=8192, intermediate=28672,
        heads=64, kv_heads=8, head_dim=128, vocab=128256, max_seq=8192, eps=1e-5,
        rope=Rope(theta=500000.0), tied=False)
    source, path = folder / f"functions-{layers}.mlir", folder / f"unrolled-{layers}.mlir"
    source.write_text(ModuleWriter(config, "bf16", 128).text())
    output(kv_opt, source, "-o", path,
           "--pass-pipeline=builtin.module(inline{default-pipeline=},symbol-dce)")
    return path


# Functions of 1000 operations: long enough that names and tables of a function do not count,
# short enough to be like those of programs.
BODY = 1000


def functions(header, signature, result, operations):
    """Yields the text of functions with a million operations in all, returns included."""
    yield header
    for i in range(MILLION // BODY):
        yield f"func.func @f{i}({signature}) -> {result[1]} {{\n"
        yield operations
        yield f"  return {result[0]} : {result[1]}\n}}\n"


def write_million(path, header, signature, result, operations):
    with open(path, "w") as file:
        file.writelines(functions(header, signature, result, operations))


def kv_million(path):
    """Positions, rotations, stores and attentions: the operations of a model's layers."""
    x = "tensor<?x8x128xf32>"
    kv, ro = "!kv", "tensor<?xi32>"
    lines = [f"  %p0 = kv.positions %kv, %ro : {kv}, {ro} -> {ro}\n",
             "  %l = arith.constant 3 : index\n"]
    last = "%x"
    for i in range((BODY - 4) // 3):
        lines += [f"  %r{i} = kv.rope {last}, %p0, %freqs : {x}, {ro}, tensor<4096x128xf32>\n",
                  f"  kv.store %r{i}, %r{i} into %kv[%l] rows %ro : {x}, {x} into {kv}, {ro}\n",
                  f"  %a{i} = kv.attention %r{i} in %kv[%l] rows %ro mask <causal> scale 0.125"
                  f" : {x} in {kv}, {ro} -> {x}\n"]
        last = f"%a{i}"
    lines.append(f"  %n = kv.row_offsets %kv, %ro : {kv}, {ro} -> {ro}\n")
    assert len(lines) == BODY - 1
    write_million(path, f"!kv = {COLLECTION}\n",
                  f"%x: {x}, %kv: {kv}, %ro: {ro}, %freqs: tensor<4096x128xf32>", (last, x),
                  "".join(lines))


def linalg_million(path):
    """As many operations of upstream, of the kind that these stand for: named, on tensors, with
    attributes and types as long."""
    x = "tensor<?x8x128xf32>"
    lines = ["  %c0 = arith.constant 0 : index\n", f"  %d = tensor.dim %x, %c0 : {x}\n"]
    last = "%x"
    for i in range((BODY - 4) // 3):
        lines += [f"  %e{i} = tensor.empty(%d) : {x}\n",
                  f"  %s{i} = tensor.insert_slice {last} into %e{i}[0, 0, 0] [%d, 8, 128] [1, 1, 1]"
                  f" : {x} into {x}\n",
                  f"  %r{i} = vector.transfer_read %s{i}[%c0, %c0, %c0], %f {{in_bounds = [true]}}"
                  f" : {x}, vector<128xf32>\n"]
        last = f"%s{i}"
    lines.append("  %n = tensor.dim %x, %c0 : " + x + "\n")
    assert len(lines) == BODY - 1
    write_million(path, "", f"%x: {x}, %f: f32", (last, x), "".join(lines))


def report(rows, name):
    data = {
        "machine": {"cpu": next((line.split(":", 1)[1].strip() for line in open("/proc/cpuinfo")
                                 if line.startswith("model name")), "unknown"),
                    "cores": os.cpu_count(), "used": 1, "system": platform.platform()},
        "commit": output("git", "-C", ROOT, "rev-parse", "--short", "HEAD").strip(),
        "rows": rows}
    path = ROOT / f"build/bench/{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1) + "\n")
    for r in rows:
        met = {True: "met", False: "MISSED", None: ""}[r["met"]]
        against = f"{r['ratio']} x {r['baseline']}" if r["ratio"] else ""
        print(f"{r['case']:34} {r['metric']:10} {r['value']:10.3f} {r['unit']:9} "
              f"{r['aim'] or '':22} {against:46} {met}".rstrip())


def fit(xs, ys):
    """The line through the points with the least squares: slope, and value at 0."""
    mean_x, mean_y = statistics.mean(xs), statistics.mean(ys)
    slope = (sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys))
             / sum((x - mean_x) ** 2 for x in xs))
    return slope, mean_y - slope * mean_x


class Report:
    def __init__(self, options):
        self.options, self.rows = options, []
        self.kv_opt = options.bin / "kv-opt"
        self.folder = ROOT / "build/bench/compile"
        self.folder.mkdir(parents=True, exist_ok=True)

    def row(self, case, metric, value, unit, aim=None, met=None, baseline=None, ratio=None):
        self.rows.append({"case": case, "metric": metric, "value": round(value, 4), "unit": unit,
                          "baseline": baseline, "ratio": ratio and round(ratio, 2), "aim": aim,
                          "met": met})

    def time_layers(self, modules):
        """The seconds of each number of layers."""
        times = {layers: [] for layers in LAYERS}
        memory = {}
        for _ in range(self.options.runs):
            for layers, path in modules.items():
                seconds, memory[layers] = measured(self.kv_opt, path, "--kv-cpu",
                                                   "--mlir-disable-threading", "-o", os.devnull)
                times[layers].append(seconds)
        seconds = {layers: statistics.median(values) for layers, values in times.items()}
        # What the last doubling costs a layer, against what the first ones do.
        slope, start = fit(LAYERS[:4], [seconds[layers] for layers in LAYERS[:4]])
        for layers in LAYERS:
            expected = start + slope * layers
            self.row(f"{layers} layers, text to LLVM dialect", "time", seconds[layers], "s",
                     "within 1.25 x the line" if layers > 80 else None,
                     seconds[layers] <= 1.25 * expected if layers > 80 else None,
                     baseline=f"the line {start:.3f} s + {slope * 1000:.2f} ms a layer (10 to 80)",
                     ratio=seconds[layers] / expected)
        self.row("320 layers", "memory", memory[320], "MB")
        return seconds

    def count_layers(self, modules):
        """The same without caches and neighbours."""
        counted = {layers: instructions(self.kv_opt, modules[layers], "--kv-cpu",
                                        "--mlir-disable-threading", "-o", os.devnull) / 1e9
                   for layers in (20, 80, 320)}
        slope = (counted[80] - counted[20]) / 60
        expected = counted[80] + slope * 240
        self.row("320 layers", "work", counted[320], "10^9 instr", "within 1.05 x the line",
                 counted[320] <= 1.05 * expected,
                 baseline=f"the line of {slope * 1000:.0f} million a layer (20 to 80)",
                 ratio=counted[320] / expected)

    def read_million(self):
        """A million operations: parse, verify, print. Upstream's seconds."""
        kv, upstream = self.folder / "million-kv.mlir", self.folder / "million-upstream.mlir"
        generic = self.folder / "million-kv-generic.mlir"
        kv_million(kv)
        linalg_million(upstream)
        output(self.kv_opt, kv, "--mlir-print-op-generic", "-o", generic)
        plugin = self.options.bin.parent / "lib/libKVPlugin.so"
        cases = {
            "kv": (self.kv_opt, kv),
            "upstream": (self.options.mlir_opt, upstream),
            "generic": (self.kv_opt, generic, "--mlir-print-op-generic"),
            "unregistered": (self.options.mlir_opt, generic, "--allow-unregistered-dialect",
                             "--mlir-print-op-generic"),
            "plugin": (self.options.mlir_opt, f"--load-dialect-plugin={plugin}", kv),
        }
        if not plugin.exists():
            del cases["plugin"]
        figures = {case: [] for case in cases}
        for _ in range(max(3, self.options.runs // 2)):
            for case, command in cases.items():
                figures[case].append(measured(*command, "--mlir-disable-threading", "-o", os.devnull))
        for case, against, text in (
                ("kv", "upstream", "a million operations of upstream, mlir-opt"),
                ("generic", "unregistered", "the same text unregistered, mlir-opt"),
                ("plugin", "upstream", "a million operations of upstream, mlir-opt")):
            if case not in cases:
                continue
            for i, (metric, unit) in enumerate((("time", "s"), ("memory", "MB"))):
                value = statistics.median(f[i] for f in figures[case])
                ratio = statistics.median(a[i] / b[i] for a, b in zip(figures[case], figures[against]))
                base = statistics.median(f[i] for f in figures[against])
                self.row(f"a million operations, {case}", metric, value, unit, "<= 3 x", ratio <= 3,
                         baseline=f"{base:.1f} {unit} ({text})", ratio=ratio)
        return statistics.median(f[0] for f in figures["upstream"])


def main():
    parser = argparse.ArgumentParser(prog="bench.sh compile")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--bin", type=Path, default=ROOT / "build/release/bin")
    parser.add_argument("--mlir-opt", default="mlir-opt-22")
    options = parser.parse_args()
    made = Report(options)
    modules = {layers: unrolled(made.kv_opt, made.folder, layers) for layers in LAYERS}
    seconds = made.time_layers(modules)
    made.count_layers(modules)
    base = made.read_million()
    # What 80 layers take, by a measure that knows the machine.
    made.row("80 layers, text to LLVM dialect", "time", seconds[80], "s", "<= 0.25 x",
             seconds[80] <= 0.25 * base,
             baseline=f"{base:.1f} s (a million operations of upstream, mlir-opt)",
             ratio=seconds[80] / base)
    report(made.rows, "compile")
    return any(r["met"] is False for r in made.rows)


sys.exit(main())
