"""The cache engine: what its operations cost, and a trace of real traffic.

Run by scripts/bench.sh manager and scripts/bench.sh replay TRACE."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from table import Table

ROOT = Path(__file__).resolve().parents[1]
BIN = ROOT / "build/release/bin"


def output(*command):
    return subprocess.run(list(map(str, command)), check=True, text=True,
                          capture_output=True).stdout


def costs(pages):
    figures = {}
    for line in output(BIN / "cache-engine", "costs", pages).splitlines():
        name, value = line.split("\t")
        figures[name] = float(value)
    return figures


def instructions(operation, *listener):
    """A page, or a decode step, of the operation, on the thread that calls the engine."""
    run = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                          "--collect-atstart=no", "--toggle-collect=*counted*",
                          str(BIN / "cache-engine"), "count", operation, *listener],
                         check=True, text=True, capture_output=True)
    return int(re.search(r"Collected : (\d+)", run.stderr)[1]) / int(run.stdout)


# What a page of each operation may take of the plain cache of the same run.
OPERATIONS = {"lookup": 0.10, "allocate and evict": 0.08, "commit": 0.15, "free": 0.6, "touch": 0.06}

# What a page of each operation may take in instructions of clang 22, by its name in cache-engine.
# A touch needs a lookup, so the two are one bar.
INSTRUCTIONS = {"lookup": 200, "evict": 166, "commit": 190, "free": 56, "lookup and touch": 260}


def manager():
    table = Table()
    small = None
    for pages in (100_000, 1_000_000):
        # The quietest of three runs, as the others measure somebody else's work.
        f = min((costs(pages) for _ in range(3)), key=lambda f: f["random read"])
        small = small or f
        plain = {"lookup": f["plain hash"] + f["plain find"],
                 "allocate and evict": f["plain allocate"], "commit": f["plain commit"],
                 "free": f["plain free"], "touch": f["plain touch"]}
        f["touch"] = max(f["lookup and touch"] - f["lookup"], 0)
        case = f"{pages} pages"
        for metric, aim in OPERATIONS.items():
            table.ratio(case, metric, f[metric], "ns/page", "the plain cache", plain[metric], aim)
            table.ratio(case, f"{metric}, in random reads", f[metric], "ns/page", "a random read",
                        f["random read"])
            if f is not small:
                table.ratio(case, f"{metric}, as the pool grows", f[metric], "ns/page",
                            "100 000 pages", small[metric], 2)
        table.row(case, "commit, hashing included", f["commit, hashing included"], "ns/page")
        table.row(case, "evict 64 pages", f["evict 64 pages"] / 1000, "us")
        for metric in f:
            if metric.startswith("decode step of the manager"):
                own = f[metric.replace(" of the manager at", " at") + " tokens"]
                table.ratio(case, f"{metric}, 256 seq.", f[metric], "us", "the engine's own step", own, 1.5)
            elif metric.startswith("decode step"):
                table.row(case, f"{metric}, 256 seq.", f[metric], "us")
        table.row(case, "bookkeeping", f["bytes a page"], "B/page", 160)
    if shutil.which("valgrind"):
        counts = {operation: instructions(operation) for operation in INSTRUCTIONS}
        for operation, aim in INSTRUCTIONS.items():
            table.row("8192 pages", f"{operation}: instructions", counts[operation], "/page", aim)
        step = instructions("decode")
        table.row("32768 pages", "decode step of the manager at 1024: instructions", step, "/step", 145_000)
        if (BIN / "../lib/libkv_events.so").exists():
            for operation in ("evict", "commit"):
                table.ratio("8192 pages", f"{operation} with events: instructions",
                            instructions(operation, "events"), "/page", "without", counts[operation], 1.1)
            table.ratio("32768 pages", "decode step with events: instructions",
                        instructions("decode", "events"), "/step", "without", step, 1.1)
    return table.write("manager")


def replay(trace):
    table = Table()
    blocks = sum(len(json.loads(line)["hash_ids"]) for line in open(trace))

    def run(page, pages):
        values = output(BIN / "cache-replay", trace, page, pages).split("\t")
        names = ("requests", "tokens", "full", "hits", "lru", "evicted", "seconds", "refused")
        return dict(zip(names, map(float, values)))

    for capacity in (1_000, 3_000, 10_000, 30_000, 100_000, 300_000):
        r = run(512, capacity)
        if r["hits"] != r["lru"]:
            sys.exit(f"{capacity} pages hit {r['hits']:.0f}, an offline LRU hits {r['lru']:.0f}")
        table.row(f"{capacity} of 512", "blocks hit", r["hits"] / blocks, "of all", None,
                  "offline LRU", r["hits"] / r["lru"])
    unbounded = r["hits"] / blocks
    table.rows[-1].update(aim="0.366, unbounded", met=round(unbounded, 3) == 0.366)
    for capacity in (320_000, 1_000_000):
        r = run(16, capacity)
        if r["hits"] != r["lru"]:
            sys.exit(f"{capacity} pages hit {r['hits']:.0f}, an offline LRU hits {r['lru']:.0f}")
        table.row(f"{capacity} of 16", "pages hit", r["hits"] / r["full"], "of all", None,
                  "offline LRU", r["hits"] / r["lru"])
        table.row(f"{capacity} of 16", "whole trace, CPU time", r["seconds"], "s", 3)
    return table.write("replay")


sys.exit(manager() if sys.argv[1] == "manager" else replay(sys.argv[2]))
