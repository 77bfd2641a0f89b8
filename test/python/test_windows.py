"""A model with layers that see a window, served from two collections that share one pool, against
the same model with windows in its masks alone: equal tokens from equal bits."""

import json
import subprocess

import numpy as np
import pytest

from kv_import import synthetic
from tools import KV_IMPORT, find, manifest, of_pipeline, run

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")

PAGES = (1, 4, 16)


class Model:
    """A synthetic model, imported and compiled once a way: both sides of a test."""

    def __init__(self, folder, kind="mixed", seed=13):
        self.folder = folder
        config = synthetic.make_config(kind)
        self.vocab, self.window = config.vocab, config.sliding
        synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=seed))

    def artifact(self, page, keep_all=False, pipeline="kv-cpu"):
        out = self.folder / f"{page}-{keep_all}-{pipeline}"
        if not out.exists():
            done = run(KV_IMPORT, self.folder / "hf", "-o", out, "--page", str(page),
                       *["--keep-all"] * keep_all)
            assert done.returncode == 0, done.stderr
            subprocess.run([KV_COMPILE, out / "model.mlir", "-o", out / "model.so",
                            *of_pipeline(pipeline, page != 16)], check=True, timeout=300)
        return out

    def serve(self, artifact, requests, *options):
        """({id: [(token, digest)]}, statistics)"""
        done = subprocess.run(
            [KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors",
             *map(str, options)], input="".join(json.dumps(r) + "\n" for r in requests),
            capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        answers = {}
        *lines, last = map(json.loads, done.stdout.splitlines())
        for line in lines:
            if "token" in line:
                answers.setdefault(line["id"], []).append((line["token"], line["logits_digest"]))
        assert sorted(answers) == sorted(r["id"] for r in requests)
        return answers, last["statistics"]

    def requests(self, lengths, new, seed=1, shared=0, steps=None):
        """Prompts that begin with the same `shared` tokens; each joins at its step."""
        random = np.random.default_rng(seed)
        prefix = random.integers(0, self.vocab, shared).tolist()
        return [{"id": str(i), "max_new_tokens": new, "logits": "digest",
                 "arrival_step": steps[i] if steps else 0,
                 "tokens": prefix + random.integers(0, self.vocab, n).tolist()}
                for i, n in enumerate(lengths)]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return Model(tmp_path_factory.mktemp("windows"))


def test_the_manifest_says_it(model):
    """24 tokens, and pages of the two layers that the other collection has."""
    kv, sliding = manifest(model.artifact(16) / "model.so")["collections"]
    assert (kv["name"], kv["layers"]) == ("kv", 2)
    assert not {"window", "page_layers"} & set(kv)
    assert sliding["name"] == "kv_sliding"
    assert (sliding["layers"], sliding["window"], sliding["page_layers"]) == (6, 24, 2)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("chunk", (7, 64))
def test_pages_and_chunks(model, page, chunk):
    """Prompts and answers around and far beyond the window, in chunks shorter and longer."""
    requests = model.requests((1, 5, 23, 24, 25, 49, 130), new=60)
    options = ("--max-batch-tokens", chunk, "--no-prefix-cache")
    want, _ = model.serve(model.artifact(page, keep_all=True), requests, *options)
    have, _ = model.serve(model.artifact(page), requests, *options)
    assert all(len(answer) == 60 for answer in want.values())
    assert have == want


def test_reference_pipeline(model):
    requests = model.requests((3, 40), new=30)
    have, _ = model.serve(model.artifact(4, pipeline="kv-reference"), requests)
    want, _ = model.serve(model.artifact(4, keep_all=True, pipeline="kv-reference"), requests)
    assert have == want


@pytest.mark.parametrize("page", PAGES)
def test_prefix_hits(model, page):
    """Later requests begin with what the first one left, with pages that its window has passed."""
    requests = model.requests((3, 9, 20, 1), new=20, shared=70, steps=(0, 40, 80, 120))
    have, statistics = model.serve(model.artifact(page), requests)
    want, _ = model.serve(model.artifact(page, keep_all=True), requests, "--no-prefix-cache")
    assert have == want
    assert statistics["prefix_hits"] == 3, statistics


@pytest.mark.parametrize("page", (4, 16))
def test_preemption(model, page):
    """A pool that cannot hold all of them to their ends."""
    requests = model.requests((40, 50, 30, 60), new=60)
    want, plenty = model.serve(model.artifact(page, keep_all=True), requests)
    assert plenty["preemptions"] == 0
    peak = model.serve(model.artifact(page), requests)[1]["pages_peak"]
    have, statistics = model.serve(model.artifact(page), requests, "--pages", peak * 2 // 3,
                                   "--max-batch-tokens", 32)
    assert have == want
    assert statistics["preemptions"] > 0, statistics


def test_windows_save_memory(model):
    """The same requests hold fewer bytes than without windows: six of eight layers forget."""
    requests = model.requests((100, 100), new=200)
    bytes_of = []
    for keep_all in (False, True):
        _, s = model.serve(model.artifact(4, keep_all), requests, "--max-batch-tokens", 16,
                           "--no-prefix-cache")
        # pool_bytes is of all pages, the null page with them.
        bytes_of.append(s["pages_peak"] * s["pool_bytes"] / (s["pages_total"] + 1))
    assert bytes_of[0] < 0.5 * bytes_of[1], bytes_of
