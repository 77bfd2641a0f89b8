"""Metrics as Prometheus reads them: by plain HTTP, and by its own parser."""

import json
import re
import socket
import threading

import pytest
from prometheus_client.parser import text_string_to_metric_families

import reference
from test_events import DRIVER, KvRun, Manager
from tools import open_own

pytestmark = pytest.mark.skipif(not DRIVER, reason="libzmq or prometheus-cpp is not there")


def scrape(port):
    """The samples by name and labels, and the families by name."""
    with open_own(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        assert answer.status == 200 and answer.headers["Content-Type"].startswith("text/plain")
        text = answer.read().decode()
    families = {family.name: family for family in text_string_to_metric_families(text)}
    samples = {(sample.name, *sorted(sample.labels.items())): sample.value
               for family in families.values() for sample in family.samples}
    return samples, families


def value(samples, name, **labels):
    return samples[(name, *sorted(labels.items()))]


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def test_a_managers_figures(tmp_path):
    manager = Manager("metrics=127.0.0.1:0", f"events=ipc://{tmp_path}/e", "pages=60")
    port = int(manager.greeting.split()[1])
    before = {}
    for seed in range(5):
        manager(f"work 40 {seed}")
        samples, families = scrape(port)
        of = lambda name, **more: value(samples, name, replica="0", **more)
        assert of("kv_pages") == 60 == of("kv_pages_used") + of("kv_pages_free")
        assert of("kv_pages_used") == 0 == of("kv_usage_ratio")
        assert 0 < of("kv_pages_cached") <= 60
        hit, never, evicted, other, lacks, _, loaded = json.loads(manager("why"))
        assert loaded == 0  # there is no other tier
        assert of("kv_prefix_hit_pages_total") == hit
        reasons = {"never_seen": never, "evicted": evicted, "other_scope": other, "group_lacks_it": lacks}
        for reason, count in reasons.items():
            assert of("kv_prefix_missed_pages_total", reason=reason) == count
        # Every page that was looked up is a hit, or has exactly one reason.
        assert of("kv_prefix_lookup_pages_total") == hit + sum(reasons.values())
        assert of("kv_prefix_hit_length_pages_sum") == hit
        assert of("kv_cached_tokens_total") == 4 * hit
        assert of("kv_events_dropped_total") == 0
        for key, count in before.items():
            if key[0].endswith(("_total", "_count", "_bucket")) and not key[0].startswith("exposer_"):
                assert samples[key] >= count, key
        before = samples
    assert hit > 100 and never > 100 and evicted > 10 and other > 10
    assert of("kv_pages_evicted_total") > 100 and of("kv_event_batches_total") > 1
    # What is stored and not removed is cached, or lies behind a page that is gone.
    assert of("kv_events_total", type="stored") - of("kv_events_total", type="removed") <= (
        of("kv_pages_cached"))
    vllm = {"model_name": "tiny", "engine": "0"}
    assert value(samples, "vllm:prefix_cache_hits_total", **vllm) == of("kv_cached_tokens_total")
    assert value(samples, "vllm:prefix_cache_queries_total", **vllm) == of("kv_prompt_tokens_total")
    assert value(samples, "vllm:kv_cache_usage_perc", **vllm) == 0
    assert value(samples, "vllm:cache_config_info", **vllm, block_size="4", num_gpu_blocks="60",
                 enable_prefix_caching="True") == 1
    manager.close()


def test_names_units_and_documents(tmp_path):
    """Of kv-run, which has all but a peer's: as Prometheus names things, and as the reference lists them."""
    port = free_port()
    serving = KvRun(tmp_path, "--metrics", f"127.0.0.1:{port}", "--metrics-vllm", "tiny", "--pages", "30",
                    "--events", f"ipc://{tmp_path}/e", "--disk-dir", str(tmp_path / "disk"), "--disk-bytes", "1000000",
                    "--store", "unix:///no/such/socket")
    serving.serve("a", [1, 2, 3, 4, 5, 6, 7, 8, 9])
    _, families = scrape(port)
    own = {family.name + ("_total" if family.type == "counter" else ""): family
           for family in families.values() if not family.name.startswith("exposer_")}
    listed = reference.metric_rows()
    assert set(own) == {name for name in listed if not name.startswith("kv_peer_")}
    assert {name: (family.type, family.documentation) for name, family in own.items()} == {
        name: listed[name][:2] for name in own}
    for name, (_, _, label, values) in listed.items():
        seen = {sample.labels.get(label) for sample in own[name].samples} if label and name in own else set()
        assert seen <= {*values}, name
    for name, family in own.items():
        assert family.documentation.endswith("."), name
        assert re.fullmatch(r"(kv_|vllm:)[a-z][a-z0-9_]*[a-z]", name), name
        if name.startswith("kv_"):
            assert (family.type == "counter") == name.endswith("_total"), name
        if family.type == "histogram":
            assert name.endswith(("_seconds", "_pages")), name
    serving.close()


def test_kv_runs_figures(tmp_path):
    port = free_port()
    serving = KvRun(tmp_path, "--metrics", f"127.0.0.1:{port}", "--metrics-vllm", "tiny", "--pages", "30")
    prompt = [1, 2, 3, 4, 5, 6, 7, 8, 9]
    for i in range(3):
        serving.serve(str(i), prompt, 4)
    for _ in range(100):  # the last step may still be on its way out
        samples, _ = scrape(port)
        if value(samples, "kv_requests_running") == 0:
            break
    assert value(samples, "kv_requests_total") == 3
    assert value(samples, "kv_requests_finished_total", reason="length") == 3
    assert value(samples, "kv_generated_tokens_total") == 12
    assert value(samples, "kv_prompt_tokens_total", replica="0") == 27
    assert value(samples, "kv_cached_tokens_total", replica="0") == 16
    assert value(samples, "kv_prefill_tokens_total") == 27 - 16
    steps = value(samples, "kv_step_duration_seconds_count")
    assert steps == 12 and 0 < value(samples, "kv_step_duration_seconds_sum") < 60
    assert value(samples, "kv_step_duration_seconds_bucket", le="+Inf") == steps
    assert value(samples, "kv_pages_used", replica="0") == 0
    vllm = {"model_name": "tiny", "engine": "0"}
    assert value(samples, "vllm:generation_tokens_total", **vllm) == 12
    assert value(samples, "vllm:num_requests_running", **vllm) == 0
    serving.close()


def test_scraped_while_it_serves(tmp_path):
    manager = Manager("metrics=127.0.0.1:0", "pages=60")
    port = int(manager.greeting.split()[1])
    ended = threading.Event()
    counts = []

    def watch():
        while not ended.is_set():
            samples, _ = scrape(port)
            used = value(samples, "kv_pages_used", replica="0")
            assert 0 <= used <= 60
            counts.append(value(samples, "kv_prefix_lookup_pages_total", replica="0"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    for seed in range(20):
        manager(f"work 500 {seed}")
    ended.set()
    watcher.join()
    assert counts == sorted(counts) and len(set(counts)) > 3
    manager.close()


def test_addresses_that_cannot_be_used(tmp_path):
    for address in ("nobody", "127.0.0.1:", "127.0.0.1:65536", ":80"):
        assert Manager(f"metrics={address}").greeting == (
            f"error: metrics: the address is '{address}', allowed: HOST:PORT, PORT from 0 to 65535")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        assert Manager(f"metrics={address}").greeting.startswith(
            f"error: metrics: {address} cannot be bound: ")


def test_without_the_library(tmp_path):
    refused = KvRun(tmp_path, "--metrics", "127.0.0.1:0",
                    env={"KV_METRICS_LIBRARY": "/no/such/library"})
    out, err = refused.process.communicate(timeout=20)
    assert refused.process.returncode == 2 and len(err.splitlines()) == 1
    assert err.startswith("kv-run: error: metrics need libkv_metrics.so, which is built where "
                          "prometheus-cpp is installed: /no/such/library: ")
