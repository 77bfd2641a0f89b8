"""vllm_scheduling.py [RUNNING] [PROMPT] [STEPS] [ROUNDS]: how long vLLM's scheduler takes for a step with its own
KVCacheManager, and with ours; no model runs. Prompts of PROMPT tokens on average, half of them with one of 16 common
beginnings; a request that has ended is followed by another, so that RUNNING are there. Both schedulers get the same
requests and tokens, and take turns step by step. Prints JSON: microseconds of a step, of the manager's part of it, and
ours over vLLM's, each the median of ROUNDS. Runs with an environment that has vLLM."""

import json
import os
import random
import statistics
import sys
import tempfile
import time

os.environ.update(VLLM_LOGGING_LEVEL="ERROR")

import torch  # noqa: E402
from transformers import LlamaConfig  # noqa: E402
from vllm.engine.arg_utils import EngineArgs  # noqa: E402
from vllm.sampling_params import SamplingParams  # noqa: E402
from vllm.utils.hashing import sha256  # noqa: E402
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash  # noqa: E402
from vllm.v1.core.sched import scheduler as theirs  # noqa: E402
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec  # noqa: E402
from vllm.v1.outputs import ModelRunnerOutput  # noqa: E402
from vllm.v1.request import Request  # noqa: E402
from vllm.v1.structured_output import StructuredOutputManager  # noqa: E402

from kvmlir import vllm_manager  # noqa: E402

SIZE = 16
MEASURED = ("allocate_slots", "get_computed_blocks", "get_blocks", "free", "cache_blocks", "create_kv_cache_blocks",
            "new_step_starts", "take_events", "take_new_block_ids", "estimate_cached_tokens", "take_kv_cache_block_copies",
            "take_boundary_state_offloads", "make_prefix_cache_stats", "record_prefix_cache_stats")


def config_of(folder, running, longest, blocks):
    LlamaConfig(hidden_size=64, num_attention_heads=1, num_hidden_layers=1, max_position_embeddings=longest,
                architectures=["LlamaForCausalLM"]).save_pretrained(folder)
    config = EngineArgs(model=folder, skip_tokenizer_init=True, max_model_len=longest, max_num_seqs=running,
                        max_num_batched_tokens=8192, block_size=SIZE, async_scheduling=False).create_engine_config()
    config.cache_config.num_gpu_blocks = blocks
    return config


class Side:
    """A scheduler, and the seconds that its steps take."""

    def __init__(self, make, config, blocks):
        spec = FullAttentionSpec(block_size=SIZE, num_kv_heads=1, head_size=64, dtype=torch.bfloat16)
        cache = KVCacheConfig(num_blocks=blocks, kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)])
        self.scheduler = make(config, cache, StructuredOutputManager(config), block_size=SIZE, log_stats=True)
        self.seconds = self.inside = 0.0
        self.calls = 0
        for name in MEASURED:
            setattr(self.scheduler.kv_cache_manager, name, self.measured(getattr(self.scheduler.kv_cache_manager, name)))

    def measured(self, function):
        clock = time.perf_counter

        def call(*args, **kwargs):
            begin = clock()
            try:
                return function(*args, **kwargs)
            finally:
                self.inside += clock() - begin
                self.calls += 1
        return call

    def overhead(self):
        """Seconds of a call that are those of the clock."""
        empty = self.measured(lambda *args, **kwargs: None)
        kept, self.inside = self.inside, 0.0
        for _ in range(10000):
            empty(None, 1, num_lookahead_tokens=0)
        cost, self.inside = self.inside / 10000, kept
        return cost

    def step(self, tokens_of):
        begin = time.perf_counter()
        output = self.scheduler.schedule()
        self.seconds += time.perf_counter() - begin
        names = list(output.num_scheduled_tokens)
        sampled = [[] if self.scheduler.requests[name].is_prefill_chunk else [tokens_of(name)] for name in names]
        made = ModelRunnerOutput(names, {name: i for i, name in enumerate(names)}, sampled)
        begin = time.perf_counter()
        self.scheduler.update_from_output(output, made)
        self.seconds += time.perf_counter() - begin
        return output.num_scheduled_tokens


class Trace:
    """Requests as they come, the same for both sides."""

    def __init__(self, prompt, seed):
        self.random, self.prompt, self.made = random.Random(seed), prompt, 0
        self.beginnings = [self.tokens(prompt // 2) for _ in range(16)]

    def tokens(self, count):
        return [self.random.randrange(30000) for _ in range(count)]

    def next(self):
        self.made += 1
        length = self.random.randrange(self.prompt // 2, self.prompt * 3 // 2)
        tokens = self.tokens(length)
        if self.random.random() < 0.5:
            tokens[:self.prompt // 2] = self.random.choice(self.beginnings)
        answer = self.random.randrange(64, 512)
        return [Request(f"{self.made}", tokens, SamplingParams(max_tokens=answer, ignore_eos=True), None,
                        block_hasher=get_request_block_hasher(SIZE, sha256)) for _ in range(2)]


def measure(config, blocks, running, prompt, steps, seed):
    sides = [Side(make, config, blocks) for make in (theirs.Scheduler, vllm_manager.scheduler)]
    trace = Trace(prompt, seed)
    warm = None
    for step in range(10**6):
        while len(sides[0].scheduler.requests) < running + 8:
            for side, request in zip(sides, trace.next(), strict=True):
                side.scheduler.add_request(request)
        order = sides if step % 2 else sides[::-1]
        scheduled = [side.step(lambda name: (hash(name) + step) % 30000) for side in order]
        assert scheduled[0] == scheduled[1], "the two schedule different tokens"
        if warm is None and len(sides[0].scheduler.running) == running:
            warm = step
            for side in sides:
                side.seconds = side.inside = side.calls = 0
        if warm is not None and step == warm + steps:
            break
    usage = [side.scheduler.kv_cache_manager.usage for side in sides]
    for side in sides:
        cost = side.calls * side.overhead()
        side.inside -= cost
        side.seconds -= cost
    return [[side.seconds / steps * 1e6, side.inside / steps * 1e6] for side in sides], usage


def main(running=256, prompt=3000, steps=1000, rounds=3):
    init_none_hash(sha256)
    longest = 2 * prompt + 512
    blocks = running * (prompt + 300) // SIZE
    with tempfile.TemporaryDirectory() as folder:
        config = config_of(folder, running, longest, blocks)
        results = [measure(config, blocks, running, prompt, steps, seed) for seed in range(rounds)]
    found = {"running": running, "prompt": prompt, "blocks": blocks, "steps": steps, "usage": [one[1] for one in results]}
    for at, name in enumerate(("step", "manager")):
        own, other = ([one[0][side][at] for one in results] for side in (1, 0))
        found[name] = {"ours_us": round(statistics.median(own), 1), "vllm_us": round(statistics.median(other), 1),
                       "ratios": [round(a / b, 3) for a, b in zip(own, other)]}
    print(json.dumps(found))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
