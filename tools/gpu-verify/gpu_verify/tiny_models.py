"""tiny_models.py FOLDER BUILD CHIPS [few]: small models with random weights, compiled for GPUs of
those chips, as of sm_80,sm_90a, and for this CPU, with requests and what the CPU answers. Needs the
project's Python environment."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/kv-import"))

import numpy as np  # noqa: E402
from kv_import import synthetic  # noqa: E402

# Prompts for the decode and the prefill kernel, within a page, a leaf and several leaves.
LENGTHS = (1, 5, 17, 40, 130, 450)
NEW_TOKENS = 24
MODELS = {"llama-d64": ("llama", {"head_dim": 64}),
          "qwen3-d128": ("qwen3", {"head_dim": 128}),
          "windows-d64": ("mixed", {"head_dim": 64, "sliding": 12, "layers": 5,
                                    "full_layers": frozenset((1, 4))})}


def run(*command, **more):
    subprocess.run([str(part) for part in command], check=True, **more)


def make(folder, build, chips, kind, options, lengths):
    config = synthetic.make_config(kind, **options)
    folder.mkdir(parents=True)
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=5))
    run(sys.executable, ROOT / "tools/kv-import/kv-import", folder / "hf", "-o", folder,
        "--page", "16")
    for target, artifact in (("cpu", "cpu.so"), (f"cuda:{chips}", "gpu.so")):
        run(build / "bin/kv-compile", folder / "model.mlir", "-o", folder / artifact,
            f"--target={target}")
    random = np.random.default_rng(3)
    requests = "".join(json.dumps({"id": str(i), "tokens": random.integers(0, 256, n).tolist(),
                                   "max_new_tokens": NEW_TOKENS}) + "\n"
                       for i, n in enumerate(lengths))
    (folder / "requests.jsonl").write_text(requests)
    with open(folder / "answers.jsonl", "w") as out:
        run(build / "bin/kv-run", folder / "cpu.so", "--weights", folder / "weights.safetensors",
            "--requests", folder / "requests.jsonl", "--no-stream", "--pages", "600",
            "--dump-logits", folder / "logits.f32", stdout=out)
    keep = {"gpu.so", "weights.safetensors", "requests.jsonl", "answers.jsonl", "logits.f32"}
    for root, folders, files in os.walk(folder, topdown=False):
        for name in files:
            if root != str(folder) or name not in keep:
                os.remove(Path(root) / name)
        for name in folders:
            os.rmdir(Path(root) / name)


def main():
    folder, build, chips, *few = sys.argv[1:]
    for name, (kind, options) in MODELS.items():
        make(Path(folder) / name, Path(build), chips, kind, options,
             LENGTHS[:4] if few else LENGTHS)
        if few:
            break


if __name__ == "__main__":
    main()
