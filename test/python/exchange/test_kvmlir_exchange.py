"""kvmlir.exchange: rows go from one manager's pages through bytes to another's, each to its place; exchange_reader.py, which
was written from the page, says where it lies in the bytes."""

import exchange_reader
import numpy as np
import pytest
from test_exchange import collection, library, orders, written  # noqa: F401  library is a fixture

from kvmlir import ContinuousBatchingKVCacheManager, InsufficientBlocksError, KVCacheParams, KVCacheStrategy
from kvmlir import KVCacheQuantizationConfig, MultiKVCacheParams, PagedKVCacheManager, TextGenerationContext, exchange

ORDERS = {"nhd": (0, 1, 2, 3, 4), "hnd": (0, 1, 2, 4, 3), "cpu": (0, 2, 4, 1, 3)}
KINDS = {"f32": {}, "bf16": {"dtype": "bf16"}, "latent": {"is_mla": True, "n_kv_heads": 1, "v_head_dim": 6},
         "f8": {"dtype": "float8_e4m3fn"}, "i8": {"dtype": "int8", "kvcache_quant_config": KVCacheQuantizationConfig("float32", 4)}}


def manager(layout="nhd", page_size=4, pages=24, **more):
    params = KVCacheParams(**{"dtype": "f32", "n_kv_heads": 2, "head_dim": 8, "num_layers": 3, "page_size": page_size,
                              "layout": layout, "enable_prefix_caching": True, **more})
    return PagedKVCacheManager(params, 4, 64, None, None, None, 0, num_pages=pages, warn=False, enable_runtime_checks=True)


def pool(own, layout):
    """The bytes of each element of blocks and scales: views, [pages, planes, layers, page, heads, elements, bytes]."""
    [inputs] = own.get_runtime_inputs([])
    for one in (inputs.blocks, inputs.kv_scales):
        if one is not None:
            array = one.numpy()
            raw = array.view(np.uint8).reshape(*array.shape, array.itemsize)
            assert np.shares_memory(raw, array)
            yield raw.transpose(*np.argsort(ORDERS[layout]), 5, 6)


def computed(own, layout, tokens, seed=1):
    """A context whose tokens all have rows, of random bits; the rows, [tokens, planes, layers, heads, elements, bytes]."""
    context = TextGenerationContext(tokens)
    own.claim(context.request_id)
    own.alloc(context)
    own.get_runtime_inputs([context])
    rows = []
    for view in pool(own, layout):
        view[:] = np.random.default_rng(seed).integers(0, 256, view.shape)
        rows.append(rows_of(own, view, context))
    context.advance()
    own.step([context])
    return context, rows


def rows_of(own, view, context):
    pages = own.get_req_blocks(context.request_id)
    return np.array([view[pages[i // view.shape[3]], :, :, i % view.shape[3]] for i in range(len(context))])


def put(own, tokens, data, count, **more):
    """A request of another manager that has read the data, with one token more."""
    context = TextGenerationContext([*tokens, 7])
    own.claim(context.request_id)
    assert exchange.read(own, context, data, "who", **more) == count == context.processed_length
    assert context.active_length == len(tokens) + 1 - count
    return context


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout,size", [("nhd", 4), ("hnd", 16), ("cpu", 8)])
def test_rows_arrive(kind, layout, size):
    tokens = list(range(30, 43))
    source = manager(**KINDS[kind])
    context, rows = computed(source, "nhd", tokens)
    data = exchange.write(source, context, "who")
    # As the page says.
    it = exchange_reader.read(data)
    assert it["tokens"] == 13 and it["first"] == 0 and len(data) == 128 + exchange_reader.total(it)
    for of_scales, wanted in enumerate(rows):
        for index in np.ndindex(*wanted.shape[:4]):
            place = 128 + exchange_reader.offset(it, of_scales, (index[0] // 4, index[1], index[2], index[0] % 4, index[3]))
            assert data[place:place + wanted[index].size] == wanted[index].tobytes()
        # Rows of nobody's tokens are not given away.
        place = 128 + exchange_reader.offset(it, of_scales, (3, 0, 0, 1, 0))
        assert not any(data[place:place + wanted[0, 0, 0, 0].size])
    # In another layout, in other pages, and back.
    target = manager(layout, size, **KINDS[kind])
    reader = put(target, tokens, data, 13)
    for view, wanted in zip(pool(target, layout), rows, strict=True):
        assert np.array_equal(rows_of(target, view, reader)[:13], wanted)
    back = exchange.write(target, reader, "who")
    again = put(source, [50, *tokens[1:]], exchange_without_prefix(back), 13)
    for view, wanted in zip(pool(source, "nhd"), rows, strict=True):
        assert np.array_equal(rows_of(source, view, again)[:13], wanted)
    # Full pages are found by later requests.
    target.release(reader.request_id)
    later = TextGenerationContext([*tokens, 8])
    target.claim(later.request_id)
    assert target.alloc(later).cached_tokens == 13 // size * size
    target.check()
    source.check()


def exchange_without_prefix(data):
    return data[:112] + bytes(16) + data[128:]


def test_some_tokens_are_there_already():
    source, target = manager(), manager("cpu", 8)
    context, rows = computed(source, "nhd", range(20))
    whole, rest = exchange.write(source, context, "who"), exchange.write(source, context, "who", first=8)
    for data in (whole, rest):
        first, [kept] = computed(target, "cpu", range(10), seed=2)
        target.release(first.request_id)
        reader = put(target, range(20), data, 20)
        found = rows_of(target, next(pool(target, "cpu")), reader)
        assert np.array_equal(found[:8], kept[:8]) and np.array_equal(found[8:20], rows[0][8:])
        target.release(reader.request_id)
        target.reset_prefix_cache()
    # All is there, and more than the data have.
    assert exchange.read(source, context, whole, "who") == 20 == context.processed_length
    alone = manager()
    with pytest.raises(ValueError, match="the rows begin at token 8, the manager's cache has 0 before"):
        put(alone, range(20), rest, 20)


def test_layouts_of_other_engines(library):  # noqa: F811
    """Rows that numpy lays out in each order that the page lists; once for each layer and head, too."""
    for name, order in orders().items():
        latent = name == "NL_X_NB_BS_HS"
        kind = {**KINDS["latent"], "v_head_dim": 8} if latent else {}
        count = 16 if name == "KV_2LTD" else 40
        it = collection(library, rows=(0, count, 0, 0, 1), dtype=0, **(dict(heads=1, vDim=8) if latent else {}))
        it.order[:], it.model[:] = order, exchange._model_digest("who")
        it.prefix[:] = exchange.prefix_digests(range(count))[-1]
        shape = exchange_reader.extents(it.fields())
        rows = np.random.default_rng(3).integers(0, 1 << 32, (*shape, 8), np.uint32)
        joined = written(library, it) + rows.transpose(*order, 5).tobytes()
        pieces = []
        for layer, head in np.ndindex(shape[2], shape[4]):
            it.layers, it.first_layer, it.heads, it.first_head = 1, layer, 1, head
            piece = rows[:, :, layer:layer + 1, :, head:head + 1]
            pieces.append(written(library, it) + piece.transpose(*order, 5).tobytes())
        wanted = rows.transpose(0, 3, 1, 2, 4, 5).reshape(-1, *np.array(shape)[[1, 2, 4]], 8)[:count]
        for data in (joined, b"".join(pieces[::-1]), bytearray(joined)):
            own = manager("hnd", 8, **kind)
            reader = put(own, range(count), data, count)
            found = rows_of(own, next(pool(own, "hnd")), reader)[:count]
            assert np.array_equal(found.reshape(*found.shape[:4], 32), wanted.view(np.uint8)), name
        if len(pieces) > 1:
            with pytest.raises(ValueError, match=f"no descriptor has head {shape[4] - 1} of layer 2"):
                put(manager(**kind), range(count), b"".join(pieces[:-1]), count)


def test_salts_name_the_tokens():
    source = manager()
    context, _ = computed(source, "nhd", range(9))
    data = exchange.write(source, context, "who", salt="tenant")
    put(manager(), range(9), data, 9, salt="tenant")
    for more in ({}, {"salt": "other"}):
        with pytest.raises(ValueError, match="prefix is .*, wanted: "):
            put(manager(), range(9), data, 9, **more)
    with pytest.raises(ValueError, match="prefix is .*, wanted: "):
        put(manager(), [*range(8), 9], data, 9, salt="tenant")
    # The page: a SHA-256 of the salt's length, the salt and the tokens.
    assert exchange.prefix_digests([7], "ab") == [bytes.fromhex("fe92dec193e7d96653f1a0a720e3836d")]
    assert len(set(exchange.prefix_digests(range(9)) + exchange.prefix_digests(range(1, 9)))) == 17


def test_each_sentence():
    source = manager()
    context, _ = computed(source, "nhd", range(13))
    data = exchange.write(source, context, "who")

    def refused(match, own=None, given=data, tokens=range(13), model="who"):
        own = own or manager()
        free, reader = own.num_free_blocks, TextGenerationContext([*tokens, 7])
        own.claim(reader.request_id)
        with pytest.raises(ValueError, match=match):
            exchange.read(own, reader, given, model)
        assert reader.processed_length == 0 and own.num_free_blocks == free

    refused("there is no descriptor", given=b"KVX2" + data[4:])
    refused("no bytes are given", given=b"")
    refused(f"{len(data) - 129} bytes follow a descriptor, allowed: {len(data) - 128}", given=data[:-1])
    refused("there is no descriptor", given=data + b"\0")
    refused("model is .*, wanted: ", model="whom")
    refused("model has 3 bytes, allowed: 16, or a text", model=b"who")
    refused("dtype is 0, the manager's cache has 2", manager(dtype="bf16"))
    refused("dim is 8, the manager's cache has 4", manager(head_dim=4))
    refused("all_heads is 2, the manager's cache has 1", manager(n_kv_heads=1))
    refused("planes is 2, the manager's cache has 1", manager(**KINDS["latent"]))
    refused("the last layer is 2, the manager's cache has 2 layers", manager(num_layers=2))
    refused("no descriptor has head 0 of layer 3", manager(num_layers=4))
    refused("the rows are of 13 tokens, the context has 12", tokens=range(11))
    refused("a window", manager(window=8))
    refused("allowed: 1", PagedKVCacheManager(MultiKVCacheParams.from_params(*(
        KVCacheParams("f32", 2, 8, 3, page_size=4, name=name) for name in "ab")), 4, 64, None, None, None, 0, num_pages=24, warn=False))
    refused("has 2 devices, allowed: 1", PagedKVCacheManager(KVCacheParams("f32", 2, 8, 3, page_size=4, n_devices=2), 4, 64, None,
                                                           ["cpu:0", "cpu:1"], None, 0, num_pages=24, warn=False))
    slots = ContinuousBatchingKVCacheManager(KVCacheParams("f32", 2, 8, 3, cache_strategy=KVCacheStrategy.CONTINUOUS), 2, 64, 3, None, None)
    with pytest.raises(ValueError, match="the manager is a ContinuousBatchingKVCacheManager, allowed: PagedKVCacheManager"):
        exchange.read(slots, TextGenerationContext(range(14)), data, "who")
    for first in (-4, 13):
        with pytest.raises(ValueError, match=f"first is {first}, the context has 13 processed tokens, allowed: 0 or more"):
            exchange.write(source, context, "who", first=first)
    with pytest.raises(ValueError, match="first must be a multiple of page"):
        exchange.write(source, context, "who", first=3)
    with pytest.raises(ValueError, match="model must not be 0"):
        exchange.write(source, context, bytes(16))
    small = manager(pages=18)
    taken, _ = computed(small, "nhd", range(100, 160))
    reader = TextGenerationContext([*range(13), 7])
    small.claim(reader.request_id)
    with pytest.raises(InsufficientBlocksError):
        exchange.read(small, reader, data, "who")
    small.release(taken.request_id)
    assert exchange.read(small, reader, data, "who") == 13


def test_a_page_that_is_shared_is_not_written():
    """A fork has a part of a page with another request; reading makes the copy before it writes."""
    own, source = manager(), manager()
    context, rows = computed(source, "nhd", [*range(6), *range(60, 66)])
    data = exchange.write(source, context, "who")
    first, before = computed(own, "nhd", range(6), seed=5)
    fork = TextGenerationContext([*range(6), *range(60, 66), 7])
    own.fork(first.request_id, fork, 6)
    fork.skip(6)
    assert exchange.read(own, fork, data, "who") == 12
    [view] = pool(own, "nhd")
    assert np.array_equal(rows_of(own, view, first), before[0])
    assert np.array_equal(rows_of(own, view, fork)[:12], np.concatenate([before[0][:6], rows[0][6:]]))
    own.check()
