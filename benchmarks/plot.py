"""plot.py: the pictures of docs/measurements/cpu.md from the records in benchmarks/results/.

Run by scripts/bench.sh plot. A picture names the record that it was drawn from by its hash, which
test/python/sources/test_site.py compares."""

import hashlib
import json
import re
from pathlib import Path

import matplotlib
from matplotlib import pyplot

ROOT = Path(__file__).resolve().parents[1]


def rows(name):
    return json.loads((ROOT / f"benchmarks/results/{name}.json").read_text())["rows"]


def drawn_from(record):
    """The text by which a picture names its record."""
    content = (ROOT / f"benchmarks/results/{record}.json").read_bytes()
    return f"benchmarks/results/{record}.json {hashlib.sha256(content).hexdigest()}"


def picture(name, record, title, x, y, lines):
    """`lines`: label -> (style, [(x, y)])."""
    figure, axes = pyplot.subplots(figsize=(6.4, 4))
    for label, (style, points) in lines.items():
        axes.plot(*zip(*sorted(points)), style, label=label, markersize=4)
    ticks = sorted({at for _, points in lines.values() for at, _ in points})
    axes.set(xscale="log", yscale="log", xlabel=x, ylabel=y, title=title)
    axes.set_xticks(ticks, [f"{n // 1024} k" if n >= 1024 else str(n) for n in ticks])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(ROOT / f"docs/measurements/{name}.svg", metadata={"Date": None, "Description": drawn_from(record)})


def main():
    # The same file from the same figures.
    matplotlib.rcParams["svg.hashsalt"] = "kv"
    lines = {}
    for row in rows("attention-cpu"):
        case = re.fullmatch(r"(\w+), 1 of (\d+) tokens, 2 threads", row["case"])
        if case and row["unit"] == "ms" and case[1] != "bf16" and row["metric"] != "reference kernel":
            ours = row["metric"] == "generated"
            label = f"kv-mlir, {case[1]}" if ours else row["metric"]
            lines.setdefault(label, ("o-" if ours else "s--", []))[1].append((int(case[2]), row["value"]))
    picture("attention-context", "attention-cpu",
            "Decode attention of a layer: 8 KV heads of 128, groups of 4, 2 threads", "keys", "ms", lines)
    lines = {}
    for row in rows("batch"):
        kind, batch = re.fullmatch(r"(\w+), (\d+) requests", row["case"]).groups()
        ours = "kv-run" in row["metric"]
        lines.setdefault(f"{'kv-mlir' if ours else 'llama.cpp'}, {kind}", ("o-" if ours else "s--", []))[
            1].append((int(batch), row["value"]))
    picture("decode-batch", "batch", "Decode step of SmolLM2-135M, 2 threads", "requests side by side", "ms", lines)


if __name__ == "__main__":
    main()
