"""Host memory and a disk behind a manager's pages, from Python."""

import dataclasses

import pytest

import kvmlir
from kvmlir import TextGenerationContext
from peers import nixl
from redis_server import RedisServer
from test_kvmlir_managers import compute

PAGE, RECORD = 4, 2 * 4 * 4  # tokens; bytes: keys and values of f32


def manager(host_pages, folder=None, pages=6, **more):
    params = kvmlir.KVCacheParams("f32", 1, 1, 1, page_size=PAGE, enable_prefix_caching=True,
                                  kv_connector="tiered" if folder or "block_store_endpoint" in more else "host",
                                  host_kvcache_swap_space_gb=host_pages * RECORD / 2**30)
    if folder:
        more = {"disk_directory": str(folder), "disk_bytes": 1 << 20, **more}
    return kvmlir.PagedKVCacheManager(params, 4, 64, 1, None, None, 0, num_pages=pages, warn=False,
                                      enable_runtime_checks=True, **more)


def serve(own, tokens, **scope):
    context = TextGenerationContext(tokens)
    context.set_scope(**scope)
    cached = compute(own, context)
    own.release(context.request_id)
    return cached


def test_what_was_evicted_comes_back():
    own = manager(host_pages=32)
    assert (own.total_num_host_pages, own.host_committed_block_pct) == (32, 0.0)
    assert serve(own, range(18)) == 0 == serve(own, range(50, 68))
    again = TextGenerationContext(range(18))
    assert own.explain(again)[-2:] == ["other_tier", "always_computed"]
    assert own.prefetch(again) == 16
    assert own.explain(again) == ["hit"] * 4 + ["always_computed"]
    assert serve(own, range(18)) == 16
    metrics = own.metrics
    assert metrics.loaded_pages == metrics.h2d_blocks_copied > 0
    assert metrics.stored_pages == metrics.d2h_blocks_copied == 8
    assert own.host_committed_block_pct == 8 / 32
    own.reset_prefix_cache()
    assert own.host_committed_block_pct == 0.0 and serve(own, range(18)) == 0


def test_a_directory_outlives_its_manager(tmp_path):
    first = manager(32, tmp_path / "disk")
    assert serve(first, range(18)) == 0
    with pytest.raises(ValueError, match="is in use by another process"):
        manager(32, tmp_path / "disk")
    del first
    own = manager(32, tmp_path / "disk")
    assert serve(own, range(18), salt="another") == 0
    assert serve(own, range(18)) == 16
    assert own.metrics.disk_blocks_read == 4
    del own
    assert serve(manager(32, tmp_path / "disk", model="another"), range(18)) == 0


def test_machines_share_a_store(tmp_path):
    with RedisServer(tmp_path) as server:
        first = manager(32, block_store_endpoint=server.address)
        assert serve(first, range(18)) == 0
        del first  # what was to be written has been
        for folder in (None, tmp_path / "disk"):
            own = manager(32, folder, block_store_endpoint=server.address)
            assert serve(own, range(18), salt="another") == 0
            assert own.prefetch(TextGenerationContext(range(18))) == 16
            assert serve(own, range(18)) == 16
            assert own.metrics.store_blocks_read == 4
            assert serve(manager(32, model=f"another {folder}", block_store_endpoint=server.address), range(18)) == 0
            own.reset_prefix_cache()
            assert serve(own, range(18)) == 0
            del own
    with pytest.raises(ValueError, match="store: port is '0', allowed: 1 to 65535"):
        manager(32, block_store_endpoint="redis://host:0")


def test_without_waiting(tmp_path):
    serve(manager(32, tmp_path / "disk"), range(18))
    own = manager(32, tmp_path / "disk", asynchronous_loads=True)
    context = TextGenerationContext(range(18))
    own.claim(context.request_id)
    for _ in range(100):
        try:
            assert own.alloc(context).cached_tokens == 16
            break
        except kvmlir.InsufficientBlocksError as error:
            assert error.reason == "loading"
            own.wait_for_loads(1.0)
    assert context.processed_length == 16 and not own.wait_for_loads(0.001)


def test_a_record_has_the_pages_of_all_windows():
    caches = [kvmlir.KVCacheParams("f32", 1, 1, layers, page_size=PAGE, window=window, name=f"w{window}",
                                   enable_prefix_caching=True, kv_connector="host", host_kvcache_swap_space_gb=1)
              for layers, window in ((2, 0), (2, 8))]
    params = kvmlir.MultiKVCacheParams.from_params(*caches)
    record = params.spec().bytes_per_record()
    assert record == 4 * RECORD > params.bytes_per_block
    caches = [dataclasses.replace(one, host_kvcache_swap_space_gb=7 * record / 2**30) for one in caches]
    own = kvmlir.PagedKVCacheManager(kvmlir.MultiKVCacheParams.from_params(*caches), 4, 64, None, None, None, 0,
                                     num_pages=40, warn=False)
    assert own.total_num_host_pages == 7


def test_peers_that_cannot_be(tmp_path):
    for more, sentence in (
            ({"peer_role": "both", "peer": "ipc://x"}, "peer_role is both, allowed: prefill, decode, None"),
            ({"peer_role": "decode"}, "peer_role is given, and no peer"),
            ({"peer": "ipc://x"}, "peer is given, and no peer_role")):
        with pytest.raises(ValueError, match=sentence):
            manager(8, **more)
    params = kvmlir.KVCacheParams("f32", 1, 1, 1, page_size=PAGE, enable_prefix_caching=True)
    with pytest.raises(ValueError, match="a peer is given, and no connector: its pages come by way of host memory"):
        kvmlir.PagedKVCacheManager(params, 4, 64, 1, None, None, 0, num_pages=6, warn=False,
                                   peer_role="decode", peer=f"ipc://{tmp_path}/x")


def test_notes_of_a_peer(tmp_path, monkeypatch):
    monkeypatch.setenv("KV_NIXL_LIBRARY", nixl())
    notes = []
    own = manager(8, peer_role="decode", peer=f"ipc://{tmp_path}/nobody", note=notes.append)
    assert notes == [f"no peer answers at ipc://{tmp_path}/nobody: prompts are computed here until one does"]
    assert serve(own, range(9)) == 0 and serve(own, range(9)) == 8


def test_payloads_in_a_store(tmp_path):
    """The next machine finds them, and records without are none of theirs."""
    def serve_with(own, value):
        context = TextGenerationContext(range(18))
        payload = context.set_payload(18 * own.payload_bytes_per_token)
        payload[:] = value
        cached = compute(own, context)
        own.release(context.request_id)
        return cached, [set(token.tolist()) for token in payload.reshape(18, -1)]

    with RedisServer(tmp_path) as server:
        options = {"block_store_endpoint": server.address, "cached_logprobs": 2}
        first = manager(32, **options)
        assert serve(first, range(18)) == 0
        del first
        second = manager(32, **options)
        assert serve_with(second, 7) == (0, [{7}] * 18)
        del second
        third = manager(32, **options)
        third.prefetch(TextGenerationContext(range(18)))
        assert serve_with(third, 9) == (15, [{7}] * 16 + [{9}] * 2)
        assert serve(third, range(18)) == 16


def test_payloads_that_cannot_be(tmp_path):
    with pytest.raises(ValueError, match="^cached_logprobs is given, and a peer, which sends and reads pages without: "
                                         "allowed is one of them$"):
        manager(8, peer_role="decode", peer=f"ipc://{tmp_path}/nobody", cached_logprobs=1)
    with pytest.raises(ValueError, match="cached_logprobs is 21, allowed: 1 to 20"):
        manager(8, cached_logprobs=21)
    context = TextGenerationContext(range(9))
    with pytest.raises(ValueError, match="a payload of -1 bytes, allowed: 0 or more"):
        context.set_payload(-1)
    own = manager(8, cached_logprobs=1)
    own.claim(context.request_id)
    own.alloc(context)
    with pytest.raises(ValueError, match="a payload of 16 bytes after an alloc, allowed: before the first"):
        context.set_payload(16)


def test_what_cannot_be(tmp_path):
    with pytest.raises(ValueError, match="kv_connector is tiered, disk_directory is not given, nor is block_store_endpoint"):
        manager(32, tmp_path / "disk", disk_directory=None)
    with pytest.raises(ValueError, match="host_kvcache_swap_space_gb"):
        manager(0.5)
