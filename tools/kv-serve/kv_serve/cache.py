"""The cache manager that the command line asks for."""

import bisect
import dataclasses
import secrets

import kvmlir

from .options import FLAGS, of_manager

# Without --pages and --cache-bytes: as many requests of the model's length, and as many bytes; of host
# memory, as many bytes without --host-pages. As kv-run.
_SEQUENCES, _BYTES, _HOST_BYTES = 4, 1 << 30, 512 << 20
_KEPT_SEQUENCES = 1024


def make_manager(model, options, name, note):
    """Of the model's caches. Raises kvmlir.KVError."""
    given = of_manager(options)
    if model.params.cache_strategy == kvmlir.KVCacheStrategy.CONTINUOUS:
        if flags := [FLAGS[name] for name in given] + ["--host-pages"] * bool(options.host_pages) + [
                "--replicas"] * (options.replicas > 1):
            raise ValueError(f"{flags[0]} is given, the artifact's cache has no pages")
        return model.create_manager(options.max_batch, warn=False)
    _check_replicas(model, options)
    pages = _choose_pages(model.params, model.manifest.model_max_seq_len, options)
    params = _replace(model.params, n_devices=options.replicas, data_parallel_degree=options.replicas)
    given.pop("available_cache_memory", None)  # of which the pages were computed
    connector = "tiered" if options.disk_directory or options.block_store_endpoint else "host"
    if connector == "tiered":
        given.update(model=model.identity.pages)
    if options.peer_role:
        given.update(peer_model=model.identity.peers, note=note)
    if connector == "tiered" or options.host_pages or options.peer_role:
        params = _with_tiers(params, pages, connector, options)
        given.update(asynchronous_loads=True)  # other requests go on
    devices = [kvmlir.CPU(i) for i in range(options.replicas)] if options.replicas > 1 else model.session.devices

    def make(length, **monitoring):
        return kvmlir.PagedKVCacheManager(
            params, options.max_batch, length, None, devices, None, 0, **{
                **given, **monitoring, "num_pages": pages, "max_steps": 1, "max_chunk_tokens": options.max_batch_tokens,
                "key": secrets.randbits(64), "warn": False})

    length = _longest(model.params, pages, model.manifest.model_max_seq_len, options)
    if length < 1:
        raise ValueError(f"the cache has {pages} pages, too few for a request of one token")
    try:
        return make(length, metrics=options.metrics or "127.0.0.1:0", metrics_vllm=name)
    except kvmlir.UnsupportedError as error:
        if options.metrics or options.peer_role:
            raise
        note(f"no metrics: {error}")
        return make(length)


def describe(model, manager, options):
    """What the cache takes, in a sentence."""
    rest = f"a request may have {manager.max_seq_len} tokens, a step {options.max_batch} requests"
    if model.params.cache_strategy == kvmlir.KVCacheStrategy.CONTINUOUS:
        return f"the cache has {options.max_batch} slots; {rest}"
    spec, pages = model.params.spec(), _choose_pages(model.params, model.manifest.model_max_seq_len, options)
    each = f"each of {options.replicas} replicas of the cache" if options.replicas > 1 else "the cache"
    return (f"{each} has {pages} pages of {spec.page_size()} tokens, "
            f"{pages * spec.bytes_per_block() / 2**20:.1f} MiB; {rest}")


def _check_replicas(model, options):
    if options.replicas > options.max_batch:
        raise ValueError(f"--replicas is {options.replicas}, --max-batch is {options.max_batch}: each replica needs a "
                         "request")
    [device] = model.session.devices
    if options.replicas > 1 and not device.name.startswith("cpu:"):
        raise ValueError(f"--replicas is {options.replicas}, on {device.name} allowed: 1")


def _choose_pages(params, length, options):
    """params: of one replica."""
    if options.num_pages:
        return options.num_pages
    sequences, most = _SEQUENCES, _BYTES
    if options.available_cache_memory:
        # Room for as many prefixes as the bytes hold, not for the running requests alone.
        sequences, most = max(options.max_batch, _KEPT_SEQUENCES), options.available_cache_memory
    return params.spec().paged_num_blocks(sequences, length, most // options.replicas, 1, options.max_batch_tokens)


def _longest(params, pages, length, options):
    """Tokens of the longest request that the pages hold alone: longer ones are refused by that number,
    and none is begun that can never end."""
    spec, all_memory = params.spec(), 1 << 62
    return bisect.bisect_right(range(1, length + 1), pages, key=lambda tokens: spec.paged_num_blocks(
        1, tokens, all_memory, 1, options.max_batch_tokens))


def _with_tiers(params, pages, connector, options):
    # What peers may read is in host memory, so all that the devices have is.
    most = (1 << 62) if options.peer_role == "prefill" else _HOST_BYTES
    host_pages = options.host_pages or params.spec().paged_host_pages(options.max_batch, pages, most)
    gigabytes = host_pages * params.spec().bytes_per_record() / 2**30
    return _replace(params, kv_connector=connector, host_kvcache_swap_space_gb=gigabytes)


def _replace(params, **fields):
    """In each of the caches."""
    caches = params.params if isinstance(params, kvmlir.MultiKVCacheParams) else [params]
    caches = [dataclasses.replace(one, **fields) for one in caches]
    return caches[0] if len(caches) == 1 else kvmlir.MultiKVCacheParams.from_params(*caches)
