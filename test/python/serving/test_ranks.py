"""A model that several processes compute together (kv-compile --ranks, mpirun -n N kv-run): the bits of
one process, ends of processes, and what is refused."""

import json
import os
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

from kv_import import synthetic
from tools import KV_IMPORT, QUICK, find, manifest, run

KV_COMPILE, KV_RUN, MPIRUN = find("kv-compile"), find("kv-run"), find("mpirun")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN and MPIRUN),
                                reason="kv-run is not built, or Open MPI is not installed")
RANKS = (2, 4)
LENGTHS = (17, 70)  # the page holds 16
NEW = 5


def launcher(ranks):
    # As root, and with more ranks than cores, as in containers.
    return [MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", str(ranks)] if ranks > 1 else []


def command(folder, ranks, *options, artifact=None, limit=60):
    # On a busy machine ranks wait for each other.
    return [*launcher(ranks), KV_RUN, str(folder / f"{artifact or ranks}.so"), "--weights",
            str(folder / "weights.safetensors"), "--threads", "1", "--rank-timeout", str(limit),
            *map(str, options)]


def make(folder, kind, ranks=(1, *RANKS), compiled=(), imported=(), **changes):
    """The model in `folder`, with an artifact for each number of ranks."""
    config = synthetic.make_config(kind, **changes)
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=3))
    done = run(KV_IMPORT, folder / "hf", "-o", folder, "--page", "16", *imported)
    assert done.returncode == 0, done.stderr
    for n in ranks:
        subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / f"{n}.so",
                        f"--ranks={n}", *compiled], check=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def llama(tmp_path_factory):
    """For tests that change nothing in its folder."""
    return make(tmp_path_factory.mktemp("ranks"), "llama")


def copy(folder, to):
    """A folder of the test's own."""
    return shutil.copytree(folder, to / "own")


def requests(lengths=LENGTHS, new=NEW, vocab=256):
    """Prompts, the second half of which begin like the first."""
    random = np.random.default_rng(5)
    prompts = [random.integers(0, vocab, n).tolist() for n in lengths]
    prompts += [prompt[:40] + [7, 8, 9] for prompt in prompts]
    return "".join(json.dumps({"id": str(i), "tokens": prompt, "max_new_tokens": new,
                               "logits": "digest", "temperature": 0.7 * (i % 2), "seed": i}) + "\n"
                   for i, prompt in enumerate(prompts))


def served(folder, ranks, *options, artifact=None, dumps=True):
    """(tokens with their digests, the logits of all prompts, statistics)"""
    dump = folder / f"logits{ranks}"
    dump.write_bytes(b"")
    if dumps:
        options = ("--dump-logits", dump, *options)
    done = subprocess.run(command(folder, ranks, *options, artifact=artifact), input=requests(),
                          capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:] + done.stdout[-2000:]
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    tokens = sorted((a["id"], a["index"], a["token"], a["logits_digest"])
                    for a in answers if "index" in a)
    return tokens, dump.read_bytes(), answers[-1]["statistics"]


def check_equal(folder, *options, ranks=RANKS, dumps=True):
    """Returns the statistics, by ranks."""
    tokens, logits, alone = served(folder, 1, *options, dumps=dumps)
    assert len(tokens) == 2 * len(LENGTHS) * NEW
    statistics = {1: alone}
    for n in ranks:
        again, its_logits, statistics[n] = served(folder, n, *options, dumps=dumps)
        assert again == tokens
        assert its_logits == logits
        assert statistics[n]["ranks"] == n
    return statistics


FAMILIES = {
    # Of llama's kind there are two KV heads: on four ranks each has two copies.
    "llama in f32": ("llama", {}, ("--dtype", "f32")),
    "8 bits": ("llama", {}, ("--weights", "q8_0")),
    "4 bits": ("llama", {}, ("--weights", "q4_0")),
    "8 bits a row": ("llama", {}, ("--weights", "i8")),
    "rounded rows": ("llama", {}, ("--activations", "bf16")),
    # Neither heads nor widths can be divided: the last ranks have less, or nothing.
    "three KV heads": ("llama", {"heads": 9, "kv_heads": 3, "intermediate": 144}, ()),
    # A head is narrower than a block of rows: keys and values are computed whole, and cut.
    "narrow heads": ("mistral", {}, ()),
    "biases": ("qwen2", {}, ()),
    "norms of heads": ("qwen3", {}, ()),
    "norms of whole rows": ("olmo2", {}, ()),
    "one KV head, two caches": ("gemma3_caps", {}, ()),
    # Every rank holds all latents.
    "latents": ("deepseek_v3", {}, ()),
    "experts": ("qwen3_moe", {}, ()),
    "experts in 8 bits": ("qwen3_moe", {"intermediate": 64}, ("--weights", "q8_0")),
    "experts, sinks and biases": ("gpt_oss", {}, ()),
}


@pytest.mark.parametrize("name", ("llama", *FAMILIES))
def test_equal_bits(tmp_path, llama, name):
    if name == "llama":
        folder = llama
    else:
        kind, changes, imported = FAMILIES[name]
        # Experts and blocks of weights as users compile them, as the plain model is.
        compiled = () if name == "experts in 8 bits" else (QUICK,)
        folder = make(tmp_path, kind, compiled=compiled, imported=imported, **changes)
    statistics = check_equal(folder)
    for n in RANKS:
        # Norms and tables of angles are whole.
        assert statistics[n]["weights_bytes"] < statistics[1]["weights_bytes"] * (1 / n + 0.4)
        assert statistics[n]["pool_bytes"] < statistics[1]["pool_bytes"] * 1.01


def test_chunks_and_few_pages(llama):
    """Prompts in pieces, and requests that are computed again."""
    statistics = check_equal(llama, "--max-batch-tokens", 11, "--pages", 8, "--max-batch", 3)
    assert all(one["steps"] == statistics[1]["steps"] for one in statistics.values())


def test_found_prefixes(llama):
    """Which are computed where all prompt logits are asked for; and guessed tokens."""
    statistics = check_equal(llama, "--max-batch", 1, "--ngram", 5, dumps=False)
    assert all(one["accepted_tokens"] == statistics[1]["accepted_tokens"] > 0 for one in statistics.values())
    assert all(one["prefix_hits"] == statistics[1]["prefix_hits"] > 0 for one in statistics.values())


def test_replicas_of_shards(tmp_path):
    """Two caches on each of two ranks, and requests on both."""
    folder = make(tmp_path, "mixed", ranks=(1, 2), compiled=(QUICK,))
    check_equal(folder, "--replicas", 2, ranks=(2,))


def test_slots(tmp_path, llama):
    """A cache of slots instead of pages."""
    folder = copy(llama, tmp_path)
    text = (folder / "model.mlir").read_text()
    text, count = re.subn(r"collection<paged, (.*?), page = 16>", r"collection<continuous, \1, max_seq = 128>",
                          text)
    assert count == 1
    (folder / "model.mlir").write_text(text)
    for n in (1, 2):
        subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / f"{n}.so", f"--ranks={n}", QUICK],
                       check=True, timeout=120)
    check_equal(folder, ranks=(2,))


def test_reference_pipeline(tmp_path):
    check_equal(make(tmp_path, "llama", compiled=("--pipeline=kv-reference", QUICK)))


def test_open_heads(tmp_path, llama):
    """`heads = ?` becomes what the stores say, on one rank and on each of two."""
    folder = copy(llama, tmp_path)
    text = (folder / "model.mlir").read_text()
    assert "heads = 2, " in text
    (folder / "open.mlir").write_text(text.replace("heads = 2, ", "heads = ?, "))
    for n, heads in ((1, 2), (2, 1)):
        subprocess.run([KV_COMPILE, folder / "open.mlir", "-o", folder / f"open{n}.so", f"--ranks={n}", QUICK],
                       check=True, timeout=120)
        told = manifest(folder / f"open{n}.so")
        assert told["collections"][0]["heads"] == heads
        assert told.get("ranks", 1) == n
        assert told == manifest(folder / f"{n}.so")
    assert served(folder, 2, artifact="open2")[:2] == served(folder, 1)[:2]


def test_row_major_file(tmp_path, llama):
    """Of a file whose weights are not packed each rank packs its rows."""
    folder = copy(llama, tmp_path)
    tokens, logits, _ = served(folder, 1)
    weights = folder / "weights.safetensors"
    data = weights.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header, body = json.loads(data[8:8 + size]), data[8 + size:]
    out, made = b"", {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        tensor = body[begin:end]
        shape = entry["shape"]
        if header["__metadata__"].get(f"layout.{name}") == "n16k":
            blocks, k, lanes = shape
            packed = np.frombuffer(tensor, dtype=np.uint16).reshape(shape)
            tensor = packed.transpose(0, 2, 1).tobytes()
            shape = [blocks * lanes, k]
        made[name] = {**entry, "shape": shape, "data_offsets": [len(out), len(out) + len(tensor)]}
        out += tensor
    assert made["model.layers.0.self_attn.q_proj.weight"]["shape"] == [64, 64]
    text = json.dumps(made).encode()
    weights.write_bytes(len(text).to_bytes(8, "little") + text + out)
    assert served(folder, 2)[:2] == (tokens, logits)


def test_idle_ranks_wait(llama):
    """While rank 0 has no requests, the limit does not run."""
    line = {"id": "a", "tokens": [1, 2, 3], "max_new_tokens": 2}
    with subprocess.Popen(command(llama, 2, limit=0.5), stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as process:
        for _ in range(2):
            time.sleep(1.5)
            process.stdin.write(json.dumps(line) + "\n")
            process.stdin.flush()
            while "finish_reason" not in process.stdout.readline():
                assert process.poll() is None
        process.stdin.close()
        assert process.wait(timeout=30) == 0


def ranks_of(process):
    """The process ids of the ranks that mpirun has started, by rank."""
    found = {}
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process.pid)], text=True,
                              capture_output=True, check=True).stdout.split()
    for pid in map(int, children):
        environment = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
        for entry in environment:
            if entry.startswith(b"OMPI_COMM_WORLD_RANK="):
                found[int(entry.split(b"=")[1])] = pid
    return found


def lose(rank, how, lines, arguments, errors, environment=None, timeout=60):
    """Sends a signal to a rank that computes: what the ranks said, after how many seconds they had ended,
    and their process ids."""
    with open(errors, "w+") as said, subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True,
            env=environment) as process:
        process.stdin.write(lines)
        process.stdin.close()
        assert "token" in process.stdout.readline()
        ranks = ranks_of(process)
        assert sorted(ranks) == list(range(len(ranks))) and rank in ranks
        begin = time.monotonic()
        os.kill(ranks[rank], how)
        process.stdout.read()
        code = process.wait(timeout=timeout)
        seconds = time.monotonic() - begin
        said.seek(0)
        text = said.read()
    assert code != 0
    if how == signal.SIGKILL:
        assert f"process rank {rank}" in text and "Killed" in text, text
        assert seconds < 5
    return text, seconds, ranks


@pytest.mark.parametrize("rank", (0, 2))
@pytest.mark.parametrize("how", (signal.SIGKILL, signal.SIGSTOP))
def test_lost_rank(tmp_path, llama, rank, how):
    """A rank that is killed or hangs ends all of them, with a sentence, in 5 seconds."""
    lines = requests(lengths=(60,) * 16, new=400)
    said, seconds, ranks = lose(rank, how, lines, command(llama, 4, limit=3), tmp_path / "err")
    assert sorted(ranks) == [0, 1, 2, 3]
    if how == signal.SIGSTOP:
        # Ranks that end before others have seen the limit are missing, too.
        assert re.search(rf"kv-run: error: rank \d: .*rank [\d, ]*\b{rank}\b[\d, ]* did not answer "
                         r"rank \d within 3000 ms", said), said
        # The limit, and mpirun, which waits for the one that is stopped before it kills it.
        assert seconds < 15
    for _ in range(100):
        if not any(os.path.exists(f"/proc/{pid}") for pid in ranks.values()):
            break
        time.sleep(0.1)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in ranks.values())


def refusal(folder, ranks, *options, artifact=None, environment=None):
    done = subprocess.run(command(folder, ranks, *options, artifact=artifact), input="",
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == 2, done
    return done.stderr


def test_refusals(tmp_path, llama):
    folder = copy(llama, tmp_path)
    assert "2.so is for 2 ranks, 1 is running: start 'mpirun -n 2 kv-run ...'" in refusal(
        folder, 1, artifact=2)
    assert "1.so is for 1 rank, 2 are running" in refusal(folder, 2, artifact=1)
    assert "2.so is for 2 ranks, 3 are running" in refusal(folder, 3, artifact=2)
    assert "--host-pages is given, and 2 ranks" in refusal(folder, 2, "--host-pages", 4)
    assert "several ranks need libkv_mpi.so" in refusal(
        folder, 2, environment={"KV_MPI_LIBRARY": "/nowhere/libkv_mpi.so"})
    # Ranks that read different files.
    (folder / "two").mkdir()
    for name in ("2.so", "weights.safetensors"):
        data = bytearray((folder / name).read_bytes())
        data[-1] ^= 1
        (folder / "two" / name).write_bytes(data)
    script = folder / "kv-run-of-rank"
    script.write_text(f"#!/bin/sh\n[ $OMPI_COMM_WORLD_RANK = 0 ] || cd two\nexec {KV_RUN} \"$@\"\n")
    script.chmod(0o755)
    done = subprocess.run([*launcher(2), script, "2.so", "--weights", "weights.safetensors"], input="",
                          cwd=folder, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "2.so of rank 1 is not that of rank 0" in done.stderr
    # What does not know ranks says so.
    done = subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / "x.so", "--ranks=0"],
                          capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "ranks must be 1 to 1024, not 0" in done.stderr
