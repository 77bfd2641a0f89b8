"""Models with recurrent layers on the fake driver: what a prefix hit takes over, and what batches and
evictions do to states, changes no bit of any logit."""

import json
import os
import subprocess

import numpy as np
import pytest

import test_cuda
from kv_import import synthetic
from test_cuda import FAKE, KV_COMPILE, KV_RUN, KINDS
from tools import KV_IMPORT, run

pytestmark = test_cuda.pytestmark


@pytest.fixture(scope="module", params=("qwen3_next", "qwen3_next_experts", "granite_hybrid"))
def model(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    config = synthetic.make_config(request.param, **KINDS[request.param])
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=5))
    assert run(KV_IMPORT, folder / "hf", "-o", folder, "--page", "16").returncode == 0
    subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / "cuda.so", "--target=cuda:sm_90a"],
                   check=True, timeout=300)
    return folder


def served(model, requests, *options):
    """(rows of (token, digest of its logits' bits) by id, cached tokens by id, the trace)"""
    trace = model / "trace"
    done = subprocess.run(
        [KV_RUN, model / "cuda.so", "--weights", model / "weights.safetensors", "--device", "cuda:0",
         "--threads", "1", "--deterministic", *map(str, options)],
        input="".join(json.dumps(request) + "\n" for request in requests), capture_output=True,
        text=True, timeout=600,
        env={**os.environ, "KV_CUDA_DRIVER": str(FAKE), "KV_FAKE_CUDA_TRACE": str(trace)})
    assert done.returncode == 0, done.stderr + done.stdout[:2000]
    *told, _ = map(json.loads, done.stdout.splitlines())
    rows = {request["id"]: [] for request in requests}
    for one in told:
        if "token" in one:
            rows[one["id"]].append((one["token"], one["logits_digest"]))
    return rows, {one["id"]: one["cached_tokens"] for one in told if "token" not in one}, trace.read_text()


def test_snapshots_change_no_bit(model):
    random = np.random.default_rng(3)
    system = random.integers(0, 256, 37).tolist()
    prompts = [system + random.integers(0, 256, n).tolist() for n in (5, 11)]
    prompts += [prompts[1], system[:20], prompts[0]]
    requests = [{"id": str(i), "tokens": tokens, "max_new_tokens": 3, "logits": "digest"}
                for i, tokens in enumerate(prompts)]
    plain, cached, trace = served(model, requests, "--no-prefix-cache", "--max-batch", 1)
    assert not any(cached.values()) and "launch kv_state_scan" in trace
    assert "launch kv_state_convolution" in trace
    test_cuda.check_steps(trace)
    one, cached, _ = served(model, requests, "--max-batch", 1, "--snapshots", 20)
    # A state is kept behind the last whole page of each prompt: none where the short one ends.
    assert list(cached.values()) == [0, 32, 32, 0, 32], cached
    small, _, _ = served(model, requests, "--max-batch", 3, "--pages", 12, "--snapshots", 1,
                         "--max-batch-tokens", 24)
    assert one == plain and small == plain


def test_states_come_back_from_host_memory(model):
    """A device that has room for two requests and no snapshot: states come back by the copies of pages."""
    random = np.random.default_rng(4)
    prompts = [random.integers(0, 256, 37).tolist() for _ in range(2)]
    requests = [{"id": str(i), "tokens": prompts[i % 2], "max_new_tokens": 2, "logits": "digest"}
                for i in range(4)]
    plain, _, _ = served(model, requests, "--no-prefix-cache", "--max-batch", 1)
    small = ("--max-batch", 1, "--pages", 4, "--snapshots", 0)
    again, cached, trace = served(model, requests, *small, "--host-pages", 400)
    assert again == plain and list(cached.values())[2:] == [32, 32], cached
    assert "cuMemcpyHtoDAsync" in trace or "cuMemcpyBatchAsync" in trace
