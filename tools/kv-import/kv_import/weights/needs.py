"""What a model takes of a machine, said before it is written."""

from .weights_writer import weights_size

CACHE_BYTES = {"f32": 4, "bf16": 2, "f16": 2, "f8E4M3FN": 1}


def needs(config, dtype, formats, types):
    """One sentence. `types`: those of its module."""
    size = weights_size(config, dtype, formats)
    element = CACHE_BYTES[types.cache]
    row = config.latent.row if config.latent else 2 * config.kv_heads * config.head_dim
    growing = sum(len(cache.layers) for cache in types.caches if not cache.window) * row * element
    fixed = sum(len(cache.layers) * cache.window for cache in types.caches if cache.window) * row * element
    if r := config.recurrent:
        fixed += 4 * len(r.layers) * (r.value_heads * r.key_dim * r.value_dim + (r.kernel - 1) * r.channels)
    cache = f"{growing * 1000 / 1e6:.1f} MB of cache per 1,000 tokens"
    if fixed:
        cache += f" and {fixed / 1e6:.1f} MB per sequence"
    return (f"{config.name} needs {size / 1e6:.1f} MB of disk, as much memory where it runs, and {cache} "
            f"({types.cache})")
