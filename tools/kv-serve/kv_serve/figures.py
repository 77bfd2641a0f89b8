"""Figures that vLLM's dashboards ask for and the runtime does not have: durations and lengths of requests."""

import bisect
import itertools
import math

from prometheus_client import CollectorRegistry, Counter, disable_created_metrics, generate_latest
from prometheus_client.core import HistogramMetricFamily
from prometheus_client.utils import floatToGoString

# name -> what it says. docs/reference/metrics.md lists them.
SECONDS = {
    "vllm:time_to_first_token_seconds": "Time from a request's arrival to its first token.",
    "vllm:inter_token_latency_seconds": "Time from each token to the next one.",
    "vllm:time_per_output_token_seconds": "As vllm:inter_token_latency_seconds, which older dashboards call so.",
    "vllm:request_time_per_output_token_seconds": "Mean time between the tokens of each request.",
    "vllm:e2e_request_latency_seconds": "Time from a request's arrival to its end.",
    "vllm:request_queue_time_seconds": "Time from a request's arrival to its first step.",
    "vllm:request_prefill_time_seconds": "Time from a request's first step to its first token.",
    "vllm:request_decode_time_seconds": "Time from a request's first token to its last one.",
    "vllm:request_inference_time_seconds": "Time from a request's first step to its last token.",
}
TOKENS = {
    "vllm:request_prompt_tokens": "Tokens of each request's prompt.",
    "vllm:request_generation_tokens": "Tokens of each request's answer.",
    "vllm:request_max_num_generation_tokens": "As vllm:request_generation_tokens: each answer is a request of its own.",
}
COUNTS = {
    "vllm:prompt_tokens_total": "Tokens of the prompts of requests that have ended.",
    "vllm:request_success_total": "Requests that have ended, by what ended them.",
}
REASONS = ("stop", "length", "abort", "error")
# Other names of the same figures.
_SAME = {"vllm:time_per_output_token_seconds": "vllm:inter_token_latency_seconds",
         "vllm:request_max_num_generation_tokens": "vllm:request_generation_tokens"}


def _steps(least, most):
    """1, 2, 5, 10, ... between powers of ten."""
    return [digit * 10.0**power for power in range(least, most) for digit in (1, 2, 5)]


class _Histogram:
    """Without locks, unlike the package's: it stands between two steps, once for each token. One thread observes."""

    def __init__(self, bounds):
        self._bounds = [*bounds, math.inf]
        self._counts, self._sum = [0] * len(self._bounds), 0.0

    def observe(self, value):
        self._counts[bisect.bisect_left(self._bounds, value)] += 1
        self._sum += value

    def figures(self):
        """(pairs of a bound and how many are not above it, the sum)"""
        return list(zip(map(floatToGoString, self._bounds), itertools.accumulate(list(self._counts)))), self._sum


class Figures:
    """The engine's thread calls take() and finish(), any thread text()."""

    def __init__(self, model_name):
        disable_created_metrics()
        self._registry = CollectorRegistry()
        self._names, self._values = ("model_name", "engine"), (model_name, "0")
        self._histograms = {name: _Histogram(bounds) for table, bounds in (
            (SECONDS, _steps(-4, 3)), (TOKENS, _steps(0, 7))) for name in table if name not in _SAME}
        self._registry.register(self)
        counter = lambda name, *more: Counter(name, COUNTS[name], (*self._names, *more), registry=self._registry)
        self._prompt_tokens = counter("vllm:prompt_tokens_total").labels(*self._values)
        ended = counter("vllm:request_success_total", "finished_reason")
        self._ended = {reason: ended.labels(*self._values, reason) for reason in REASONS}

    def collect(self):
        """The histograms, as the registry asks for them."""
        for name, said in (SECONDS | TOKENS).items():
            family = HistogramMetricFamily(name, said, labels=self._names)
            family.add_metric(self._values, *self._histograms[_SAME.get(name, name)].figures())
            yield family

    def _observe(self, name, value):
        self._histograms[f"vllm:{name}"].observe(value)

    def take(self, ticket, now):
        """A token has come."""
        if ticket.first_token is None:
            ticket.first_token = now
            self._observe("time_to_first_token_seconds", now - ticket.arrived)
        else:
            self._observe("inter_token_latency_seconds", now - ticket.last_token)
        ticket.last_token = now
        ticket.new_tokens += 1

    def finish(self, ticket, end, now):
        self._ended[end.reason].inc()
        self._observe("e2e_request_latency_seconds", now - ticket.arrived)
        self._observe("request_queue_time_seconds", (ticket.admitted or now) - ticket.arrived)
        self._prompt_tokens.inc(end.prompt_tokens)
        if not ticket.new_tokens or ticket.admitted is None:
            return
        decode, between = ticket.last_token - ticket.first_token, ticket.new_tokens - 1
        self._observe("request_prefill_time_seconds", ticket.first_token - ticket.admitted)
        self._observe("request_decode_time_seconds", decode)
        self._observe("request_inference_time_seconds", ticket.last_token - ticket.admitted)
        if between:
            self._observe("request_time_per_output_token_seconds", decode / between)
        self._observe("request_prompt_tokens", end.prompt_tokens)
        self._observe("request_generation_tokens", ticket.new_tokens)

    def text(self):
        """In Prometheus' format."""
        return generate_latest(self._registry)
