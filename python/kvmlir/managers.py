"""Cache managers. One method stands behind all names that a call has had."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional, Union

import numpy

from . import _kvmlir
from ._kvmlir import (Allocation, AllocationPlan, KVCacheMetrics, RaggedKVCacheInputs,
                      TextGenerationContext)
from .options import ManagerOptions
from .params import (AnyParams, KVCacheParams, KVCacheStrategy, PagedCacheInputSymbols,
                     check_layers, read_symbols)
from .types import Device, DeviceLike, device_names

if TYPE_CHECKING:
    from typing_extensions import Unpack

RequestID = Union[str, int]
Devices = Union[Sequence[DeviceLike], DeviceLike, None]

# Why a page of a prompt was not found, by KvReason.
REASONS = ("hit", "never_seen", "evicted", "other_scope", "group_lacks_it", "always_computed",
           "other_tier", "without_logprobs")


def _page_size(params: AnyParams, page_size: Optional[int]) -> int:
    """The call's page size, unless it is the default and the parameters have another one."""
    if page_size is not None and page_size < 1:
        raise ValueError(f"page_size is {page_size}, allowed: 1 or more")
    if page_size in (None, 128, params.page_size):
        return params.page_size
    if params.page_size != 128:
        raise ValueError(f"page_size is {page_size}, the parameters say {params.page_size}, "
                         "allowed: the same, or the default in one of them")
    return page_size


def _check_session(session: Any) -> None:
    """Memory needs no session; what is given for one is checked nevertheless."""
    if session is not None and not isinstance(session, _kvmlir.Session):
        raise ValueError(f"session is a {type(session).__name__}, allowed: InferenceSession or None")


def row_offsets(given: Any) -> Any:
    """The row offsets of a step's inputs: int32 [B + 1] on the host; an object or a mapping that
    has them; or a tuple with them among its tensors."""
    for name in ("input_row_offsets", "row_offsets"):
        if hasattr(given, name):
            return getattr(given, name)
        if isinstance(given, dict) and name in given:
            return given[name]
    if isinstance(given, tuple) and given and not isinstance(given[0], int):
        # (tokens, row_offsets, ...), as models take them.
        if len(given) < 2:
            raise ValueError("prev_model_inputs is a tuple of one tensor, allowed: (tokens, "
                             "row_offsets, ...)")
        return given[1]
    return given


class KVCacheManager(_kvmlir.Manager):
    """What all managers do.

    manager.claim(context.request_id); manager.alloc(context)
    inputs = manager.get_runtime_inputs([context])   # for the model
    context.update(token)                            # what the model gave
    manager.step([context]); manager.release(context.request_id)

    A manager and its contexts are used by one thread at a time."""

    def get_symbolic_inputs(self, devices: Optional[Sequence[DeviceLike]] = None,
                            num_layers: Optional[int] = None) -> Sequence[PagedCacheInputSymbols]:
        """The types of the cache arguments of a graph: those of get_runtime_inputs(), with names of
        sizes. devices: the first of the manager's, None: all. num_layers: None: the cache's."""
        places = [Device(name) for name in self.device_names]
        if devices is not None:
            places = [Device.of(one) for one in devices]
        return read_symbols(self._symbolic_inputs(len(places), check_layers(num_layers)), places)

    def input_symbols(self, devices: Optional[Sequence[DeviceLike]] = None,
                      num_layers: Optional[int] = None) -> Sequence[PagedCacheInputSymbols]:
        """The older name of get_symbolic_inputs()."""
        return self.get_symbolic_inputs(devices, num_layers)

    def increment_cache_lengths(self, kv_cache_inputs: Sequence[RaggedKVCacheInputs],
                                prev_model_inputs: Any) -> Sequence[RaggedKVCacheInputs]:
        """Moves the latest inputs on to the next step of a multi-step loop, without waiting or
        copying. prev_model_inputs: the row offsets of the step that was executed, int32 [B + 1] on
        the host, or an object, mapping or tuple (tokens, row_offsets, ...) that has them."""
        self._increment_offsets(row_offsets(prev_model_inputs))
        return kv_cache_inputs

    def get_data_parallel_splits(self, context_batch: Sequence[TextGenerationContext]) -> Any:
        """int64 [replicas + 1], cumulative: the requests of replica r are batch[splits[r]] to
        batch[splits[r + 1] - 1]. The batch is ordered by replica."""
        return self._splits(context_batch)

    def explain(self, data: TextGenerationContext) -> list[str]:
        """Of each page of the prompt, why it was not found: one of REASONS."""
        return [REASONS[code] for code in self._explain_codes(data)]

    @property
    def devices(self) -> list[Device]:
        """The devices of all replicas, replica by replica."""
        return [Device(name) for name in self.device_names]


class PagedKVCacheManager(KVCacheManager):
    """Pages of `page_size` tokens, shared by requests with equal prefixes.

    params: what the cache is, prefix caching and replicas included. max_batch_size: most requests
    at a time, of all replicas. max_seq_len: tokens of a request. devices: replica by replica.
    available_cache_memory: bytes on all devices, or 0 and num_pages: of each replica. Raises ValueError
    (arguments that make no sense) and OutOfMemoryError, a RuntimeError: memory that does not hold
    a sequence of max_seq_len tokens.

    Of params with a kv_connector (docs/guides/tiers.md): host_kvcache_swap_space_gb of host memory back the
    pages; "tiered" also keeps them in disk_directory, in block_store_endpoint, or in both.

    """

    def __init__(self, params: AnyParams, max_batch_size: int, max_seq_len: int, num_layers: int,
                 devices: Devices, session: Any, available_cache_memory: int,
                 zmq_endpoint_base: Optional[str] = None, page_size: int = 128,
                 enable_runtime_checks: bool = False, *, num_pages: int = 0,
                 **options: "Unpack[ManagerOptions]"):
        _check_session(session)
        self._spec = params.spec(num_layers, page_size=_page_size(params, page_size))
        super().__init__(
            self._spec, devices=device_names(devices), max_batch_size=max_batch_size, max_seq_len=max_seq_len,
            available_cache_memory=available_cache_memory, num_pages=num_pages,
            zmq_endpoint_base=zmq_endpoint_base, enable_runtime_checks=enable_runtime_checks,
            **options)

    @classmethod
    def estimated_memory_size(cls, params: AnyParams, max_batch_size: int, max_seq_len: int,
                              num_layers: int, available_cache_memory: int, devices: Devices,
                              **kwargs: Any) -> int:
        """Bytes that a manager of these arguments holds on all devices."""
        return _sized(params, num_layers, devices, kwargs).paged_estimated_memory_size(
            max_batch_size, max_seq_len, available_cache_memory)

    @classmethod
    def infer_optimal_batch_size(cls, params: AnyParams, max_seq_len: int, num_layers: int,
                                 available_cache_memory: int, devices: Devices, **kwargs: Any) -> int:
        """The batch to serve with if the user gives none."""
        return _sized(params, num_layers, devices, kwargs).paged_infer_optimal_batch_size(
            max_seq_len, available_cache_memory)

    @classmethod
    def max_supported_sequence_length(cls, params: AnyParams, num_layers: int,
                                      memory_available: int) -> int:
        """Tokens of the longest sequence that the memory of each replica holds alone: a multiple of
        the page size."""
        return params.spec(num_layers).paged_max_supported_sequence_length(memory_available)


PagedKVCacheManager.__doc__ = f"{PagedKVCacheManager.__doc__}{ManagerOptions.__doc__}"


def _sized(params: AnyParams, num_layers: int, devices: Devices,
           more: dict[str, Any]) -> _kvmlir.Spec:
    return params.spec(num_layers, n_devices=len(device_names(devices)) or None,
                       page_size=_page_size(params, more.get("page_size")))


class ContinuousBatchingKVCacheManager(KVCacheManager):
    """One contiguous slot of `max_seq_len` tokens a sequence.

    params: with cache_strategy=KVCacheStrategy.CONTINUOUS. max_cache_batch_size: slots of all
    replicas."""

    def __init__(self, params: KVCacheParams, max_cache_batch_size: int, max_seq_len: int,
                 num_layers: int, devices: Devices, session: Any, **options: Any):
        _check_session(session)
        self._spec = _continuous(params).spec(num_layers, page_size=max_seq_len)
        self._slots = max_cache_batch_size
        self._contexts: dict[RequestID, TextGenerationContext] = {}
        super().__init__(self._spec, devices=device_names(devices),
                         max_batch_size=max_cache_batch_size, max_seq_len=max_seq_len, **options)

    def alloc(self, data: TextGenerationContext, num_steps: int = 1) -> Allocation:
        """Checks that the active tokens and num_steps - 1 more fit into the request's slot."""
        allocation = super().alloc(data, num_steps)
        self._contexts[data.request_id] = data
        return allocation

    def maybe_reserve(self, data: TextGenerationContext, num_steps: int = 1) -> bool:
        """alloc(), but False instead of InsufficientBlocksError."""
        fits = super().maybe_reserve(data, num_steps)
        if fits:
            self._contexts[data.request_id] = data
        return fits

    def alloc_batch(self, batch: Sequence[TextGenerationContext], num_steps: int = 1) -> int:
        """alloc() for each context in order. Where one fails, those before it keep their slots."""
        cached = super().alloc_batch(batch, num_steps)
        self._contexts.update((one.request_id, one) for one in batch)
        return cached

    def release(self, request_id: RequestID) -> None:
        """Frees the request's slot. Raises ValueError if it is not claimed."""
        super().release(request_id)
        self._contexts.pop(request_id, None)

    def block_shape(self, n_sequences: int) -> list[int]:
        """[n_sequences, 2, num_layers, max_seq_len, n_kv_heads_per_device, head_dim], in the
        layout's order."""
        return list(self._spec.block_shape(0, n_sequences))

    def fetch(self, seq_ids: Sequence[Union[RequestID, TextGenerationContext]],  # type: ignore[override]
              num_steps: int = 1) -> Sequence[Any]:
        """The inputs of a step: for each device the tuple (blocks, cache_lengths, lookup_table,
        is_cache_empty), the last a bool tensor without dimensions. seq_ids: contexts, or ids of
        contexts that alloc() has seen. Raises ValueError for an id that is not below
        max_cache_batch_size, or that is not in the cache."""
        given = [one for one in seq_ids if isinstance(one, TextGenerationContext)]
        if len(given) == len(seq_ids):
            return [_FetchedInputs(one) for one in super().fetch(given, num_steps)]
        contexts = []
        for one in seq_ids:
            if isinstance(one, TextGenerationContext):
                raise ValueError("seq_ids are ids and contexts, allowed: all of one kind")
            if not isinstance(one, str) and not 0 <= one < self._slots:
                raise ValueError(f"sequence {one}, allowed: ids from 0 to {self._slots - 1}")
            if one not in self._contexts:
                raise ValueError(f"sequence {one!r} is not in the cache: alloc() gives it its context")
            contexts.append(self._contexts[one])
        return [_FetchedInputs(one) for one in super().fetch(contexts, num_steps)]

    def increment_cache_lengths(self, kv_cache_inputs: Sequence[Any],
                                prev_model_inputs: Any) -> Sequence[Any]:
        """The next step's inputs: lengths have grown, and is_cache_empty is False."""
        super().increment_cache_lengths(kv_cache_inputs, prev_model_inputs)
        return [_FetchedInputs(one.inputs) if isinstance(one, _FetchedInputs) else one
                for one in kv_cache_inputs]

    @classmethod
    def estimated_memory_size(cls, params: KVCacheParams, max_cache_batch_size: int,
                              max_seq_len: int, num_layers: int, devices: Devices) -> int:
        """Bytes of slots, lengths and tables on all devices."""
        return _continuous(params).spec(
            num_layers, n_devices=len(device_names(devices)) or None,
            page_size=max_seq_len).continuous_estimated_memory_size(max_cache_batch_size)

    @classmethod
    def infer_optimal_batch_size(cls, params: KVCacheParams, max_seq_len: int, num_layers: int,
                                 available_cache_memory: int, devices: Devices, **kwargs: Any) -> int:
        """Slots that the memory of all devices holds."""
        return _continuous(params).spec(
            num_layers, n_devices=len(device_names(devices)) or None,
            page_size=max_seq_len).continuous_infer_optimal_batch_size(available_cache_memory)


class _FetchedInputs(tuple[Any, ...]):
    """(blocks, cache_lengths, lookup_table, is_cache_empty), and the inputs that they are of."""

    inputs: RaggedKVCacheInputs

    def __new__(cls, inputs: RaggedKVCacheInputs) -> "_FetchedInputs":
        made = super().__new__(cls, (inputs.blocks, inputs.cache_lengths, inputs.lookup_table,
                                     numpy.array(inputs.is_cache_empty)))
        made.inputs = inputs
        return made

    def __getattr__(self, name: str) -> Any:
        """The fields of the inputs, by their names."""
        if name == "inputs":  # not made yet
            raise AttributeError(name)
        return getattr(self.inputs, name)


def _continuous(params: KVCacheParams) -> KVCacheParams:
    if params.cache_strategy != KVCacheStrategy.CONTINUOUS:
        raise ValueError(f"cache_strategy is {params.cache_strategy.value!r}, allowed: 'continuous'")
    return params


class NullKVCacheManager(KVCacheManager):
    """A manager without memory, for compiling on virtual devices. It refuses nothing, and its
    figures are constants."""

    def __init__(self, params: AnyParams, max_batch_size: int, max_seq_len: int, num_layers: int,
                 devices: Devices, session: Any, available_cache_memory: int, page_size: int = 128):
        _check_session(session)
        names = device_names(devices)
        if any(not name.startswith("virtual:") for name in names) or not names:
            raise ValueError(f"devices are {', '.join(names) or 'none'}, allowed: virtual:TARGET, "
                             "since a null manager has no memory")
        super().__init__(params.spec(num_layers, page_size=_page_size(params, page_size)),
                         devices=names, max_batch_size=max_batch_size, max_seq_len=max_seq_len)

    def alloc(self, data: TextGenerationContext, num_steps: int = 1) -> None:  # type: ignore[override]
        """Reserves nothing."""
        super().alloc(data, num_steps)

    def get_data_parallel_splits(self, batch: Sequence[TextGenerationContext]) -> Sequence[Sequence[int]]:
        """One split, with all indices of the batch."""
        return [list(range(len(batch)))]

    def increment_cache_lengths(self, kv_cache_inputs: Sequence[RaggedKVCacheInputs],
                                prev_model_inputs: Any) -> Sequence[RaggedKVCacheInputs]:
        """The inputs as they are."""
        return kv_cache_inputs

    @classmethod
    def estimated_memory_size(cls, params: AnyParams, max_batch_size: int, max_seq_len: int,
                              num_layers: int, available_cache_memory: int, devices: Devices,
                              **kwargs: Any) -> int:
        """0."""
        return params.spec(num_layers).null_estimated_memory_size(
            max_batch_size, max_seq_len, available_cache_memory)

    @classmethod
    def infer_optimal_batch_size(cls, params: AnyParams, max_seq_len: int, num_layers: int,
                                 available_cache_memory: int, devices: Devices, **kwargs: Any) -> int:
        """1."""
        return params.spec(num_layers).null_infer_optimal_batch_size(
            max_seq_len, available_cache_memory)


def _is_virtual(devices: Devices) -> bool:
    names = device_names(devices)
    return bool(names) and all(name.startswith("virtual:") for name in names)


def _one_cache(params: AnyParams) -> KVCacheParams:
    """A continuous cache, of which a model has one."""
    if isinstance(params, KVCacheParams):
        return params
    if len(params.params) != 1:
        raise ValueError(f"{len(params.params)} continuous caches are given, allowed: 1")
    return params.params[0]


def load_kv_manager(params: AnyParams, max_batch_size: int, max_seq_len: int, num_layers: int,
                    devices: Devices, session: Any = None,
                    available_cache_memory: Optional[int] = None, page_size: int = 128,
                    **options: Any) -> KVCacheManager:
    """The manager that fits: null on virtual devices, else by the strategy. available_cache_memory:
    bytes on all devices; a paged cache needs it, or num_pages."""
    if _is_virtual(devices):
        return NullKVCacheManager(params, max_batch_size, max_seq_len, num_layers, devices, session,
                                  available_cache_memory or 0, page_size)
    if params.cache_strategy == KVCacheStrategy.CONTINUOUS:
        return ContinuousBatchingKVCacheManager(_one_cache(params), max_batch_size, max_seq_len,
                                                num_layers, devices, session, **options)
    return PagedKVCacheManager(params, max_batch_size, max_seq_len, num_layers, devices, session,
                               available_cache_memory or 0, page_size=page_size, **options)


def estimate_kv_cache_size(params: AnyParams, max_batch_size: int, max_seq_len: int, num_layers: int,
                           available_cache_memory: int, devices: Devices, **kwargs: Any) -> int:
    """Bytes on all devices of the manager that load_kv_manager() makes."""
    if not _is_virtual(devices) and params.cache_strategy == KVCacheStrategy.CONTINUOUS:
        return ContinuousBatchingKVCacheManager.estimated_memory_size(
            _one_cache(params), max_batch_size, max_seq_len, num_layers, devices)
    kind = NullKVCacheManager if _is_virtual(devices) else PagedKVCacheManager
    return kind.estimated_memory_size(params, max_batch_size, max_seq_len, num_layers,
                                      available_cache_memory, devices, **kwargs)


def infer_optimal_batch_size(params: AnyParams, max_seq_len: int, num_layers: int,
                             available_cache_memory: int, devices: Devices, **kwargs: Any) -> int:
    """The batch to serve with if the user gives none."""
    if not _is_virtual(devices) and params.cache_strategy == KVCacheStrategy.CONTINUOUS:
        return ContinuousBatchingKVCacheManager.infer_optimal_batch_size(
            _one_cache(params), max_seq_len, num_layers, available_cache_memory, devices, **kwargs)
    kind = NullKVCacheManager if _is_virtual(devices) else PagedKVCacheManager
    return kind.infer_optimal_batch_size(params, max_seq_len, num_layers, available_cache_memory,
                                         devices, **kwargs)


__all__ = ["Allocation", "AllocationPlan", "ContinuousBatchingKVCacheManager", "KVCacheManager",
           "KVCacheMetrics", "NullKVCacheManager", "PagedKVCacheManager", "RaggedKVCacheInputs",
           "REASONS", "RequestID", "TextGenerationContext", "estimate_kv_cache_size",
           "infer_optimal_batch_size", "load_kv_manager"]


def pool_blocks(manager: PagedKVCacheManager) -> list[Any]:
    """The pages of each collection, [pages, planes, layers, ...]; they stay where they are."""
    return [one.blocks for one in manager.get_runtime_inputs([])]


def advance_by(context: TextGenerationContext, count: int) -> None:
    """The next `count` tokens have been computed, of however many are active."""
    context.limit_active(count)
    context.advance()
    context.limit_active(0)
