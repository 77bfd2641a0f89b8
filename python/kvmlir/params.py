"""What caches are: parameters, and what follows from them."""

import dataclasses
import enum
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, Optional, Union

from . import _kvmlir
from .types import Argument, BufferType, Device, DeviceLike, DType, DTypeLike, TensorType

SpeculativeMethod = Literal["eagle", "mtp", "dflash"]


class KVCacheStrategy(str, enum.Enum):
    """How a sequence is stored."""

    MODEL_DEFAULT = "model_default"
    PAGED = "paged"
    CONTINUOUS = "continuous"
    RECURRENT = "recurrent"  # no keys but states, beside a paged collection


class KVConnectorType(str, enum.Enum):
    """Where pages are kept that leave the devices."""

    null = "null"
    host = "host"
    local = "local"  # MAX's older name of host
    tiered = "tiered"


class CacheLayout(str, enum.Enum):
    """The order of blocks in memory; docs/reference/glossary.md."""

    nhd = "nhd"
    hnd = "hnd"
    cpu = "cpu"


# Values of KvStrategy in the C interface; all others are paged.
_STRATEGIES = {KVCacheStrategy.CONTINUOUS: 1, KVCacheStrategy.RECURRENT: 2}
_LAYOUTS = {"nhd": 0, "hnd": 1, "cpu": 2}
_CONNECTORS = {None: 0, "null": 1, "host": 2, "local": 2, "tiered": 3}
_METHODS = {None: 0, "eagle": 1, "mtp": 2, "dflash": 3}


def check_layers(num_layers: Optional[int]) -> int:
    """As the runtime takes it: 0 is the cache's."""
    if num_layers is not None and num_layers < 1:
        raise ValueError(f"num_layers is {num_layers}, allowed: None, or 1 or more")
    return num_layers or 0


def _choose(field: str, given: Any, allowed: Any) -> Any:
    if given not in allowed:
        names = ", ".join(str(one.value if isinstance(one, enum.Enum) else one) for one in allowed)
        raise ValueError(f"{field} is {given!r}, allowed: {names}")
    return given


@dataclasses.dataclass(frozen=True)
class KVCacheQuantizationConfig:
    """Scales of quantised blocks: one for each `quantization_granularity` elements of a head."""

    scale_dtype: DTypeLike = DType.float32
    quantization_granularity: int = 128


@dataclasses.dataclass
class PagedCacheInputSymbols:
    """The types of one collection's cache arguments on one device, in the order in which a graph
    takes them."""

    kv_blocks: BufferType
    cache_lengths: TensorType
    lookup_table: TensorType
    max_lengths: TensorType
    kv_scales: Optional[BufferType] = None

    def __iter__(self) -> Iterator[TensorType]:
        return (one for one in (self.kv_blocks, self.cache_lengths, self.lookup_table,
                                self.max_lengths, self.kv_scales) if one is not None)

    def flatten(self) -> list[TensorType]:
        """The types in the order of the arguments."""
        return list(self)


KVCacheInputSymbols = PagedCacheInputSymbols
PagedCacheValues = PagedCacheInputSymbols


@dataclasses.dataclass
class KVCacheInputs:
    """The types of all cache arguments: device by device, collection by collection."""

    inputs: list[PagedCacheInputSymbols]

    def __iter__(self) -> Iterator[PagedCacheInputSymbols]:
        return iter(self.inputs)

    def __len__(self) -> int:
        return len(self.inputs)

    def __getitem__(self, index: int) -> PagedCacheInputSymbols:
        return self.inputs[index]

    def flatten(self) -> list[TensorType]:
        """The types of all arguments in one list."""
        return [one for inputs in self.inputs for one in inputs]


def read_symbols(devices: list[list[tuple[Any, ...]]], places: Sequence[Device]) -> list[PagedCacheInputSymbols]:
    """From the lists of arguments that the runtime makes: one list a device."""
    fields = {"kv.blocks": "kv_blocks", "kv.cache_lengths": "cache_lengths",
              "kv.lookup_table": "lookup_table", "kv.max_lengths": "max_lengths",
              "kv.scales": "kv_scales"}
    result = []
    for arguments, place in zip(devices, places):
        collections: dict[Optional[str], dict[str, Any]] = {}
        for argument in map(Argument.read, arguments):
            field = fields[argument.kind]
            kind = BufferType if field in ("kv_blocks", "kv_scales") else TensorType
            collections.setdefault(argument.collection, {})[field] = kind(
                argument.dtype, argument.shape, Device("cpu:0") if argument.on_host else place,
                argument.name)
        result += [PagedCacheInputSymbols(**one) for one in collections.values()]
    return result


class KVCacheParamInterface:
    """What the parameters of one cache and of several have in common, and what follows from them."""

    page_size: int
    data_parallel_degree: int
    n_devices: int
    kv_connector: Optional[KVConnectorType]
    host_kvcache_swap_space_gb: Optional[float]
    speculative_method: Optional[SpeculativeMethod]
    num_draft_tokens: int

    def spec(self, num_layers: Optional[int] = None, n_devices: Optional[int] = None,
             page_size: Optional[int] = None) -> _kvmlir.Spec:
        """As the runtime takes it. Raises ValueError: what does not validate, by name."""
        raise NotImplementedError

    def _any_spec(self) -> _kvmlir.Spec:
        """For what does not depend on the number of layers, which may not be known yet."""
        return self.spec(num_layers=getattr(self, "num_layers", None) or 1)

    @property
    def bytes_per_block(self) -> int:
        """Bytes of one page on all devices of a replica, in all caches."""
        return self.spec().bytes_per_block()

    @property
    def tensor_parallel_degree(self) -> int:
        """Devices of a replica."""
        return self._any_spec().tensor_parallel_degree()

    @property
    def replicates_kv_across_tp(self) -> bool:
        """Whether every device holds identical KV state."""
        return self._any_spec().replicates_kv_across_tp()

    @property
    def num_draft_slots(self) -> int:
        """Positions that a reservation keeps for draft tokens."""
        return self._any_spec().draft_slots()

    def get_symbolic_inputs(self, prefix: str = "") -> KVCacheInputs:
        """The types of the cache arguments of all devices. Names and symbols begin with `prefix`
        and, where there are several devices, with the replica's."""
        spec, shards = self.spec(), self.tensor_parallel_degree
        count = self.n_devices
        devices = []
        for device in range(count):
            replica = f"{prefix}replica_{device // shards}." if count > 1 else prefix
            [arguments] = spec.symbolic_inputs(replica)
            if shards > 1:
                arguments = [(f"{replica}shard_{device % shards}.{name[len(replica):]}", *rest)
                             for name, *rest in arguments]
            devices.append(arguments)
        return KVCacheInputs(read_symbols(devices, self._places()))

    def _places(self) -> list[Device]:
        devices = getattr(self, "devices", None)
        if devices:
            return [Device.of(one) for one in devices]
        return [Device.CPU(i) for i in range(self.n_devices)]


@dataclasses.dataclass
class KVCacheParams(KVCacheParamInterface):
    """One cache.

    dtype: of the blocks. n_kv_heads: of the model, before they are spread over devices; 1 if
    is_mla. head_dim: elements of a head. num_layers: layers with keys and values; None: what the
    manager is told. page_size: tokens. devices, n_devices: all replicas' together, replica by
    replica. window: tokens that a query sees, 0: all. v_head_dim: of a latent cache (is_mla), the
    leading elements of a row that are its value. host_kvcache_swap_space_gb: GiB."""

    dtype: DTypeLike
    n_kv_heads: int
    head_dim: int
    num_layers: Optional[int] = None
    devices: Optional[Sequence[DeviceLike]] = None
    enable_prefix_caching: bool = False
    kv_connector: Optional[KVConnectorType] = None
    host_kvcache_swap_space_gb: Optional[float] = None
    enable_kvcache_swapping_to_host: bool = False
    cache_strategy: KVCacheStrategy = KVCacheStrategy.PAGED
    page_size: int = 128
    n_devices: int = 0
    is_mla: bool = False
    v_head_dim: int = 0
    data_parallel_degree: int = 1
    allow_kv_head_replication: bool = False
    kvcache_quant_config: Optional[KVCacheQuantizationConfig] = None
    speculative_method: Optional[SpeculativeMethod] = None
    num_draft_tokens: int = 0
    layout: CacheLayout = CacheLayout.nhd
    window: int = 0
    page_layers: int = 0
    name: str = "kv"

    # What all caches of a model have in common.
    SHARED: ClassVar[tuple[str, ...]] = (
        "page_size", "data_parallel_degree", "n_devices", "enable_prefix_caching",
        "enable_kvcache_swapping_to_host", "kv_connector", "host_kvcache_swap_space_gb",
        "speculative_method", "num_draft_tokens")

    def __post_init__(self) -> None:
        self.dtype = DType.of(self.dtype)
        self.cache_strategy = KVCacheStrategy(_choose(
            "cache_strategy", self.cache_strategy, list(KVCacheStrategy)))
        if self.page_size is None:
            self.page_size = 128
        for field in ("num_layers", "page_size", "host_kvcache_swap_space_gb"):
            if (given := getattr(self, field)) is not None and given == 0:
                raise ValueError(f"{field} is 0, allowed: None, or more than 0")
        if self.data_parallel_degree == 0:
            raise ValueError("data_parallel_degree is 0, allowed: 1 or more")
        if self.kvcache_quant_config is not None:
            granularity = self.kvcache_quant_config.quantization_granularity
            if granularity < 1:
                raise ValueError(f"quantization_granularity is {granularity}, allowed: 1 or more")
        if not self.n_devices:
            self.n_devices = len(self.devices) if self.devices else 1
        elif self.devices and len(self.devices) != self.n_devices:
            raise ValueError(f"n_devices is {self.n_devices}, and {len(self.devices)} devices are "
                             "given, allowed: as many")
        if self.kv_connector is not None:
            self.kv_connector = KVConnectorType(_choose(
                "kv_connector", self.kv_connector, list(KVConnectorType)))
        elif self.enable_kvcache_swapping_to_host:
            self.kv_connector = KVConnectorType.host
        _choose("speculative_method", self.speculative_method, list(_METHODS))
        self.layout = CacheLayout(_choose("layout", self.layout, list(CacheLayout)))
        self._check()

    def _check(self) -> None:
        self._any_spec().page_size()

    @property
    def n_kv_heads_per_device(self) -> int:
        """Heads of one of the devices of a replica."""
        if self.is_mla:
            return 1
        if self.data_parallel_degree < 1 or self.n_devices % self.data_parallel_degree:
            return self.n_kv_heads  # validation says what is wrong
        return _kvmlir.shard_heads(self.n_kv_heads, self.n_devices // self.data_parallel_degree,
                                   self.allow_kv_head_replication)

    @property
    def dtype_shorthand(self) -> str:
        """The element type's short name."""
        return {"float32": "f32", "bfloat16": "bf16", "float8_e4m3fn": "f8_e4m3fn"}.get(
            DType.of(self.dtype).name, DType.of(self.dtype).value)

    @property
    def quantized_kv_cache(self) -> bool:
        """Whether the blocks have scales."""
        return self.kvcache_quant_config is not None

    @property
    def shape_per_block(self) -> list[int]:
        """[planes, layers, page, heads, dim] of a page on one device, in the layout's order."""
        return list(self.spec().block_shape(0, 1)[1:])

    def block_shape(self, n: int) -> list[int]:
        """The blocks of `n` pages (and the null page), or slots, on one device."""
        return list(self.spec().block_shape(0, n))

    def collection(self, num_layers: Optional[int] = None, n_devices: Optional[int] = None,
                   page_size: Optional[int] = None) -> dict[str, Any]:
        """The fields of this cache in a spec of the runtime."""
        given = check_layers(num_layers)
        layers = self.num_layers or given
        if self.num_layers and num_layers and self.num_layers != num_layers:
            raise ValueError(f"num_layers is {num_layers}, the parameters say {self.num_layers}, "
                             "allowed: the same, or None in the parameters")
        if not layers:
            raise ValueError("num_layers is not given, allowed: 1 or more, in the parameters or "
                             "in the call")
        result: dict[str, Any] = {
            "name": self.name, "dtype": DType.of(self.dtype).code, "layers": layers,
            "strategy": _STRATEGIES.get(self.cache_strategy, 0),
            "heads": self.n_kv_heads_per_device, "dim": self.head_dim,
            "page": page_size or self.page_size, "layout": _LAYOUTS[CacheLayout(self.layout).value],
            "window": self.window, "page_layers": self.page_layers,
            "v_dim": self.v_head_dim or (self.head_dim if self.is_mla else 0)}
        if self.kvcache_quant_config is not None:
            result["scale_dtype"] = DType.of(self.kvcache_quant_config.scale_dtype).code
            result["scale_group"] = self.kvcache_quant_config.quantization_granularity
        return result

    def spec(self, num_layers: Optional[int] = None, n_devices: Optional[int] = None,
             page_size: Optional[int] = None) -> _kvmlir.Spec:
        """As the runtime takes it. Raises ValueError: what does not validate, by name."""
        return _spec([self], self, num_layers, n_devices, page_size)


@dataclasses.dataclass(frozen=True)
class MultiKVCacheParams(KVCacheParamInterface):
    """Several caches of one model, which share page ids and tables."""

    params: Sequence[KVCacheParams]
    page_size: int
    data_parallel_degree: int
    n_devices: int
    kv_connector: Optional[KVConnectorType]
    host_kvcache_swap_space_gb: Optional[float]
    speculative_method: Optional[SpeculativeMethod] = None
    num_draft_tokens: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "params", _flatten(self.params))
        first = self.params[0]
        for field in KVCacheParams.SHARED:
            wanted = getattr(self, field, getattr(first, field))
            for one in self.params:
                if getattr(one, field) != wanted:
                    raise ValueError(f"{field} is {getattr(one, field)!r} in one cache and "
                                     f"{wanted!r} in another, allowed: the same in all")

    @classmethod
    def from_params(cls, *params: "AnyParams") -> "MultiKVCacheParams":
        """From one or more caches, which must agree in what they share; of several caches in one
        argument, each. Raises ValueError."""
        flat = _flatten(params)
        names = [one.name for one in flat]
        if len(flat) > 1 and len(set(names)) < len(names):
            # The runtime tells caches by their names.
            flat = [dataclasses.replace(one, name=f"{one.name}{i}")
                    for i, one in enumerate(flat)]
        first = flat[0]
        return cls(params=flat, page_size=first.page_size,
                   data_parallel_degree=first.data_parallel_degree, n_devices=first.n_devices,
                   kv_connector=first.kv_connector,
                   host_kvcache_swap_space_gb=first.host_kvcache_swap_space_gb,
                   speculative_method=first.speculative_method,
                   num_draft_tokens=first.num_draft_tokens)

    @property
    def enable_prefix_caching(self) -> bool:
        """Whether prefixes are found, which is the same of all caches."""
        return self.params[0].enable_prefix_caching

    @property
    def cache_strategy(self) -> KVCacheStrategy:
        """The first cache's."""
        return self.params[0].cache_strategy

    @property
    def devices(self) -> Optional[Sequence[DeviceLike]]:
        """The first cache's."""
        return self.params[0].devices

    def spec(self, num_layers: Optional[int] = None, n_devices: Optional[int] = None,
             page_size: Optional[int] = None) -> _kvmlir.Spec:
        """As the runtime takes it. `num_layers` is of caches that do not say theirs."""
        return _spec(self.params, self, num_layers, n_devices, page_size)


AnyParams = Union[KVCacheParams, MultiKVCacheParams]


def _flatten(params: Sequence[AnyParams]) -> list[KVCacheParams]:
    """One list of caches from parameters of one and of several. Raises ValueError."""
    flat: list[KVCacheParams] = []
    for one in params:
        if isinstance(one, MultiKVCacheParams):
            flat += one.params
        elif isinstance(one, KVCacheParams):
            flat.append(one)
        else:
            raise ValueError(f"one of the params is a {type(one).__name__}, allowed: KVCacheParams "
                             "and MultiKVCacheParams")
    if not flat:
        raise ValueError("no params are given, allowed: one or more KVCacheParams")
    return flat


def _spec(caches: Sequence[KVCacheParams], shared: AnyParams, num_layers: Optional[int],
          n_devices: Optional[int], page_size: Optional[int]) -> _kvmlir.Spec:
    collections = []
    for one in caches:
        if n_devices and n_devices != one.n_devices:
            one = dataclasses.replace(one, n_devices=n_devices, devices=None)
        layers = num_layers if len(caches) == 1 or not one.num_layers else None
        collections.append(one.collection(layers, page_size=page_size))
    connector = shared.kv_connector.value if shared.kv_connector else None
    return _kvmlir.Spec(
        collections, enable_prefix_caching=int(shared.enable_prefix_caching),
        num_devices=n_devices or shared.n_devices,
        data_parallel_degree=shared.data_parallel_degree,
        speculative_method=_METHODS[shared.speculative_method],
        num_draft_tokens=shared.num_draft_tokens, connector=_CONNECTORS[connector],
        host_swap_space_gb=float(shared.host_kvcache_swap_space_gb or 0))
