"""check_ptx.py MODEL.gguf: SmolLM2 on the fake driver, whose kernels are executed from their PTX, for each chip.

The tokens after a prompt must be those of the model compiled for the CPU. Run by scripts/test-full.sh."""

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tools import KV_IMPORT, ROOT, find

BUILD = ROOT / "build/release"
DEVICES = {"sm_80": 2, "sm_90a": 0, "sm_100a": 5, "sm_120": 3}  # of the fake driver
TOKENS = 8


def main(model):
    request = json.loads((ROOT / "test/data/smollm2/greedy.jsonl").read_text().splitlines()[0])
    request = json.dumps(request | {"max_new_tokens": TOKENS, "temperature": 0})
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        for command in ([sys.executable, KV_IMPORT, model, "-o", folder, "--weights", "dense", "--dtype", "bf16"],
                        [find("kv-compile"), folder / "model.mlir", "-o", folder / "cpu.so"],
                        [find("kv-compile"), folder / "model.mlir", "-o", folder / "cuda.so",
                         f"--target=cuda:{','.join(DEVICES)}"]):
            subprocess.run(command, check=True)

        def tokens(artifact, device, **environment):
            done = subprocess.run([find("kv-run"), folder / artifact, "--weights", folder / "weights.safetensors",
                                   "--device", device, "--pages", "8", "--max-batch", "1", "--no-stream"],
                                  input=request, text=True, capture_output=True, env={**os.environ, **environment})
            assert done.returncode == 0, done.stderr[:2000]
            return json.loads(done.stdout.splitlines()[0])["tokens"]

        want = tokens("cpu.so", "cpu")
        print(f"CPU: {want}")
        wrong = len(want) != TOKENS
        for chip, device in DEVICES.items():
            trace, begin = folder / chip, time.monotonic()
            have = tokens("cuda.so", f"cuda:{device}", KV_CUDA_DRIVER=str(BUILD / "lib/libkv_fake_cuda.so"),
                          KV_FAKE_CUDA_PTX=str(BUILD), KV_FAKE_CUDA_TRACE=str(trace))
            launches = sum(line.startswith("launch ") for line in trace.read_text().splitlines())
            print(f"{chip}: {have} in {time.monotonic() - begin:.0f} s, {launches} launches")
            wrong |= have != want or launches < 30 * TOKENS
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
