"""The cache manager that the command line asks for."""

import bisect
import dataclasses
import secrets

import kvmlir

# Without --pages and --cache-bytes: as many requests of the model's length, and as many bytes; of host
# memory, as many bytes without --host-pages. As kv-run.
_SEQUENCES, _BYTES, _HOST_BYTES, _DISK_BYTES = 4, 1 << 30, 512 << 20, 8 << 30
_KEPT_SEQUENCES = 1024


def make_manager(model, options, name, note):
    """Of the model's caches. Raises kvmlir.KVError."""
    if model.params.cache_strategy == kvmlir.KVCacheStrategy.CONTINUOUS:
        for option in ("pages", "cache_bytes", "host_pages", "disk_dir", "store", "role", "metrics", "events"):
            if getattr(options, option):
                raise ValueError(f"--{option.replace('_', '-')} is given, the artifact's cache has no pages")
        return model.create_manager(options.max_batch, warn=False)
    params, more = model.params, {}
    pages = _choose_pages(params, model.manifest.model_max_seq_len, options)
    if options.host_pages or options.disk_dir or options.store or options.role:
        params, more = _with_tiers(model, pages, options)
    if options.role:
        more.update(peer_role=options.role, peer=options.peer, peer_model=model.identity.peers, note=note)
    if options.events:
        more.update(events=options.events, events_replay=options.events_replay,
                    events_topic=options.events_topic, events_tiers=options.events_tiers)

    def make(length, **monitoring):
        return kvmlir.PagedKVCacheManager(
            params, options.max_batch, length, None, model.session.devices, None, 0, num_pages=pages,
            max_steps=1, max_chunk_tokens=options.max_batch_tokens, key=secrets.randbits(64),
            warn=False, **more, **monitoring)

    length = _longest(params, pages, model.manifest.model_max_seq_len, options)
    if length < 1:
        raise ValueError(f"the cache has {pages} pages, too few for a request of one token")
    try:
        return make(length, metrics=options.metrics or "127.0.0.1:0", metrics_vllm=name)
    except kvmlir.UnsupportedError as error:
        if options.metrics or options.role:
            raise
        note(f"no metrics: {error}")
        return make(length)


def describe(model, manager, options):
    """What the cache takes, in a sentence."""
    rest = f"a request may have {manager.max_seq_len} tokens, a step {options.max_batch} requests"
    if model.params.cache_strategy == kvmlir.KVCacheStrategy.CONTINUOUS:
        return f"the cache has {options.max_batch} slots; {rest}"
    spec, pages = model.params.spec(), _choose_pages(model.params, model.manifest.model_max_seq_len, options)
    return (f"the cache has {pages} pages of {spec.page_size()} tokens, "
            f"{pages * spec.bytes_per_block() / 2**20:.1f} MiB; {rest}")


def _choose_pages(params, length, options):
    if options.pages:
        return options.pages
    sequences, most = _SEQUENCES, _BYTES
    if options.cache_bytes:
        # Room for as many prefixes as the bytes hold, not for the running requests alone.
        sequences, most = max(options.max_batch, _KEPT_SEQUENCES), options.cache_bytes
    return params.spec().paged_num_blocks(sequences, length, most, 1, options.max_batch_tokens)


def _longest(params, pages, length, options):
    """Tokens of the longest request that the pages hold alone: longer ones are refused by that number,
    and none is begun that can never end."""
    spec, all_memory = params.spec(), 1 << 62
    return bisect.bisect_right(range(1, length + 1), pages, key=lambda tokens: spec.paged_num_blocks(
        1, tokens, all_memory, 1, options.max_batch_tokens))


def _with_tiers(model, pages, options):
    params = model.params
    caches = params.params if isinstance(params, kvmlir.MultiKVCacheParams) else [params]
    # What peers may read is in host memory, so all that the devices have is.
    most = (1 << 62) if options.role == "prefill" else _HOST_BYTES
    host_pages = options.host_pages or params.spec().paged_host_pages(options.max_batch, pages, most)
    gigabytes = host_pages * params.spec().bytes_per_record() / 2**30
    caches = [dataclasses.replace(one, kv_connector="tiered" if options.disk_dir or options.store else "host",
                                  host_kvcache_swap_space_gb=gigabytes) for one in caches]
    more = {"asynchronous_loads": True}  # other requests go on
    if options.disk_dir or options.store:
        more.update(model=model.identity.pages)
    if options.disk_dir:
        more.update(disk_directory=options.disk_dir, disk_bytes=options.disk_bytes or _DISK_BYTES)
    if options.store:
        more.update(block_store_endpoint=options.store)
    return caches[0] if len(caches) == 1 else kvmlir.MultiKVCacheParams.from_params(*caches), more
