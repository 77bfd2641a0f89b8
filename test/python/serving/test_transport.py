"""Prefill here, decode there: two kv-runs and NIXL between them give the tokens and bits of one."""

import json
import signal
import socket
import subprocess
import time

import pytest

import reference
from kv_import import synthetic
from peers import Decode, Prefill, command, environment, nixl
from test_windows import Model
from tools import KV_IMPORT, find, manifest, open_own, run

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")
PAGE = 16


class Plain(Model):
    def __init__(self, folder):
        super().__init__(folder, "llama", seed=3)

    def artifact(self, page=PAGE, layout=None, *options):
        """One import serves all page sizes and layouts."""
        imported = self.folder / "-".join(("imported", *options))
        if not imported.exists():
            done = run(KV_IMPORT, self.folder / "hf", "-o", imported, "--page", str(PAGE), *options)
            assert done.returncode == 0, done.stderr
        out = self.folder / "-".join(map(str, (page, layout, *options)))
        if not out.exists():
            out.mkdir()
            (out / "weights.safetensors").symlink_to(imported / "weights.safetensors")
            subprocess.run([KV_COMPILE, imported / "model.mlir", "-o", out / "model.so", f"--page-size={page}",
                            *[f"--layout={layout}"] * bool(layout)], check=True, timeout=300)
        return out


class Windows(Plain):
    def __init__(self, folder):
        Model.__init__(self, folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return Plain(tmp_path_factory.mktemp("transport"))


@pytest.fixture(scope="module")
def windows(tmp_path_factory):
    return Windows(tmp_path_factory.mktemp("transport"))


def alone(model, artifact, requests):
    return model.serve(artifact, requests, "--no-prefix-cache")[0]


def decode(model, artifact, endpoint, requests, *options):
    done = subprocess.run(command(artifact, "--role", "decode", "--peer", endpoint, *options),
                          input="".join(json.dumps(r) + "\n" for r in requests), capture_output=True, text=True,
                          env=environment(), timeout=300)
    assert done.returncode == 0, done.stderr
    answers = {}
    *lines, last = map(json.loads, done.stdout.splitlines())
    for line in lines:
        assert "error" not in line, line
        if "token" in line:
            answers.setdefault(line["id"], []).append((line["token"], line["logits_digest"]))
    return answers, last["statistics"], done.stderr


def together(model, before, after, requests, *options):
    """Answers with two processes, compared with one; the statistics of both."""
    with Prefill(before, *options) as prefill:
        have, statistics, notes = decode(model, after, prefill.endpoint, requests)
        assert notes == ""
        theirs = prefill.end()
    assert have == alone(model, after, requests)
    assert statistics["peer"]["pages_not_got"] == 0, statistics
    assert theirs["peer"]["leases"] == theirs["peer"]["leases_returned"] > 0, theirs
    # One that several requests have is read once.
    assert 0 < statistics["peer"]["pages_read"] <= statistics["loaded_pages"]
    return statistics, theirs


@pytest.mark.parametrize("kind", ("model", "windows"))
def test_equal_bits(kind, request):
    """Every whole page of every prompt is computed there, and only there."""
    model = request.getfixturevalue(kind)
    requests = model.requests((90, 33, 64, 150, 17), new=8, shared=20)
    artifact = model.artifact(PAGE)
    statistics, theirs = together(model, artifact, artifact, requests)
    # The last token of a prompt is always computed here. (A step with a prompt in it counts whole as prefill,
    # so prefill_tokens depend on when pages come.)
    assert statistics["cached_tokens"] == sum((len(r["tokens"]) - 1) // PAGE * PAGE for r in requests), statistics
    assert theirs["peer"]["prompts"] == len(requests)
    assert theirs["decode_tokens"] == 0


@pytest.mark.parametrize("before, after", [((16, "nhd"), (32, "nhd")), ((32, "nhd"), (16, "hnd")),
                                           ((16, "nhd"), (16, "cpu")), ((16, "cpu"), (32, "hnd"))])
def test_page_size_and_layout_are_converted(model, before, after):
    requests = model.requests((130, 70, 97), new=6)
    statistics, _ = together(model, model.artifact(*before), model.artifact(*after), requests)
    assert statistics["peer"]["pages_read"] >= sum((n - 1) // 32 for n in (130, 70, 97))


def test_windows_and_bands_are_converted(windows):
    """Rows of several collections, of which some have windows."""
    together(windows, windows.artifact(16, "nhd"), windows.artifact(32, "cpu"), windows.requests((130, 200), new=6))


def test_the_second_request_finds_what_the_first_has_brought(model):
    artifact = model.artifact(PAGE)
    requests = [{**r, "salt": salt} for r, salt in zip(model.requests((90, 90), new=4), "ab")]
    requests[1]["tokens"] = requests[0]["tokens"]
    with Prefill(artifact) as prefill, Decode(artifact, prefill.endpoint) as peer:
        first, _ = peer.answer({**requests[0], "id": "first"})
        again, line = peer.answer({**requests[0], "id": "again"})
        assert first == again and line["cached_tokens"] == 80
        other, line = peer.answer({**requests[1], "id": "other tenant"})
        assert other == first
        statistics = peer.end()
        # Its pages, brought for another salt, are not the first one's.
        assert statistics["peer"]["pages_read"] == 10 and statistics["peer"]["prompts"] == 2
        assert prefill.end()["peer"]["prompts"] == 2


def test_two_decoding_sides(model):
    """At once, with the same prompts: each has its leases, and the prompts are computed for both."""
    artifact = model.artifact(PAGE)
    requests = model.requests((120, 90, 150), new=4, seed=11)
    want = alone(model, artifact, requests)
    with Prefill(artifact) as prefill, Decode(artifact, prefill.endpoint) as one, \
            Decode(artifact, prefill.endpoint) as two:
        for request in requests:
            one.send(request)
            two.send(request)
        for peer in (one, two):
            have, left = {r["id"]: [] for r in requests}, len(requests)
            while left:
                line = json.loads(peer.process.stdout.readline())
                left -= "finish_reason" in line
                if "token" in line:
                    have[line["id"]].append((line["token"], line["logits_digest"]))
            assert have == want
        assert sum(peer.end()["peer"]["pages_read"] for peer in (one, two)) == 2 * (7 + 5 + 9)
        theirs = prefill.end()
        assert theirs["peer"]["leases_returned"] == theirs["peer"]["leases"]


def test_metrics(model):
    """The reference lists what both sides serve while they run."""
    documented = {name for name in reference.metric_rows() if name.startswith("kv_peer_")}
    artifact, (request,) = model.artifact(PAGE), model.requests((90,), new=4)

    def port():
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            return free.getsockname()[1]

    def figures(port):
        text = open_own(f"http://127.0.0.1:{port}/metrics", timeout=20).read().decode()
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                if line.startswith("kv_peer_")}

    here, there = port(), port()
    with Prefill(artifact, "--metrics", f"127.0.0.1:{there}") as prefill, \
            Decode(artifact, prefill.endpoint, "--metrics", f"127.0.0.1:{here}") as peer:
        peer.answer(request)
        assert {name.split("{")[0] for name in figures(here)} == documented
        assert figures(here)['kv_peer_pages_total{outcome="read"}'] == 5
        assert figures(here)['kv_peer_pages_total{outcome="lost"}'] == 0
        assert figures(here)["kv_peer_read_bytes_total"] > 0
        assert figures(there)["kv_peer_prompts_total"] == 1
        assert figures(there)["kv_peer_leases"] == 0
        assert figures(there)["kv_peer_leases_total"] == \
            figures(there)['kv_peer_leases_ended_total{how="returned"}'] >= 1


def found_again(peer, requests, want):
    """Requests, from the fourth on, until the prefilling side computes one of them again."""
    for request in requests[3:]:
        tokens, line = peer.answer(request)
        assert tokens == want[request["id"]]
        if line["cached_tokens"]:
            return
        time.sleep(0.5)


def test_killed_in_the_middle(model):
    """A prefilling side that dies costs a computation; the next one takes its place."""
    artifact = model.artifact(PAGE)
    requests = model.requests((120,) * 40, new=4, seed=5)
    want = alone(model, artifact, requests)
    with Prefill(artifact) as first, Decode(artifact, first.endpoint) as peer:
        assert peer.answer(requests[0])[0] == want["0"]
        peer.send(requests[1])
        first.kill()  # before, while or after it computes
        begin = time.monotonic()
        lines = []
        while not any("finish_reason" in line for line in lines):
            lines.append(json.loads(peer.process.stdout.readline()))
        assert [(l["token"], l["logits_digest"]) for l in lines[:-1]] == want["1"]
        assert peer.answer(requests[2])[0] == want["2"]
        assert time.monotonic() - begin < 30
        with Prefill(artifact, endpoint=first.endpoint) as second:
            found_again(peer, requests, want)
            statistics = peer.end()
            assert second.end()["peer"]["prompts"] > 0
        assert any("prompts are computed here" in note for note in peer.notes), peer.notes
        assert any("answers again" in note for note in peer.notes), peer.notes
        assert statistics["peer"]["pages_read"] >= 14


def test_stopped_for_a_while(model):
    """A prefilling side that hangs is left alone, and found again when it goes on."""
    artifact = model.artifact(PAGE)
    requests = model.requests((120,) * 40, new=4, seed=6)
    want = alone(model, artifact, requests)
    with Prefill(artifact) as prefill, Decode(artifact, prefill.endpoint) as peer:
        assert peer.answer(requests[0])[0] == want["0"]
        prefill.process.send_signal(signal.SIGSTOP)
        begin = time.monotonic()
        for i in (1, 2):
            assert peer.answer(requests[i])[0] == want[str(i)]
        assert time.monotonic() - begin < 20
        prefill.process.send_signal(signal.SIGCONT)
        found_again(peer, requests, want)
        statistics = peer.end()
        assert statistics["peer"]["pages_read"] >= 14, statistics


def test_deaths_at_random_moments(model):
    """Decoding sides are killed while they load; what they had leased is free again, and the next gets its pages."""
    artifact = model.artifact(PAGE)
    requests = model.requests((150,) * 4, new=3, seed=8)
    want = alone(model, artifact, requests)
    with Prefill(artifact, "--host-pages", 40) as prefill:
        for i in range(6):
            with Decode(artifact, prefill.endpoint, "--max-batch", 2) as peer:
                for request in requests:
                    peer.send(request)
                time.sleep(0.05 + 0.04 * i)
        have, statistics, _ = decode(model, artifact, prefill.endpoint, requests)
        assert have == want
        assert prefill.process.poll() is None
        prefill.end()


def test_nobody_answers(model, tmp_path):
    artifact = model.artifact(PAGE)
    requests = model.requests((90,), new=4)
    endpoint = f"ipc://{tmp_path}/nobody"
    have, statistics, notes = decode(model, artifact, endpoint, requests)
    assert have == alone(model, artifact, requests)
    assert notes == f"kv-run: note: no peer answers at {endpoint}: prompts are computed here until one does\n"


def test_what_cannot_be(model, windows, tmp_path):
    artifact = model.artifact(PAGE)

    def sentence(*options, artifact=artifact, env=None):
        done = subprocess.run(command(artifact, *options), input="", capture_output=True, text=True,
                              env={**environment(), **(env or {})}, timeout=60)
        assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr.strip().removeprefix("kv-run: error: ")

    with Prefill(artifact) as prefill:
        decoding = ("--role", "decode", "--peer", prefill.endpoint)
        assert sentence(*decoding, artifact=windows.artifact(PAGE)) == (
            f"peers: the one at {prefill.endpoint} has other pages: the number of collections is 1 on the "
            "prefilling side and 2 on the decoding side")
        other = Plain.__new__(Plain)
        other.folder = tmp_path / "other"
        config = synthetic.make_config("llama")
        synthetic.write_hf(other.folder / "hf", config, synthetic.make_weights(config, seed=4))
        assert sentence(*decoding, artifact=other.artifact(PAGE)).startswith(
            f"peers: the one at {prefill.endpoint} has other pages: the model is ")
        # The same weights, but other bits.
        rounds = model.artifact(PAGE, None, "--activations", "bf16")
        assert manifest(rounds / "model.so")["target"]["activations"] == "bf16"
        refused = sentence(*decoding, artifact=rounds)
        assert "the model is " in refused and refused.endswith(", activations bf16 on the decoding side"), refused
    prefilling = ("--role", "prefill", "--peer")
    assert sentence(*prefilling, "nowhere") == "peers: nowhere cannot be bound: Invalid argument"
    assert sentence(*prefilling, "tcp://*:65536") == (
        "peers: tcp://*:65536 cannot be bound: its port is '65536', allowed: 1 to 65535")
    assert sentence(*prefilling, f"ipc://{tmp_path}/x", "--requests", "file") == (
        "--role is prefill, which answers no requests of its own, and --requests is given")
    assert sentence(*prefilling, f"ipc://{tmp_path}/x", "--no-prefix-cache") == (
        "--role is given, and --no-prefix-cache")
    assert sentence(*prefilling, f"ipc://{tmp_path}/x", env={"KV_NIXL_LIBRARY": "/no/such.so"}) == (
        "pages of peers need NIXL: install the package nixl-cu12 1.5.1 (pip install --no-deps "
        "nixl-cu12==1.5.1) and set KV_NIXL_LIBRARY to its libnixl_capi.so, or activate the virtual environment that "
        "has it: /no/such.so: cannot open shared object file: No such file or directory")
    assert sentence(*prefilling, f"ipc://{tmp_path}/x", env={"KV_TRANSPORT_LIBRARY": "/no/such.so"}).startswith(
        "pages of peers need libkv_transport.so, which is built where ")
    done = subprocess.run(command(artifact, "--role", "decode"), input="", capture_output=True, text=True)
    assert done.returncode == 2 and "--peer" in done.stderr


def test_the_library_of_a_virtual_environment(model, tmp_path):
    """It is found without KV_NIXL_LIBRARY where an environment is active."""
    env = {k: v for k, v in environment().items() if k != "KV_NIXL_LIBRARY"}
    root = nixl().split("/lib/python3")[0]
    artifact = model.artifact(PAGE)
    done = subprocess.run(command(artifact, "--role", "decode", "--peer", f"ipc://{tmp_path}/x"), input="",
                          capture_output=True, text=True, env={**env, "VIRTUAL_ENV": root}, timeout=60)
    assert done.returncode == 0, done.stderr
