"""Stored graphs of exporters, raised and executed: the cached module against the graph itself."""

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


def test_the_import_says_what_is_missing(tmp_path):
    missing = fails(KV_IMPORT, "--from", "torch", tmp_path / "none", "-o", tmp_path / "out")
    assert missing.endswith("none: no such folder; --from torch needs a Hugging Face folder")
    assert "--check is for --from, which takes a graph" in fails(KV_IMPORT, "a.gguf", "--check", "-o", tmp_path)
