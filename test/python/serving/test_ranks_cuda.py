"""A model on several GPUs, one a rank, that exchange shards by NCCL: on the fake driver and its NCCL,
with steps as graphs and without. The bits of one GPU, ends of processes, and what is refused."""

import collections
import json
import os
import re
import signal
import subprocess
from pathlib import Path

import numpy as np
import pytest

from kv_import import synthetic
from test_ranks import launcher, lose
from tools import KV_IMPORT, ROOT, find, manifest, run

KV_COMPILE, KV_RUN, MPIRUN = find("kv-compile"), find("kv-run"), find("mpirun")
FAKE = os.environ.get("KV_FAKE_CUDA", ROOT / "build/release/lib/libkv_fake_cuda.so")
pytestmark = pytest.mark.skipif(
    not (KV_COMPILE and KV_RUN and MPIRUN and Path(FAKE).exists()),
    reason="kv-run and the fake driver are not built, or Open MPI is not installed")
LENGTHS = (3, 21)  # the page holds 16
NEW = 6


def compiled(folder, ranks):
    return subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / f"{ranks}.so",
                           f"--ranks={ranks}", "--target=cuda:sm_80,sm_90a"],
                          capture_output=True, text=True, timeout=300)


def make(folder, kind, ranks, **changes):
    """The model in `folder`, with an artifact for each number of ranks."""
    config = synthetic.make_config(kind, head_dim=64, **changes)
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=3))
    done = run(KV_IMPORT, folder / "hf", "-o", folder, "--page", "16")
    assert done.returncode == 0, done.stderr
    for n in ranks:
        done = compiled(folder, n)
        assert done.returncode == 0, done.stderr
    return folder


def requests(lengths=LENGTHS, new=NEW):
    random = np.random.default_rng(5)
    return "".join(json.dumps({"id": str(i), "tokens": random.integers(0, 256, n).tolist(),
                               "max_new_tokens": new, "logits": "digest"}) + "\n"
                   for i, n in enumerate(lengths))


def gpus(ranks):
    return ("--devices", ",".join(f"cuda:{i}" for i in range(ranks))) if ranks > 1 else \
        ("--device", "cuda:0")


def command(folder, ranks, *options, limit=60, artifact=None):
    return [*launcher(ranks), KV_RUN, str(folder / f"{artifact or ranks}.so"), "--weights",
            str(folder / "weights.safetensors"), "--threads", "1", "--pages", "40",
            "--rank-timeout", str(limit), *map(str, options)]


def environment(**more):
    return {**os.environ, "KV_CUDA_DRIVER": str(FAKE), **more}


def served(folder, ranks, *options, **more):
    """(tokens with the digests of their logits, lines of the traces of all ranks by first word,
    statistics)"""
    trace = folder / "trace"
    trace.write_text("")
    done = subprocess.run(command(folder, ranks, *gpus(ranks), *options), input=requests(),
                          capture_output=True, text=True, timeout=300,
                          env=environment(KV_FAKE_CUDA_TRACE=str(trace), **more))
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    tokens = sorted((a["id"], a["index"], a["token"], a["logits_digest"])
                    for a in answers if "index" in a)
    assert len(tokens) == len(LENGTHS) * NEW
    words = collections.Counter(line.split()[0] for line in trace.read_text().splitlines())
    assert words["problem"] == 0 and words["abort"] == 0
    return tokens, words, answers[-1]["statistics"]


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """A folder with a model for 1, 2 and 4 ranks, and what one rank makes of the requests."""
    # Two KV heads: of four ranks two have copies of one.
    folder = make(tmp_path_factory.mktemp("llama"), "llama", (1, 2, 4), tied=False)
    return folder, served(folder, 1)


FAMILIES = {
    # Which every rank has, and of which products take a part.
    "one table": ("llama", (2,), {"vocab": 320}),
    # The last ranks have fewer heads and rows than the others, or none.
    "three KV heads": ("llama", (4,), {"heads": 9, "kv_heads": 3, "intermediate": 144,
                                       "tied": False}),
    "biases": ("qwen2", (2,), {}),
    # Computed whole, and cut.
    "norms of heads": ("qwen3", (2,), {"kv_heads": 4}),
    "norms of whole rows": ("olmo2", (2,), {"kv_heads": 4}),
    # Of each expert a part of the rows; all ranks choose.
    "experts": ("qwen3_moe", (2,), {"intermediate": 64}),
}


def check_equal(folder, alone, ranks):
    expected, words, statistics = alone
    assert words["gather"] == 0
    for n in ranks:
        tokens, words, its = served(folder, n)
        assert tokens == expected
        # Steps were captured, gathers with them, and replayed by all ranks equally often.
        assert words["gather"] > 0
        assert words["capture"] >= n and words["graph"] >= 2 * n
        assert words["capture"] % n == 0 and words["graph"] % n == 0
        assert its["ranks"] == n and its["weights_bytes"] < statistics["weights_bytes"]
        assert its["pool_bytes"] < statistics["pool_bytes"] * 0.8
        told = manifest(folder / f"{n}.so")
        assert told["ranks"] == n and told["target"]["kind"] == "cuda"


def test_equal_bits(llama):
    check_equal(*llama, (2, 4))


@pytest.mark.parametrize("name", FAMILIES)
def test_equal_bits_of(tmp_path, name):
    kind, ranks, changes = FAMILIES[name]
    make(tmp_path, kind, (1, *ranks), **changes)
    check_equal(tmp_path, served(tmp_path, 1), ranks)


def test_without_graphs(llama):
    folder, (expected, _, _) = llama
    tokens, words, _ = served(folder, 2, "--no-graphs")
    assert tokens == expected
    assert words["graph"] == words["capture"] == 0 and words["gather"] > 0


@pytest.mark.parametrize("fault", ("order", "early"))
def test_planted_faults_are_seen(llama, fault):
    folder, (expected, _, _) = llama
    done = subprocess.run(command(folder, 2, *gpus(2)), input=requests(), capture_output=True,
                          text=True, timeout=300, env=environment(KV_FAKE_NCCL_FAULT=fault))
    # Requests may fail for logits that are no numbers.
    assert done.returncode in (0, 1), done.stderr[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    tokens = sorted((a["id"], a["index"], a["token"], a["logits_digest"])
                    for a in answers if "index" in a)
    assert tokens != expected


# A rank 0 that is stopped between two steps is one without requests, for which the others wait.
@pytest.mark.parametrize(("rank", "how"), ((0, signal.SIGKILL), (1, signal.SIGKILL),
                                           (1, signal.SIGSTOP)))
def test_lost_rank(llama, tmp_path, rank, how):
    """A rank that is killed ends the other in 5 seconds; one that hangs, a limit later."""
    folder = llama[0]
    limit = 8  # of a wait for a GPU, in which steps of an emulator run as well
    said, _, ranks = lose(rank, how, requests(lengths=(9,) * 4, new=400),
                          command(folder, 2, *gpus(2), limit=limit), tmp_path / "err", environment(),
                          timeout=120)
    assert sorted(ranks) == [0, 1]
    if how == signal.SIGSTOP:
        # The wait that sees it is for the GPU, or for the answer of the other process.
        assert re.search(rf"kv-run: error: rank {1 - rank}: .*(the GPU of another rank, or this "
                         rf"one's, did not finish|did not answer).* within {limit}000 ms",
                         said), said


def test_refusals(llama):
    folder = llama[0]

    def refused(ranks, *options, **more):
        done = subprocess.run(command(folder, ranks, *options), input="", capture_output=True,
                              text=True, timeout=60, env=environment(**more))
        assert done.returncode == 2, done
        return done.stderr

    assert ("--device is cuda:0, and 2 ranks: give each rank of this machine a GPU with --devices, "
            "such as cuda:0,cuda:1") in refused(2, "--device", "cuda:0")
    assert "--devices names 1 GPU, 2 ranks run on this machine" in refused(2, "--devices", "cuda:0")
    assert "--devices names 3 GPUs, 2 ranks run on this machine" in refused(2, *gpus(3))
    assert "--devices names cuda:1 twice: each rank needs a GPU of its own" in refused(
        2, "--devices", "cuda:1,cuda:1")
    assert "--devices names cpu:1, allowed: GPUs, such as cuda:0,cuda:1" in refused(
        2, "--devices", "cuda:0,cpu:1")
    assert "--devices: " in refused(2, "--devices", "cuda:0,gpu")
    assert "this machine has 6 CUDA devices" in refused(2, "--devices", "cuda:0,cuda:9")
    assert "--devices is given, and one rank: name its GPU with --device" in refused(
        1, "--devices", "cuda:0")
    assert "NCCL, by which GPUs of several ranks exchange what they have, cannot be loaded: " \
        "/nowhere" in refused(2, *gpus(2), KV_NCCL_LIBRARY="/nowhere/libnccl.so.2")
    assert 'target.kind is "cuda", this session runs cpu' in refused(2)


def test_unequal_parts_of_whole_values(tmp_path):
    """What a rank takes of a value that all compute is a view: of equal parts only."""
    folder = make(tmp_path, "qwen2", (), heads=6, kv_heads=3)
    done = compiled(folder, 2)
    assert done.returncode != 0
    assert re.search(r"2 ranks on GPUs would cut \d+ elements each out of dimension \d of "
                     r"'tensor<\d+xf32>': they take equal parts of the whole dimension", done.stderr), \
        done.stderr
