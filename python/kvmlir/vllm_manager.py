"""Our cache engine as vLLM's KVCacheManager:

    vllm serve MODEL --scheduler-cls kvmlir.vllm_manager.scheduler

The engine decides which request has which blocks, which blocks are found again and which are evicted; vLLM's memory and
its worker stay as they are. A block of vLLM is a page of the engine. The page's tokens are a separator and vLLM's digest
of the block, so two blocks are equal if vLLM says so: its digest covers adapters, images, embeddings and salts. What vLLM
caches when it schedules a step is committed then. A worker goes on using the ids that it was told, so a request keeps a
page that an equal one has replaced.

Needs one group of full attention, without EAGLE, context parallelism and residency metrics. Three answers are not vLLM's.
A hit has its block ids once allocate_slots() has taken it. Of equal blocks one is cached, and held as long as a request has
any of them. evict_blocks() forgets all prefixes, which happens after failed loads of a connector that may not recompute."""

import functools
import logging
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import Any, Optional

try:
    import numpy
    import vllm  # noqa: F401
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"kvmlir.vllm_manager needs the package {error.name}, which is not installed",
                              name=error.name) from error
from vllm.distributed.kv_events import MEDIUM_GPU, AllBlocksCleared, BlockRemoved, BlockStored
from vllm.v1.core import kv_cache_manager as theirs
from vllm.v1.core.kv_cache_utils import (KVCacheBlock, generate_block_hash_extra_keys, make_block_hash_with_group_id,
                                         maybe_convert_block_hash, to_event_extra_keys)
from vllm.v1.core.sched import scheduler as their_scheduler
from vllm.v1.core.sched.async_scheduler import AsyncScheduler
from vllm.v1.kv_cache_interface import (FullAttentionSpec, MLAAttentionSpec, get_kv_cache_spec_kind,
                                        get_kv_cache_spec_sliding_window)
from vllm.v1.metrics.stats import PrefixCacheStats
from vllm.v1.request import RequestStatus

from .managers import PagedKVCacheManager, TextGenerationContext
from .params import KVCacheParams

_DIGEST = 32  # bytes; shorter digests are padded
_SEPARATOR = bytes(4)
#: Tokens of a page. The separator comes first, so that a prompt is never an exact number of pages: the engine takes over
#: no page of a prompt's last token.
_WORDS = 1 + _DIGEST // 4
#: Most blocks of a request whose digests are not known: its last one, and those of drafts.
_UNKNOWN_BLOCKS = 32
_log = logging.getLogger(__name__)


class _Blocks(theirs.KVCacheBlocks):
    """Blocks of a request by their ids; vLLM's objects are made if somebody asks for them."""

    def __init__(self, ids: list[int], digests: Sequence[bytes] = (), size: int = 0):
        self.ids, self.digests, self.size = ids, digests, size

    @property
    def blocks(self) -> tuple[list[KVCacheBlock], ...]:  # type: ignore[override]
        made = [KVCacheBlock(number, ref_cnt=1) for number in self.ids]
        for i, (block, digest) in enumerate(zip(made, self.digests)):
            block.set_block_hash(make_block_hash_with_group_id(digest, 0), (i + 1) * self.size)
        return (made,)

    def get_block_ids(self, allow_none: bool = False,  # type: ignore[override]
                      *, group_ids: Optional[Sequence[int]] = None) -> Optional[tuple[list[int], ...]]:
        if allow_none and not self.ids:
            return None
        return tuple(self.ids.copy() for _ in (group_ids if group_ids is not None else (0,)))


class _Owned:
    """A request of vLLM that has blocks. slots: tokens that these hold. named: blocks whose digests the context has. full:
    cached blocks; fills: tokens with which one more is full. epoch: of the cache, when the request began."""

    __slots__ = ("request", "context", "ids", "slots", "named", "full", "fills", "epoch")

    def __init__(self, request: Any, context: TextGenerationContext, named: int, full: int, fills: float, epoch: int):
        self.request, self.context, self.named, self.full, self.fills = request, context, named, full, fills
        self.ids: list[int] = []
        self.slots, self.epoch = 0, epoch


class _PoppedBlock(KVCacheBlock):
    """A block of a request that vLLM gives back later."""

    __slots__ = ("owned",)


class _Inside:
    """What vLLM's scheduler and engine ask of a manager's coordinator and of its pool."""

    enable_partial_hash_hits = False
    num_reprefillable_tokens = 0
    eagle_group_ids: frozenset[int] = frozenset()

    def __init__(self, manager: "KVCacheManager", spec: Any, num_blocks: int):
        self.manager, self.num_gpu_blocks = manager, num_blocks
        self.single_type_managers = (SimpleNamespace(block_size=spec.block_size, kv_cache_spec=spec, kv_cache_group_id=0),)
        self.null_block = KVCacheBlock(0, is_null=True)

    def get_num_free_blocks(self) -> int:
        return self.manager.engine.num_free_blocks

    def get_usage(self) -> float:
        return self.manager.engine.used_blocks_pct

    def get_num_blocks_to_allocate(self, request_id: str, num_tokens: int, *args: Any, **kwargs: Any) -> int:
        """For a request without new hits."""
        return self.manager.missing(request_id, num_tokens)

    def free_blocks(self, ordered_blocks: Iterable[KVCacheBlock]) -> None:
        """Blocks of pop_blocks_for_free(): all of a request at once."""
        for owned in {id(block.owned): block.owned for block in ordered_blocks}.values():  # type: ignore[attr-defined]
            self.manager.engine.release(owned.context.request_id)

    def evict_blocks(self, block_ids: set[int]) -> None:
        self.manager.forget_all(block_ids)

    def take_events(self) -> list[Any]:
        events, self.manager.events = self.manager.events, []
        return events


def _refuse(what: str, allowed: str) -> None:
    raise ValueError(f"kvmlir.vllm_manager: {what}, allowed: {allowed}")


class KVCacheManager(theirs.KVCacheManager):
    """vLLM's, with our engine's blocks. Methods that keep no books are vLLM's own. most_requests: that have blocks at the
    same time; more have to wait."""

    def __init__(self, kv_cache_config: Any, max_model_len: int, scheduler_block_size: int, hash_block_size: int,
                 max_in_flight_tokens: Optional[int] = None, enable_caching: bool = True, use_eagle: bool = False,
                 num_prefill_lookahead: int = 0, log_stats: bool = False, enable_kv_cache_events: bool = False,
                 dcp_world_size: int = 1, pcp_world_size: int = 1, metrics_collector: Any = None,
                 watermark: float = 0.0, enable_mamba_shared_prefix_checkpoint: bool = False, *,
                 most_requests: int = 1024):
        groups = kv_cache_config.kv_cache_groups
        kinds = [type(group.kv_cache_spec) for group in groups]
        if kinds not in ([FullAttentionSpec], [MLAAttentionSpec]):
            _refuse(f"the model's cache has the groups {', '.join(kind.__name__ for kind in kinds) or 'none'}",
                    "one FullAttentionSpec or MLAAttentionSpec")
        spec = groups[0].kv_cache_spec
        if {scheduler_block_size, hash_block_size} != {spec.block_size}:
            _refuse(f"blocks have {spec.block_size} tokens, the scheduler's {scheduler_block_size} and the hashes' "
                    f"{hash_block_size}", "the same number")
        for what, given in (("EAGLE or MTP drafts", use_eagle or groups[0].is_eagle_group or num_prefill_lookahead > 0),
                            ("context parallelism", dcp_world_size > 1 or pcp_world_size > 1),
                            ("kv_cache_metrics", metrics_collector is not None)):
            if given:
                _refuse(f"vLLM is to use {what}", "an engine without")
        self.max_model_len, self.watermark_blocks = max_model_len, int(watermark * kv_cache_config.num_blocks)
        self.enable_caching, self.use_eagle, self.metrics_collector = enable_caching, use_eagle, None
        self.enable_kv_cache_events, self.log_stats = enable_kv_cache_events, log_stats
        self.prefix_cache_stats = PrefixCacheStats() if log_stats else None
        self.mamba_shared_prefix_checkpoint, self.retained_hit_group_ids = False, ()
        self.kv_cache_config, self.num_kv_cache_groups = kv_cache_config, 1
        self.kv_cache_event_metadata = ((get_kv_cache_spec_kind(spec).value, get_kv_cache_spec_sliding_window(spec)),)
        self.empty_kv_cache_blocks = theirs.KVCacheBlocks(((),))
        self.coordinator = self.block_pool = _Inside(self, spec, kv_cache_config.num_blocks)
        self.size = spec.block_size
        # A page has the smallest payload that there is; nobody reads it.
        params = KVCacheParams("float16", 1, 1, num_layers=1, page_size=_WORDS, enable_prefix_caching=enable_caching)
        self.engine = PagedKVCacheManager(
            params, most_requests, -(-max_model_len // self.size) * _WORDS + 1, 1, ["cpu:0"], None, 0,
            num_pages=kv_cache_config.num_blocks - 1, max_steps=_UNKNOWN_BLOCKS * _WORDS, keep_replaced_pages=True,
            warn=False)
        self.most_requests, self.owned, self.numbers, self.epoch = most_requests, dict[str, _Owned](), 0, 0
        self.events: list[Any] = []
        self.stored: dict[int, bytes] = {}  # if there are events: digests of cached blocks, by id
        self.new_ids: Optional[list[int]] = [] if kv_cache_config.needs_kv_cache_zeroing else None

    # ---- Lookups and reservations ----

    def words(self, request: Any, begin: int, end: int) -> Any:
        """Of the known digests of the blocks [begin, end), a separator after each. Without caching all are the same."""
        digests = request.block_hashes[begin:end] if self.enable_caching else [bytes(_DIGEST)] * (end - begin)
        if digests and len(digests[0]) != _DIGEST:
            digests = [digest.ljust(_DIGEST, b"\0") for digest in digests]
        return numpy.frombuffer(_SEPARATOR.join([*digests, b""]), numpy.int32)

    def context(self, request: Any, count: int) -> TextGenerationContext:
        """Of the first blocks, and a separator."""
        self.numbers += 1
        return TextGenerationContext(numpy.concatenate(([0], self.words(request, 0, count)), dtype=numpy.int32),
                                     self.numbers)

    def get_computed_blocks(self, request: Any) -> tuple[theirs.KVCacheBlocks, int, int]:
        """The blocks are places without ids, which the request gets by allocate_slots()."""
        most = min(len(request.block_hashes), (request.num_tokens - 1) // self.size)
        if most <= 0 or not self.prefix_cache_lookup_enabled(request):
            return self.empty_kv_cache_blocks, 0, 0
        count = self.engine.probe(self.context(request, most)).cached_tokens // _WORDS
        if not count:
            return self.empty_kv_cache_blocks, 0, 0
        if self.enable_kv_cache_events and getattr(request, "kv_cache_report_mode", "incremental") == "full":
            self._tell_stored(request, 0, count)
        return theirs.KVCacheBlocks(([KVCacheBlock(-1)] * count,)), count * self.size, 0

    def get_computed_blocks_for_connector(self, request: Any) -> tuple[theirs.KVCacheBlocks, int, int, bool]:
        return *self.get_computed_blocks(request), False

    def missing(self, request_id: str, tokens: int) -> int:
        """Blocks that the request still needs for so many tokens."""
        owned = self.owned.get(request_id)
        return max(-(-tokens // self.size) - (len(owned.ids) if owned else 0), 0)

    def allocate_slots(self, request: Any, num_new_tokens: int, num_new_computed_tokens: int = 0,
                       new_computed_blocks: Optional[theirs.KVCacheBlocks] = None, num_lookahead_tokens: int = 0,
                       num_external_computed_tokens: int = 0, delay_cache_blocks: bool = False,
                       num_encoder_tokens: int = 0, full_sequence_must_fit: bool = False, reserved_blocks: int = 0,
                       has_scheduled_reqs: bool = True, skip_zeroing_group_ids: tuple[int, ...] = ()
                       ) -> Optional[theirs.KVCacheBlocks]:
        computed = request.num_computed_tokens + num_new_computed_tokens + num_external_computed_tokens
        end = computed + num_new_tokens
        owned = self.owned.get(request.request_id)
        # What most decode steps do.
        if (owned is not None and end + num_lookahead_tokens <= owned.slots and end < owned.fills and num_new_tokens
                and not full_sequence_must_fit):
            return self.empty_kv_cache_blocks
        most = self.max_model_len
        computed = min(computed, most)
        end = computed + num_new_tokens
        slots = min(end + num_lookahead_tokens, most)
        if not (num_new_tokens or num_external_computed_tokens or num_new_computed_tokens):
            raise ValueError("allocate_slots() for 0 tokens, allowed: 1 or more that are computed, loaded or found")
        hits = num_new_computed_tokens // self.size if owned is None else 0
        needed = -(-slots // self.size)
        full = 0 if delay_cache_blocks else min(end, request.num_tokens) // self.size
        watermark = (self.watermark_blocks if has_scheduled_reqs and
                     request.status in (RequestStatus.WAITING, RequestStatus.PREEMPTED) else 0)
        whole = min(request.num_tokens, most) if full_sequence_must_fit else 0
        if (whole or reserved_blocks or watermark) and not self._leaves_room(request, hits, slots, whole, watermark,
                                                                            reserved_blocks):
            return None
        held = len(owned.ids) if owned is not None else 0
        if needed > held:
            owned = self._reserve(request, owned, hits, needed)
            if owned is None:
                return None
            new = owned.ids[max(held, hits):]
            if self.new_ids is not None:
                written = 0 in skip_zeroing_group_ids and num_external_computed_tokens
                self.new_ids += owned.ids[-(-computed // self.size):] if written else new
            if num_external_computed_tokens and not held:
                new = owned.ids[-(-computed // self.size):]
        else:
            new = []
        assert owned is not None
        self._cache(owned, full)
        return _Blocks(new) if new else self.empty_kv_cache_blocks

    def _leaves_room(self, request: Any, hits: int, slots: int, whole: int, watermark: int, reserved: int) -> bool:
        """Whether the blocks for `whole` tokens would fit, and those for `slots` beside the reserved ones."""
        free = self.engine.num_free_blocks - watermark
        more = max(self.missing(request.request_id, whole) - free, self.missing(request.request_id, slots) + reserved - free)
        # Without the hits it fits, too: they need not be looked at.
        if more <= 0 or not hits:
            return more <= 0
        # Those of the hits that no request holds are among the free ones.
        plan = self.engine.probe(self.context(request, hits))
        return more - hits + (plan.pages - 1) <= 0

    def _reserve(self, request: Any, owned: Optional[_Owned], hits: int, needed: int) -> Optional[_Owned]:
        """`needed` blocks, of which a new request takes over the hits; None: there is no room."""
        isnew = owned is None
        if owned is None:
            if len(self.owned) >= self.most_requests:
                return None
            owned = _Owned(request, self.context(request, hits), hits, hits,
                           (hits + 1) * self.size if self.enable_caching else float("inf"), self.epoch)
            self.engine.claim(owned.context.request_id)
        self._name(owned, needed - 1)
        context = owned.context
        # To the engine the words after the context's are those of later steps.
        if not self.engine.maybe_reserve(context, (needed - owned.named) * _WORDS):
            if isnew:
                self.engine.release(context.request_id)
            return None
        new = self.engine.get_req_blocks(context.request_id, len(owned.ids))
        owned.ids += new
        owned.slots = len(owned.ids) * self.size
        if isnew:
            if context.processed_length != hits * _WORDS:
                self.engine.release(context.request_id)
                raise ValueError(f"request {request.request_id}: {hits} computed blocks are given, "
                                 f"{context.processed_length // _WORDS} are cached, allowed: what get_computed_blocks() "
                                 "has found since the last allocate_slots()")
            self.owned[request.request_id] = owned
        if self.stored:
            for number in new[hits if isnew else 0:]:
                if (digest := self.stored.pop(number, None)) is not None:
                    self.events.append(BlockRemoved([maybe_convert_block_hash(digest)], medium=MEDIUM_GPU, group_idx=0))
        return owned

    def _name(self, owned: _Owned, blocks: int) -> None:
        """Tells the engine the digests of the first blocks, as far as they are known."""
        words = self.words(owned.request, owned.named, blocks)
        if len(words):
            # Nothing is found for drafts: these blocks are the request's own, whoever else computes the same.
            owned.context.append(words, drafts=len(words))
            owned.named += len(words) // _WORDS

    # ---- What becomes findable, and what does not any more ----

    def _cache(self, owned: _Owned, full: int) -> None:
        if full <= owned.full or not self.enable_caching:
            return
        self._name(owned, full)
        owned.context.skip((full - owned.full) * _WORDS)
        self.engine.step([owned.context])
        if self.enable_kv_cache_events and owned.epoch == self.epoch:
            self._tell_stored(owned.request, owned.full, full)
            # The engine finds the block that was there first.
            found = self.engine.get_req_blocks(owned.context.request_id, owned.full)
            self.stored.update(zip(found, owned.request.block_hashes[owned.full:full]))
        owned.full, owned.fills = full, (full + 1) * self.size

    def _tell_stored(self, request: Any, begin: int, end: int) -> None:
        digests = [maybe_convert_block_hash(digest) for digest in request.block_hashes[max(begin - 1, 0):end]]
        keys, image = [], 0
        for block in range(begin, end):
            key, image = generate_block_hash_extra_keys(request, block * self.size, (block + 1) * self.size, image)
            keys.append(key)
        adapter = request.lora_request
        self.events.append(BlockStored(
            digests[begin > 0:], digests[0] if begin else None, request.all_token_ids[begin * self.size:end * self.size],
            self.size, adapter.adapter_id if adapter else None, MEDIUM_GPU, adapter.name if adapter else None,
            to_event_extra_keys(keys), 0, session_id=request.session_id))

    def cache_blocks(self, request: Any, num_computed_tokens: int) -> None:
        owned = self.owned.get(request.request_id)
        if owned is not None and num_computed_tokens >= owned.fills:
            self._cache(owned, num_computed_tokens // self.size)

    def free(self, request: Any) -> None:
        owned = self.owned.pop(request.request_id, None)
        if owned is not None:
            self.engine.release(owned.context.request_id)

    def pop_blocks_for_free(self, request: Any) -> list[KVCacheBlock]:
        owned = self.owned.pop(request.request_id, None)
        popped: list[KVCacheBlock] = []
        for number in owned.ids if owned is not None else ():
            popped.append(_PoppedBlock(number, ref_cnt=1))
            popped[-1].owned = owned  # type: ignore[attr-defined]
        return popped

    def forget_all(self, block_ids: set[int]) -> None:
        """Evicts these blocks, and all others: the engine forgets prefixes at once. Requests keep their blocks."""
        unknown = [number for number in block_ids if not 0 <= number < self.kv_cache_config.num_blocks]
        if unknown:
            raise ValueError(f"evict_blocks() of block {unknown[0]}, allowed: 0 to {self.kv_cache_config.num_blocks - 1}")
        if block_ids:
            self._forget()

    def _forget(self) -> None:
        self.engine.reset_prefix_cache()
        self.epoch += 1
        self.stored.clear()
        if self.enable_kv_cache_events:
            self.events.append(AllBlocksCleared())

    def reset_prefix_cache(self) -> bool:
        used = self.engine.total_num_pages - self.engine.num_free_blocks
        if used:
            _log.warning("the prefix cache is not reset, since requests have %d blocks", used)
            return False
        self._forget()
        if self.prefix_cache_stats is not None:
            self.prefix_cache_stats.reset = True
        return True

    # ---- What a request has ----

    def get_blocks(self, request_id: str) -> theirs.KVCacheBlocks:
        owned = self.owned.get(request_id)
        if owned is None:
            return self.empty_kv_cache_blocks
        cached = owned.full if owned.epoch == self.epoch else 0
        return _Blocks(owned.ids, owned.request.block_hashes[:cached], self.size)

    def estimate_cached_tokens(self, request: Any) -> int:
        owned = self.owned.get(request.request_id)
        return owned.full * self.size if owned is not None and owned.epoch == self.epoch else 0

    def remove_skipped_blocks(self, request_id: str, processed_computed_tokens: int,
                              num_prompt_tokens: Optional[int] = None) -> None:
        """Nothing: full attention skips no block."""

    def truncate_computed_blocks(self, blocks: theirs.KVCacheBlocks, num_computed_tokens: int) -> theirs.KVCacheBlocks:
        if num_computed_tokens % self.size or num_computed_tokens > len(blocks.blocks[0]) * self.size:
            raise ValueError(f"truncate_computed_blocks() to {num_computed_tokens} tokens, allowed: whole blocks of "
                             f"{self.size}, at most {len(blocks.blocks[0])}")
        return self.create_kv_cache_blocks((list(blocks.blocks[0][:num_computed_tokens // self.size]),))

    def take_new_block_ids(self) -> list[int]:
        taken = self.new_ids or []
        if taken:
            self.new_ids = []
        return taken

    def record_blocks_for_zeroing(self, request_id: str, start_token: int) -> None:
        if self.new_ids is not None:
            self.new_ids += self.owned[request_id].ids[start_token // self.size:]

    def take_kv_cache_block_copies(self) -> tuple[list[Any], list[KVCacheBlock]]:
        return [], []

    def take_boundary_state_offloads(self) -> dict[str, list[tuple[int, int, int]]]:
        return {}

    def finalize_partial_tail_offloads(self, request: Any) -> list[tuple[int, int, int]]:
        return []

    def new_step_starts(self) -> None:
        """Nothing: the engine knows of no steps of vLLM's."""


def scheduler(vllm_config: Any, *args: Any, **kwargs: Any) -> Any:
    """vLLM's scheduler, over our manager. vLLM calls this in place of the class, which has no parameter for a manager."""
    config = vllm_config.scheduler_config
    # Besides the running requests those have blocks whose last steps, or whose loads, are still going on.
    made = functools.partial(KVCacheManager, most_requests=2 * config.max_num_seqs + 64)
    kept, their_scheduler.KVCacheManager = their_scheduler.KVCacheManager, made  # type: ignore[misc]
    try:
        kind = AsyncScheduler if config.async_scheduling else their_scheduler.Scheduler
        return kind(vllm_config, *args, **kwargs)
    finally:
        their_scheduler.KVCacheManager = kept  # type: ignore[misc]
