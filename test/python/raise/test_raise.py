"""Stored graphs of exporters, raised and executed: the cached module against the graph itself."""

import re

import ml_dtypes
import numpy as np
import pytest

import graphs
from tools import KV_IMPORT, fails

LENGTHS = (1, 2, 13, 29)


@pytest.mark.parametrize("name", sorted(path.stem for path in graphs.STORED.glob("*.mlirbc")))
def test_equals_the_graph_at_every_cut(name, tmp_path):
    # What has another form is compared with the model's graph of all lengths and logits.
    model, _, form = name.partition("@")
    most = int(form.split("x")[1]) if "x" in form else 64
    cached = graphs.raised(graphs.stored(name), tmp_path / "cached.so", "-O0")
    whole = graphs.plain(graphs.stored(model), tmp_path / "whole.so")
    weights = graphs.weights_of(whole)
    narrow = {name: tensor.astype(ml_dtypes.bfloat16) for name, tensor in weights.items()
              if form == "bf16" and tensor.ndim > 1}
    graphs.write_weights(tmp_path / "weights", weights | narrow)
    weights |= {name: tensor.astype(np.float32) for name, tensor in narrow.items()}
    random = np.random.default_rng(2)
    prompts = [random.integers(0, 32, min(length, most - 1)).tolist()
               for length in LENGTHS]
    expected = np.concatenate([graphs.plain_logits(whole, weights, each) for each in prompts])
    assert np.isfinite(expected).all()
    assert np.abs(expected - expected.mean(0)).max() > 0.1 * np.abs(expected).max()
    runs = [graphs.cached_logits(cached, tmp_path / "weights", prompts, chunk, 32)
            for chunk in (64, 11, 5, 1)]
    for run in runs:
        np.testing.assert_allclose(run, expected, rtol=0, atol=2e-5 * np.abs(expected).max())
        assert run.tobytes() == runs[0].tobytes()


ROTATED = {"falcon": 2, "gemma2": 4, "gemma3": 4, "gpt_oss": 4, "jax-chunks": 4, "jax-gemma": 4, "jax-llama": 4,
           "jax-neox": 4, "llama": 2, "qwen3_moe": 2}  # graphs, and how many rotations they have


@pytest.mark.parametrize("name", ROTATED)
def test_rotations_by_tables(name, tmp_path):
    whole = graphs.plain(graphs.stored(name), tmp_path / "whole.so")
    weights = graphs.weights_of(whole)
    module = graphs.imported(graphs.stored(name), tmp_path, weights, "dtype=f32 page=4")
    assert module.count("kv.rope") == ROTATED[name] and not re.search("= math.(cos|sin)", module)
    cached = graphs.compiled(module, tmp_path / "cached.so", "-O0")
    prompts = [np.random.default_rng(length).integers(0, 32, length).tolist() for length in LENGTHS]
    expected = np.concatenate([graphs.plain_logits(whole, weights, each) for each in prompts])
    runs = [graphs.cached_logits(cached, tmp_path / "weights.safetensors", prompts, chunk, 32) for chunk in (64, 5)]
    np.testing.assert_allclose(runs[0], expected, rtol=0, atol=2e-5 * np.abs(expected).max())
    assert runs[1].tobytes() == runs[0].tobytes()


def test_the_import_says_what_is_missing(tmp_path):
    missing = fails(KV_IMPORT, "--from", "torch", tmp_path / "none", "-o", tmp_path / "out")
    assert missing.endswith("none: no such folder; --from torch needs a Hugging Face folder")
    assert "--check is for --from, which takes a graph" in fails(KV_IMPORT, "a.gguf", "--check", "-o", tmp_path)
