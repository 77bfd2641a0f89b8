"""run_vllm_manager.py PYTHON: our engine as vLLM's KVCacheManager. First scenarios and random walks on both managers
(use_vllm_manager.py), then SmolLM2 by vLLM on the CPU: with our manager its tokens, and its hits, are those with its own.
PYTHON: of an environment with vLLM (scripts/lib.sh, engines). The model: scripts/fetch-smollm2.sh build/models."""

import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from run_vllm import BLOCK, HERE, Runs, full_blocks

ROOT = HERE.parents[2]
OURS = {"scheduler_cls": "kvmlir.vllm_manager.scheduler"}


def make_prompts(count):
    """Eight prefixes; each fourth prompt is one of them alone, of whole blocks."""
    pick = random.Random(3)
    prefixes = [[pick.randrange(49152) for _ in range(BLOCK * pick.randrange(1, 6))] for _ in range(8)]
    return [pick.choice(prefixes) + [pick.randrange(49152) for _ in range(pick.randrange(1, 50) if i % 4 else 0)]
            for i in range(count)]


def check(run, folder, count):
    prompts = make_prompts(count)
    small = {"max_num_seqs": 8, "max_num_batched_tokens": 128}
    want, cached = run(prompts, None, max_tokens=24, enable_prefix_caching=True, **small)
    tokens, found = run(prompts, None, max_tokens=24, enable_prefix_caching=True, **small, **OURS)
    assert tokens == want and found == cached and sum(found) > 0
    print(f"vLLM: with our manager the tokens of {count} prompts are equal, and {sum(found)} of {sum(map(len, prompts))} "
          "prompt tokens are hits, as with its own")
    # Few blocks: requests wait and are preempted.
    prompts, want = prompts[:16], want[:16]
    tokens, found = run(prompts, None, max_tokens=24, enable_prefix_caching=True, num_gpu_blocks_override=20, **small, **OURS)
    assert tokens == want and sum(found) > 0
    assert run(prompts[:4], None, max_tokens=24, **small, **OURS) == (want[:4], [0] * 4)
    prompts, want = prompts[:6], want[:6]  # Blocks that our tiers load.
    disk = {"disk_directory": str(folder / "pages"), "disk_bytes": 1 << 30}
    for _ in range(2):
        tokens, loaded = run(prompts, disk, max_tokens=24, enable_prefix_caching=True, **small, **OURS)
        assert tokens == want
    assert loaded == full_blocks(prompts)
    print("vLLM: so are they with few blocks, without caching, and with tiers")


def main(python, count=40):
    os.environ.setdefault("KV_PYTHON_PACKAGE", str(ROOT / "build/release/python"))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(
        [os.environ["KV_PYTHON_PACKAGE"], *(str(ROOT / path) for path in ("benchmarks", "benchmarks/comparisons"))])}
    subprocess.run([python, HERE / "use_vllm_manager.py"], check=True, env=environment)
    with tempfile.TemporaryDirectory() as folder:
        source = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
        convert = f"import pathlib, vllm_tokens; vllm_tokens.convert(pathlib.Path({str(source)!r}), {folder + '/model'!r})"
        subprocess.run([python, "-c", convert], check=True, env=environment)
        check(Runs(python, Path(folder), Path(folder) / "model"), Path(folder), int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
