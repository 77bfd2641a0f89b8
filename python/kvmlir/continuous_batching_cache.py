"""The graph values of continuous caches, as text of a module: what kv-compile takes."""

import dataclasses
from typing import Optional, Union

from .managers import ContinuousBatchingKVCacheManager
from .params import KVCacheParams, KVCacheStrategy
from .types import BufferType, DType, TensorType


def _contents(params: Optional[KVCacheParams]) -> str:
    if params is None:
        return "continuous, ..."
    return (f"continuous, {DType.of(params.dtype).value}, layers = {params.num_layers}, "
            f"heads = {params.n_kv_heads_per_device}, dim = {params.head_dim}, "
            f"max_seq = {params.page_size}")


def mlir_type(given: TensorType) -> str:
    """"tensor<?xi32>", or "memref<?x2x3xf32>" of what the graph writes to."""
    sizes = "".join(f"{size if isinstance(size, int) else '?'}x" for size in given.shape)
    return f"{'memref' if isinstance(given, BufferType) else 'tensor'}<{sizes}{given.dtype.value}>"


@dataclasses.dataclass(frozen=True)
class ContinuousBatchingKVCacheType:
    """The type of the keys or the values of one layer: !kv.cache<continuous, ...>."""

    params: Optional[KVCacheParams] = None

    def __str__(self) -> str:
        return f"!kv.cache<{_contents(self.params)}>"


@dataclasses.dataclass(frozen=True)
class ContinuousBatchingKVCacheCollectionType:
    """The type of a step's view of the cache, which owns nothing: !kv.collection<continuous, ...>."""

    params: Optional[KVCacheParams] = None

    def __str__(self) -> str:
        return f"!kv.collection<{_contents(self.params)}>"


@dataclasses.dataclass(frozen=True)
class GraphValue:
    """A value of a graph: its name in the module's text, its type, and the operation that makes it
    ("" of an argument)."""

    name: str
    type: Union[TensorType, ContinuousBatchingKVCacheType, ContinuousBatchingKVCacheCollectionType]
    operation: str = ""

    def __str__(self) -> str:
        return self.name


class ContinuousBatchingKVCache:
    """The keys or the values of one layer, in a graph."""

    def __init__(self, value: GraphValue):
        self.value = _checked(value, ContinuousBatchingKVCacheType)


class ContinuousBatchingKVCacheCollection:
    """A step's view of the cache, in a graph."""

    def __init__(self, value: GraphValue):
        self.value = _checked(value, ContinuousBatchingKVCacheCollectionType)

    def key_cache(self, layer: str, name: str = "%key_cache") -> ContinuousBatchingKVCache:
        """The keys of a layer; `layer` is the name of an index value."""
        return self._cache("key", layer, name)

    def value_cache(self, layer: str, name: str = "%value_cache") -> ContinuousBatchingKVCache:
        """The values of a layer."""
        return self._cache("value", layer, name)

    def _cache(self, part: str, layer: str, name: str) -> ContinuousBatchingKVCache:
        own = self.value.type
        assert isinstance(own, ContinuousBatchingKVCacheCollectionType)
        made = ContinuousBatchingKVCacheType(own.params)
        return ContinuousBatchingKVCache(GraphValue(
            name, made, f"{name} = kv.{part}_cache {self.value}[{layer}] : {own}"))


def _checked(value: GraphValue, wanted: type) -> GraphValue:
    if not isinstance(value, GraphValue) or not isinstance(value.type, wanted):
        shown = value.type if isinstance(value, GraphValue) else type(value).__name__
        raise ValueError(f"the value is a {shown}, allowed: {wanted()}")
    return value


class FetchContinuousBatchingKVCacheCollection:
    """Makes the collection of a step from the cache arguments: the operation kv.fetch."""

    def __init__(self, kv_params: KVCacheParams):
        if kv_params.cache_strategy != KVCacheStrategy.CONTINUOUS:
            raise ValueError(f"cache_strategy is {kv_params.cache_strategy.value!r}, "
                             "allowed: 'continuous'")
        if kv_params.enable_prefix_caching:
            raise ValueError("enable_prefix_caching is True, allowed: False in a continuous cache")
        if not kv_params.num_layers:
            raise ValueError("num_layers is not given, allowed: 1 or more")
        self.kv_params = kv_params

    def __call__(self, blocks: TensorType, cache_lengths: TensorType, lookup_table: TensorType,
                 max_lengths: TensorType, name: str = "%kv") -> ContinuousBatchingKVCacheCollection:
        """Of the types that get_symbolic_inputs() gives, which are the graph's arguments by their
        names. Raises ValueError: another element type or rank than the cache's."""
        for field, given, dtype, rank in (
                ("blocks", blocks, DType.of(self.kv_params.dtype), 6),
                ("cache_lengths", cache_lengths, DType.int32, 1),
                ("lookup_table", lookup_table, DType.int32, 1),
                ("max_lengths", max_lengths, DType.int32, 2)):
            if given.dtype != dtype or given.rank != rank:
                raise ValueError(f"{field} is {given.dtype.value} of rank {given.rank}, allowed: "
                                 f"{dtype.value} of rank {rank}")
        values = [blocks, cache_lengths, lookup_table, max_lengths]
        made = ContinuousBatchingKVCacheCollectionType(self.kv_params)
        names = ", ".join(argument_name(one) for one in values)
        types = ", ".join(map(mlir_type, values))
        return ContinuousBatchingKVCacheCollection(GraphValue(
            name, made, f"{name} = kv.fetch {names} : {types} -> {made}"))


def argument_name(given: TensorType) -> str:
    """The name of a graph's argument in the module's text."""
    return "%" + given.name.replace(".", "_")


__all__ = ["ContinuousBatchingKVCache", "ContinuousBatchingKVCacheCollection",
           "ContinuousBatchingKVCacheCollectionType", "ContinuousBatchingKVCacheManager",
           "ContinuousBatchingKVCacheType", "FetchContinuousBatchingKVCacheCollection",
           "GraphValue"]
