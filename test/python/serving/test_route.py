"""kv-route before two kv-run that publish what they have: a conversation stays where its prefix is, others go
where less is to be done, and what is predicted is what kv-run finds."""

import json
import os
import subprocess
import time
from pathlib import Path

import pytest

from test_tiers import DISK, KV_COMPILE, KV_RUN, PAGE, Plain, turns
from tools import find

KV_ROUTE = os.environ.get("KV_ROUTE") or find("kv-route")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN and KV_ROUTE and Path(KV_ROUTE).exists()),
                                reason="kv-route is not built")


class Lines:
    """A program that answers lines by lines."""

    def __init__(self, *command):
        self.process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)

    def say(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def ask(self, **request):
        self.say(**request)
        return json.loads(self.process.stdout.readline())

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(timeout=60) == 0


class Machine(Lines):
    def __init__(self, model, folder, name, *options):
        artifact = model.artifact(PAGE)
        self.name, self.events, self.replay = name, f"ipc://{folder}/{name}-e", f"ipc://{folder}/{name}-r"
        super().__init__(KV_RUN, artifact / "model.so", "--weights", artifact / "weights.safetensors",
                         "--events", self.events, "--events-replay", self.replay, "--no-stream", "--pages", 400, *options)

    def serve(self, request):
        """Tokens of its prompt that were cached."""
        answer = self.ask(**{key: value for key, value in request.items() if key not in ("logits", "arrival_step")})
        assert "error" not in answer, answer
        return answer["cached_tokens"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return Plain(tmp_path_factory.mktemp("route"))


def wait_for(route, what):
    for _ in range(500):
        machines = {each["name"]: each for each in route.ask(status=True)["machines"]}
        if what(machines):
            return machines
        time.sleep(0.02)
    raise AssertionError(machines)


def test_conversations_stay_where_they_are(model, tmp_path):
    machines = {name: Machine(model, tmp_path, name) for name in ("a", "b")}
    route = Lines(KV_ROUTE, "--page-size", PAGE, "--patience", 2000,
                  *(f"--machine={each.name}={each.events},{each.replay}" for each in machines.values()))
    wait_for(route, lambda all: all["a"]["usable"] and all["b"]["usable"])
    at, pages = {}, {name: {} for name in machines}
    conversations = {salt: turns(model, 3, length=40) for salt in ("x", "y", "z")}
    right = asked = 0
    for turn in range(3):
        for salt, conversation in conversations.items():
            request = {**conversation[turn], "id": f"{salt}{turn}", "salt": salt}
            choice = route.ask(**{key: request[key] for key in ("id", "tokens", "salt")})
            cached = machines[choice["machine"]].serve(request)
            route.say(done=request["id"])
            right += cached == choice["hit_tokens"]
            asked += 1
            if turn:
                assert choice["machine"] == at[salt] and cached > 0
            at[salt] = choice["machine"]
            # Until the last page has been heard of.
            pages[at[salt]][salt] = (len(request["tokens"]) + request["max_new_tokens"] - 1) // PAGE
            wait_for(route, lambda all: all[at[salt]]["pages"] >= sum(pages[at[salt]].values()))
    assert right == asked == 9
    # What runs makes a machine less wanted.
    spread = {route.ask(id=f"n{i}", tokens=[7 + i] * 50)["machine"] for i in range(4)}
    assert spread == {"a", "b"}
    assert route.ask(id="n0", tokens=[1])["error"] == "request n0 is not over yet"
    assert "not a request" in route.ask(id=5, tokens=[1])["error"]
    # One that ends is sent nothing any more.
    machines["a"].end()
    wait_for(route, lambda all: not all["a"]["usable"] and all["a"]["pages"] == 0)
    assert {route.ask(id=f"m{i}", tokens=[9] * 50)["machine"] for i in range(5)} == {"b"}
    machines["b"].end()
    wait_for(route, lambda all: not all["b"]["usable"])
    assert route.ask(id="last", tokens=[1])["error"] == "no machine answers"
    route.end()


def test_what_a_disk_has_counts(model, tmp_path):
    first, second = turns(model, 2)
    disk = ("--disk-dir", tmp_path / "disk", *DISK)
    model.serve(model.artifact(PAGE), [first], *disk)
    machine = Machine(model, tmp_path, "a", "--events-tiers", *disk)
    route = Lines(KV_ROUTE, "--page-size", PAGE, f"--machine=a={machine.events},{machine.replay}")
    wait_for(route, lambda all: all["a"]["usable"])
    choice = route.ask(id="x", tokens=second["tokens"])
    assert choice["loaded_tokens"] == choice["hit_tokens"] == 90 // PAGE * PAGE
    assert machine.serve(second) == choice["hit_tokens"]
    machine.end()
    route.end()


def test_what_cannot_be():
    def sentence(*options):
        done = subprocess.run([KV_ROUTE, *options], input="", capture_output=True, text=True, timeout=60)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr.strip()

    assert sentence("--machine", "a=b") == "kv-route: error: --machine is a=b, allowed: NAME=EVENTS,REPLAY"
    assert sentence("--machine", "a=b,c").startswith("kv-route: error: router: b cannot be connected: ")
    assert sentence("--machine", "a=tcp://b:65535,tcp://b:65536") == (
        "kv-route: error: router: tcp://b:65536 cannot be connected: its port is '65536', allowed: 1 to 65535")
    assert sentence("--machine", "a=b,c", "--patience", "0").startswith("kv-route: error: --patience: ")
    assert sentence() == "kv-route: error: --machine is required"
    twice = ("--machine", "a=tcp://127.0.0.1:7,tcp://127.0.0.1:9")
    assert sentence(*twice, *twice).endswith("127.0.0.1:9, and another one has its name")


def test_more_machines_than_descriptors():
    machines = " ".join(f"--machine=m{i}=tcp://127.0.0.1:7,tcp://127.0.0.1:9" for i in range(60))
    done = subprocess.run(["bash", "-c", f"ulimit -n 40; {KV_ROUTE} {machines}"], input="", capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 2 and done.stderr == (
        "kv-route: error: ZeroMQ makes no socket: Too many open files\n"), done


NOBODY = "--machine=a=tcp://127.0.0.1:7,tcp://127.0.0.1:9"


@pytest.mark.parametrize("line, answer", (
    ("{", {"error": "not a request: the line is not valid JSON, an object is needed"}),
    ("[1]", {"error": "not a request: the line is [1], an object is needed"}),
    ("[" * 10**6 + "]" * 10**6, {"error": "not a request: the line is nested deeper than 64 levels"}),
    ('{"id": "a", "tokens": [1], "id": "b"}', {"error": 'not a request: the line has the field "id" twice'}),
    ("[" * (17 << 20), {"error": "not a request: the line has more than 16777216 bytes"}),
    ("{}", {"error": "not a request: the field id is missing"}),
    ('{"id": 3}', {"error": "not a request: id is 3, allowed: a string"}),
    ('{"done": 3}', {"error": "not a request: done is 3, allowed: a string"}),
    ('{"id": "a"}', {"id": "a", "error": "request a: the field tokens is missing"}),
    ('{"id": "a", "tokens": [4294967297]}',
     {"id": "a", "error": "request a: tokens[0] is 4294967297, allowed: an integer from 0 to 2147483647"}),
    ('{"id": "a", "tokens": [1], "salt": 5}', {"id": "a", "error": "request a: salt is 5, allowed: a string"}),
    ('{"id": "a", "tokens": [1], "salt": null}', {"id": "a", "error": "no machine answers"})),
    ids=lambda one: str(one)[:40])
def test_bad_requests(line, answer):
    """The last line needs no end."""
    done = subprocess.run([KV_ROUTE, NOBODY], input=f"{line}\n{line}", capture_output=True, text=True, timeout=60)
    assert done.returncode == 0 and [json.loads(one) for one in done.stdout.splitlines()] == [answer] * 2, done


@pytest.mark.parametrize("redirection, sentence", (
    ("<&-", "standard input: Bad file descriptor"), ("< /", "standard input: Is a directory"),
    ("<<< '{\"status\": true}' > /dev/full", "the answers could not be written")))
def test_streams_that_do_not_work(redirection, sentence):
    done = subprocess.run(["bash", "-c", f'"$0" "$1" {redirection}', KV_ROUTE, NOBODY], text=True,
                          capture_output=True, timeout=60)
    assert done.returncode == 2 and done.stderr == f"kv-route: error: {sentence}\n", done
