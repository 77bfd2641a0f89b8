"""The real model, where scripts/fetch-smollm2.sh has put it: from the GGUF file to the recorded
logits and texts."""

import json
import subprocess
import sys
import time

import gguf
import numpy as np
import pytest

from kv_generate.chat import ChatFormat, conversation
from kv_generate.model_folder import ModelFolder
from kv_import.weights.weights_writer import unpack_n16k
from test_weights import read_file
from tools import KV_IMPORT, ROOT, find, run

MODEL = ROOT / "build/models/SmolLM2-135M-Instruct.Q4_1.gguf"
DATA = ROOT / "test/data/smollm2"
KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
FAKE_DRIVER = ROOT / "build/release/lib/libkv_fake_cuda.so"
pytestmark = pytest.mark.skipif(not MODEL.exists(), reason="scripts/fetch-smollm2.sh build/models")


def imported(path, *options):
    done = run(KV_IMPORT, MODEL, "-o", path, *options)
    assert done.returncode == 0, done.stderr
    return path


@pytest.fixture(scope="module", params=("bf16", "f32"))
def folder(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("smollm2") / request.param
    yield imported(path, "--weights", "dense", "--dtype", request.param)
    (path / "weights.safetensors").unlink()  # half a gigabyte


def test_weights(folder):
    """Three kinds of tensors against the file, read and rearranged here."""
    metadata, stored = read_file(folder / "weights.safetensors")
    assert len(stored) == 273 and stored["rope.freqs"][1].shape == (8192, 64)
    raw = {t.name: gguf.dequantize(t.data, t.tensor_type)
           for t in gguf.GGUFReader(MODEL).tensors if t.name in (
               "blk.7.attn_k.weight", "blk.29.ffn_down.weight", "blk.3.attn_norm.weight")}
    key = raw["blk.7.attn_k.weight"].reshape(3, 32, 2, 576)  # head, pair, half
    key = np.concatenate([key[:, :, 0], key[:, :, 1]], axis=1).reshape(192, 576)
    for name, wanted in (("model.layers.7.self_attn.k_proj.weight", key),
                         ("model.layers.29.mlp.down_proj.weight", raw["blk.29.ffn_down.weight"])):
        kind, values = stored[name]
        assert metadata[f"layout.{name}"] == "n16k"
        values = unpack_n16k(values)
        if kind == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
            assert (np.abs(values - wanted) <= np.abs(wanted) * 2 ** -8).all()
        else:
            assert np.array_equal(values, wanted)
    assert np.array_equal(stored["model.layers.3.input_layernorm.weight"][1],
                          raw["blk.3.attn_norm.weight"])


def test_chat_prompt(folder):
    (folder / "model.so").touch()
    model = ModelFolder(folder)
    with open(DATA / "greedy.jsonl", encoding="utf-8") as file:
        chat = json.loads(file.readline())["tokens"]
    # The template brings the model's own system message.
    assert ChatFormat(model).tokens(conversation(
        None, "Why is the sky blue? Answer in one sentence.")) == chat
    assert model.stops == [0, 2]


def do(*command, **more):
    done = subprocess.run(list(map(str, command)), text=True, timeout=900,
                          stdout=more.get("stdout", subprocess.PIPE), stderr=subprocess.PIPE)
    assert done.returncode == 0, (done.stdout or "") + done.stderr[:2000]
    return done.stdout


@pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")
def test_logits_and_texts(folder):
    dtype = folder.name

    do(KV_COMPILE, folder / "model.mlir", "-o", folder / "model.so")
    start = [KV_RUN, folder / "model.so", "--weights", folder / "weights.safetensors"]
    with open(folder / "teacher", "w", encoding="utf-8") as file:
        do(*start, "--requests", DATA / "teacher.jsonl", "--dump-logits", folder / "logits",
           stdout=file)
    with open(folder / "answers", "w", encoding="utf-8") as file:
        do(*start, "--requests", DATA / "greedy.jsonl", stdout=file)
    print(do(sys.executable, DATA / "check.py", folder / "logits", "--dtype", dtype))
    print(do(sys.executable, DATA / "check.py", "--answers", folder / "answers",
             "--dtype", dtype))
    (folder / "logits").unlink()


@pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")
def test_quantised(tmp_path):
    """The file's own blocks: a quarter of the bytes, logits near the reference."""
    path = imported(tmp_path)
    assert (path / "weights.safetensors").stat().st_size < 100e6
    assert (path / "weights.safetensors").stat().st_size > MODEL.stat().st_size * 0.98
    do(KV_COMPILE, path / "model.mlir", "-o", path / "model.so")
    do(KV_RUN, path / "model.so", "--weights", path / "weights.safetensors",
       "--requests", DATA / "teacher.jsonl", "--dump-logits", path / "logits")
    print(do(sys.executable, DATA / "check.py", path / "logits", "--dtype", "f32", "--quantised"))
    for name in ("logits", "weights.safetensors"):
        (path / name).unlink()


@pytest.mark.skipif(not FAKE_DRIVER.exists(), reason="libkv_fake_cuda.so is not built")
def test_gpu_artifact(folder, monkeypatch):
    """The artifact for GPUs, on the fake driver: its host code, and the kernels' bodies."""
    command = [KV_COMPILE, folder / "model.mlir", "--target=cuda:sm_80,sm_90a",
               "-o", folder / "gpu.so"]
    if folder.name == "f32":
        done = subprocess.run(list(map(str, command)), text=True, capture_output=True)
        assert done.returncode == 1
        assert ("a cache of 'f32': kv-cuda has kernels for bf16, f16, f8E4M3FN, f8E5M2 and i8"
                in done.stderr)
        return
    begin = time.monotonic()
    do(*command)
    assert time.monotonic() - begin < 30
    monkeypatch.setenv("KV_CUDA_DRIVER", str(FAKE_DRIVER))
    do(KV_RUN, folder / "gpu.so", "--weights", folder / "weights.safetensors",
       "--device", "cuda:0", "--pages", 4, "--max-batch", 1, "--requests", DATA / "teacher.jsonl",
       "--dump-logits", folder / "logits")
    print(do(sys.executable, DATA / "check.py", folder / "logits", "--gpu"))
    (folder / "logits").unlink()
