"""KV caches for compiled language models: cache managers, sessions and serving, over the C
interface of the kv-mlir runtime.

    kvmlir.compile("model")                                    # by kv-compile
    for token in kvmlir.generate("model", [5, 6, 7]): ...      # compile, load, serve

docs/guides/python.md has the rest; docs/reference/managers.md says what every name of a manager means."""

from importlib.metadata import PackageNotFoundError, version

try:
    import numpy as _numpy  # noqa: F401
except ModuleNotFoundError as missing:
    raise ImportError("kvmlir shares its arrays with numpy, which this Python lacks: pip install numpy, or in a "
                      "checkout run .venv/bin/python") from missing

from . import _signatures, errors
from ._kvmlir import Buffer, Invocation, update_batch
from .continuous_batching_cache import (ContinuousBatchingKVCache,
                                        ContinuousBatchingKVCacheCollection,
                                        ContinuousBatchingKVCacheCollectionType,
                                        ContinuousBatchingKVCacheType,
                                        FetchContinuousBatchingKVCacheCollection, GraphValue)
from .errors import (CompileError, CompilerNotFoundError, GenerationError, InsufficientBlocksError,
                     InternalError, InvalidArgumentError, KVError, OutOfMemoryError,
                     OutOfRangeError, UnsupportedError)
from .managers import (REASONS, Allocation, AllocationPlan, ContinuousBatchingKVCacheManager,
                       KVCacheManager, KVCacheMetrics, NullKVCacheManager, PagedKVCacheManager,
                       RaggedKVCacheInputs, RequestID, TextGenerationContext,
                       estimate_kv_cache_size, infer_optimal_batch_size, load_kv_manager)
from .params import (CacheLayout, KVCacheInputs, KVCacheInputSymbols, KVCacheParamInterface,
                     KVCacheParams, KVCacheQuantizationConfig, KVCacheStrategy, KVConnectorType,
                     MultiKVCacheParams, PagedCacheInputSymbols, PagedCacheValues)
from .serving import Server, Stream, generate
from .session import Entry, InferenceSession, Manifest, Model, compile, load
from .types import (CPU, Accelerator, Argument, BufferType, Device, DeviceRef, DType, TensorType)

try:
    __version__ = version("kvmlir")
except PackageNotFoundError:  # in a build folder
    __version__ = "0"

_signatures.install()

from_dlpack = Buffer.from_dlpack
TextContext = TextGenerationContext

__all__ = [
    "Accelerator", "Allocation", "AllocationPlan", "Argument", "Buffer", "BufferType", "CPU",
    "CacheLayout", "CompileError", "CompilerNotFoundError", "ContinuousBatchingKVCache",
    "ContinuousBatchingKVCacheCollection", "ContinuousBatchingKVCacheCollectionType",
    "ContinuousBatchingKVCacheManager", "ContinuousBatchingKVCacheType", "DType", "Device",
    "DeviceRef", "Entry", "FetchContinuousBatchingKVCacheCollection", "GenerationError",
    "GraphValue", "InferenceSession", "InsufficientBlocksError", "InternalError",
    "InvalidArgumentError", "Invocation", "KVCacheInputSymbols", "KVCacheInputs", "KVCacheManager",
    "KVCacheMetrics", "KVCacheParamInterface", "KVCacheParams", "KVCacheQuantizationConfig",
    "KVCacheStrategy", "KVConnectorType", "KVError", "Manifest", "Model", "MultiKVCacheParams",
    "NullKVCacheManager", "OutOfMemoryError", "OutOfRangeError", "PagedCacheInputSymbols",
    "PagedCacheValues", "PagedKVCacheManager", "REASONS", "RaggedKVCacheInputs", "RequestID",
    "Server", "Stream", "TensorType", "TextContext", "TextGenerationContext", "UnsupportedError",
    "compile", "errors", "estimate_kv_cache_size", "from_dlpack", "generate",
    "infer_optimal_batch_size", "load", "load_kv_manager", "update_batch",
]
