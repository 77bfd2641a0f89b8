"""run_vllm.py PYTHON [COUNT]: vLLM on the CPU with our tiers, over a restart: its tokens are those of vLLM alone, and it loads
each full block that it had. PYTHON: of an environment with vLLM (scripts/lib.sh, engines)."""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BLOCK = 32


def make_prompts(count):
    """Those that share a prefix share full blocks, or parts of one."""
    pick = random.Random(5)

    def tokens(least, most):
        return [pick.randrange(3, 256) for _ in range(pick.randrange(least, most))]

    prefixes = [tokens(30, 200) for _ in range(40)]
    return [pick.choice(prefixes) + tokens(1, 70) for _ in range(count)]


def full_blocks(prompts):
    """Tokens that need not be computed when all is there: vLLM computes the last one."""
    return [(len(prompt) - 1) // BLOCK * BLOCK for prompt in prompts]


class Runs:
    def __init__(self, python, folder, model):
        self.python, self.folder, self.model = python, folder, model

    def __call__(self, prompts, tiers, salt=None, max_tokens=40, **options):
        job = self.folder / "job.json"
        job.write_text(json.dumps({"model": str(self.model), "prompts": prompts, "tiers": tiers, "salt": salt,
                                   "max_tokens": max_tokens,
                                   "options": {"enable_prefix_caching": False, **options}}))
        done = subprocess.run([self.python, HERE / "use_vllm.py", job], text=True, capture_output=True,
                              env=os.environ | {"PYTHONPATH": os.environ["KV_PYTHON_PACKAGE"]})
        assert done.returncode == 0, done.stderr[-40000:]
        found = json.loads(done.stdout.splitlines()[-1])
        return found["tokens"], found["cached"]


def check(run, folder, count):
    prompts = make_prompts(count)
    want, _ = run(prompts, None)
    assert len({tuple(one) for one in want}) > count * 0.9
    disk = {"disk_directory": str(folder / "pages"), "disk_bytes": 256 << 20}
    half = count // 2
    tokens, cached = run(prompts[:half], disk)
    assert tokens == want[:half]
    print(f"vLLM: {half} requests, {sum(cached)} of {sum(map(len, prompts[:half]))} prompt tokens loaded")
    tokens, cached = run(prompts, disk)
    assert tokens == want
    assert cached[:half] == full_blocks(prompts[:half])
    print(f"vLLM: after a restart {count} requests, {sum(cached)} of {sum(map(len, prompts))} prompt tokens loaded")
    # A conversation goes on: the answers' blocks are there, too. The last token of an answer was never computed.
    later = [prompt + answer for prompt, answer in zip(prompts[:100], want)]
    assert run(later, disk)[1] == full_blocks(later)
    # What others computed is not found.
    assert run(prompts[:1], disk, salt="secret")[1] == [0]
    assert run(prompts[:1], {**disk, "model": "another"})[1] == [0]
    # Few blocks: vLLM preempts requests, and we have no room for all.
    tokens, cached = run(prompts[:200], {"num_pages": 24}, num_gpu_blocks_override=40, max_num_seqs=16,
                         max_num_batched_tokens=64, enable_prefix_caching=True)
    assert tokens == want[:200] and 0 < sum(cached) < sum(full_blocks(prompts[:200]))
    print("vLLM: the tokens are those of vLLM alone")


def main(python, count=1000):
    sys.path.insert(0, str(HERE.parent))
    import conftest  # noqa: F401  where the packages are
    from kv_import import synthetic
    os.environ.setdefault("KV_PYTHON_PACKAGE", str(HERE.parents[2] / "build/release/python"))
    with tempfile.TemporaryDirectory() as folder:
        config = synthetic.make_config("llama", hidden=128, heads=4, head_dim=32)
        synthetic.write_hf(Path(folder) / "model", config, synthetic.make_weights(config))
        check(Runs(python, Path(folder), Path(folder) / "model"), Path(folder), int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
