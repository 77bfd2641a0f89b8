"""The recorded SmolLM2 reference and its check."""

import argparse
import importlib.util
import json

import numpy as np
import pytest

from tools import ROOT

DATA = ROOT / "test/data/smollm2"
spec = importlib.util.spec_from_file_location("check", DATA / "check.py")
check = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check)


def lines(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_recording_is_whole(dtype):
    reference = np.load(DATA / f"reference-{dtype}.npz")
    lengths = [len(r["tokens"]) for r in lines("teacher.jsonl")]
    assert reference["lengths"].tolist() == lengths == [1, 8, 41, 150, 300]
    assert reference["sample"].shape == (500, 96) and reference["top"].shape == (500, 8)
    assert reference["greedy"].shape == (2, 32)
    assert np.array_equal(reference["argmax"], reference["top_ids"][:, 0])
    assert (np.diff(reference["top"], axis=1) <= 0).all()
    assert np.allclose(reference["margin"], reference["top"][:, 0] - reference["top"][:, 1])
    assert (reference["logsumexp"] > reference["top"][:, 0]).all()
    # Where a sampled id is among the best 8, both say the same.
    for row in range(500):
        both, a, b = np.intersect1d(reference["sample_ids"], reference["top_ids"][row],
                                    return_indices=True)
        assert np.array_equal(reference["sample"][row, a], reference["top"][row, b])


def test_greedy_begins_where_the_prompt_ends():
    prompts = {r["id"]: r["tokens"] for r in lines("teacher.jsonl")}
    ends = np.cumsum([len(t) for t in prompts.values()])
    for dtype in ("f32", "bf16"):
        reference = np.load(DATA / f"reference-{dtype}.npz")
        for request, tokens in zip(lines("greedy.jsonl"), reference["greedy"]):
            assert request["tokens"] == prompts[request["id"]]
            last = ends[list(prompts).index(request["id"])] - 1
            assert tokens[0] == reference["argmax"][last]


@pytest.fixture
def small(tmp_path):
    """(logits, reference, options): 12 positions of 50 tokens."""
    rows = np.random.default_rng(3).standard_normal((12, 50)).astype(np.float32) * 4
    top = np.argsort(-rows, axis=1)[:, :8]
    values = np.take_along_axis(rows, top, axis=1)
    ids = np.arange(0, 50, 3)
    reference = {"vocab": 50, "lengths": np.array([1, 4, 7]), "sample_ids": ids,
                 "sample": rows[:, ids], "top_ids": top, "top": values, "argmax": top[:, 0],
                 "margin": values[:, 0] - values[:, 1],
                 "logsumexp": np.log(np.exp(rows.astype(np.float64)).sum(axis=1))}
    options = argparse.Namespace(dtype="f32", **check.LIMITS["f32"])
    return rows, reference, options


def status(tmp_path, rows, reference, options):
    path = tmp_path / "dump"
    np.ascontiguousarray(rows, dtype=np.float32).tofile(path)
    return check.check_dump(path, reference, options)


def test_equal_logits_pass(tmp_path, small, capsys):
    assert status(tmp_path, *small) == 0
    assert "12 positions" in capsys.readouterr().out


def test_each_kind_of_difference_fails(tmp_path, small, capsys):
    rows, reference, options = small

    def changed(change):
        copy = rows.copy()
        change(copy)
        return status(tmp_path, copy, reference, options)

    def one_sampled(r):
        r[6, 3] += 0.01

    def everything(r):
        r += 5e-4

    def swap(r):
        r[:] = r[::-1].copy()

    def outside_the_sample(r):  # only the sum of all logits can tell
        r[2, np.setdiff1d(np.arange(50), [*reference["sample_ids"],
                                          *reference["top_ids"][2]])[:3]] += 3

    def nan(r):
        r[4, 1] = np.nan

    for change in (one_sampled, everything, swap, outside_the_sample, nan):
        assert changed(change) == 1, change.__name__
    one = capsys.readouterr().out.splitlines()[0]
    assert "prompt 2, position 1" in one  # row 6 is the second position of the third prompt
    assert status(tmp_path, rows[:-1], reference, options) == 2


def test_answers(tmp_path, capsys):
    reference = np.load(DATA / "reference-f32.npz")
    options = argparse.Namespace(dtype="f32", margin=2e-3)
    path = tmp_path / "answers.jsonl"

    def write(streams):
        path.write_text("".join(json.dumps(line) + "\n" for line in [
            *({"id": name, "index": i, "token": t} for name, s in streams.items()
              for i, t in enumerate(s)), {"statistics": {}}]))
        return check.check_answers(path, reference, options)

    good = dict(zip(("chat", "prose"), reference["greedy"].tolist()))
    assert write(good) == 0
    assert write({**good, "prose": good["prose"][:20]}) == 1
    assert write({**good, "prose": [*good["prose"][:5], 1, *good["prose"][6:]]}) == 1
    assert "5 of 32" in capsys.readouterr().out
    assert write({**good, "chat": [*good["chat"], 7]}) == 1
