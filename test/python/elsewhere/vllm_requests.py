"""Managers and requests of vLLM, without a model."""

import os

os.environ.update(VLLM_LOGGING_LEVEL="ERROR")

import torch  # noqa: E402
from vllm.sampling_params import SamplingParams  # noqa: E402
from vllm.utils.hashing import sha256  # noqa: E402
from vllm.v1.core.kv_cache_utils import get_request_block_hasher, init_none_hash  # noqa: E402
from vllm.v1.kv_cache_interface import FullAttentionSpec, KVCacheConfig, KVCacheGroupSpec  # noqa: E402
from vllm.v1.request import Request, RequestStatus  # noqa: E402

SIZE, LONGEST = 4, 256
init_none_hash(sha256)


def make(kind, blocks=17, size=SIZE, zeroing=False, spec=None, **options):
    spec = spec or FullAttentionSpec(block_size=size, num_kv_heads=1, head_size=8, dtype=torch.float32)
    config = KVCacheConfig(num_blocks=blocks, kv_cache_tensors=[], kv_cache_groups=[KVCacheGroupSpec(["layer"], spec)])
    if zeroing:
        config.__dict__["needs_kv_cache_zeroing"] = True
    return kind(**{"kv_cache_config": config, "max_model_len": LONGEST, "scheduler_block_size": spec.block_size,
                   "hash_block_size": spec.block_size, "log_stats": True, "enable_kv_cache_events": True, **options})


def request(name, tokens, hasher=sha256, **options):
    parameters = SamplingParams(max_tokens=100, extra_args=options.pop("extra_args", None))
    return Request(name, list(tokens), parameters, None, block_hasher=get_request_block_hasher(SIZE, hasher), **options)


def start(manager, one, count=None, **options):
    """Schedules a new request as vLLM does: the tokens that were found; None: no room."""
    one.num_computed_tokens = 0
    blocks, found, _ = manager.get_computed_blocks(one)
    count = one.num_tokens - found if count is None else min(count, one.num_tokens - found)
    new = manager.allocate_slots(one, count, found, blocks, **options)
    if new is None:
        return None
    one.status, one.num_computed_tokens = RequestStatus.RUNNING, found + count
    return found


def go_on(manager, one, *tokens, **options):
    """A step that computes the tokens; the number of new blocks, or None."""
    one.append_output_token_ids(list(tokens))
    new = manager.allocate_slots(one, one.num_tokens - one.num_computed_tokens, **options)
    if new is None:
        return None
    one.num_computed_tokens = one.num_tokens
    return sum(map(len, new.get_block_ids()))


def found(manager, tokens, **options):
    return manager.get_computed_blocks(request("probe", tokens, **options))[1]


def used(manager):
    return round(manager.usage * (manager.kv_cache_config.num_blocks - 1))


def names(manager):
    return [type(event).__name__ for event in manager.take_events()]


def event_fields(event):
    return (type(event).__name__, *(getattr(event, field) for field in event.__struct_fields__))
