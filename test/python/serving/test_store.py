"""Pages in a store that machines share, behind kv-run: a machine finds what another one has computed, and
whatever the server does, tokens and bits are those of a machine without it."""

import json
import subprocess
import time

import pytest

from redis_server import RedisServer
from test_tiers import DISK, KV_COMPILE, KV_RUN, LIBRARY, PAGE, Model, Plain, alone, turns

pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN and LIBRARY.exists()),
                                reason="kv-run is not built, or there is no hiredis")


@pytest.fixture(scope="module", params=(Plain, Model), ids=("plain", "windows"))
def model(request, tmp_path_factory):
    return request.param(tmp_path_factory.mktemp("store"))


@pytest.fixture
def server(tmp_path):
    with RedisServer(tmp_path) as made:
        yield made


def test_another_machine_finds_the_prefixes(model, server, tmp_path):
    first, second = turns(model, 2)
    artifact = model.artifact(PAGE)
    machine = lambda name: ("--store", server.address, "--disk-dir", tmp_path / name, *DISK)
    _, before = model.serve(artifact, [first], *machine("a"))
    assert before["store_pages_read"] == 0
    assert before["store_pages_written"] <= before["stored_pages"] == (90 + 6 - 1) // PAGE
    have, after = model.serve(artifact, [second], *machine("b"))
    assert have == alone(model, [second])
    assert after["store_pages_read"] == after["loaded_pages"] == 90 // PAGE, after
    assert after["disk_pages_read"] == 0 and after["cached_tokens"] == 90 // PAGE * PAGE
    # What has come from the store is on the second machine's disk as well.
    server.kill()
    have, again = model.serve(artifact, [second], *machine("b"))
    assert have == alone(model, [second])
    assert again["disk_pages_read"] >= 90 // PAGE and again["store_pages_read"] == 0, again


def test_without_a_disk(model, server):
    """Many at once, of several salts, on two replicas and in chunks."""
    requests = model.requests((40, 77, 90, 33, 61, 52), new=8, shared=50, steps=[0] * 6)
    for i, request in enumerate(requests):
        request["salt"] = "ab"[i % 2]
    artifact = model.artifact(PAGE)
    want = alone(model, requests)
    for more in ((), ("--replicas", 2), ("--max-batch-tokens", 24)):
        have, statistics = model.serve(artifact, requests, "--store", server.address, *more)
        assert have == want
        assert (statistics["store_pages_read"] > 20) == bool(more), statistics


def test_records_that_are_wrong(model, server):
    first, second = turns(model, 2)
    artifact = model.artifact(PAGE)
    model.serve(artifact, [first], "--store", server.address)
    assert server.spoil() == (90 + 6 - 1) // PAGE
    have, statistics = model.serve(artifact, [second], "--store", server.address)
    assert have == alone(model, [second])
    assert statistics["store_pages_read"] == 0 == statistics["loaded_pages"]
    # They have been replaced by right ones.
    have, statistics = model.serve(artifact, [second], "--store", server.address)
    assert have == alone(model, [second])
    assert statistics["store_pages_read"] >= 90 // PAGE, statistics


def test_stopped_resumed_killed_and_started_while_it_serves(model, server):
    """The conversation goes on, one turn after the other, on one machine and then on others."""
    conversation = turns(model, 6, length=40)
    want = alone(model, conversation)
    artifact = model.artifact(PAGE)
    command = [KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors",
               "--store", server.address + "?timeout=200", "--host-pages", "20"]
    process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               text=True)
    events = iter((server.stop, server.resume, server.kill, server.start, server.spoil, lambda: None))
    have = {}
    for turn in conversation:
        begun = time.monotonic()
        process.stdin.write(json.dumps(turn) + "\n")
        process.stdin.flush()
        while True:
            line = json.loads(process.stdout.readline())
            assert "error" not in line, line
            if "token" in line:
                have.setdefault(line["id"], []).append((line["token"], line["logits_digest"]))
            if "finish_reason" in line:
                break
        assert time.monotonic() - begun < 30
        next(events)()
    process.stdin.close()
    assert process.wait(timeout=30) == 0
    assert have == want
    for _ in range(2):
        have, statistics = model.serve(artifact, conversation[-1:], "--store", server.address)
        assert have == {conversation[-1]["id"]: want[conversation[-1]["id"]]}
    assert statistics["store_pages_read"] > 0, statistics


def test_what_cannot_be(model):
    artifact = model.artifact(PAGE)

    def sentence(*options):
        done = subprocess.run([KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors", *options],
                              input="", capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr.strip().removeprefix("kv-run: error: ")

    assert sentence("--store", "/x", "--no-prefix-cache") == "--store is given, and --no-prefix-cache"
    assert sentence("--store", "http://:secret@x").startswith("store: the address begins with 'http:', allowed: redis://")
    assert sentence("--store", "redis://h:99999") == "store: port is '99999', allowed: 1 to 65535"
