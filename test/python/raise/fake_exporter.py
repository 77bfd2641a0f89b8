#!/usr/bin/env python3
"""Stands for the Python of an exporter (KV_EXPORTER_PYTHON) in tests: writes the graph that FAKE_GRAPH names
and, unless FAKE_WEIGHTS is "none", random weights for it; FAKE_WEIGHTS of another name leaves out that
weight. With FAKE_ENDS it ends as that says: a signal's name, "refused: SENTENCE", or a text for standard error."""

import os
import re
import signal
import sys
from pathlib import Path

import numpy as np

sys.path.append(str(Path(__file__).resolve().parents[1]))
import graphs  # noqa: E402

ARGUMENT = re.compile(r'tensor<([0-9x]*)f32> \{kv.weight = "([^"]*)"')


def values(shape, name, random):
    if "inv_freq" in name:
        return (10000.0 ** (-np.arange(shape[0]) / shape[0])).astype(np.float32)
    return np.asarray(random.standard_normal(shape) * (1.5 / shape[-1] ** 0.5 if len(shape) > 1 else 1), np.float32)


def main():
    ends = os.environ.get("FAKE_ENDS")
    if ends and ends.startswith("refused: "):
        print(ends.removeprefix("refused: "), file=sys.stderr)
        sys.exit(3)
    if ends:
        print("Loading weights: 100%|#####| 37/37 [00:00<00:00, 5.1it/s]", file=sys.stderr, flush=True)
        if hasattr(signal, ends):
            os.kill(os.getpid(), getattr(signal, ends))
        sys.exit(ends)
    folder = Path(sys.argv[sys.argv.index("-o") + 1])
    graph = graphs.stored(os.environ["FAKE_GRAPH"])
    (folder / "graph.mlir").write_text(graph)
    random, missing = np.random.default_rng(1), os.environ.get("FAKE_WEIGHTS", "")
    shapes = {name: [int(size) for size in sizes.split("x") if size]
              for sizes, name in ARGUMENT.findall(graph)}
    if missing != "none":
        graphs.write_weights(folder / "weights.safetensors", {
            name: values(shape, name, random) for name, shape in shapes.items() if name != missing})


main()
