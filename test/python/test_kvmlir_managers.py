"""What managers have beside MAX's names: probes, forks, scopes, images, priorities, chunks; and that Python has
all of the C interface."""

import subprocess
from pathlib import Path

import numpy as np
import pytest

import kvmlir
from kvmlir import TextGenerationContext

# Python binds by the last form of DLPack only, and chooses the numbers of requests.
NOT_NEEDED = {"kvInvocationBind", "kvInvocationBindDLPack", "kvRequestId"}


def symbols(library, *options):
    listed = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line.split()[-1].startswith("kv")}


def test_the_extension_calls_the_whole_c_interface():
    [extension] = Path(kvmlir.__file__).parent.glob("_kvmlir*.so")
    beside = extension.parent / "libkv_runtime.so"
    runtime = beside if beside.exists() else extension.parents[2] / "lib/libkv_runtime.so"
    assert symbols(runtime, "--defined-only") - symbols(extension, "--undefined-only") == NOT_NEEDED


def manager(pages=64, **more):
    params = kvmlir.KVCacheParams("f32", 1, 4, 1, page_size=4, enable_prefix_caching=True)
    return kvmlir.PagedKVCacheManager(params, 4, 64, 1, None, None, 0, num_pages=pages, warn=False,
                                      enable_runtime_checks=True, **more)


def compute(own, context):
    """The context's active tokens, as if a model had run."""
    if not own.contains(context.request_id):
        own.claim(context.request_id)
    cached = own.alloc(context).cached_tokens
    own.get_runtime_inputs([context])
    context.advance()
    own.step([context])
    return cached


def test_a_probe_changes_nothing():
    own = manager()
    compute(own, TextGenerationContext(range(10)))
    again, other = TextGenerationContext(range(10)), TextGenerationContext(range(50, 60))
    for one in (again, other):
        own.claim(one.request_id)
    before = own.metrics
    plan = own.probe(again, num_steps=3)
    assert (plan.cached_tokens, plan.fits) == (8, True) and plan.pages == 1
    assert own.metrics == before and again.processed_length == 0
    assert own.explain(again) == ["hit", "hit", "always_computed"]
    assert own.explain(other) == ["never_seen", "never_seen", "always_computed"]


def test_drafts_are_never_taken_over():
    own = manager()
    compute(own, TextGenerationContext(range(20)))
    for drafts, cached in ((None, 0), (4, 0), (1, 0), (0, 4)):
        context = TextGenerationContext(range(8))
        compute(own, context)
        context.append([8, 9, 10, 11, 12], drafts=drafts)
        assert context.vouched_length == (9 if drafts is None else 13 - drafts)
        assert own.probe(context).cached_tokens == cached
        assert own.explain(context).count("hit") == context.vouched_length // 4 - (drafts == 1)
        assert own.alloc(context).cached_tokens == cached
        assert (context.processed_length, context.active_length) == (8 + cached, 5 - cached)
        own.release(context.request_id)
    for wrong in (-1, 6):
        with pytest.raises(ValueError, match=f'request "?{context.request_id}"?: {wrong} of 5 new tokens'):
            context.append(range(5), drafts=wrong)
    assert len(context) == 13


def test_scopes_and_images_separate():
    own = manager()
    for scope, cached in (({}, 0), ({}, 8), ({"salt": "a"}, 0), ({"salt": "a"}, 8), ({"salt": ""}, 0),
                          ({"adapter": "a"}, 0), ({"model": "a"}, 0)):
        context = TextGenerationContext(range(10))
        context.set_scope(**scope)
        assert compute(own, context) == cached, scope
        own.release(context.request_id)
    for digest, cached in ((b"one", 4), (b"one", 8), (b"other", 4)):
        context = TextGenerationContext(range(10))
        context.add_image(5, 2, digest)
        assert compute(own, context) == cached, digest
        own.release(context.request_id)
    late = TextGenerationContext(range(10))
    compute(own, late)
    with pytest.raises(ValueError, match="an image at token 5"):
        late.add_image(5, 2, b"late")


def test_forks_and_truncations():
    own = manager()
    source, fork = TextGenerationContext(range(10), "source"), TextGenerationContext(range(6), "fork")
    compute(own, source)
    own.fork("source", fork, 5)
    fork.skip(5)
    assert own.contains("fork") and own.get_req_blocks("fork")[0] == own.get_req_blocks("source")[0]
    assert compute(own, fork) == 0
    own.truncate("source", 4)
    source.rewind(6)
    assert len(own.get_req_blocks("source")) == 1 and source.processed_length == 4
    compute(own, source)
    own.release("source")
    own.release("fork")
    own.check()
    assert own.num_free_blocks == own.total_num_pages


def test_priorities():
    """Pages of lower priority are evicted first; a priority that is over counts no more."""
    own = manager(pages=6)
    for first, priority, duration in ((0, 100, 5 * 10**9), (100, 10, 0)):
        context = TextGenerationContext(range(first, first + 9))
        context.set_retention(priority=priority, duration=duration)
        compute(own, context)
        own.release(context.request_id)
    compute(own, TextGenerationContext(range(200, 209)))
    kept, gone = (TextGenerationContext(range(first, first + 9)) for first in (0, 100))
    for one in (kept, gone):
        own.claim(one.request_id)
    assert own.probe(kept).cached_tokens == 8 and own.probe(gone).cached_tokens < 8
    own.set_time(10**12)
    own.synchronize()
    with pytest.raises(ValueError, match="priority is 200, allowed: 0 to 127"):
        TextGenerationContext([1]).set_retention(200)


def test_chunks_of_a_prompt():
    own = manager()
    context = TextGenerationContext(range(10))
    context.limit_active(4)
    steps = 0
    while context.processed_length < 10:
        assert context.active_length == min(4, 10 - context.processed_length)
        compute(own, context)
        steps += 1
    assert steps == 3
    fresh = TextGenerationContext(range(10))
    fresh.set_reuses_prefix(False)
    assert compute(own, fresh) == 0
    fresh.append(np.array([3, 4], np.int32))
    assert len(fresh) == fresh.current_length == 12 and fresh.active_length == 2


def test_figures():
    own = manager()
    assert own.num_replicas == 1 and own.max_seq_len == 64 and own.total_num_pages == own.num_pages_per_replica == 64
    assert own.blocks_for(9) == 3 and own.num_free_blocks_of(0) == 64
    assert own.pool_bytes > 65 * 4 * 2 * 4 * 4 and own.host_bytes > 0
    with pytest.warns(UserWarning, match="some of them will have to wait"):
        kvmlir.load_kv_manager(kvmlir.KVCacheParams("f32", 1, 4, 1), 2, 512, 1, None, num_pages=4)


def test_batches_at_once():
    own = manager(pages=8)
    contexts = [TextGenerationContext(range(10 * i, 10 * i + 10)) for i in range(3)]
    for one in contexts:
        own.claim(one.request_id)
    with pytest.raises(kvmlir.InsufficientBlocksError):
        own.alloc_batch(contexts)
    assert [len(own.get_req_blocks(one.request_id)) for one in contexts] == [3, 3, 0]
    own.release(contexts.pop().request_id)
    assert own.alloc_batch(contexts) == 0
    own.get_runtime_inputs(contexts)
    kvmlir.update_batch(contexts, [7, 8])
    own.step(tuple(contexts))
    assert [one.tokens[-1] for one in contexts] == [7, 8]
    with pytest.raises(ValueError, match="a batch of 2 and 1 tokens are given, allowed: one token a request"):
        kvmlir.update_batch(contexts, [7])
    with pytest.raises(ValueError, match="the batch is a int"):
        own.step(3)
