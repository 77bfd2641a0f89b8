"""Raised graphs compiled for GPUs, on the fake driver, beside the same module on the CPU."""

import json

import numpy as np
import pytest

import graphs
from test_cuda import FAKE, LENGTHS, LIMIT, NEW_TOKENS, check_steps, pytestmark, serve  # noqa: F401

# Of stored graphs, whose heads have 8 elements, ones with heads of 64, by their sizes.
# Scores stay small, so that a rounded query chooses the keys that one of f32 chooses.
TORCH = {"8": "64", "16": "128", "1.600000e+01": "1.280000e+02", "0.35355339059327379": "0.125"}
GEMMA = {**TORCH, "32": "256", "8.000000e+00": "6.400000e+01"}
JAX = {"8": "64", "16": "128", "31": "255", "32": "256", "48": "384", "3.200000e+01": "2.560000e+02",
       "4.000000e+00": "3.200000e+01", "0.353553385": "1.250000e-01", "3.000000e-01": "2.500000e-02",
       "5.65685415": "1.600000e+01"}
GRAPHS = {"llama": TORCH, "llama@last": TORCH, "gemma2": GEMMA, "gemma3": GEMMA, "jax-llama": JAX, "jax-chunks": JAX,
          "jax-gemma": JAX}
HALF = {"4": "32"}  # of a head, at the end of shapes



@pytest.mark.parametrize("name", GRAPHS)
def test_tokens_of_the_cpu(tmp_path, name):
    sizes = GRAPHS[name]
    text = graphs.widened(graphs.stored(name), sizes, HALF)
    vocab = int(sizes.get("32", 32))
    text = text.replace("vocab_size = 32", f"vocab_size = {vocab}")
    whole = graphs.plain(graphs.widened(graphs.stored(name.partition("@")[0]), sizes, HALF), tmp_path / "whole.so")
    graphs.imported(text, tmp_path, graphs.weights_of(whole), "dtype=bf16 weights=bf16 page=16")
    module = (tmp_path / "model.mlir").read_text()
    graphs.compiled(module, tmp_path / "cpu.so")
    graphs.compiled(module, tmp_path / "cuda.so", "--target=cuda:sm_80,sm_90a")
    random = np.random.default_rng(3)
    requests = "".join(json.dumps({"id": str(i), "tokens": random.integers(0, vocab, length).tolist(),
                                   "max_new_tokens": NEW_TOKENS}) + "\n" for i, length in enumerate(LENGTHS))
    tokens, logits = serve(tmp_path, "cpu.so", "cpu", requests)
    trace = tmp_path / "trace"
    cuda_tokens, cuda_logits = serve(tmp_path, "cuda.so", "cuda:0", requests, KV_CUDA_DRIVER=str(FAKE),
                                     KV_FAKE_CUDA_TRACE=str(trace))
    assert np.abs(cuda_logits - logits).max() < LIMIT * np.abs(logits).max()
    assert cuda_tokens == tokens and all(len(each) == NEW_TOKENS for each in tokens.values())
    check_steps(trace.read_text())
