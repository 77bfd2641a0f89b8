"""Every name of MAX's four pages, in Python: with the page's parameters and defaults, called with and without
them, and compared with what the page says. The table of names is that of test_manager_names; what the names
mean, docs/managers.md says."""

import ast
import inspect
import re
import subprocess

import numpy as np
import pytest

import kvmlir
from kvmlir import KVCacheStrategy, MultiKVCacheParams, TextGenerationContext
from test_manager_names import GRAPH_VALUES, PAGES, documented
from tools import find

CALLS = {}


def name(page, signature):
    """Marks the function that calls a documented name."""
    def mark(function):
        CALLS[page, signature] = function
        return function
    return mark


def split(signature):
    """The name of a signature, and its parameters; None for a property, a field or a class."""
    head, _, rest = signature.partition("(")
    return head, rest.removesuffix(")") if rest or signature.endswith(")") else None


# ---- Signatures -----------------------------------------------------------------------------------------


def arguments(signature):
    """[(name, default)] of what stands between parentheses; a required one has ... for its default."""
    made = ast.parse(f"def f({signature}): pass").body[0].args
    names = [one.arg for one in made.posonlyargs + made.args]
    defaults = [...] * (len(names) - len(made.defaults)) + [ast.literal_eval(d) for d in made.defaults]
    more = ["*" + made.vararg.arg] if made.vararg else []
    return [*zip(names, defaults), *((one, ...) for one in more)], bool(made.kwarg)


def parameters(function):
    """The same of a function, of Python or of the extension, without self."""
    described = getattr(function, "__nb_signature__", None)
    if described:
        # nanobind's: the text, in which \0, \1, ... stand for the defaults after the docstring.
        text, _, *more = described[0]
        defaults = more[0] if more else ()
        text = re.sub(r"\\(\d+)", lambda number: repr(defaults[int(number[1])]), text)
        made = ast.parse(text + ": pass").body[0].args
        found = [one.arg for one in made.args]
        defaults = [...] * (len(found) - len(made.defaults)) + [
            ast.literal_eval(d) for d in made.defaults]
        return [one for one in zip(found, defaults) if one[0] != "self"]
    return [(("*" if one.kind is one.VAR_POSITIONAL else "") + one.name,
             ... if one.default is one.empty else one.default)
            for one in inspect.signature(function).parameters.values()
            if one.name != "self" and one.kind in (one.POSITIONAL_OR_KEYWORD, one.VAR_POSITIONAL)]


def owner(page, head):
    """The object that has a name: a class for its methods, the package for its classes."""
    if hasattr(kvmlir, head):
        return kvmlir, head
    return getattr(kvmlir, "MultiKVCacheParams" if page == "KVCacheParams" else page), head


@pytest.mark.parametrize("page,signature", [(p, s) for p in PAGES for s in documented(p)])
def test_a_name_is_there_with_its_parameters(page, signature):
    head, between = split(signature)
    where, head = owner(page, head)
    if between is None:
        fields = getattr(where, "__dataclass_fields__", {})
        assert hasattr(where, head) or head in fields
        return
    wanted, takes_more = arguments(between)
    function = getattr(where, head)
    if isinstance(function, type):
        function = function.__init__
    given = parameters(function)
    assert given[:len(wanted)] == wanted, f"{signature}: {given}"
    # What is added, may be left out.
    assert all(default is not ... for _, default in given[len(wanted):]), given
    if takes_more:
        assert any(one.kind is one.VAR_KEYWORD for one in inspect.signature(function).parameters.values())


@pytest.mark.parametrize("page", PAGES)
def test_every_name_is_called(page):
    assert sorted(s for p, s in CALLS if p == page) == sorted(documented(page))


@pytest.mark.parametrize("key", [(p, s) for p in PAGES for s in documented(p)],
                         ids=lambda key: f"{key[0]}-{key[1].split('(')[0]}")
def test_a_name_does_what_the_page_says(key):
    CALLS[key]()


# ---- What is called -------------------------------------------------------------------------------------


def params(devices=1, replicas=1, **more):
    return kvmlir.KVCacheParams(**{
        "dtype": "f32", "n_kv_heads": 2, "head_dim": 4, "page_size": 2, "n_devices": devices,
        "data_parallel_degree": replicas, "enable_prefix_caching": True, **more})


def slots(**more):
    return params(cache_strategy=KVCacheStrategy.CONTINUOUS, enable_prefix_caching=False, **more)


def cpus(count):
    return [kvmlir.CPU(i) for i in range(count)]


class Serving:
    """A manager and two requests of 5 tokens each, the second on the last replica."""

    def __init__(self, manager):
        self.manager = manager
        self.one, self.two = TextGenerationContext(range(5), 1), TextGenerationContext(range(100, 105), 2)
        self.batch = [self.one, self.two]

    def __getattr__(self, name):
        return getattr(self.manager, name)

    def claimed(self):
        self.claim(1, 0)
        self.claim(2, self.num_replicas - 1)
        return self

    def reserved(self, steps=1):
        self.claimed()
        for one in self.batch:
            self.alloc(one, steps)
        return self

    def computed(self):
        self.reserved()
        self.get_runtime_inputs(self.batch)
        for one in self.batch:
            one.advance()
        self.step(self.batch)
        return self


def paged(devices=1, replicas=1, **more):
    return Serving(kvmlir.PagedKVCacheManager(params(devices, replicas), 4, 32, 3, cpus(devices), None, 0,
                                              num_pages=16, warn=False, **more))


def continuous():
    return Serving(kvmlir.ContinuousBatchingKVCacheManager(slots(), 4, 16, 3, cpus(1), None))


def null(devices=1, replicas=1):
    places = ["virtual:sm_90a" + (f":{i}" if i else "") for i in range(devices)]
    return Serving(kvmlir.NullKVCacheManager(params(devices, replicas), 4, 32, 3, places, None, 1 << 20))


def refuses(error, text, call, *given, **named):
    with pytest.raises(error) as raised:
        call(*given, **named)
    assert str(raised.value) == text


PAGED, CONTINUOUS, NULL, PARAMS = PAGES


# ---- PagedKVCacheManager --------------------------------------------------------------------------------


@name(PAGED, "PagedKVCacheManager(params, max_batch_size, max_seq_len, num_layers, devices, session, "
      "available_cache_memory, zmq_endpoint_base=None, page_size=128, enable_runtime_checks=False)")
def _():
    given = kvmlir.KVCacheParams("float32", 2, 4)
    manager = kvmlir.PagedKVCacheManager(given, 4, 1000, 3, [kvmlir.CPU()], None, 1 << 20)
    assert manager.max_seq_len == 1000 and manager.devices == [kvmlir.CPU(0)]
    request = TextGenerationContext(range(129))
    manager.claim(request.request_id)
    assert manager.alloc(request).new_pages == 2  # of 128 tokens
    # The batch is of all replicas.
    two = paged(2, 2)
    two.claim(1, 0)
    two.claim(2, 0)
    with pytest.raises(MemoryError):
        two.claim(3, 0)
    with pytest.raises(RuntimeError):
        kvmlir.PagedKVCacheManager(given, 4, 1000, 3, cpus(1), None, 1)
    refuses(ValueError, "num_layers is 3, the parameters say 5, allowed: the same, or None in the parameters",
            kvmlir.PagedKVCacheManager, params(num_layers=5), 4, 32, 3, cpus(1), None, 1 << 20)
    refuses(ValueError, "page_size is 64, the parameters say 2, allowed: the same, or the default in one of them",
            kvmlir.PagedKVCacheManager, params(), 4, 32, 3, cpus(1), None, 1 << 20, page_size=64)
    refuses(ValueError, "session is a int, allowed: InferenceSession or None",
            kvmlir.PagedKVCacheManager, params(), 4, 32, 3, cpus(1), 7, 1 << 20)
    with pytest.raises(TypeError, match="a manager has no field colour"):
        paged(colour=3)


@name(PAGED, "contains(request_id)")
def _():
    own = paged()
    assert own.contains(1) is False
    assert own.claimed().contains(1) is True


@name(PAGED, "estimated_memory_size(params, max_batch_size, max_seq_len, num_layers, available_cache_memory, "
      "devices, **kwargs)")
def _():
    size, page = kvmlir.PagedKVCacheManager.estimated_memory_size, params(num_layers=3).bytes_per_block
    few = size(params(), 2, 8, 3, page << 10, cpus(1))
    assert 8 * page <= few < page << 10
    assert size(params(), 4, 1 << 20, 3, 40 * page, cpus(1)) <= 40 * page
    made = kvmlir.PagedKVCacheManager(params(), 2, 8, 3, cpus(1), None, page << 10)
    assert made.pool_bytes == few == kvmlir.estimate_kv_cache_size(params(), 2, 8, 3, page << 10, cpus(1))


@name(PAGED, "external_claim(request_id, replica_idx=None)")
def _():
    one, several = paged(), paged(2, 2)
    assert one.external_claim(1) is None
    refuses(ValueError, "request 1 is claimed already", one.external_claim, 1)
    several.external_claim(1, replica_idx=1)
    with pytest.raises(ValueError):
        several.external_claim(2)  # which of two replicas?


@name(PAGED, "claim(request_id, replica_idx=None)")
def _():
    own = paged(2, 2)
    assert own.claim(1, 1) is None
    assert own.get_replica(own.one) == 1


@name(PAGED, "fetch(batch, num_steps=1)")
def _():
    own = paged(2, 2).reserved(3)
    inputs = own.fetch(own.batch)
    assert len(inputs) == 2  # one a device
    assert inputs[0].max_lengths.shape == (1, 2) and inputs[0].cache_lengths.shape == (1,)
    inputs = own.fetch(own.batch, num_steps=3)
    assert inputs[1].max_lengths.numpy().tolist() == [[5, 5], [1, 6], [1, 7]]
    refuses(ValueError, "element 0 of the batch is a int, allowed: TextGenerationContext", own.fetch, [1])


@name(PAGED, "get_runtime_inputs(batch, num_steps=1)")
def _():
    own = paged().reserved()
    [inputs] = own.get_runtime_inputs(own.batch)
    assert inputs.blocks.shape == (17, 2, 3, 2, 2, 4)
    assert inputs.cache_lengths.numpy().tolist() == [0, 0]
    assert inputs.lookup_table.shape[0] == 2
    assert inputs.lookup_table.numpy()[0, 0] == own.get_req_blocks(1)[0]
    assert [one.shape for one in inputs] == [inputs.blocks.shape, (2,), inputs.lookup_table.shape, (1, 2)]
    own.get_runtime_inputs(own.batch)
    refuses(ValueError, "these inputs are of an earlier step: the manager has written later ones to their memory",
            lambda: inputs.blocks)


@name(PAGED, "free_blocks_pct")
def _():
    own = paged()
    assert own.free_blocks_pct == 1.0
    assert own.reserved().free_blocks_pct == 10 / 16


@name(PAGED, "get_data_parallel_splits(context_batch)")
def _():
    own = paged(2, 2).claimed()
    splits = own.get_data_parallel_splits(own.batch)
    assert splits.dtype == np.int64 and splits.tolist() == [0, 1, 2]


@name(PAGED, "get_or_recommend_replica(context)")
def _():
    own = paged(2, 2)
    own.claim(9, 0)
    assert own.get_or_recommend_replica(own.one) == 1
    own.claim(1, 0)
    assert own.get_or_recommend_replica(own.one) == 0


@name(PAGED, "get_replica(context)")
def _():
    own = paged(2, 2).claimed()
    assert own.get_replica(own.two) == 1
    refuses(ValueError, 'request "c" is not claimed', own.get_replica, TextGenerationContext([1], "c"))


@name(PAGED, "get_req_blocks(request_id)")
def _():
    blocks = paged().reserved().get_req_blocks(1)
    assert isinstance(blocks, list) and len(blocks) == 3


@name(PAGED, "host_committed_block_pct")
def _():
    assert paged().host_committed_block_pct == 0.0


@name(PAGED, "increment_cache_lengths(kv_cache_inputs, prev_model_inputs)")
def _():
    offsets = np.array([0, 5, 10], np.int32)

    class Previous:
        input_row_offsets = offsets

    for previous in (offsets, [0, 5, 10], Previous(), {"row_offsets": offsets}, (offsets, offsets)):
        own = paged().reserved(2)
        inputs = own.increment_cache_lengths(own.fetch(own.batch, 2), previous)
        assert inputs[0].cache_lengths.numpy().tolist() == [5, 5]
        assert inputs[0].max_lengths.numpy().tolist() == [[1, 6]]


@name(PAGED, "infer_optimal_batch_size(params, max_seq_len, num_layers, available_cache_memory, devices, **kwargs)")
def _():
    assert kvmlir.PagedKVCacheManager.infer_optimal_batch_size(params(), 32, 3, 1 << 20, cpus(1)) == 512
    assert kvmlir.infer_optimal_batch_size(params(), 32, 3, 1 << 20, cpus(1)) == 512


@name(PAGED, "input_symbols(devices=None, num_layers=None)")
def _():
    own = paged(2, 2)
    assert len(own.input_symbols()) == 2
    assert len(own.input_symbols(devices=cpus(1))) == 1
    assert own.input_symbols()[0].kv_blocks.shape[2] == 3
    assert own.input_symbols(num_layers=7)[0].kv_blocks.shape[2] == 7


@name(PAGED, "get_symbolic_inputs(devices=None, num_layers=None)")
def _():
    [symbols] = paged().get_symbolic_inputs()
    assert symbols.lookup_table.name == "kv.lookup_table"
    assert isinstance(symbols.kv_blocks, kvmlir.BufferType) and symbols.kv_blocks.dtype is kvmlir.DType.float32
    assert symbols.cache_lengths == kvmlir.TensorType(
        kvmlir.DType.int32, ("kv.batch",), kvmlir.CPU(), "kv.cache_lengths")


@name(PAGED, "max_supported_sequence_length(params, num_layers, memory_available)")
def _():
    page = params(num_layers=3).bytes_per_block
    tokens = kvmlir.PagedKVCacheManager.max_supported_sequence_length(params(), 3, 40 * page)
    assert tokens % 2 == 0 and 60 < tokens <= 80


@name(PAGED, "maybe_reserve(data, num_steps=1)")
def _():
    own = paged().claimed()
    assert own.maybe_reserve(own.one) is True
    assert len(own.get_req_blocks(1)) == 3
    assert own.maybe_reserve(own.two, num_steps=28) is False
    assert own.get_req_blocks(2) == []
    with pytest.raises(ValueError):
        own.maybe_reserve(own.two, num_steps=65)  # no lack of pages, but a step too many


@name(PAGED, "alloc(data, num_steps=1)")
def _():
    own = paged().claimed()
    assert own.alloc(own.one, num_steps=10).new_pages == 7  # 14 tokens
    assert own.alloc(own.two).new_pages == 3
    with pytest.raises(kvmlir.InsufficientBlocksError) as refused:
        own.alloc(own.two, 28)
    assert refused.value.reason == "full" and isinstance(refused.value, RuntimeError)


@name(PAGED, "metrics")
def _():
    own = paged().reserved()
    assert own.metrics.input_tokens == own.metrics.prompt_tokens == 10
    assert own.metrics.cache_hit_rate == 0.0 and own.metrics.cache_tokens == 0


@name(PAGED, "num_free_blocks")
def _():
    assert paged(2, 2).reserved().num_free_blocks == 26


@name(PAGED, "release(request_id)")
def _():
    own = paged().reserved()
    assert own.release(1) is None
    assert not own.contains(1)
    refuses(ValueError, "request 1 is not claimed", own.release, 1)


@name(PAGED, "reset_metrics()")
def _():
    own = paged().reserved()
    assert own.reset_metrics() is None
    assert own.metrics.input_tokens == 0


@name(PAGED, "reset_prefix_cache()")
def _():
    own = paged().computed()
    again = TextGenerationContext(range(5), 3)
    own.claim(3)
    assert own.probe(again).cached_tokens == 4
    assert own.reset_prefix_cache() is None
    assert own.probe(again).cached_tokens == 0


@name(PAGED, "step(batch)")
def _():
    own = paged().computed()
    again = TextGenerationContext(range(100, 105), 3)
    own.claim(3)
    assert own.explain(again) == ["hit", "hit", "always_computed"]
    assert own.alloc(again).cached_tokens == 4  # full pages are shared


@name(PAGED, "total_num_host_pages")
def _():
    assert paged().total_num_host_pages == 0


@name(PAGED, "used_blocks_pct")
def _():
    assert paged().reserved().used_blocks_pct == 6 / 16


def test_the_pages_modules():
    """MAX's names of modules, below kvmlir."""
    from kvmlir.continuous_batching_cache import ContinuousBatchingKVCacheManager
    from kvmlir.null_cache_manager import NullKVCacheManager
    from kvmlir.paged_cache.cache_manager import PagedKVCacheManager
    assert (ContinuousBatchingKVCacheManager, NullKVCacheManager, PagedKVCacheManager) == (
        kvmlir.ContinuousBatchingKVCacheManager, kvmlir.NullKVCacheManager, kvmlir.PagedKVCacheManager)


def test_the_pages_example():
    """As it stands there, but for devices and sessions."""
    kv_manager, ctx1, ctx2 = paged(2, 2).manager, TextGenerationContext(range(5)), TextGenerationContext(range(9))

    kv_manager.external_claim(ctx1.request_id, replica_idx=0)
    kv_manager.external_claim(ctx2.request_id, replica_idx=1)

    # Allocate blocks for these requests
    kv_manager.maybe_reserve(ctx1, num_steps=10)
    kv_manager.maybe_reserve(ctx2, num_steps=10)

    # Get KVCache inputs to feed to graph
    kv_cache_inputs = kv_manager.fetch([ctx1, ctx2], num_steps=10)
    assert [one.cache_lengths.shape for one in kv_cache_inputs] == [(1,), (1,)]

    # Update requests with newly generated tokens
    ctx1.update(42)
    ctx2.update(42)

    # Commit newly written blocks to prefix cache
    kv_manager.step([ctx1, ctx2])

    # Release metadata and KV blocks for these requests
    kv_manager.release(ctx1.request_id)
    kv_manager.release(ctx2.request_id)
    assert kv_manager.num_free_blocks == 32 and ctx1.tokens.tolist() == [0, 1, 2, 3, 4, 42]


# ---- ContinuousBatchingKVCacheManager -------------------------------------------------------------------


@name(CONTINUOUS, "ContinuousBatchingKVCacheManager(params, max_cache_batch_size, max_seq_len, num_layers, "
      "devices, session)")
def _():
    made = kvmlir.ContinuousBatchingKVCacheManager(slots(), 3, 16, 3, cpus(1), None)
    assert made.total_num_pages == 3
    refuses(ValueError, "cache_strategy is 'paged', allowed: 'continuous'",
            kvmlir.ContinuousBatchingKVCacheManager, params(), 3, 16, 3, cpus(1), None)


@name(CONTINUOUS, "block_shape(n_sequences)")
def _():
    assert continuous().block_shape(5) == [5, 2, 3, 16, 2, 4]


@name(CONTINUOUS, "estimated_memory_size(params, max_cache_batch_size, max_seq_len, num_layers, devices)")
def _():
    size = kvmlir.ContinuousBatchingKVCacheManager.estimated_memory_size(slots(), 4, 16, 3, cpus(1))
    assert size == continuous().pool_bytes >= 4 * 2 * 3 * 16 * 2 * 4 * 4
    assert kvmlir.estimate_kv_cache_size(slots(), 4, 16, 3, 0, cpus(1)) == size


@name(CONTINUOUS, "infer_optimal_batch_size(params, max_seq_len, num_layers, available_cache_memory, devices, "
      "**kwargs)")
def _():
    slot = 2 * 3 * 16 * 2 * 4 * 4 + 2 * (64 + 1) * 4
    infer = kvmlir.ContinuousBatchingKVCacheManager.infer_optimal_batch_size
    assert infer(slots(), 16, 3, 7 * slot, cpus(1)) == 7


@name(CONTINUOUS, "fetch(seq_ids)")
def _():
    own = continuous().reserved()
    [(blocks, cache_lengths, lookup_table, is_cache_empty)] = own.fetch([1, 2])
    assert blocks.shape == (4, 2, 3, 16, 2, 4)
    assert cache_lengths.numpy().tolist() == [0, 0] and lookup_table.numpy().tolist() == [0, 1]
    assert is_cache_empty.shape == () and is_cache_empty
    assert own.fetch(own.batch)[0].lookup_table.numpy().tolist() == [0, 1]
    refuses(ValueError, "sequence 3 is not in the cache: alloc() gives it its context", own.fetch, [3])
    refuses(ValueError, "sequence 4, allowed: ids from 0 to 3", own.fetch, [4])
    own.release(2)
    with pytest.raises(ValueError):
        own.fetch([1, 2])


@name(CONTINUOUS, "increment_cache_lengths(kv_cache_inputs, prev_model_inputs)")
def _():
    own = continuous().reserved(2)
    tokens, offsets = np.zeros(10, np.int32), np.array([0, 5, 10], np.int32)
    [fetched] = own.increment_cache_lengths(own.fetch([1, 2], 2), (tokens, offsets))
    assert fetched[1].numpy().tolist() == [5, 5] and not fetched[3]


@name(CONTINUOUS, "input_symbols()")
def _():
    [symbols] = continuous().input_symbols()
    blocks, cache_lengths, lookup_table, max_lengths = symbols
    assert blocks.shape[1:] == (2, 3, 16, 2, 4) and blocks.rank == 6
    assert cache_lengths.rank == lookup_table.rank == 1 and max_lengths.rank == 2


def graph():
    given = slots(num_layers=3, page_size=16)
    [symbols] = given.get_symbolic_inputs()
    return given, symbols, kvmlir.FetchContinuousBatchingKVCacheCollection(given)(*symbols)


@name(CONTINUOUS, "ContinuousBatchingKVCacheType")
def _():
    assert str(kvmlir.ContinuousBatchingKVCacheType()) == "!kv.cache<continuous, ...>"


@name(CONTINUOUS, "ContinuousBatchingKVCacheCollectionType")
def _():
    assert str(kvmlir.ContinuousBatchingKVCacheCollectionType(slots(num_layers=3, page_size=16))) == (
        "!kv.collection<continuous, f32, layers = 3, heads = 2, dim = 4, max_seq = 16>")


@name(CONTINUOUS, "ContinuousBatchingKVCache(value)")
def _():
    keys = graph()[2].key_cache("%layer")
    assert kvmlir.ContinuousBatchingKVCache(keys.value).value is keys.value
    refuses(ValueError, "the value is a int, allowed: !kv.cache<continuous, ...>",
            kvmlir.ContinuousBatchingKVCache, 3)


@name(CONTINUOUS, "ContinuousBatchingKVCacheCollection(value)")
def _():
    collection = graph()[2]
    assert kvmlir.ContinuousBatchingKVCacheCollection(collection.value).value.name == "%kv"
    with pytest.raises(ValueError):
        kvmlir.ContinuousBatchingKVCacheCollection(collection.key_cache("%layer").value)


@name(CONTINUOUS, "FetchContinuousBatchingKVCacheCollection(kv_params)")
def _():
    """What is made is a module that the compiler takes."""
    _, symbols, collection = graph()
    keys, values = collection.key_cache("%layer"), collection.value_cache("%layer")
    graph_of = kvmlir.continuous_batching_cache
    taken = ", ".join(f"{graph_of.argument_name(one)}: {graph_of.mlir_type(one)}" for one in symbols)
    types = f"{keys.value.type}, {values.value.type}"
    text = "\n".join([f"func.func @f({taken}, %layer: index) -> ({types}) {{",
                      collection.value.operation, keys.value.operation, values.value.operation,
                      f"return {keys.value}, {values.value} : {types}", "}"])
    kv_opt = find("kv-opt")
    assert kv_opt, "kv-opt is not built"
    done = subprocess.run([kv_opt, "-"], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr + text
    for span in GRAPH_VALUES.values():
        assert span.split(",")[0].rstrip("…") in done.stdout
    refuses(ValueError, "cache_strategy is 'paged', allowed: 'continuous'",
            kvmlir.FetchContinuousBatchingKVCacheCollection, params())
    refuses(ValueError, "cache_lengths is f32 of rank 6, allowed: i32 of rank 1",
            kvmlir.FetchContinuousBatchingKVCacheCollection(slots(num_layers=3)), *[symbols.kv_blocks] * 4)


# ---- NullKVCacheManager ---------------------------------------------------------------------------------


@name(NULL, "NullKVCacheManager(params, max_batch_size, max_seq_len, num_layers, devices, session, "
      "available_cache_memory, page_size=128)")
def _():
    assert null().pool_bytes == 0
    made = kvmlir.load_kv_manager(params(), 4, 32, 3, ["virtual:sm_90a"])
    assert isinstance(made, kvmlir.NullKVCacheManager)
    refuses(ValueError, "devices are cpu:0, allowed: virtual:TARGET, since a null manager has no memory",
            kvmlir.NullKVCacheManager, params(), 4, 32, 3, cpus(1), None, 0)


@name(NULL, "alloc(data, num_steps=1)")
def _():
    own = null()
    assert own.alloc(own.one) is None and own.alloc(own.two, num_steps=7) is None
    assert own.contains(1)


@name(NULL, "claim(request_id, replica_idx=None)")
def _():
    own = null()
    assert own.claim(1) is None and own.claim(2, 0) is None
    assert own.contains(2)


@name(NULL, "contains(request_id)")
def _():
    assert null().contains(1) is False


@name(NULL, "estimated_memory_size(params, max_batch_size, max_seq_len, num_layers, available_cache_memory, "
      "devices, **kwargs)")
def _():
    assert kvmlir.NullKVCacheManager.estimated_memory_size(params(), 4, 32, 3, 1 << 20, ["virtual:sm_90a"]) == 0


@name(NULL, "infer_optimal_batch_size(params, max_seq_len, num_layers, available_cache_memory, devices, **kwargs)")
def _():
    assert kvmlir.NullKVCacheManager.infer_optimal_batch_size(params(), 32, 3, 1 << 20, ["virtual:sm_90a"]) == 1


@name(NULL, "get_data_parallel_splits(batch)")
def _():
    own = null()
    assert own.get_data_parallel_splits(own.batch) == [[0, 1]]


@name(NULL, "get_or_recommend_replica(context)")
def _():
    own = null()
    assert own.get_or_recommend_replica(own.one) == 0


@name(NULL, "get_replica(context)")
def _():
    own = null().claimed()
    assert own.get_replica(own.one) == 0


@name(NULL, "get_req_blocks(request_id)")
def _():
    assert null().claimed().get_req_blocks(1) == []


@name(NULL, "get_runtime_inputs(batch, num_steps=1)")
def _():
    own = null().reserved()
    [inputs] = own.get_runtime_inputs(own.batch)
    assert inputs.cache_lengths.shape == (2,) and inputs.blocks.rank == 6
    assert own.get_runtime_inputs(own.batch, 3)[0].max_lengths.shape == (3, 2)


@name(NULL, "get_symbolic_inputs(devices=None, num_layers=None)")
def _():
    real, virtual = paged().get_symbolic_inputs(), null().get_symbolic_inputs()
    assert [[(a.name, a.dtype, a.shape) for a in one] for one in real] == (
        [[(a.name, a.dtype, a.shape) for a in one] for one in virtual])
    assert null().get_symbolic_inputs(["virtual:sm_90a"], 5)[0].kv_blocks.shape[2] == 5


@name(NULL, "increment_cache_lengths(kv_cache_inputs, prev_model_inputs)")
def _():
    own = null().reserved()
    inputs = own.get_runtime_inputs(own.batch)
    assert own.increment_cache_lengths(inputs, None) is inputs


for figure, constant in (("free_blocks_pct", 1.0), ("used_blocks_pct", 0.0), ("num_free_blocks", 1000),
                         ("host_committed_block_pct", 0.0), ("total_num_host_pages", 0)):
    @name(NULL, figure)
    def _(figure=figure, constant=constant):
        assert getattr(null().reserved(), figure) == constant


@name(NULL, "metrics")
def _():
    metrics = null().reserved().metrics
    assert (metrics.input_tokens, metrics.cached_tokens, metrics.prompt_tokens) == (0, 0, 0)


@name(NULL, "release(request_id)")
def _():
    own = null().claimed()
    assert own.release(1) is None and not own.contains(1)
    assert own.release("nobody") is None


@name(NULL, "reset_metrics()")
def _():
    assert null().reset_metrics() is None


@name(NULL, "reset_prefix_cache()")
def _():
    assert null().reset_prefix_cache() is None


@name(NULL, "step(batch)")
def _():
    own = null().reserved()
    assert own.step(own.batch) is None


# ---- KVCacheParams, MultiKVCacheParams ------------------------------------------------------------------


def multi(**more):
    return MultiKVCacheParams.from_params(params(num_layers=3, **more), params(num_layers=1, **more))


@name(PARAMS, "KVCacheParams")
def _():
    given = kvmlir.KVCacheParams("bf16", 8, 128)
    assert (given.page_size, given.n_devices, given.data_parallel_degree) == (128, 1, 1)
    assert given.enable_prefix_caching is False and given.cache_strategy is KVCacheStrategy.PAGED
    assert given.dtype is kvmlir.DType.bfloat16 and given.dtype_shorthand == "bf16"
    assert kvmlir.KVCacheParams("bf16", 8, 128, n_devices=4).n_kv_heads_per_device == 2
    assert isinstance(given, kvmlir.KVCacheParamInterface)
    for wrong in ({"n_devices": 3}, {"data_parallel_degree": 2}, {"page_size": -1}, {"dtype": "f31"},
                  {"kv_connector": "tape"}, {"speculative_method": "guess"}, {"num_draft_tokens": -1},
                  {"cache_strategy": "naive"}):
        with pytest.raises(ValueError):
            kvmlir.KVCacheParams(**{"dtype": "bf16", "n_kv_heads": 8, "head_dim": 128, **wrong})


@name(PARAMS, "MultiKVCacheParams(params, page_size, data_parallel_degree, n_devices, kv_connector, "
      "host_kvcache_swap_space_gb, speculative_method=None, num_draft_tokens=0)")
def _():
    made = MultiKVCacheParams([params(num_layers=3)], 2, 1, 1, None, None)
    assert made == MultiKVCacheParams.from_params(params(num_layers=3))
    refuses(ValueError, "page_size is 2 in one cache and 4 in another, allowed: the same in all",
            MultiKVCacheParams, [params(num_layers=3)], 4, 1, 1, None, None)


@name(PARAMS, "from_params(*params)")
def _():
    assert [one.num_layers for one in multi().params] == [3, 1]
    with pytest.raises(ValueError):
        MultiKVCacheParams.from_params()
    for field, other in (("page_size", 4), ("n_devices", 2), ("enable_prefix_caching", False),
                         ("num_draft_tokens", 1), ("speculative_method", "mtp")):
        more = {"speculative_method": "eagle"} if field == "num_draft_tokens" else {}
        with pytest.raises(ValueError, match=field):
            MultiKVCacheParams.from_params(params(num_layers=3, **more),
                                           params(num_layers=3, **{**more, field: other}))


@name(PARAMS, "bytes_per_block")
def _():
    page = 2 * 2 * 2 * 4 * 4  # planes, tokens, heads, elements, bytes: of a layer
    assert params(num_layers=3).bytes_per_block == 3 * page
    assert multi().bytes_per_block == 4 * page
    assert multi(devices=2).bytes_per_block == 4 * page  # of both devices


@name(PARAMS, "data_parallel_degree")
def _():
    assert multi(devices=2, replicas=2).data_parallel_degree == 2


@name(PARAMS, "get_symbolic_inputs(prefix='')")
def _():
    inputs = multi().get_symbolic_inputs()
    assert len(inputs.inputs) == 2 and len(inputs.flatten()) == 8
    assert params(num_layers=3).get_symbolic_inputs("a.")[0].kv_blocks.name.startswith("a.kv")
    # With several devices as the manager has them.
    for devices, replicas in ((2, 1), (2, 2)):
        given = params(devices, replicas)
        given.num_layers = 3
        assert given.get_symbolic_inputs().inputs == list(paged(devices, replicas).get_symbolic_inputs())


@name(PARAMS, "host_kvcache_swap_space_gb")
def _():
    assert multi().host_kvcache_swap_space_gb is None
    assert multi(kv_connector="host", host_kvcache_swap_space_gb=2.5).host_kvcache_swap_space_gb == 2.5


@name(PARAMS, "kv_connector")
def _():
    assert multi().kv_connector is None
    assert multi(kv_connector="null").kv_connector is kvmlir.KVConnectorType.null


@name(PARAMS, "n_devices")
def _():
    assert multi(devices=2).n_devices == 2


@name(PARAMS, "num_draft_tokens")
def _():
    assert multi().num_draft_tokens == 0
    drafting = multi(speculative_method="eagle", num_draft_tokens=2)
    assert drafting.num_draft_tokens == 2 and drafting.num_draft_slots == 4


@name(PARAMS, "page_size")
def _():
    assert multi().page_size == 2


@name(PARAMS, "params")
def _():
    assert multi().params[1].n_kv_heads == 2


@name(PARAMS, "replicates_kv_across_tp")
def _():
    assert multi(devices=2).replicates_kv_across_tp is False
    latent = kvmlir.KVCacheParams("f32", 1, 6, 3, is_mla=True, v_head_dim=4, n_devices=2)
    assert latent.replicates_kv_across_tp is True and latent.shape_per_block == [1, 3, 128, 1, 6]


@name(PARAMS, "speculative_method")
def _():
    assert multi().speculative_method is None
    for method in ("eagle", "mtp", "dflash"):
        assert multi(speculative_method=method).speculative_method == method


@name(PARAMS, "tensor_parallel_degree")
def _():
    assert multi(devices=2).tensor_parallel_degree == 2
    assert multi(devices=2, replicas=2).tensor_parallel_degree == 1


def test_a_host_connector_needs_memory_and_prefixes():
    given = {"num_layers": 3, "kv_connector": "host"}
    assert params(**given, host_kvcache_swap_space_gb=1).kv_connector is kvmlir.KVConnectorType.host
    assert params(num_layers=3, enable_kvcache_swapping_to_host=True,
                  host_kvcache_swap_space_gb=1).kv_connector is kvmlir.KVConnectorType.host
    for wrong in ({}, {"host_kvcache_swap_space_gb": 1, "enable_prefix_caching": False}):
        with pytest.raises(ValueError, match="host"):
            params(**given, **wrong)
