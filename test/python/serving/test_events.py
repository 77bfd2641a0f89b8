"""Cache events as a router reads them: by pyzmq and msgpack, from a manager and from kv-run."""

import json
import os
import random
import subprocess

import msgpack
import pytest
import zmq

from subscriber import Subscriber, block_hashes, fields
from tools import find

DRIVER = os.environ.get("KV_EVENTS_DRIVER")
pytestmark = pytest.mark.skipif(not DRIVER, reason="libzmq is not there: no events were built")
PAGE = 4


class Manager:
    """The driver of this folder, as a process."""

    def __init__(self, *options, env=None):
        self.process = subprocess.Popen([DRIVER, *options], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, env={**os.environ, **(env or {})})
        self.greeting = self.process.stdout.readline().strip()

    def __call__(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().strip()
        assert not answer.startswith("error"), answer
        return answer

    def names(self):
        """What blocks the manager's hits are called."""
        return {name for salt, adapter, tokens in json.loads(self("index"))
                for name in block_hashes(PAGE, tokens, salt=salt, adapter=adapter)}

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=10) == 0


@pytest.fixture
def ends(tmp_path):
    return f"ipc://{tmp_path}/e", f"ipc://{tmp_path}/r"


def start(ends, *options):
    return Manager(f"events={ends[0]}", f"replay={ends[1]}", *options)


@pytest.mark.parametrize("encoding", ("array", "map"))
def test_an_index_is_the_managers(ends, encoding):
    manager = start(ends, f"encoding={encoding}", "topic=kv@pod@tiny")
    router = Subscriber(*ends, topic=b"kv@pod@tiny")
    router.resync()
    for seed in range(20):
        manager(f"work 20 {seed}")
        router.drain()
        names = manager.names()
        assert len(names) > 10 and router.findable() == names
    # Each batch is as vLLM's readers want it, and blocks came and went.
    kinds = {"BlockStored": 0, "BlockRemoved": 0, "AllBlocksCleared": 0}
    for event in (event for batch in router.batches for event in batch):
        assert isinstance(event, dict if encoding == "map" else list)
        kinds[event["type"] if encoding == "map" else event[0]] += 1
        if encoding == "array" and event[0] == "BlockStored":
            assert len(event) in (8, 9) and event[4:7] == [PAGE, None, "GPU"]
    assert kinds["BlockStored"] > 100 and kinds["BlockRemoved"] > 100, kinds
    assert router.gaps == 0
    scopes = {(adapter, tuple(extra or ())) for _, _, adapter, extra in router.blocks.values()}
    assert {adapter for adapter, _ in scopes} == {None, "x"} and len(scopes) > 3
    router.close()
    manager.close()


@pytest.mark.parametrize("encoding", ("array", "map"))
def test_groups_of_windows(ends, encoding):
    """Blocks are stored and removed in each group; those of a window are given up earlier."""
    manager = start(ends, f"encoding={encoding}", "window=8", "pages=120")
    router = Subscriber(*ends)
    router.resync()
    manager("work 200 1")
    router.drain()
    groups = {0: set(), 1: set()}
    for kind, values in (fields(event) for batch in router.batches for event in batch):
        if kind == "BlockStored":
            known = values["kv_cache_spec_kind"], values.get("kv_cache_spec_sliding_window")
            assert known == (("full_attention", None), ("sliding_window", 8))[values["group_idx"]]
            groups[values["group_idx"]].update(values["block_hashes"])
        elif kind == "BlockRemoved":
            groups[values["group_idx"]].difference_update(values["block_hashes"])
    assert groups[1] < groups[0] and manager.names() <= groups[0] and len(groups[1]) > 5
    router.close()
    manager.close()


def test_lost_messages_are_replayed(ends):
    manager = start(ends, "pages=60")
    router = Subscriber(*ends)
    router.resync()
    lost = random.Random(4)
    for seed in range(30):
        manager(f"work 5 {seed}")
        router.drain(lose=lambda: lost.random() < 0.3)
    router.settle()
    assert router.findable() == manager.names()
    assert router.gaps > 3 and router.resyncs <= 2  # replay gave what was lost
    router.close()
    manager.close()


def test_a_snapshot_after_more_was_lost_than_is_kept(ends):
    manager = start(ends, "pages=60", "batches=3")
    router = Subscriber(*ends)
    router.resync()
    for seed in range(40):
        manager(f"work 5 {seed}")
        router.drain(lose=lambda: seed % 10 != 9)
    router.settle()
    assert router.findable() == manager.names()
    assert router.gaps >= 2 and router.resyncs >= 3
    router.close()
    manager.close()


def test_an_overflow_of_the_queue_is_a_gap(ends):
    """The publisher sleeps while more comes than its queue holds."""
    manager = start(ends, "queue=65536", "interval=300", "pages=400")
    router, plain = Subscriber(*ends), Subscriber(*ends)
    router.resync()
    plain.resync()
    plain.receive = lambda number, payload: plain.apply(payload)  # as readers do that know no replay
    for seed in range(4):
        manager(f"work 3000 {seed}")
        router.drain()
        manager("idle")  # a step begins: the engine tells of its whole index
        router.drain()
        plain.drain()
        assert router.findable() == plain.findable() == manager.names()
    assert router.gaps >= 4
    router.close()
    plain.close()
    manager.close()


def test_a_restart_is_noticed(ends):
    manager = start(ends)
    router = Subscriber(*ends)
    router.resync()
    manager("work 200 1")
    router.drain()
    before = router.incarnation
    assert router.findable() == manager.names() != set()
    # The new one has sent more than the old one when the subscriber is connected again.
    manager.kill()
    router.close()
    known = router.blocks
    manager = start(ends)
    manager("work 400 2")
    again = Subscriber(*ends)
    again.blocks, again.expected, again.incarnation = known, router.expected, before
    again.settle()
    assert again.incarnation != before and again.findable() == manager.names()
    manager("work 50 3")
    again.drain()
    assert again.findable() == manager.names() and again.resyncs == 1
    again.close()
    manager.close()


def test_a_restart_begins_with_all_cleared(ends):
    manager = start(ends)
    router = Subscriber(*ends)
    router.resync()
    first = msgpack.unpackb(router.ask((0).to_bytes(8, "big"))[0][1])
    assert first[1] == [["AllBlocksCleared"]]
    router.close()
    manager.close()


def test_bad_requests_of_the_replay_socket(ends):
    manager = start(ends)
    router = Subscriber(*ends)
    for what in (b"", b"1234567", b"kv:everything"):
        (number, payload), = router.ask(what)
        assert "allowed: an empty frame and a number of 8 bytes, kv:status or kv:snapshot" in (
            msgpack.unpackb(payload)["error"])
    router.close()
    manager.close()


def test_resets_are_done_and_answered(ends, tmp_path):
    """By a REQ socket, and by PUSH at MAX's name, which has no answer."""
    context = zmq.Context.instance()
    push = context.socket(zmq.PUSH)
    push.bind(f"ipc://{tmp_path}/max-reset_prefix_cache")
    manager = start(ends, f"base=ipc://{tmp_path}/max", f"reset=ipc://{tmp_path}/reset")
    router = Subscriber(*ends)
    router.resync()
    ask = context.socket(zmq.REQ)
    ask.connect(f"ipc://{tmp_path}/reset")
    manager("work 100 1")
    assert manager.names()
    ask.send(b"reset_prefix_cache")
    assert not ask.poll(200)  # not before the manager's thread has done it
    manager("idle")
    assert ask.poll(2000) and ask.recv() == b"ok"
    assert manager.names() == set()
    router.drain()
    assert router.blocks == {} and router.batches[-1][-1] == ["AllBlocksCleared"]

    manager("work 100 2")
    assert manager.names()
    push.send(b"\xc0")
    for _ in range(100):
        manager("idle")
        if not manager.names():
            break
    assert manager.names() == set()

    ask.send(b"everything")
    assert ask.poll(2000)
    assert ask.recv() == b"error: a request of 10 bytes, allowed: an empty one, or reset_prefix_cache"
    for socket in (ask, push):
        socket.close(linger=0)
    router.close()
    manager.close()


def test_a_reset_without_prefix_caching_is_an_error(tmp_path):
    manager = Manager(f"reset=ipc://{tmp_path}/reset", "caching=0")
    ask = zmq.Context.instance().socket(zmq.REQ)
    ask.connect(f"ipc://{tmp_path}/reset")
    ask.send(b"")
    for _ in range(100):
        manager("idle")
        if ask.poll(20):
            break
    assert ask.recv() == b"error: prefix caching is off, there is nothing to forget"
    ask.close(linger=0)
    manager.close()


def test_endpoints_that_cannot_be_used(ends, tmp_path):
    refused = Manager("events=carrier://pigeon", f"replay={ends[1]}")
    assert refused.greeting == (
        "error: cache events: carrier://pigeon cannot be connected: Protocol not supported")
    refused = Manager(f"reset=ipc://{tmp_path}/no/such/folder")
    assert "cannot be bound: No such file or directory" in refused.greeting


def test_without_the_library(ends):
    sentence = "cache events need libkv_events.so, which is built where libzmq, cppzmq and msgpack-cxx"
    refused = Manager(f"events={ends[0]}", env={"KV_EVENTS_LIBRARY": "/no/such/library"})
    assert refused.greeting.startswith(f"error: {sentence} are installed: /no/such/library: "), (
        refused.greeting)


#
# kv-run
#

KV_RUN, ARTIFACT = find("kv-run"), os.environ.get("KV_HISTORY_ARTIFACT")


class KvRun:
    """kv-run with the artifact by hand: pages of 4 tokens, 50 words."""

    def __init__(self, folder, *options, env=None):
        weights = folder / "weights"
        header = b'{"bias":{"dtype":"F32","shape":[50],"data_offsets":[0,200]}}'
        weights.write_bytes(len(header).to_bytes(8, "little") + header + bytes(200))
        self.process = subprocess.Popen([KV_RUN, ARTIFACT, "--weights", weights, "--threads", "1", *options],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True,
                                        env={**os.environ, **(env or {})})

    def serve(self, name, tokens, count=3):
        self.process.stdin.write(json.dumps({"id": name, "tokens": tokens, "max_new_tokens": count}) + "\n")
        self.process.stdin.flush()
        answer = []
        while True:
            line = json.loads(self.process.stdout.readline())
            if "finish_reason" in line:
                return answer, line
            answer.append(line["token"])

    def close(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=20) == 0, self.process.stderr.read()


@pytest.mark.parametrize("encoding", ("array", "map"))
def test_kv_run_publishes(tmp_path, ends, encoding):
    serving = KvRun(tmp_path, "--pages", "20", "--events", ends[0], "--events-replay", ends[1],
                    "--events-encoding", encoding, "--reset-endpoint", f"ipc://{tmp_path}/reset")
    serving.serve("warm", [1])  # by then the endpoints are bound
    router = Subscriber(*ends)
    router.resync()
    expected = set()
    for i in range(4):
        prompt = [i, *range(1, 10)]
        answer, _ = serving.serve(str(i), prompt)
        expected |= set(block_hashes(PAGE, prompt + answer[:-1]))
        router.settle()
        assert router.findable() == expected
    _, finish = serving.serve("again", [0, *range(1, 10)])
    assert finish["cached_tokens"] == 8
    # A reset is served while kv-run waits for requests.
    ask = zmq.Context.instance().socket(zmq.REQ)
    ask.connect(f"ipc://{tmp_path}/reset")
    ask.send(b"")
    assert ask.poll(5000) and ask.recv() == b"ok"
    ask.close(linger=0)
    router.settle()
    assert router.blocks == {}
    _, finish = serving.serve("anew", [0, *range(1, 10)])
    assert finish["cached_tokens"] == 0
    router.close()
    serving.close()


def test_kv_run_has_a_publisher_a_replica(tmp_path, ends):
    serving = KvRun(tmp_path, "--replicas", "2", "--pages", "20", "--events", ends[0], "--events-replay",
                    ends[1])
    serving.serve("warm", [1])
    statuses = [Subscriber(ends[0] + end, ends[1] + end).status() for end in ("", "_dp1")]
    assert statuses[0]["incarnation"] != statuses[1]["incarnation"]
    serving.close()


def test_kv_run_refuses(tmp_path):
    def sentence(*options, **more):
        refused = KvRun(tmp_path, *options, **more)
        out, err = refused.process.communicate(timeout=20)
        assert refused.process.returncode == 2 and out == ""
        return err.strip()

    allowed = "allowed: 1 to 65535"
    for port in ("nobody", "65536", "70000", "0", "-1", "80x", "*", ""):
        assert sentence("--events", f"tcp://*:{port}") == (
            f"kv-run: error: cache events: tcp://*:{port} cannot be bound: its port is '{port}', {allowed}")
    # The replay socket's, a replica's, what is connected, and the reset socket's.
    for options in (("--events", f"ipc://{tmp_path}/e", "--events-replay", "tcp://*:65536"),
                    ("--events", "tcp://*:65535", "--replicas", "2"), ("--events", "tcp://127.0.0.1:65536"),
                    ("--reset-endpoint", "tcp://*:65536")):
        assert sentence(*options).endswith(f": its port is '65536', {allowed}"), options
    missing = {"KV_EVENTS_LIBRARY": "/no/such/library"}
    assert sentence("--reset-endpoint", "ipc:///tmp/x", env=missing).startswith(
        "kv-run: error: reset sockets need libkv_events.so, which is built where libzmq")
    assert "--events-replay requires --events" in sentence("--events-replay", "ipc:///tmp/x")
    assert "--events-encoding" in sentence("--events", "ipc:///tmp/x", "--events-encoding", "cbor")
