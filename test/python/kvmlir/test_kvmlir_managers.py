"""What managers have beside MAX's names: probes, forks, scopes, images, priorities, chunks; and that Python has
all of the C interface."""

import enum
import inspect
import re
import subprocess
import typing
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

import kvmlir
from kvmlir import TextGenerationContext
from kvmlir.options import MANAGER, ManagerOptions

# Python binds by the last form of DLPack only, and chooses the numbers of requests.
NOT_NEEDED = {"kvInvocationBind", "kvInvocationBindDLPack", "kvRequestId"}


def symbols(library, *options):
    listed = subprocess.run(["nm", "-D", *options, library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1] for line in listed.splitlines() if line.split()[-1].startswith("kv")}


def test_the_extension_calls_the_whole_c_interface():
    [extension] = Path(kvmlir.__file__).parent.glob("_kvmlir*.so")
    beside = extension.parent / "lib/libkv_runtime.so"
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


def test_contexts():
    own = manager()
    context = TextGenerationContext(range(10))
    compute(own, context)
    context.append(np.array([3, 4], np.int32))
    assert own.probe(context, num_steps=3).fits is True
    assert len(context) == context.current_length == 12 and context.active_length == 2
    assert context.vouched_length == 11
    for wrong in (-1, 6):
        with pytest.raises(ValueError, match=f'request "?{context.request_id}"?: {wrong} of 5 new tokens'):
            context.append(range(5), drafts=wrong)
    assert len(context) == 12
    with pytest.raises(ValueError, match="priority is 200, allowed: 0 to 127"):
        context.set_retention(200)


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


def public_callables():
    """Each public function and method of the package, by its name."""
    for name in kvmlir.__all__:
        one = getattr(kvmlir, name)
        if inspect.isclass(one) and not issubclass(one, (enum.Enum, BaseException)):
            yield name, one
            for inner in dir(one):
                value = inspect.getattr_static(one, inner)
                if not inner.startswith("_") and (callable(value) or isinstance(value, (classmethod, staticmethod, property))):
                    yield f"{name}.{inner}", value if isinstance(value, property) else getattr(one, inner)
        elif callable(one) and not inspect.isclass(one) and not typing.get_origin(one):
            yield name, one


def test_every_public_callable_explains_itself():
    found = dict(public_callables())
    assert len(found) > 150 and "PagedKVCacheManager.maybe_reserve" in found
    for name, one in found.items():
        assert inspect.getdoc(one), f"{name} has no docstring"
        made_by_managers_only = inspect.isclass(one) and type(one.__init__) is type(object.__init__)
        if isinstance(one, property) or made_by_managers_only:
            continue
        parameters = inspect.signature(one).parameters
        native = getattr(one, "__nb_signature__", None)
        assert not native or [*parameters] == re.findall(r"[(,] ?\*{0,2}(\w+)(?=[:,)=])", native[0][0].split(") -> ")[0] + ")"), name
    assert str(inspect.signature(kvmlir.PagedKVCacheManager.maybe_reserve)).startswith("(self, data: ")
    context = TextGenerationContext([1])
    assert [*inspect.signature(context.append).parameters] == ["tokens", "drafts"]
    assert inspect.signature(context.set_retention).parameters["priority"].default == 64
    mocked = mock.create_autospec(kvmlir.PagedKVCacheManager, instance=True)
    mocked.maybe_reserve(context, num_steps=2)
    with pytest.raises(TypeError, match="unexpected keyword argument"):
        mocked.maybe_reserve(context, steps=2)


def paged_params(**more):
    return kvmlir.KVCacheParams("f32", 1, 4, 1, page_size=4, enable_prefix_caching=True, **more)


def test_zero_is_refused_where_it_makes_no_sense():
    kinds = kvmlir.KVCacheParams, dict(dtype="f32", n_kv_heads=1, head_dim=4, num_layers=1, page_size=4)
    for field in ("n_kv_heads", "head_dim", "num_layers", "page_size", "data_parallel_degree"):
        with pytest.raises(ValueError, match="0"):
            kinds[0](**{**kinds[1], field: 0})
    with pytest.raises(ValueError, match="quantization_granularity is 0"):
        kinds[0](**{**kinds[1], "dtype": "i8"}, kvcache_quant_config=kvmlir.KVCacheQuantizationConfig("f32", 0))
    with pytest.raises(ValueError, match="host_kvcache_swap_space_gb is 0"):
        paged_params(kv_connector="host", host_kvcache_swap_space_gb=0)
    params = paged_params()
    continuous = kvmlir.KVCacheParams("f32", 1, 4, 1, cache_strategy="continuous")
    calls = {
        "max_batch_size": [lambda: kvmlir.PagedKVCacheManager(params, 0, 64, 1, None, None, 0, num_pages=20),
                           lambda: kvmlir.load_kv_manager(params, 0, 64, 1, None, num_pages=20),
                           lambda: kvmlir.ContinuousBatchingKVCacheManager(continuous, 0, 64, 1, None, None),
                           lambda: kvmlir.NullKVCacheManager(params, 0, 64, 1, "virtual:sm_90a", None, 0),
                           lambda: kvmlir.PagedKVCacheManager.estimated_memory_size(params, 0, 64, 1, 1 << 20, None),
                           lambda: params.spec().paged_host_pages(0, 4, 1 << 20)],
        "max_seq_len": [lambda: kvmlir.PagedKVCacheManager(params, 1, 0, 1, None, None, 0, num_pages=20),
                        lambda: kvmlir.PagedKVCacheManager.infer_optimal_batch_size(params, 0, 1, 1 << 20, None)],
        "page_size": [lambda: kvmlir.PagedKVCacheManager(params, 1, 64, 1, None, None, 0, page_size=0, num_pages=20)],
        "num_threads": [lambda: kvmlir.InferenceSession(None, 0), lambda: kvmlir.load(".", num_threads=0)],
        "max_batch": [lambda: kvmlir.Server(None, max_batch=0)],
        "max_batch_tokens": [lambda: kvmlir.Server(None, max_batch_tokens=0)],
        "num_layers": [lambda: params.spec(num_layers=0), lambda: manager().get_symbolic_inputs(num_layers=0)],
    }
    for field, list_of in calls.items():
        for index, call in enumerate(list_of):
            with pytest.raises(ValueError) as refused:
                call()
            assert f"{field} is 0, allowed: " in str(refused.value), (field, index, str(refused.value))


def test_every_option_is_a_keyword():
    spec = paged_params().spec()
    for one in MANAGER:
        if one.name in ("command", "note"):
            continue  # any function
        wrong = one.range[1] + 1 if one.kind in ("number", "count") else 5
        with pytest.raises(ValueError, match=f"{one.name} is "):
            kvmlir.KVCacheManager(spec, **{"max_seq_len": 64, "num_pages": 20, one.name: wrong})
    with pytest.raises(TypeError, match="a manager has no field colour"):
        kvmlir.KVCacheManager(spec, colour="red")
    assert {*ManagerOptions.__annotations__} < {one.name for one in MANAGER}
    assert "retention_tick: nanoseconds" in kvmlir.PagedKVCacheManager.__doc__


def test_messages_name_what_python_has():
    for call, name in ((lambda: kvmlir.PagedKVCacheManager(paged_params(), -1, 64, 1, None, None, 1 << 20), "max_batch_size is -1"),
                       (lambda: kvmlir.PagedKVCacheManager(paged_params(), 1, 64, 1, None, None, 0), "num_pages is 0, available_cache_memory is 0 bytes"),
                       (lambda: manager(max_steps=-1), "max_steps"),
                       (lambda: manager(max_chunk_tokens=-1), "max_chunk_tokens"),
                       (lambda: manager(retention_tick=-1), "retention_tick"),
                       (lambda: manager().wait_for_loads(-1), "wait_for_loads: "),
                       (lambda: TextGenerationContext([1]).set_retention(prefix_tokens=-1), "prefix_tokens is -1")):
        with pytest.raises(ValueError) as refused:
            call()
        assert name in str(refused.value)
        assert not re.search(r"\b[a-z]+[A-Z]", str(refused.value)), str(refused.value)
    with pytest.warns(UserWarning, match="max_seq_len = 64"):
        kvmlir.PagedKVCacheManager(paged_params(), 4, 64, 1, None, None, 0, num_pages=20)
    # What a caller has named is left as it is.
    with pytest.raises(ValueError, match='"maxSteps-1"'):
        manager().release("maxSteps-1")


def test_parameters_nest():
    one = paged_params()
    two = kvmlir.MultiKVCacheParams.from_params(one, one)
    for nested in (kvmlir.MultiKVCacheParams.from_params(two, one), kvmlir.MultiKVCacheParams.from_params(one, two)):
        assert len(nested.params) == 3 and len({each.name for each in nested.params}) == 3
        assert nested.bytes_per_block == 3 * one.bytes_per_block
    for wrong in ("x", None, [one]):
        with pytest.raises(ValueError, match="allowed: KVCacheParams and MultiKVCacheParams"):
            kvmlir.MultiKVCacheParams.from_params(one, wrong)


def test_values_of_max():
    for given in ("local", kvmlir.KVConnectorType.local):
        local = paged_params(kv_connector=given, host_kvcache_swap_space_gb=0.001)
        assert local.kv_connector.value == "local"
        own = kvmlir.PagedKVCacheManager(local, 1, 64, 1, None, None, 0, num_pages=20, warn=False)
        assert own.total_num_host_pages > 0


def test_a_probe_needs_no_claim():
    own = manager()
    for id in range(4):
        compute(own, TextGenerationContext(range(9), id))
    waiting = TextGenerationContext(range(9))
    assert own.probe(waiting).cached_tokens == 8 and not own.contains(waiting.request_id)
    with pytest.raises(MemoryError, match="slots"):
        own.claim(waiting.request_id)


def test_integers_of_numpy():
    own = manager()
    for number in (np.int32, np.int64, np.uint8):
        context = TextGenerationContext(np.arange(9), number(5))
        own.claim(number(5))
        assert own.contains(5) and own.contains(number(5))
        own.alloc(context, number(1))
        own.get_runtime_inputs([context], number(1))
        context.advance()
        own.step([context])
        assert own.get_req_blocks(number(5)) and own.get_replica(context) == 0
        context.rewind(number(1))
        own.truncate(number(5), number(8))
        own.release(number(5))
    params = kvmlir.KVCacheParams("f32", np.int64(1), np.int32(4), np.int64(1), page_size=np.int64(4))
    own = kvmlir.PagedKVCacheManager(params, np.int64(2), np.int64(16), np.int64(1), None, None, np.int64(1 << 20), warn=False)
    assert own.max_seq_len == 16 and kvmlir.CPU(np.int64(1)).name == "cpu:1"
    for wrong in (1.0, np.float64(1), b"a"):
        with pytest.raises(ValueError, match="request_id is "):
            own.claim(wrong)


def test_metrics_are_made_and_added():
    one = kvmlir.KVCacheMetrics(input_tokens=6, cache_tokens=2, evicted_pages=1, disk_blocks_read=3)
    assert (one.prompt_tokens, one.cache_hit_rate) == (8, 0.25) and kvmlir.KVCacheMetrics() == kvmlir.KVCacheMetrics()
    own = manager()
    compute(own, TextGenerationContext(range(8)))
    both = sum([one, own.metrics], kvmlir.KVCacheMetrics())
    assert (both.input_tokens, both.cached_tokens, both.evicted_pages, both.disk_blocks_read) == (14, 2, 1, 3)
    assert both.prompt_tokens == 16 and both.cache_hit_rate == 2 / 16
    with pytest.raises(TypeError):
        one + 1
