"""use_vllm_manager.py [WALKS]: scenarios of each public method of vLLM's KVCacheManager, and random walks, on vLLM's own
manager and on ours: the same answers, but for DIFFERENT. Fails if the installed vLLM has other methods than those that we
know. Runs with an environment that has vLLM."""

import inspect
import itertools
import logging
import sys

from vllm_requests import SIZE, event_fields, found, go_on, make, names, request, start, used
from vllm_walks import compare_walks
from vllm.distributed.kv_events import BlockStored
from vllm.lora.request import LoRARequest
from vllm.multimodal.inputs import MultiModalFeatureSpec, PlaceholderRange
from vllm.utils.hashing import sha256
from vllm.v1.core import kv_cache_manager as theirs
from vllm.v1.kv_cache_interface import SlidingWindowSpec
from vllm.v1.request import RequestStatus

from kvmlir import vllm_manager as ours

SCENARIOS = {}
#: What our manager answers otherwise, by scenario: (vLLM's, ours).
DIFFERENT = {
    # Equal blocks: vLLM caches each, and the engine one, which the request that computed it again keeps as well.
    "equal_blocks": ([(4, 3), (9, 9), (6, 20), (0, 20)], [(4, 3), (9, 9), (9, 20), (0, 20)]),
    # vLLM evicts the block; the engine forgets all prefixes, since failed loads are rare.
    "evict_blocks": ([8, (4, 4, ["BlockRemoved"]), (1, 4)], [8, (0, 0, ["AllBlocksCleared"]), (1, 4)]),
    # A hit has its ids once it is allocated.
    "get_computed_blocks_ids": ([True, True], [False, True]),
}
#: The public methods of vLLM 0.32, and our signatures of those that we have overwritten.
METHODS = """allocate_slots cache_blocks create_kv_cache_blocks estimate_cached_tokens evict_blocks
finalize_partial_tail_offloads free get_block_ids get_block_ids_for_computed_tokens get_blocks get_computed_blocks
get_computed_blocks_for_connector get_num_common_prefix_blocks make_prefix_cache_stats new_step_starts pop_blocks_for_free
prefix_cache_lookup_enabled record_blocks_for_zeroing record_prefix_cache_stats remove_skipped_blocks reset_prefix_cache
take_boundary_state_offloads take_events take_kv_cache_block_copies take_new_block_ids truncate_computed_blocks
usage""".split()
#: What vLLM's scheduler and engine use of a manager besides.
PARTS = {"coordinator": ("single_type_managers", "enable_partial_hash_hits", "get_num_blocks_to_allocate"),
         "block_pool": ("free_blocks", "take_events", "get_usage", "evict_blocks", "get_num_free_blocks")}


def scenario(function):
    SCENARIOS[function.__name__] = function
    return function


# ---- Each method ----

@scenario
def allocate_slots(kind):
    """Full and partial blocks, chunks, lookahead, and no room."""
    manager = make(kind)
    one, two = request("one", range(30)), request("two", range(100, 132))
    yield start(manager, one, 10), len(manager.get_block_ids("one")[0]), manager.usage
    one.append_output_token_ids([])
    yield len(manager.allocate_slots(one, 20, num_lookahead_tokens=5).get_block_ids()[0])
    yield start(manager, two), manager.usage
    yield start(manager, request("three", range(50)))
    ids = manager.get_block_ids("one")[0] + manager.get_block_ids("two")[0]
    yield len(ids), len(set(ids)), 0 in ids, max(ids) < 17
    yield manager.allocate_slots(one, 20) is not None, manager.allocate_slots(two, 1) is None
    try:
        manager.allocate_slots(two, 0)
    except ValueError:
        yield "refused"


@scenario
def whole_sequence(kind):
    """Admission: the whole sequence, reserved blocks, the watermark, and hits that nobody holds."""
    manager = make(kind, watermark=0.2)
    one, other = request("one", range(33)), request("other", range(34))
    yield start(manager, one)
    yield start(manager, request("two", range(200, 240)), 4, full_sequence_must_fit=True)
    yield start(manager, request("two", range(200, 214)), 4, full_sequence_must_fit=True)
    yield start(manager, request("three", range(300, 309)), reserved_blocks=2, has_scheduled_reqs=False)
    yield start(manager, other, full_sequence_must_fit=True)
    manager.free(one)
    yield start(manager, request("four", range(400, 444)), full_sequence_must_fit=True, has_scheduled_reqs=False)
    yield manager.usage
    manager.free(other)
    yield start(manager, other, full_sequence_must_fit=True), manager.usage


@scenario
def get_computed_blocks(kind):
    """Full blocks of a prefix, but for the last token's."""
    manager = make(kind)
    yield found(manager, range(9))
    yield start(manager, request("one", range(9)))
    yield [found(manager, range(count)) for count in (4, 5, 8, 9, 12, 30)]
    yield found(manager, [0, 1, 2, 3, 9, 9, 9, 9, 9]), found(manager, range(1, 9))
    yield manager.usage


@scenario
def get_computed_blocks_ids(kind):
    manager = make(kind)
    start(manager, request("one", range(9)))
    blocks, count, _ = manager.get_computed_blocks(two := request("two", range(10)))
    ids = manager.get_block_ids("one")[0][:2]
    yield blocks.get_block_ids() == (ids,)
    manager.allocate_slots(two, 2, count, blocks)
    yield manager.get_block_ids("two")[0][:2] == ids


@scenario
def get_computed_blocks_for_connector(kind):
    manager = make(kind)
    start(manager, request("one", range(9)))
    blocks, *rest = manager.get_computed_blocks_for_connector(request("two", range(9)))
    yield len(blocks.blocks[0]), rest


@scenario
def extra_keys(kind):
    """Adapters, salts and images separate prefixes."""
    def image(name, at=2):
        return [MultiModalFeatureSpec(data=None, modality="image", identifier=name,
                                      mm_position=PlaceholderRange(offset=at, length=3))]

    scopes = [{}, {"cache_salt": "a"}, {"cache_salt": "b"}, {"lora_request": LoRARequest("l", 1, "/none")},
              {"mm_features": image("cat")}, {"mm_features": image("dog")}, {"mm_features": image("cat", 5)}]
    manager = make(kind, 40)
    for i, scope in enumerate(scopes):
        yield start(manager, request(f"{i}", range(10), **scope))
    yield [found(manager, range(10), **scope) for scope in scopes]
    yield [event_fields(event) for event in manager.take_events()]


@scenario
def other_digests(kind):
    """Digests of 16 bytes, as those of xxhash."""
    def short(value):
        return sha256(value)[:16]

    manager = make(kind)
    yield start(manager, request("one", range(9), short)), found(manager, range(13), hasher=short)


@scenario
def without_caching(kind):
    manager = make(kind, enable_caching=False)
    one = request("one", range(40))
    one.block_hashes.clear()
    yield start(manager, one), manager.usage, found(manager, range(9))
    yield [go_on(manager, one, i) for i in range(6)]
    manager.free(one)
    yield manager.usage, names(manager)


@scenario
def free(kind):
    """Eviction: blocks without content first, then the least recently used, ends of prefixes before their beginnings."""
    manager = make(kind)
    prompts = [range(base, base + 17) for base in (0, 100, 200)]
    every = [request(f"{i}", prompt) for i, prompt in enumerate(prompts)]
    for one in every:
        start(manager, one)
    manager.free(request("unknown", range(3)))
    for i in (1, 0, 2):
        manager.free(every[i])
    yield manager.usage, [found(manager, prompt) for prompt in prompts]
    grows = request("grows", range(300, 316))
    start(manager, grows)  # 4 blank blocks
    for step in range(12):
        yield go_on(manager, grows, *range(1000 + 4 * step, 1004 + 4 * step))
        yield [found(manager, prompt) for prompt in prompts], names(manager)
    # Used again, a prefix goes later.
    yield go_on(manager, grows, 1), names(manager)


@scenario
def lru_by_use(kind):
    manager = make(kind)
    for i in range(4):
        start(manager, one := request(f"{i}", range(100 * i, 100 * i + 17)))
        manager.free(one)
    start(manager, again := request("again", range(17)))
    manager.free(again)
    start(manager, request("new", range(900, 934)))
    yield [found(manager, range(100 * i, 100 * i + 17)) for i in range(4)]


@scenario
def shared_prefixes(kind):
    """Blocks are held by each request that has them."""
    manager = make(kind)
    one, two = request("one", range(14)), request("two", [*range(12), 50, 51])
    yield start(manager, one), start(manager, two), manager.usage
    yield manager.get_block_ids("one")[0][:3] == manager.get_block_ids("two")[0][:3]
    manager.free(one)
    yield manager.usage
    yield start(manager, request("large", range(500, 552))), start(manager, request("fits", range(500, 548)))
    yield found(manager, range(14))
    manager.free(two)
    yield manager.usage


@scenario
def equal_blocks(kind):
    """Two requests compute the same block; its ids stay what the worker was told."""
    manager = make(kind)
    one, two = request("one", range(16)), request("two", range(16))
    start(manager, one)
    start(manager, two)
    ids = manager.get_block_ids("two")[0].copy()
    shared = set(ids) & set(manager.get_block_ids("one")[0])
    yield len(ids), len(shared)
    for _ in range(8):
        go_on(manager, one, 7)
        go_on(manager, two, 7)
    assert manager.get_block_ids("two")[0][:4] == ids
    yield len({*manager.get_block_ids("one")[0], *manager.get_block_ids("two")[0]}), used(manager)
    manager.free(one)
    yield used(manager), found(manager, [*range(16), *[7] * 8])
    manager.free(two)
    yield used(manager), found(manager, [*range(16), *[7] * 8])


@scenario
def preemption(kind):
    """A preempted request finds what it had, unless it was evicted."""
    manager = make(kind, 9)
    one = request("one", range(10))
    start(manager, one)
    go_on(manager, one, 50, 51, 52)
    manager.free(one)
    one.status, one.num_computed_tokens, one.num_preemptions = RequestStatus.PREEMPTED, 0, 1
    two = request("two", range(100, 118))
    yield start(manager, two), start(manager, one), manager.usage
    manager.record_prefix_cache_stats(one, 12)
    stats = manager.make_prefix_cache_stats()
    yield stats.preempted_requests, stats.preempted_hits, stats.requests


@scenario
def drafts(kind):
    """Drafts get slots, and only what is verified is cached."""
    manager = make(kind)
    one = request("one", range(10))
    start(manager, one)
    one.append_output_token_ids([10])
    for accepted in (0, 3, 1, 4, 2):
        one.spec_token_ids = [1] * 4
        yield len(manager.allocate_slots(one, 5, num_lookahead_tokens=4).get_block_ids()[0])
        yield found(manager, [*range(10), *one.output_token_ids, 99])
        one.append_output_token_ids([20 + i for i in range(accepted + 1)])
        one.num_computed_tokens += accepted + 1
    yield manager.usage


@scenario
def ahead_of_tokens(kind):
    """Asynchronous scheduling: a step is scheduled before its token is known."""
    manager = make(kind)
    one = request("one", range(7))
    start(manager, one)
    for step in range(10):
        new = manager.allocate_slots(one, 1)
        one.num_computed_tokens += 1
        one.append_output_token_ids([60 + step])
        manager.cache_blocks(one, one.num_computed_tokens - 1)
        yield len(new.get_block_ids()[0]), found(manager, [*range(7), *one.output_token_ids, 99])


@scenario
def cache_blocks(kind):
    """Of a connector's load: cached when it has come."""
    manager = make(kind)
    one = request("one", range(30))
    blocks, count, _ = manager.get_computed_blocks(one)
    new = manager.allocate_slots(one, 0, count, blocks, num_external_computed_tokens=24, delay_cache_blocks=True)
    yield len(new.get_block_ids()[0]), len(manager.get_block_ids("one")[0]), found(manager, range(30)), names(manager)
    one.num_computed_tokens = 24
    manager.cache_blocks(one, 16)
    yield found(manager, range(30)), manager.estimate_cached_tokens(one)
    manager.cache_blocks(one, 24)
    manager.cache_blocks(one, 8)
    yield found(manager, range(30)), names(manager)
    yield len(manager.allocate_slots(one, 6).get_block_ids()[0]), found(manager, range(30)), names(manager)
    two = request("two", [*range(12), *range(70, 90)])
    blocks, count, _ = manager.get_computed_blocks(two)
    new = manager.allocate_slots(two, 4, count, blocks, num_external_computed_tokens=8)
    yield count, len(new.get_block_ids()[0]), len(manager.get_block_ids("two")[0]), found(manager, two.prompt_token_ids)


@scenario
def get_blocks(kind):
    manager = make(kind)
    one = request("one", range(14))
    yield manager.get_blocks("one").get_block_ids(), manager.get_blocks("one").get_block_ids(allow_none=True)
    start(manager, one)
    blocks = manager.get_blocks("one")
    ids = blocks.get_block_ids()
    yield len(ids[0]), manager.get_block_ids("one") == ids == blocks.get_block_ids(group_ids=[0])
    yield [[block.block_hash, block.block_hash_num_tokens, block.is_null] for block in blocks.blocks[0]]
    yield blocks.get_unhashed_block_ids() == ids[0][3:], blocks.get_unhashed_block_ids_all_groups() == [ids[0][3:]]
    yield len((blocks + blocks).blocks[0]), blocks.new_empty().get_block_ids()
    kept = manager.get_block_ids("one")[0]
    kept.append(5)
    yield len(manager.get_block_ids("one")[0])


@scenario
def get_block_ids_for_computed_tokens(kind):
    manager = make(kind)
    start(manager, request("one", range(14)))
    ids = manager.get_block_ids("one")[0]
    for count in (0, 1, 4, 5, 14):
        yield manager.get_block_ids_for_computed_tokens("one", count) == (ids[:-(-count // SIZE)],)


@scenario
def estimate_cached_tokens(kind):
    manager = make(kind)
    one = request("one", range(14))
    yield manager.estimate_cached_tokens(one)
    start(manager, one)
    yield manager.estimate_cached_tokens(one)
    go_on(manager, one, 1, 2)
    yield manager.estimate_cached_tokens(one)


@scenario
def create_kv_cache_blocks(kind):
    manager = make(kind)
    yield manager.create_kv_cache_blocks(([],)) is manager.empty_kv_cache_blocks
    start(manager, request("one", range(9)))
    yield len(manager.create_kv_cache_blocks(manager.get_blocks("one").blocks).blocks[0])


@scenario
def truncate_computed_blocks(kind):
    manager = make(kind)
    start(manager, request("one", range(14)))
    two = request("two", range(20))
    blocks, count, _ = manager.get_computed_blocks(two)
    fewer = manager.truncate_computed_blocks(blocks, 8)
    yield count, len(fewer.blocks[0])
    yield len(manager.allocate_slots(two, 9, 8, fewer).get_block_ids()[0])
    yield manager.get_block_ids("two")[0][:2] == manager.get_block_ids("one")[0][:2]
    yield set(manager.get_block_ids("two")[0][2:]) & set(manager.get_block_ids("one")[0])
    yield manager.truncate_computed_blocks(blocks, 0) is manager.empty_kv_cache_blocks


@scenario
def pop_blocks_for_free(kind):
    """Blocks are the request's until vLLM gives them back."""
    manager = make(kind)
    one, two = request("one", range(14)), request("two", range(14))
    start(manager, one)
    start(manager, two)
    popped = [manager.pop_blocks_for_free(each) for each in (one, two)]
    yield [len(blocks) for blocks in popped], manager.usage, manager.get_block_ids("one"), manager.reset_prefix_cache()
    yield found(manager, range(14)), start(manager, one), manager.usage
    manager.block_pool.free_blocks(reversed(popped[0]))
    yield manager.usage
    manager.block_pool.free_blocks(reversed(popped[1]))
    manager.free(one)
    yield manager.usage, found(manager, range(14)), manager.pop_blocks_for_free(two)


@scenario
def evict_blocks(kind):
    manager = make(kind)
    one = request("one", range(10))
    start(manager, one)
    yield found(manager, range(10))
    names(manager)
    manager.evict_blocks({manager.get_block_ids("one")[0][1]})
    yield found(manager, range(10)), manager.estimate_cached_tokens(one), names(manager)
    yield go_on(manager, one, *range(6)), used(manager)


@scenario
def reset_prefix_cache(kind):
    manager = make(kind)
    one = request("one", range(10))
    start(manager, one)
    yield manager.reset_prefix_cache(), found(manager, range(10))
    manager.free(one)
    yield manager.make_prefix_cache_stats().reset, names(manager)
    yield manager.reset_prefix_cache(), found(manager, range(10)), manager.usage
    yield manager.make_prefix_cache_stats().reset, manager.make_prefix_cache_stats().reset, names(manager)
    yield start(manager, request("all", range(64))), names(manager)


@scenario
def take_events(kind):
    """Each field of what is stored, removed and cleared."""
    manager = make(kind, 9)
    one = request("one", range(10), session_id="session")
    start(manager, one)
    go_on(manager, one, 5, 6, 7)
    yield [event_fields(event) for event in manager.take_events()]
    manager.free(one)
    full = request("full", range(20), extra_args={"kv_cache_report_mode": "full"})
    start(manager, full)
    manager.free(full)
    yield [event_fields(event) for event in manager.take_events()]
    start(manager, large := request("large", range(100, 132)))
    manager.free(large)
    events = manager.take_events()
    yield sorted(event.block_hashes[0] for event in events if not isinstance(event, BlockStored)), len(events)
    yield manager.take_events()
    yield manager.reset_prefix_cache(), [event_fields(event) for event in manager.take_events()]
    quiet = make(kind, enable_kv_cache_events=False)
    start(quiet, request("one", range(10)))
    yield quiet.take_events()


@scenario
def prefix_cache_stats(kind):
    manager = make(kind)
    one = request("one", range(10))
    manager.record_prefix_cache_stats(one, 8)
    stats = manager.make_prefix_cache_stats()
    yield stats.requests, stats.queries, stats.hits, manager.make_prefix_cache_stats().requests
    yield make(kind, log_stats=False).make_prefix_cache_stats()
    one.skip_reading_prefix_cache = True
    yield manager.prefix_cache_lookup_enabled(one), manager.get_computed_blocks(one)[1:]
    yield make(kind, enable_caching=False).prefix_cache_lookup_enabled(request("two", range(9)))
    start(manager, request("two", range(10)))
    yield start(manager, one), found(manager, range(10))


@scenario
def take_new_block_ids(kind):
    """For zeroing: of allocated blocks, without those that a load writes."""
    manager = make(kind, zeroing=True)
    one = request("one", range(10))
    start(manager, one)
    yield manager.take_new_block_ids() == manager.get_block_ids("one")[0], manager.take_new_block_ids()
    two = request("two", [*range(8), *range(50, 70)])
    blocks, count, _ = manager.get_computed_blocks(two)
    manager.allocate_slots(two, 4, count, blocks, num_external_computed_tokens=8, skip_zeroing_group_ids=(0,))
    ids = manager.get_block_ids("two")[0]
    yield [ids.index(number) for number in manager.take_new_block_ids()]
    manager.record_blocks_for_zeroing("two", 8)
    yield [ids.index(number) for number in manager.take_new_block_ids()]
    without = make(kind)
    start(without, request("one", range(10)))
    without.record_blocks_for_zeroing("one", 4)
    yield without.take_new_block_ids()


@scenario
def what_full_attention_has_not(kind):
    manager = make(kind)
    one = request("one", range(10))
    start(manager, one)
    manager.new_step_starts()
    manager.remove_skipped_blocks("one", 8, 10)
    yield manager.get_num_common_prefix_blocks("one"), manager.take_kv_cache_block_copies()
    yield manager.take_boundary_state_offloads(), manager.finalize_partial_tail_offloads(one), manager.usage
    one.num_computed_tokens = 8
    yield [manager.coordinator.get_num_blocks_to_allocate(
        "one", count, manager.empty_kv_cache_blocks.blocks, 0, 8, 8, count) for count in (4, 12, 13, 33)]
    only = manager.coordinator.single_type_managers[0]
    yield only.block_size, only.kv_cache_spec, manager.coordinator.enable_partial_hash_hits


# ---- All ----

def check_drift():
    def signatures(kind):
        return {name: str(inspect.signature(member).replace(return_annotation=inspect.Signature.empty))
                if inspect.isfunction(member) else "property"
                for name, member in inspect.getmembers(kind) if not name.startswith("_")}

    def names_of(text):
        return [(one.name, one.kind, one.default) for one in text.parameters.values()]

    installed = signatures(theirs.KVCacheManager)
    changed = sorted(set(installed) ^ set(METHODS))
    assert not changed, f"vLLM's KVCacheManager has other methods than those that kvmlir.vllm_manager knows: {changed}"
    for name in [*METHODS, "__init__"]:
        if name in vars(ours.KVCacheManager):
            want, have = (inspect.signature(getattr(kind, name)) for kind in (theirs.KVCacheManager, ours.KVCacheManager))
            have = have.replace(parameters=[one for one in have.parameters.values() if one.name != "most_requests"])
            assert names_of(want) == names_of(have), f"{name}() of vLLM is {want}, of kvmlir.vllm_manager {have}"
    for part, members in PARTS.items():
        for kind in (theirs.KVCacheManager, ours.KVCacheManager):
            lacking = [name for name in members if not hasattr(getattr(make(kind), part), name)]
            assert not lacking, f"{kind.__module__}: {part} has no {lacking}"


def check_refusals():
    spec = SlidingWindowSpec(block_size=SIZE, num_kv_heads=1, head_size=8, dtype="float32", sliding_window=8)
    for options, text in (({"spec": spec}, "the groups SlidingWindowSpec, allowed: one FullAttentionSpec"),
                          ({"hash_block_size": 2}, "blocks have 4 tokens, the scheduler's 4 and the hashes' 2"),
                          ({"use_eagle": True}, "EAGLE or MTP drafts, allowed: an engine without"),
                          ({"dcp_world_size": 2}, "context parallelism"),
                          ({"metrics_collector": object()}, "kv_cache_metrics")):
        try:
            make(ours.KVCacheManager, **options)
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"{options} is accepted")


def main(walks=200):
    logging.disable(logging.WARNING)  # of resets that are refused
    check_drift()
    check_refusals()
    for name, run in SCENARIOS.items():
        want, have = list(run(theirs.KVCacheManager)), list(run(ours.KVCacheManager))
        assert want, f"{name} shows nothing"
        if name in DIFFERENT:
            assert (want, have) == DIFFERENT[name], f"{name}: vLLM's {want}, ours {have}"
        else:
            assert want == have, f"{name}: " + "; ".join(
                f"vLLM's {one}, ours {other}" for one, other in itertools.zip_longest(want, have) if one != other)
    source = inspect.getsource(sys.modules[__name__])
    unused = [name for name in METHODS if f"manager.{name}" not in source]
    assert not unused, f"no scenario calls {unused}"
    print(f"vLLM: {len(SCENARIOS)} scenarios of {len(METHODS)} methods, {len(DIFFERENT)} differ as named")
    compare_walks(int(walks))


if __name__ == "__main__":
    main(*sys.argv[1:])
