"""Prefill and decode apart on the fake driver."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from kv_import import synthetic
from peers import Decode, Prefill, command
from tools import KV_IMPORT, ROOT, find, run

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
FAKE = os.environ.get("KV_FAKE_CUDA", ROOT / "build/release/lib/libkv_fake_cuda.so")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN and Path(FAKE).exists()),
                                reason="kv-run and the fake driver are not built")


def test_devices_that_copy_later(tmp_path, monkeypatch):
    """On the fake GPU, whose copies to host memory are queued: a page is told of when its copy is over."""
    monkeypatch.setenv("KV_CUDA_DRIVER", str(FAKE))
    config = synthetic.make_config("llama", head_dim=64)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config, seed=5))
    done = run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path, "--page", "16")
    assert done.returncode == 0, done.stderr
    subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "model.so", "--target=cuda:sm_80"],
                   check=True, timeout=600)
    request = {"id": "a", "max_new_tokens": 4, "logits": "digest",
               "tokens": [(7 * i + 3) % config.vocab for i in range(70)]}
    device = ("--device", "cuda:0", "--pages", "40")
    lines = subprocess.run(command(tmp_path, *device), input=json.dumps(request) + "\n", check=True, text=True,
                           capture_output=True, timeout=300).stdout.splitlines()
    want = [(line["token"], line["logits_digest"]) for line in map(json.loads, lines) if "token" in line]
    with Prefill(tmp_path, *device) as prefill, Decode(tmp_path, prefill.endpoint, *device) as peer:
        assert peer.answer(request)[0] == want
        assert peer.end()["peer"]["pages_read"] == 4
        prefill.end()
