"""Models with recurrent layers beside attention through kv-import, kv-compile and kv-run: against the
numpy oracle, and with prefix hits, chunks, batches and small caches against runs without them."""

import json
import subprocess

import numpy as np
import pytest

import test_end_to_end
import test_transport
from peers import Prefill, command, environment, nixl
from redis_server import RedisServer
from kv_import import synthetic
from test_tiers import LIBRARY
from tools import KV_IMPORT, find, run

KV_COMPILE, KV_RUN = find("kv-compile"), find("kv-run")
pytestmark = pytest.mark.skipif(not (KV_COMPILE and KV_RUN), reason="kv-run is not built")

KINDS = ("qwen3_next", "granite_hybrid")
PAGE = 16


@pytest.mark.parametrize("kind", (*KINDS, "qwen3_next_experts", "granite_hybrid_experts"))
@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_logits(tmp_path, kind, dtype):
    test_end_to_end.check_logits(tmp_path, kind, dtype, "hf")


@pytest.mark.parametrize("kind", KINDS)
def test_reference_pipeline(tmp_path, kind):
    test_end_to_end.test_reference_pipeline(tmp_path, kind)


@pytest.fixture(scope="module", params=KINDS)
def model(request, tmp_path_factory):
    """A folder with model.so and weights.safetensors."""
    folder = tmp_path_factory.mktemp(request.param)
    config = synthetic.make_config(request.param)
    synthetic.write_hf(folder / "hf", config, synthetic.make_weights(config, seed=3))
    done = run(KV_IMPORT, folder / "hf", "-o", folder, "--page", str(PAGE))
    assert done.returncode == 0, done.stderr
    subprocess.run([KV_COMPILE, folder / "model.mlir", "-o", folder / "model.so"], check=True,
                   timeout=120)
    return folder


class Served:
    """What kv-run says; `requests`: id -> (tokens, new tokens)."""

    def __init__(self, model, requests, *options):
        lines = "".join(json.dumps({"id": name, "tokens": [int(t) for t in tokens],
                                    "max_new_tokens": new, "logits": "digest"}) + "\n"
                        for name, (tokens, new) in requests.items())
        done = subprocess.run(
            [KV_RUN, model / "model.so", "--weights", model / "weights.safetensors",
             "--threads", "2", *map(str, options)], input=lines, capture_output=True, text=True,
            timeout=300)
        assert done.returncode == 0, done.stderr + done.stdout[:2000]
        *told, last = map(json.loads, done.stdout.splitlines())
        self.statistics = last["statistics"]
        self.cached = {one["id"]: one["cached_tokens"] for one in told if "token" not in one}
        # Each token with the digest of its logits' bits.
        self.rows = {name: [] for name in requests}
        for one in told:
            if "token" in one:
                self.rows[one["id"]].append((one["token"], one["logits_digest"]))

    def tokens(self, name):
        return [token for token, _ in self.rows[name]]


def test_drafts_are_refused(model):
    for more, says in ((("--ngram", "4"), "--ngram is 4, allowed: 0, since the model's"),
                       (("--draft", model), f"--draft {model}: the served model's")):
        done = subprocess.run([KV_RUN, model / "model.so", "--weights", model / "weights.safetensors", *more],
                              capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr == f"kv-run: error: {says} recurrent states cannot go back to the accepted drafts\n"


class Oracle:
    """What has been computed and kept, of requests that come one after the other and are not
    evicted: pages of all prefixes, states where a prompt parts from what was known, behind the last
    page of a prompt that a later one can take over, and behind every page that was generated."""

    def __init__(self):
        self.pages, self.states = set(), set()

    def hit(self, prompt, answer):
        """Tokens that `prompt` finds; from now on it is known, with the answer."""
        last = (len(prompt) - 1) // PAGE * PAGE
        known = [at for at in range(PAGE, last + 1, PAGE) if tuple(prompt[:at]) in self.pages]
        kept = [at for at in known if tuple(prompt[:at]) in self.states]
        # The last generated token is never computed.
        whole = [*prompt, *answer[:-1]]
        ends = range(PAGE, len(whole) + 1, PAGE)
        self.pages |= {tuple(whole[:at]) for at in ends}
        self.states |= {tuple(whole[:at]) for at in ends
                        if at in known[-1:] or at == last or at >= len(prompt)}
        return max(kept, default=0)


def conversations(random, vocab=256):
    """Prompts that share beginnings in several ways, without the answers between them."""
    system, other = random.integers(0, vocab, 53), random.integers(0, vocab, 40)
    for i in range(4):
        for start in (system, other):
            yield np.concatenate([start, random.integers(0, vocab, 9 + 7 * i)])
    yield system  # alone, and once more
    yield system
    yield system[:33]
    yield system[:32]


def test_hits_are_the_oracles_and_change_no_bit(model):
    random = np.random.default_rng(5)
    prompts = [list(p) for p in conversations(random)]
    # Turns go on with what was answered: a first run says what that is.
    plain = Served(model, {str(i): (p, 20) for i, p in enumerate(prompts)}, "--no-prefix-cache")
    for i in range(3):
        prompts.append([*prompts[i], *plain.tokens(str(i)), *random.integers(0, 256, 12)])
    prompts += [prompts[0], prompts[-2]]
    requests = {str(i): (p, 20) for i, p in enumerate(prompts)}
    plain = Served(model, requests, "--no-prefix-cache")
    oracle = Oracle()
    wanted = {name: oracle.hit(prompt, plain.tokens(name))
              for name, (prompt, _) in requests.items()}
    assert len(set(wanted.values())) > 4, wanted
    for chunk in (512, 10):
        cached = Served(model, requests, "--max-batch", 1, "--max-batch-tokens", chunk,
                        "--snapshots", 100)
        assert cached.cached == wanted
        assert cached.rows == plain.rows


def test_cuts_of_prompts_change_no_bit(model):
    """The scan goes from token to token, whatever a step holds."""
    random = np.random.default_rng(6)
    requests = {str(i): (random.integers(0, 256, n), 1) for i, n in enumerate((1, 17, 64, 90))}
    found = []
    for options in (("--max-batch-tokens", 512), ("--max-batch-tokens", 1), ("--max-batch-tokens", 23),
                    ("--max-batch", 1, "--max-batch-tokens", 40)):
        dump = model / "logits"
        Served(model, requests, "--dump-logits", dump, *options)
        found.append(dump.read_bytes())
    assert len(found[0]) > 0 and all(bits == found[0] for bits in found)


@pytest.mark.parametrize("options", (
    ("--max-batch", 8),
    ("--max-batch", 8, "--snapshots", 0),
    ("--max-batch", 8, "--pages", 14, "--snapshots", 2),  # for two of the requests
    ("--max-batch", 3, "--pages", 12, "--max-batch-tokens", 19),
    ("--max-batch", 6, "--replicas", 2)))
def test_batches_and_small_caches_change_no_bit(model, options):
    random = np.random.default_rng(7)
    prompts = list(conversations(random))
    requests = {str(i): (p, 25) for i, p in enumerate(prompts + prompts)}
    plain = Served(model, requests, "--no-prefix-cache", "--max-batch", 1)
    cached = Served(model, requests, *options)
    assert cached.rows == plain.rows
    if "--pages" in options:
        assert cached.statistics["preemptions"] > 0
    if "--snapshots" not in options:
        assert sum(cached.cached.values()) > 0


@pytest.mark.parametrize("kind, changes, said", (
    ("qwen3_next", {"num_experts": 8}, ("lacks 'num_experts_per_tok'",)),
    ("qwen3_next_experts", {"mlp_only_layers": [1]}, ("mlp_only_layers is [1]", "[], or all layers")),
    ("qwen3_next_experts", {"decoder_sparse_step": 2}, ("decoder_sparse_step is 2; supported: 1",)),
    ("qwen3_next_experts", {"num_experts_per_tok": 9}, ("9 experts a token", "only 8 in a layer")),
    ("qwen3_next_experts", {"shared_expert_intermediate_size": None}, ("lacks 'shared_expert_intermediate_size'",)),
    ("qwen3_next_experts", {"shared_expert_intermediate_size": 48}, ("shared_expert.", "has the shape", "calls for")),
    ("qwen3_next", {"layer_types": ["mamba"] * 4}, ("layer_types is 'mamba'", "linear_attention, full_attention")),
    ("qwen3_next", {"layer_types": ["full_attention"] * 4}, ("layers of both kinds",)),
    ("qwen3_next", {"linear_num_value_heads": 3}, ("the number of value heads is 3", "a multiple of")),
    ("qwen3_next", {"linear_value_head_dim": 8}, ("in_proj_qkvz.weight has the shape", "calls for")),
    ("granite_hybrid_experts", {"num_local_experts": 7}, ("input_linear.weight has the shape", "calls for")),
    ("granite_hybrid_experts", {"intermediate_size": 40}, ("experts of 64 and 40 rows", "multiples of 16")),
    ("granite_hybrid", {"mamba_d_head": 7}, ("mamba_d_head is 7", "16, so that 8 heads have 128 elements")),
    ("granite_hybrid", {"mamba_conv_bias": False}, ("mamba_conv_bias is False; supported: true",)),
    ("granite_hybrid", {"layer_types": ["mamba"] * 3}, ("a list of 4 kinds, one a layer",))))
def test_what_is_not_supported_is_said(tmp_path, kind, changes, said):
    config = synthetic.make_config(kind)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config), settings=changes)
    done = run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert all(text in done.stderr for text in said), done.stderr


tiers = pytest.mark.skipif(not LIBRARY.exists(), reason="libkv_tiers.so is not built")


@tiers
def test_states_come_back_from_a_disk(model, tmp_path):
    """Other processes with the same disk find pages and states, where prompts part too."""
    random = np.random.default_rng(8)
    prompts = list(conversations(random))
    requests = {str(i): (p, 20) for i, p in enumerate(prompts)}
    plain = Served(model, requests, "--no-prefix-cache")
    disk = ("--disk-dir", tmp_path / "disk", "--disk-bytes", 1 << 26, "--max-batch", 1)
    first = Served(model, requests, *disk)
    assert first.rows == plain.rows
    again = Served(model, requests, *disk)
    assert again.rows == plain.rows
    assert again.statistics["disk_pages_read"] > 0
    # Of each prompt, all that a state was kept behind.
    wanted = {name: (len(prompt) - 1) // PAGE * PAGE for name, (prompt, _) in requests.items()}
    assert again.cached == wanted


@tiers
def test_a_device_that_forgets_finds_states_in_the_host(model):
    random = np.random.default_rng(9)
    prompts = list(conversations(random))
    requests = {str(i): (p, 20) for i, p in enumerate(prompts + prompts)}
    plain = Served(model, requests, "--no-prefix-cache")
    small = ("--max-batch", 2, "--pages", 14, "--snapshots", 0)
    without = Served(model, requests, *small)
    with_host = Served(model, requests, *small, "--host-pages", 4000)
    assert without.rows == with_host.rows == plain.rows
    assert with_host.statistics["loaded_pages"] > 0
    # The second time everything is there.
    again = {name: (len(prompt) - 1) // PAGE * PAGE
             for name, (prompt, _) in requests.items() if int(name) >= len(prompts)}
    assert {name: with_host.cached[name] for name in again} == again
    assert sum(without.cached[name] for name in again) < sum(again.values())


@tiers
def test_another_machine_finds_states_in_a_store(model, tmp_path):
    random = np.random.default_rng(10)
    requests = {str(i): (p, 12) for i, p in enumerate(conversations(random))}
    plain = Served(model, requests, "--no-prefix-cache")
    with RedisServer(tmp_path) as server:
        store = ("--store", server.address, "--max-batch", 1, "--host-pages", 2000)
        assert Served(model, requests, *store).rows == plain.rows
        other = Served(model, requests, *store)
        assert other.rows == plain.rows
        assert other.statistics["store_pages_read"] > 0
        assert other.cached == {name: (len(prompt) - 1) // PAGE * PAGE for name, (prompt, _) in requests.items()}
        assert server.spoil() > 0
        spoilt = Served(model, requests, *store)
        assert spoilt.rows == plain.rows


@tiers
def test_prefill_and_decode_apart(model):
    """A peer computes pages and states; what was read has the bits that it would have had here."""
    random = np.random.default_rng(11)
    prompts = list(conversations(random))
    requests = [{"id": str(i), "tokens": [int(t) for t in p], "max_new_tokens": 8, "logits": "digest"}
                for i, p in enumerate(prompts)]
    plain = Served(model, {r["id"]: (r["tokens"], 8) for r in requests}, "--no-prefix-cache")
    with Prefill(model, "--host-pages", "4000") as prefill:
        have, statistics, notes = test_transport.decode(
            None, model, prefill.endpoint, requests, "--host-pages", "4000", "--max-batch", "1")
        assert notes == ""
        theirs = prefill.end()
    assert have == plain.rows
    assert statistics["peer"]["pages_read"] > statistics["loaded_pages"] > 0  # parts of states too
    assert theirs["peer"]["leases"] == theirs["peer"]["leases_returned"] > 0, theirs
    # Every whole page of every prompt comes from there, or is here already.
    assert statistics["cached_tokens"] == sum((len(p) - 1) // PAGE * PAGE for p in prompts), statistics


@tiers
def test_peers_need_equal_page_sizes(model, tmp_path):
    done = run(KV_IMPORT, model / "hf", "-o", tmp_path, "--page", "32")
    assert done.returncode == 0, done.stderr
    subprocess.run([KV_COMPILE, tmp_path / "model.mlir", "-o", tmp_path / "model.so"], check=True, timeout=120)
    with Prefill(model) as prefill:
        done = subprocess.run(command(tmp_path, "--role", "decode", "--peer", prefill.endpoint), input="",
                              capture_output=True, text=True, env=environment(), timeout=60)
    assert done.returncode == 2
    assert "is 16 on the prefilling side and 32 on the decoding side" in done.stderr
    assert "page of " in done.stderr
