"""How much memory and time an import of more than 1 GB takes, of dense weights from a folder and as q8_0.

Run by scripts/bench.sh import. The model is random: what is measured does not look at values."""

import resource
import subprocess
import sys
import time

from smollm2 import ROOT
from table import Table

sys.path.append(str(ROOT / "tools/kv-import"))
from kv_import import synthetic  # noqa: E402

FOLDER = ROOT / "build/bench/import"
MODEL = {"layers": 10, "hidden": 2048, "heads": 32, "head_dim": 64, "intermediate": 8192, "vocab": 32000}


def main():
    source = FOLDER / "model"
    if not (source / "config.json").exists():
        # In a process of its own: the weights are in memory as f32.
        subprocess.run([sys.executable, __file__, "write"], check=True)
    size = sum(file.stat().st_size for file in source.glob("*.safetensors"))
    table = Table()
    table.row("file", "size", size / 1e9, "GB")
    for weights in ("dense", "q8_0"):
        start = time.perf_counter()
        # A child of its own each: the figure is the largest of all children.
        text = subprocess.run([sys.executable, __file__, "import", weights], check=True, text=True,
                              capture_output=True).stdout
        table.row(f"--weights {weights}", "time", time.perf_counter() - start, "s")
        table.row(f"--weights {weights}", "peak memory", int(text.split()[-1]) / 1e6, "MB", 500)
    return table.write("import")


def imported(weights):
    subprocess.run([sys.executable, ROOT / "tools/kv-import/kv-import", FOLDER / "model", "-o",
                    FOLDER / weights, "--weights", weights, "--no-tokenizer"], check=True)
    print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)


if sys.argv[1:] == ["write"]:
    config = synthetic.make_config("llama", **MODEL)
    synthetic.write_hf(FOLDER / "model", config, synthetic.make_weights(config))
elif sys.argv[1:2] == ["import"]:
    imported(sys.argv[2])
else:
    sys.exit(main())
