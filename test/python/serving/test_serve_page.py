"""What people see of a server: vLLM's dashboards, which read its figures, and its page."""

import base64
import hashlib
import re
import threading
import time

import pytest

import kvmlir
from serve_process import PAGE, Serve, chat, make_tiny
from test_serve_access import ask

# What the queries of vLLM's examples/observability ask for (prometheus_grafana, and the dashboards query_statistics,
# performance_statistics and vllm_overview), and what older ones did.
HISTOGRAMS = ("e2e_request_latency_seconds", "inter_token_latency_seconds", "time_per_output_token_seconds",
              "request_time_per_output_token_seconds", "time_to_first_token_seconds", "request_queue_time_seconds",
              "request_prefill_time_seconds", "request_decode_time_seconds", "request_inference_time_seconds",
              "request_prompt_tokens", "request_generation_tokens", "request_max_num_generation_tokens")
OTHERS = ("prompt_tokens_total", "generation_tokens_total", "request_success_total", "num_requests_running",
          "num_requests_waiting", "kv_cache_usage_perc", "prefix_cache_queries_total", "prefix_cache_hits_total",
          "num_preemptions_total", "cache_config_info", *(
              f"spec_decode_num_{name}_total" for name in ("drafts", "draft_tokens", "accepted_tokens")))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("page"))


@pytest.fixture(scope="module")
def server(folder):
    with Serve(folder, "--pages", 64, "--max-batch", 2, "--api-key", "none") as server:
        yield server


def figures(server):
    """Sums by name, of all labels."""
    status, headers, text = ask(server, "GET", "/metrics", Authorization="Bearer none")
    assert status == 200 and headers["content-type"].startswith("text/plain")
    sums = {}
    for line in text.decode().splitlines():
        if found := re.fullmatch(r'(vllm:\w+)\{(?=.*engine="0")(?=.*model_name="tiny").*\} (\S+)', line):
            sums[found[1]] = sums.get(found[1], 0) + float(found[2])
    return sums


def test_dashboards(server):
    before = figures(server)
    names = {*(f"vllm:{name}" for name in OTHERS), *(f"vllm:{name}_{part}" for name in HISTOGRAMS
                                                     for part in ("bucket", "sum", "count"))}
    assert names <= set(before)
    client = server.client()
    total = [0, 0]

    def work(seed):
        for turn in range(2):
            usage = client.chat.completions.create(**{**chat("hello" * 10), "temperature": 1}, max_tokens=9, seed=seed,
                                                   extra_body={"ignore_eos": True}).usage
            total[0] += usage.prompt_tokens
            total[1] += usage.completion_tokens

    threads = [threading.Thread(target=work, args=[seed]) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    after = figures(server)
    grown = {name.removeprefix("vllm:"): after[name] - before.get(name, 0) for name in after}
    assert grown["request_success_total"] == 12 and total[1] == 12 * 9
    assert grown["prompt_tokens_total"] == total[0] == grown["request_prompt_tokens_sum"]
    assert grown["generation_tokens_total"] == total[1] == grown["request_generation_tokens_sum"]
    for name in HISTOGRAMS:
        count = 12 * 8 if name in ("inter_token_latency_seconds", "time_per_output_token_seconds") else 12
        assert grown[f"{name}_count"] == count and grown[f"{name}_sum"] > 0, name
    of = lambda name: grown[f"{name}_seconds_sum"]
    assert of("time_to_first_token") == pytest.approx(of("request_queue_time") + of("request_prefill_time"))
    assert of("request_inference_time") == pytest.approx(of("request_prefill_time") + of("request_decode_time"))
    assert of("request_decode_time") == pytest.approx(of("inter_token_latency"))
    assert of("e2e_request_latency") >= of("time_to_first_token") + of("request_decode_time")
    assert grown["prefix_cache_hits_total"] >= 11 * PAGE


def test_who_begins_first(server):
    """Of requests that wait the smallest priority, and then the salt that had the fewest tokens."""
    client, ends, before = server.client(), {}, figures(server)

    def ask(name, prompts, priority, salt=None):
        client.completions.create(model="tiny", prompt=prompts, max_tokens=400, extra_body={
            "ignore_eos": True, "priority": priority, "cache_salt": salt})
        ends[name] = time.monotonic()

    threads = [threading.Thread(target=ask, args=given) for given in (
        ("many", ["a"] * 60, 0), ("late", "b", 1), ("urgent", "c", -1), ("other", "d", 0, "other"))]
    threads[0].start()
    until = time.monotonic() + 20
    while figures(server)["vllm:num_requests_waiting"] < 30:
        assert time.monotonic() < until and threads[0].is_alive()
    begin = time.monotonic()
    for thread in threads[1:]:
        thread.start()
    for thread in threads:
        thread.join()
    whole = min(ends["many"], ends["late"]) - begin
    assert ends["urgent"] - begin < 0.5 * whole and ends["other"] - begin < 0.5 * whole
    queued = "vllm:request_queue_time_seconds_sum"
    assert figures(server)[queued] - before[queued] > whole


def test_why_pages_missed(server):
    def pages(text, **more):
        asked = {"max_tokens": 1, "extra_body": {"explain": True, **more}}
        usage = server.client().completions.create(model="tiny", prompt=text, **asked).usage
        return usage.prompt_tokens_details.pages

    text = "why" * PAGE
    # The third asks whether somebody else has sent the text.
    for salt, why in ((None, "never_seen"), (None, "hit"), ("other", "never_seen")):
        assert pages(text, cache_salt=salt) == [why] * 2 + ["always_computed"]
    plain = server.client().completions.create(model="tiny", prompt=text, max_tokens=1).usage
    assert not hasattr(plain.prompt_tokens_details, "pages")


def test_the_page(server):
    """Its parts are what its policy names, and it asks this server only, for paths that are there."""
    status, headers, page = ask(server, "GET", "/")  # without a key: it asks its reader for one
    assert status == 200 and headers["content-type"] == "text/html; charset=utf-8"
    policy = dict(one.split(" ", 1) for one in headers["content-security-policy"].split("; "))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["connect-src"] == "'self'"
    for tag in ("script", "style"):
        [content] = re.findall(f"<{tag}>(.*?)</{tag}>".encode(), page, re.S)
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        assert policy[f"{tag}-src"] == f"'sha256-{digest}'"
    text = page.decode()
    assert "http:" not in text and "https:" not in text and "innerHTML" not in text and " style=" not in text
    paths = set(re.findall(r'"(/\w[\w/]*)"', text))
    assert paths == {"/v1/models", "/metrics", "/v1/chat/completions", "/v1/completions", "/reset_prefix_cache"}
    described = ask(server, "GET", "/openapi.json", Authorization="Bearer none")[2]["paths"]
    assert {*paths, "/"} <= set(described)
    assert ask(server, "GET", "/metrics")[0] == 401
    known = re.findall(r"(\w+): \"", text.partition("REASONS = {")[2].partition("}")[0])
    assert sorted({*known, "other_scope"}) == sorted(kvmlir.REASONS)  # no tenant hears of other salts
    assert all(f"--{reason}:" in text for reason in known)
    model = ask(server, "GET", "/v1/models", Authorization="Bearer none")[2]["data"][0]
    assert model["capabilities"] == ["completion", "chat"]
