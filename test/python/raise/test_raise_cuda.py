"""Raised graphs compiled for GPUs, on the fake driver, beside the same module on the CPU."""

import json
import re

import numpy as np
import pytest

import graphs
from test_cuda import FAKE, LENGTHS, LIMIT, NEW_TOKENS, check_steps, pytestmark, serve  # noqa: F401

# Of stored graphs, whose heads have 8 elements, ones with heads of 64: sizes, and those at a shape's end.
GRAPHS = {"llama": ({"8": "64", "16": "128", "1.600000e+01": "1.280000e+02"}, {"4": "32"})}


@pytest.mark.parametrize("name", GRAPHS)
def test_tokens_of_the_cpu(tmp_path, name):
    text = graphs.widened(graphs.stored(name), *GRAPHS[name])
    whole = graphs.plain(text, tmp_path / "whole.so")
    vocab = int(re.search(r"vocab_size = (\d+)", text)[1])
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
