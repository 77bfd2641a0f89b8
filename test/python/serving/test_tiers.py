"""Pages in host memory and on a disk, behind kv-run: a conversation that comes back after its pages were
evicted, after a restart and after a kill has the bits that it would have had."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from test_windows import Model
from tools import find

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
LIBRARY = KV_RUN and Path(KV_RUN).parents[1] / "lib/libkv_tiers.so"
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN and LIBRARY.exists()),
                                reason="kv-run is not built, or there is no LMDB")
PAGE = 4
DISK = ("--disk-bytes", 64 << 20)


class Plain(Model):
    """Without windows."""

    def __init__(self, folder):
        super().__init__(folder, "llama", seed=3)


@pytest.fixture(scope="module", params=(Plain, Model), ids=("plain", "windows"))
def model(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("tiers"))


def alone(model, requests):
    return model.serve(model.artifact(PAGE), requests, "--no-prefix-cache")[0]


def turns(model, count, length=90):
    """The turns of a conversation: each goes on where the one before ended."""
    history, result = [], []
    for i in range(count):
        added = model.requests((length,), new=6, seed=i)[0]
        history = history + added["tokens"]
        result.append({**added, "id": f"turn {i}", "tokens": history})
    return result


def test_after_a_restart(model, tmp_path):
    first, second = turns(model, 2)
    options = ("--disk-dir", tmp_path / "disk", *DISK)
    _, before = model.serve(model.artifact(PAGE), [first], *options)
    assert before["loaded_pages"] == 0
    assert before["disk_pages_written"] <= before["stored_pages"] == (90 + 6 - 1) // PAGE
    have, after = model.serve(model.artifact(PAGE), [second], *options)
    assert have == alone(model, [second])
    assert after["disk_pages_read"] == after["loaded_pages"] == 90 // PAGE, after
    assert after["cached_tokens"] == 90 // PAGE * PAGE
    assert after["prefill_tokens"] == len(second["tokens"]) - after["cached_tokens"]


def test_after_a_kill(model, tmp_path):
    """At any moment: what is found is right, and nothing keeps the next process from starting."""
    conversation = turns(model, 3, length=60)
    artifact = model.artifact(PAGE)
    command = [KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors", "--disk-dir",
               tmp_path / "disk", *map(str, DISK)]
    for lines in (1, 4, 7):
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        process.stdin.write("".join(json.dumps(turn) + "\n" for turn in conversation))
        process.stdin.flush()
        for _ in range(lines):
            process.stdout.readline()
        process.send_signal(signal.SIGKILL)
        process.wait()
    for turn in conversation:
        have, statistics = model.serve(artifact, [turn], "--disk-dir", tmp_path / "disk", *DISK)
        assert have == alone(model, [turn])
    assert statistics["loaded_pages"] >= 120 // PAGE - 1, statistics


def test_after_an_eviction(model):
    """In a pool that holds one conversation only, host memory has the others."""
    first, second = turns(model, 2)
    others = [{**request, "id": f"other {i}", "arrival_step": 100 * (i + 1)}
              for i, request in enumerate(model.requests((150, 150, 150), new=4, seed=9))]
    artifact = model.artifact(PAGE)
    peak = model.serve(artifact, [{**second, "max_new_tokens": 8}])[1]["pages_peak"]
    requests = [first, *others, {**second, "arrival_step": 500}]
    have, statistics = model.serve(artifact, requests, "--pages", peak + 12, "--host-pages", 400)
    assert have == alone(model, requests)
    assert statistics["host_pages"] == 400 and statistics["disk_pages_written"] == 0
    assert statistics["loaded_pages"] == 90 // PAGE, statistics
    missed, without = model.serve(artifact, requests, "--pages", peak + 12)
    assert missed == have and without["cached_tokens"] < statistics["cached_tokens"]


def test_many_at_once(model, tmp_path):
    """Requests whose pages come from the disk wait in the middle of others; replicas share the records."""
    requests = model.requests((40, 77, 90, 33, 61, 52), new=8, shared=50, steps=[0] * 6)
    options = ("--disk-dir", tmp_path / "disk", "--host-pages", 60, *DISK)
    artifact = model.artifact(PAGE)
    want = alone(model, requests)
    for more in ((), ("--replicas", 2), ("--max-batch-tokens", 24)):
        have, statistics = model.serve(artifact, requests, *options, *more)
        assert have == want
    assert statistics["disk_pages_read"] > 10


def test_tenants_and_turns_to_come(model, tmp_path):
    """Salts never meet; a prompt alone is in the cache for the next turn, also in the next process."""
    first, second = turns(model, 2)
    options = ("--disk-dir", tmp_path / "disk", *DISK)
    artifact = model.artifact(PAGE)
    run = lambda requests: subprocess.run(
        [KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors", *map(str, options)],
        input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True, text=True, timeout=100)
    warm = {**first, "salt": "ours", "max_new_tokens": 0, "priority": 100, "keep_seconds": 60}
    done = run([warm])
    assert done.returncode == 0, done.stderr
    line = json.loads(done.stdout.splitlines()[0])
    assert (line["finish_reason"], line["new_tokens"]) == ("length", 0)
    cached = lambda request: json.loads(run([request]).stdout.splitlines()[-2])["cached_tokens"]
    assert cached({**second, "salt": "theirs"}) == 0
    assert cached(second) == 0
    assert cached({**second, "salt": "ours"}) == 90 // PAGE * PAGE


def test_what_cannot_be(model, tmp_path):
    artifact = model.artifact(PAGE)
    command = [KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors"]

    def sentence(*options, env=None):
        done = subprocess.run([*command, *map(str, options)], input="", capture_output=True, text=True,
                              env={**os.environ, **(env or {})}, timeout=60)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr.strip().removeprefix("kv-run: error: ")

    disk = tmp_path / "disk"
    assert sentence("--disk-dir", disk, "--no-prefix-cache") == "--disk-dir is given, and --no-prefix-cache"
    assert sentence("--disk-dir", disk, "--disk-bytes", 10).startswith(
        "disk tier: 10 bytes hold no record, which takes ")
    assert sentence("--host-pages", 5, env={"KV_TIERS_LIBRARY": "/no/such/library"}).startswith(
        "host and disk tiers need libkv_tiers.so, which is built where LMDB, hiredis and OpenSSL are installed: ")
    (tmp_path / "file").write_text("")
    assert sentence("--disk-dir", tmp_path / "file" / "below").startswith(f"disk tier: {tmp_path}/file/below cannot be used: ")
    process = subprocess.Popen([*command, "--disk-dir", disk, *map(str, DISK)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    process.stdin.write(json.dumps({"id": "a", "tokens": [1], "max_new_tokens": 1}) + "\n")
    process.stdin.flush()
    process.stdout.readline()
    assert sentence("--disk-dir", disk, *DISK) == f"disk tier: {disk} is in use by another process"
    process.stdin.close()
    assert process.wait() == 0
    other = model.artifact(16)
    command[1], command[3] = other / "model.so", other / "weights.safetensors"
    assert "was made for another layout: " in sentence("--disk-dir", disk, *DISK)
