"""kv-import --from: what an exporter has written becomes a folder that runs, or one sentence. The exporter is
fake_exporter.py, which writes stored graphs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import graphs
from kv_import.graphs import programs
from tools import KV_IMPORT, fails, find, run

HERE = Path(__file__).parent
CONFIG = {"model_type": "novel", "vocab_size": 32, "max_position_embeddings": 64}


@pytest.fixture
def folder(tmp_path):
    """A Hugging Face folder of a family that nobody knows; its exporter in the environment."""
    hf = tmp_path / "hf"
    hf.mkdir()
    (hf / "config.json").write_text(json.dumps(CONFIG))
    (hf / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")
    python = tmp_path / "python"
    # Called with the exporter's script, which it leaves alone.
    python.write_text(f"#!/bin/sh\nexec {sys.executable} {HERE / 'fake_exporter.py'} \"$@\"\n")
    python.chmod(0o755)
    return hf


def environment(folder, graph, **more):
    return {**os.environ, "KV_EXPORTER_PYTHON": str(folder.parent / "python"), "FAKE_GRAPH": graph, **more}


OPTIONS = ("--no-tokenizer", "--page", "4")


# With scalars: the scale of a Gemma's embedding.
@pytest.mark.parametrize("graph, dtype", (("gemma2", "f32"), ("gemma3", "bf16"),
                                          ("gpt_oss", "f32")))
def test_what_is_imported_runs(folder, tmp_path, graph, dtype):
    out = tmp_path / "out"
    done = run(KV_IMPORT, "--from", "torch", folder, "-o", out, "--dtype", dtype, *OPTIONS,
               *(["--check"] if graph == "gemma2" else []), env=environment(folder, graph))
    assert done.returncode == 0, done.stderr
    assert ("checked: " in done.stdout) == (graph == "gemma2")
    assert sorted(path.name for path in out.iterdir()) == ["model.json", "model.mlir", "weights.safetensors"]
    subprocess.run([find("kv-compile"), "-O0", out / "model.mlir", "-o", out / "model.so"], check=True)
    prompts = [[1, 2, 3, 4, 5], [7]]
    logits = graphs.cached_logits(out / "model.so", out / "weights.safetensors", prompts, 3, 32)
    # Beside the graph itself, with the weights that the exporter has written.
    written = tmp_path / "written"
    written.mkdir()
    subprocess.run([tmp_path / "python", "script", "-o", written], check=True, env=environment(folder, graph))
    plain = graphs.plain((written / "graph.mlir").read_text(), tmp_path / "plain.so")
    weights = graphs.read_weights(written / "weights.safetensors")
    expected = np.concatenate([graphs.plain_logits(plain, weights, each) for each in prompts])
    limit = 2e-5 if dtype == "f32" else 5e-2
    np.testing.assert_allclose(logits, expected, rtol=0, atol=limit * np.abs(expected).max())


def test_unknown_family_goes_through_pytorch(folder, tmp_path):
    done = run(KV_IMPORT, folder, "-o", tmp_path / "out", *OPTIONS, env=environment(folder, "llama"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == "kv-import: novel has no importer of its own: --from torch is tried\n"
    assert (tmp_path / "out/weights.safetensors").exists()
    # So does a value that the family's importer does not take.
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "llama", "mlp_bias": True}))
    done = run(KV_IMPORT, folder, "-o", tmp_path / "out", *OPTIONS, env=environment(folder, "llama"))
    assert done.returncode == 0, done.stderr
    assert done.stderr == "kv-import: the importer of llama takes no mlp_bias of True: --from torch is tried\n"
    (folder / "config.json").write_text(json.dumps(config))
    # What a raised module cannot have is still refused.
    done = run(KV_IMPORT, folder, "-o", tmp_path / "out", "--weights", "q8_0", env=environment(folder, "llama"))
    assert done.returncode == 1
    assert done.stderr.splitlines()[1] == ("kv-import: --weights is for a model that kv-import writes itself, not "
                                           "with --from")


def test_weights_that_are_missing(folder, tmp_path):
    name = "model.embed_tokens.embed_scale"
    message = fails(KV_IMPORT, "--from", "torch", folder, "-o", tmp_path / "out", *OPTIONS,
                    env=environment(folder, "gemma3", FAKE_WEIGHTS=name))
    assert message == (f"kv-import: weights.safetensors: the exporter has written no weight '{name}', which the "
                       "raised module reads")
    done = run(KV_IMPORT, "--from", "torch", folder, "-o", tmp_path / "out", *OPTIONS,
               env=environment(folder, "gemma3", FAKE_WEIGHTS="none"))
    assert done.returncode == 0 and "weights: none, " in done.stdout
    assert not (tmp_path / "out/weights.safetensors").exists()


@pytest.mark.parametrize("ends, sentence", (
    ("SIGSEGV", "the exporter gave up: it crashed (SIGSEGV)"),
    ("error: ValueError: no; from KeyError: 'x'", "the exporter gave up: error: ValueError: no; from KeyError: 'x'"),
    ("refused: rwkv has layers that keep a state", "rwkv has layers that keep a state")))
def test_how_an_exporter_ends(folder, tmp_path, ends, sentence):
    message = fails(KV_IMPORT, "--from", "torch", folder, "-o", tmp_path / "out", *OPTIONS,
                    env=environment(folder, "llama", FAKE_ENDS=ends))
    assert message == f"kv-import: {folder}: {sentence}"
    assert list((tmp_path / "out").iterdir()) == []


def test_errors_are_whole():
    assert programs.first_error("note\nm.mlir:1: error: 'tensor.pad' op kv-raise: no\nm.mlir:1: error: more\n") == (
        "m.mlir:1: error: 'tensor.pad' op kv-raise: no")
    assert programs.first_error("") == "no message"
    traceback = ("Loading: 100%|##| 3/3 [00:01<00:00]\nTraceback (most recent call last):\n  File \"a\", line 1\n"
                 "    f()\nRuntimeError: first line\n  second line\n\nthe last one\n")
    assert programs.first_error(traceback) == "RuntimeError: first line second line the last one"
