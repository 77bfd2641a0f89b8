"""Compile, load, run."""

import dataclasses
import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

from . import _kvmlir
from ._kvmlir import Buffer, Invocation
from .errors import CompileError, CompilerNotFoundError
from .managers import (ContinuousBatchingKVCacheManager, Devices, KVCacheManager,
                       PagedKVCacheManager)
from .params import (AnyParams, CacheLayout, KVCacheParams, KVCacheQuantizationConfig,
                     KVCacheStrategy, MultiKVCacheParams)
from .types import DTYPES, Argument, Device, device_names

PathLike = Union[str, "os.PathLike[str]"]


def _find_compiler() -> str:
    beside = Path(__file__).resolve().parent / "bin" / "kv-compile"
    for path in (os.environ.get("KV_COMPILE"), str(beside), shutil.which("kv-compile")):
        if path and os.access(path, os.X_OK):
            return path
    raise CompilerNotFoundError(
        "kv-compile is not there: the package holds the runtime alone. Build it "
        "(scripts/setup.sh, ninja kv-compile), and name it by KV_COMPILE or put it in PATH")


def compile(module: PathLike, output: Optional[PathLike] = None, target: Optional[str] = None, *,
            mcpu: Optional[str] = None, page_size: Optional[int] = None,
            layout: Optional[str] = None, options: Sequence[str] = ()) -> Path:
    """Compiles a module to an artifact, by the program kv-compile, and returns its path.

    module: a file, a folder with model.mlir, or a module's text. output: by default beside the
    module, with .so; needed for a text. target: "cpu", "cuda:sm_90a", "virtual:x86-64-v4". Other
    options of kv-compile as they are. Raises CompileError, CompilerNotFoundError."""
    text = None
    if isinstance(module, str) and "\n" in module:
        text = module
        if output is None:
            raise ValueError("output is not given, allowed: a path, where the module is a text")
        source = Path("-")
    else:
        source = Path(module)
        if source.is_dir():
            source /= "model.mlir"
        if not source.exists():
            raise FileNotFoundError(f"{source}: there is no such module")
    artifact = Path(output) if output is not None else source.with_suffix(".so")
    command = [_find_compiler(), str(source), "-o", str(artifact), *options]
    for name, value in (("target", target), ("mcpu", mcpu), ("page-size", page_size),
                        ("layout", layout)):
        if value is not None:
            command.append(f"--{name}={value}")
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode:
        raise CompileError(done.stderr.strip() or f"kv-compile ended with status {done.returncode}")
    return artifact


@dataclasses.dataclass(frozen=True)
class Entry:
    """A function of an artifact: what it takes, in its order, and what it gives."""

    name: str
    inputs: list[Argument]  # weights and cache arguments among them
    outputs: list[Argument]


@dataclasses.dataclass(frozen=True)
class Manifest:
    """What an artifact says of itself; docs/reference/artifact.md."""

    abi_version: int
    producer: str
    target_kind: str  # "cpu" or "cuda"
    target_triple: str
    target_cpu: str
    target_chips: list[str]
    model_name: str
    model_architecture: str
    model_vocab_size: int
    model_max_seq_len: int
    model_json: str
    collections: list[dict[str, Any]]
    entries: dict[str, Entry]

    @classmethod
    def of(cls, given: dict[str, Any]) -> "Manifest":
        """From the text of a manifest."""
        entries = {name: Entry(name, [Argument.read(one) for one in inputs],
                               [Argument.read(one) for one in outputs])
                   for name, (inputs, outputs) in given["entries"].items()}
        return cls(**{**given, "entries": entries})

    @classmethod
    def read(cls, artifact: PathLike) -> "Manifest":
        """Of a file, without loading its code: any machine can."""
        return cls.of(_kvmlir.read_manifest(os.fspath(artifact)))

    @property
    def params(self) -> AnyParams:
        """The caches, for managers and estimators. Paged ones reuse prefixes."""
        layouts = list(CacheLayout)
        strategies = [KVCacheStrategy.PAGED, KVCacheStrategy.CONTINUOUS, KVCacheStrategy.RECURRENT]
        paged = all(one["strategy"] != 1 for one in self.collections)
        caches = [KVCacheParams(
            dtype=DTYPES[one["dtype"]], n_kv_heads=one["heads"], head_dim=one["dim"],
            num_layers=one["layers"], enable_prefix_caching=paged,
            cache_strategy=strategies[one["strategy"]],
            page_size=one["page"], is_mla=one["v_dim"] > 0, v_head_dim=one["v_dim"],
            kvcache_quant_config=KVCacheQuantizationConfig(
                DTYPES[one["scale_dtype"]], one["scale_group"]) if one["scale_group"] else None,
            layout=layouts[one["layout"]], window=one["window"], page_layers=one["page_layers"],
            name=one["name"]) for one in self.collections]
        if not caches:
            raise ValueError("the artifact has no cache")
        return caches[0] if len(caches) == 1 else MultiKVCacheParams.from_params(*caches)


class ModelIdentity(NamedTuple):
    """pages: for a manager's `model`. peers: for its `peer_model`."""

    pages: str
    peers: str


class Model(_kvmlir.LoadedModel):
    """An artifact that a session has loaded."""

    def __init__(self, session: "InferenceSession", artifact: PathLike):
        super().__init__(session, os.fspath(artifact))
        self.session = session
        self.artifact = Path(artifact)
        self.manifest = Manifest.of(self.read_manifest())
        self._prepared: dict[str, Invocation] = {}

    def bind_weights(self, file: PathLike) -> None:
        """Binds every weight to a tensor of the safetensors file. Once. Raises ValueError: the
        tensor, what the file holds and what the artifact takes."""
        super().bind_weights(os.fspath(file))

    @property
    def identity(self) -> "ModelIdentity":
        """The names of its pages, the same as kv-run's. The first use reads both files whole. Raises
        ValueError: weights are not bound."""
        return ModelIdentity(*self.identify())

    @property
    def params(self) -> AnyParams:
        """The caches of the artifact."""
        return self.manifest.params

    def prepare(self, entry: str = "forward") -> Invocation:
        """An entry that is ready to run. Raises ValueError: no such entry; weights not bound."""
        return Invocation(self, entry)

    def execute(self, inputs: Optional[Mapping[str, Any]] = None, *, entry: str = "forward",
                manager: Optional[KVCacheManager] = None, **named: Any) -> dict[str, Buffer]:
        """Runs an entry on arrays by their names, and returns its outputs. Inputs stay bound for
        later calls. manager: its latest runtime inputs are the cache arguments."""
        invocation = self._prepared.get(entry)
        if invocation is None:
            invocation = self._prepared[entry] = self.prepare(entry)
        for name, array in {**(inputs or {}), **named}.items():
            invocation.bind(name, array)
        if manager is not None:
            invocation.set_manager(manager)
        invocation.execute()
        return {name: invocation.output(name) for name in invocation.output_names}

    def create_manager(self, max_batch_size: int = 16, max_seq_len: int = 0, *, num_pages: int = 0,
                       available_cache_memory: int = 0, devices: Devices = None,
                       **options: Any) -> KVCacheManager:
        """The manager of the model's caches, on the session's device; paged ones reuse prefixes.

        max_seq_len: tokens, 0: the model's. num_pages, or available_cache_memory in bytes, which a
        paged cache needs. Other options as in PagedKVCacheManager."""
        params = self.params
        continuous = params.cache_strategy == KVCacheStrategy.CONTINUOUS
        kind = ContinuousBatchingKVCacheManager if continuous else PagedKVCacheManager
        manager = kind.__new__(kind)
        _kvmlir.Manager.__init__(
            manager, self, devices=device_names(devices), max_batch_size=max_batch_size,
            max_seq_len=max_seq_len, num_pages=num_pages,
            available_cache_memory=available_cache_memory, **options)
        manager._spec = params.spec()
        if isinstance(manager, ContinuousBatchingKVCacheManager):
            manager._slots, manager._contexts = max_batch_size, {}
        return manager


class InferenceSession(_kvmlir.Session):
    """The device, the threads and the scratch memory that models run on.

    devices: one, such as CPU() or "cuda:0". num_threads: of a CPU; None: one for each core.
    deterministic: on a GPU, too, a row's bits do not depend on the rows beside it. map_weights: on
    a CPU, weights stay in the file's memory, which processes share. arena_bytes: of an entry's
    temporaries; 0: the device's default. log(sentence) receives notes. Handles of a session are
    used by one thread at a time; executions release the GIL."""

    def __init__(self, devices: Devices = None, num_threads: Optional[int] = None, *,
                 deterministic: bool = False, map_weights: bool = False, arena_bytes: int = 0,
                 log: Optional[Callable[[str], Any]] = None):
        names = device_names(devices)
        if len(names) > 1:
            raise ValueError(f"devices are {', '.join(names)}, allowed: one, which models run on")
        if num_threads == 0:  # the runtime's default
            raise ValueError("num_threads is 0, allowed: None, or 1 or more")
        super().__init__(names[0] if names else None, num_threads or 0, deterministic, map_weights,
                         arena_bytes, log)
        self._device = Device(names[0] if names else "cpu:0")

    @property
    def devices(self) -> list[Device]:
        """The one device that models run on."""
        return [self._device]

    def load(self, artifact: PathLike, weights: Optional[PathLike] = None) -> Model:
        """Loads an artifact of kv-compile, or a folder with model.so and weights.safetensors.
        weights: a safetensors file, bound to all entries. Raises ValueError: the manifest's field,
        what it says and what this machine allows."""
        path = Path(artifact)
        if path.is_dir():
            if not (path / "model.so").exists():
                raise FileNotFoundError(f"{path}: no model.so; kvmlir.compile({str(path)!r}) makes it "
                                        "of model.mlir")
            if weights is None and (path / "weights.safetensors").exists():
                weights = path / "weights.safetensors"
            path /= "model.so"
        model = Model(self, path)
        if weights is not None:
            model.bind_weights(weights)
        return model


def load(artifact: PathLike, weights: Optional[PathLike] = None, devices: Devices = None,
         num_threads: Optional[int] = None) -> Model:
    """InferenceSession(devices, num_threads).load(artifact, weights)."""
    return InferenceSession(devices, num_threads).load(artifact, weights)
