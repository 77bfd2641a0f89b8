"""Tiers for vLLM: what it computed before a restart, or on another machine, it loads.

    vllm serve MODEL --kv-transfer-config '{"kv_connector": "KVMlirConnector", "kv_role": "kv_both",
        "kv_connector_module_path": "kvmlir.vllm", "kv_connector_extra_config": {
        "disk_directory": "pages", "disk_bytes": 100000000000}}'

A block of vLLM is a page here: the same tokens, and the same bytes, whatever its layout is. The extra configuration has
options of PagedKVCacheManager: num_pages (default: vLLM's number of blocks), disk_directory, disk_bytes,
block_store_endpoint, and model, a text that names the weights (default: a digest of the model folder's files).

With exchange_directory, on a CPU, each request that ends leaves a file there that kvmlir.exchange.read() takes, with the
same `model`, and a request whose tokens begin with those of a file loads it; the name is the digest of the tokens and
`.kvx`."""

import dataclasses
import hashlib
import logging
import os
import threading
from pathlib import Path
from typing import Any, Optional

try:
    import torch
    import vllm
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"kvmlir.vllm needs the package {error.name}, which is not installed",
                              name=error.name) from error
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorBase_V1, KVConnectorMetadata
from vllm.platforms import current_platform
from vllm.v1.executor.abstract import Executor
from vllm.v1.executor.uniproc_executor import UniProcExecutor
from vllm.v1.kv_cache_interface import FullAttentionSpec
from vllm.v1.request import RequestStatus

from . import exchange
from .errors import OutOfMemoryError
from .managers import PagedKVCacheManager, TextGenerationContext, advance_by, pool_blocks
from .params import KVCacheParams

_OPTIONS = ("num_pages", "disk_directory", "disk_bytes", "block_store_endpoint", "model", "exchange_directory")
_BUFFERED_BYTES = 256 << 20  # of host memory, on their way to a disk or a store
_UNIT = torch.int16  # what bytes are copied as; to the manager they are bf16
_log = logging.getLogger(__name__)


def _covering(ids: list[int], begin: int, end: int, size: int) -> list[int]:
    """Those of the pages or blocks, of `size` tokens, that hold the tokens from `begin` to `end`."""
    return ids[begin // size:-(-end // size)]


class _Bytes:
    """Blocks as they are: to the manager a token has one row with a part of the block's bytes."""

    layout, dtype, heads = "nhd", "bf16", 1

    def __init__(self, spec: Any, config: Any):
        self.dim, rest = divmod(spec.page_size_bytes, 2 * _UNIT.itemsize * spec.block_size)
        if rest:
            raise ValueError(f"a block has {spec.page_size_bytes} bytes and {spec.block_size} tokens, KVMlirConnector "
                             f"allows multiples of {2 * _UNIT.itemsize} bytes a token")

    def get(self, cache: torch.Tensor, blocks: list[int]) -> torch.Tensor:
        return cache[blocks].cpu().flatten(1).view(_UNIT)

    def put(self, cache: torch.Tensor, blocks: list[int], rows: torch.Tensor) -> None:
        rows = rows.view(_UNIT).flatten(1).view(cache.dtype)
        cache[blocks] = rows.view(len(blocks), *cache.shape[1:]).to(cache.device)


class _Rows:
    """Rows of keys and values, which vLLM's attention on CPUs stores in pieces that suit the CPU."""

    layout = "hnd"

    def __init__(self, spec: Any, config: Any):
        from vllm import _custom_ops
        from vllm.v1.attention.backends.cpu_attn import _get_attn_isa
        cache_dtype = config.cache_config.cache_dtype
        if not current_platform.is_cpu() or spec.dtype != config.model_config.dtype:
            raise ValueError(f"the cache is on {current_platform.device_type} and has the type {cache_dtype}, "
                             "exchange_directory allows cpu and the model's type")
        self.dtype, self.heads, self.dim = str(spec.dtype).removeprefix("torch."), spec.num_kv_heads, spec.head_size
        isa = _get_attn_isa(spec.dtype, spec.block_size, self.dim, cache_dtype)
        # Where a row's elements lie is seen by storing their numbers, in digits that every type has.
        tokens, count = spec.block_size, spec.block_size * self.dim
        numbers, stored = torch.arange(count), torch.zeros(2, count, dtype=torch.long)
        for digit in range(0, count.bit_length(), 7):
            rows = (numbers >> digit & 127).view(tokens, 1, self.dim).to(spec.dtype)
            keys, values = block = torch.zeros(2, 1, 1, tokens, self.dim, dtype=spec.dtype)
            _custom_ops.cpu_attn_reshape_and_cache(rows, rows, keys, values, torch.arange(tokens), isa)
            stored += block.flatten(1).long() << digit
        #: Of keys and of values: the place in a block of each element of the rows.
        self.places = stored.argsort(1)
        if not torch.equal(stored.gather(1, self.places), numbers.expand(2, -1)):
            raise ValueError(f"vLLM's attention {isa!r} does not store rows as they are, which exchange_directory needs")

    def get(self, cache: torch.Tensor, blocks: list[int]) -> torch.Tensor:
        """[blocks, planes, heads, tokens, elements]."""
        planes = cache[blocks].view(len(blocks), self.heads, 2, -1)
        return torch.stack([planes[:, :, i, places] for i, places in enumerate(self.places)], 1)

    def put(self, cache: torch.Tensor, blocks: list[int], rows: torch.Tensor) -> None:
        planes = torch.empty(len(blocks), self.heads, 2, self.places.shape[1], dtype=cache.dtype)
        for i, places in enumerate(self.places):
            planes[:, :, i, places] = rows[:, i].flatten(2)
        cache[blocks] = planes.view(len(blocks), *cache.shape[1:])


def _identity(config: Any) -> str:
    """What makes bytes of two processes comparable: weights, types, and the code that computes them."""
    folder = Path(config.model_config.model)
    if not folder.is_dir():
        raise ValueError(f"the model {config.model_config.model} is no folder, so kv_connector_extra_config needs "
                         "'model', a text that names its weights")
    digest = hashlib.sha256()
    for path in sorted(path for ending in ("json", "safetensors", "bin", "gguf") for path in folder.glob(f"*.{ending}")):
        with open(path, "rb") as file:
            digest.update(path.name.encode() + hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


@dataclasses.dataclass
class _Sequence:
    """A request of vLLM, and its pages here. blocks: vLLM's. saved: tokens that pages have, or get in a step that was
    scheduled."""

    request: Any
    context: TextGenerationContext
    saved: int
    blocks: list[int] = dataclasses.field(default_factory=list)
    is_open: bool = True

    @property
    def id(self) -> Any:
        return self.context.request_id


@dataclasses.dataclass
class _Copies(KVConnectorMetadata):
    """Of a step. Loads: (pages, blocks). saves: (sequence, pages, blocks, tokens that there are then)."""

    loads: list[tuple[list[int], list[int]]] = dataclasses.field(default_factory=list)
    saves: list[tuple[_Sequence, list[int], list[int], int]] = dataclasses.field(default_factory=list)


class _Store:
    """The manager of an engine, for its scheduler and its worker, which may be two threads."""

    def __init__(self, config: Any, kv_cache_config: Any):
        given = dict(config.kv_transfer_config.kv_connector_extra_config)
        for name in given:
            if name not in _OPTIONS:
                raise ValueError(f"kv_connector_extra_config has {name!r}, allowed: {', '.join(_OPTIONS)}")
        if not issubclass(Executor.get_class(config), UniProcExecutor):
            raise ValueError("vLLM's worker is another process than its scheduler, KVMlirConnector allows the executor "
                             "'uni' alone; on a CPU that needs VLLM_ENABLE_V1_MULTIPROCESSING=0 in the environment")
        groups = kv_cache_config.kv_cache_groups
        if len(groups) != 1 or not isinstance(groups[0].kv_cache_spec, FullAttentionSpec):
            kinds = ", ".join(type(one.kv_cache_spec).__name__ for one in groups)
            raise ValueError(f"the model's cache has the groups {kinds}, KVMlirConnector allows one FullAttentionSpec")
        spec, self.layers = groups[0].kv_cache_spec, list(groups[0].layer_names)
        self.block_size, self.caches = spec.block_size, dict[str, torch.Tensor]()
        directory = given.pop("exchange_directory", None)
        self.directory = None if directory is None else Path(directory)
        if self.directory is not None:
            self.directory.mkdir(parents=True, exist_ok=True)
        self.form = _Bytes(spec, config) if directory is None else _Rows(spec, config)
        is_tiered = "disk_directory" in given or "block_store_endpoint" in given
        self.model = given.pop("model", None)
        if self.model is None and (is_tiered or directory is not None):
            self.model = _identity(config)
        params = KVCacheParams(dtype=self.form.dtype, n_kv_heads=self.form.heads, head_dim=self.form.dim,
                               num_layers=len(self.layers), page_size=self.block_size, n_devices=1,
                               enable_prefix_caching=True, layout=self.form.layout)
        if is_tiered:
            pages = max(_BUFFERED_BYTES // params.spec().bytes_per_record(), 2)
            params = dataclasses.replace(params, kv_connector="tiered", host_kvcache_swap_space_gb=pages *
                                         params.spec().bytes_per_record() / 2**30)
            given["model"] = "/".join((self.model, vllm.__version__, str(spec), str(config.model_config.dtype),
                                       type(self.form).__name__))
        pages = given.pop("num_pages", kv_cache_config.num_blocks)
        self.manager = PagedKVCacheManager(params, config.scheduler_config.max_num_seqs, pages * self.block_size, None,
                                           ["cpu:0"], None, 0, num_pages=pages, max_steps=1, warn=False, **given)
        # [pages, keys and values, layers, ...]; of bytes, which halves of a block these are is vLLM's.
        self.pages = torch.from_dlpack(pool_blocks(self.manager)[0])
        self.lock = threading.Lock()

    def open(self, request: Any) -> Optional[_Sequence]:
        """Takes pages for the tokens that there are; None: there is no room."""
        context = TextGenerationContext(list(request.all_token_ids))
        if request.cache_salt is not None:
            context.set_scope(salt=request.cache_salt)
        with self.lock:
            self.manager.claim(context.request_id)
            try:
                self.manager.alloc(context)
            except OutOfMemoryError:
                self.manager.release(context.request_id)
                return None
            self._read(context, request.cache_salt or "")
        return _Sequence(request, context, context.processed_length)

    def _path(self, digest: bytes) -> Path:
        assert self.directory is not None
        return self.directory / f"{digest.hex()}.kvx"

    def _read(self, context: TextGenerationContext, salt: str) -> None:
        """The file of the most tokens that the context begins with, if there is one with more than are here."""
        if self.directory is None:
            return
        for digest in reversed(exchange.prefix_digests(context.tokens, salt)[context.processed_length:]):
            if (path := self._path(digest)).exists():
                try:
                    exchange.read(self.manager, context, path.read_bytes(), self.model, salt=salt)
                except ValueError as error:  # another model's, or damaged; what is not read is computed
                    _log.warning("%s: %s", path, error)
                return

    def write(self, sequence: _Sequence, blocks: list[int]) -> None:
        """The file of a request that has ended. Of its last token there is no row."""
        tokens = sequence.request.num_tokens - 1
        if self.directory is None or not sequence.is_open or not self.extend(sequence, tokens):
            return
        if tokens > sequence.saved:
            self.save(sequence, self.pages_of(sequence, sequence.saved, tokens),
                      _covering(blocks, sequence.saved, tokens, self.block_size), tokens)
        salt = sequence.request.cache_salt or ""
        with self.lock:
            data = exchange.write(self.manager, sequence.context, self.model, salt=salt)
        path = self._path(next(exchange.parts(data))[0].prefix)
        unfinished = path.with_suffix(f".{os.getpid()}")
        try:
            unfinished.write_bytes(data)
            unfinished.replace(path)
        except OSError as error:
            _log.warning("%s: %s", path, error)

    def extend(self, sequence: _Sequence, tokens: int) -> bool:
        """Pages for so many tokens; whether there was room."""
        known = sequence.request.all_token_ids
        with self.lock:
            have = sequence.context.current_length
            if have < tokens:
                sequence.context.append(list(known[have:tokens]), drafts=0)
                try:
                    self.manager.alloc(sequence.context)
                except OutOfMemoryError:
                    return False
        return True

    def pages_of(self, sequence: _Sequence, begin: int, end: int) -> list[int]:
        """Of tokens from `begin` to `end`."""
        return _covering(self.manager.get_req_blocks(sequence.id), begin, end, self.block_size)

    def close(self, sequence: _Sequence) -> None:
        """Its full pages can be found until they are evicted."""
        with self.lock:
            if sequence.is_open:
                sequence.is_open = False
                self.manager.release(sequence.id)

    def load(self, pages: list[int], blocks: list[int]) -> None:
        for i, layer in enumerate(self.layers):
            self.form.put(self.caches[layer], blocks, self.pages[pages, :, i])

    def save(self, sequence: _Sequence, pages: list[int], blocks: list[int], tokens: int) -> None:
        """Copies computed blocks, so that the pages have `tokens` tokens. From now on others find the full ones."""
        with self.lock:
            if not sequence.is_open:  # its pages may have another owner by now
                return
            for i, layer in enumerate(self.layers):
                rows = self.form.get(self.caches[layer], blocks).view(self.pages.dtype)
                self.pages[pages, :, i] = rows.view(len(pages), *self.pages.shape[1:2], *self.pages.shape[3:])
            advance_by(sequence.context, tokens - sequence.context.processed_length)
            self.manager.step([sequence.context])


_stores: dict[str, _Store] = {}  # by the engine's id


class KVMlirConnector(KVConnectorBase_V1):
    """vLLM makes one for the scheduler and one for the worker, in one process. Requests with images, adapters or
    embeddings as prompts are neither saved nor loaded."""

    def __init__(self, vllm_config: Any, role: Any, kv_cache_config: Any):
        super().__init__(vllm_config=vllm_config, role=role, kv_cache_config=kv_cache_config)
        self._engine = vllm_config.kv_transfer_config.engine_id
        if self._engine not in _stores:
            _stores[self._engine] = _Store(vllm_config, kv_cache_config)
        self._store = _stores[self._engine]
        self._sequences: dict[str, _Sequence] = {}
        self._loads: dict[str, int] = {}  # tokens, of requests that got blocks for them

    # ---- The scheduler's calls ----

    def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int, bool]:
        if request.mm_features or request.lora_request is not None or request.prompt_embeds is not None:
            return 0, False
        if request.request_id not in self._sequences:
            sequence = self._store.open(request)
            if sequence is None:
                return 0, False
            self._sequences[request.request_id] = sequence
        if getattr(request, "skip_reading_prefix_cache", False):
            return 0, False
        # vLLM computes one token at least. A file may end within a block.
        size = self._store.block_size if self._store.directory is None else 1
        found = min(self._sequences[request.request_id].saved, (request.num_tokens - 1) // size * size)
        return max(found - num_computed_tokens, 0), False

    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None:
        if num_external_tokens:
            self._loads[request.request_id] = num_external_tokens

    def build_connector_meta(self, scheduler_output: Any) -> KVConnectorMetadata:
        copies = _Copies()
        for new in scheduler_output.scheduled_new_reqs:
            self._schedule(copies, scheduler_output, new.req_id, True, new.block_ids, new.num_computed_tokens)
        cached = scheduler_output.scheduled_cached_reqs
        for name, blocks, computed in zip(cached.req_ids, cached.new_block_ids, cached.num_computed_tokens):
            self._schedule(copies, scheduler_output, name, name in cached.resumed_req_ids, blocks, computed)
        return copies

    def _schedule(self, copies: _Copies, output: Any, name: str, begins: bool, blocks: Any, computed: int) -> None:
        sequence, store = self._sequences.get(name), self._store
        if sequence is None:
            return
        if begins:
            sequence.blocks = []
        sequence.blocks += blocks[0] if blocks else []

        def both(begin: int, end: int) -> tuple[list[int], list[int]]:
            return store.pages_of(sequence, begin, end), _covering(sequence.blocks, begin, end, store.block_size)

        if external := self._loads.pop(name, 0):
            copies.loads.append(both(computed - external, computed))
        # The tokens that the step computes and that are known: of a draft nobody knows whether it stays.
        tokens = min(computed + output.num_scheduled_tokens[name], len(sequence.request.all_token_ids))
        end, begin = tokens // store.block_size * store.block_size, sequence.saved
        if end > begin:
            if not store.extend(sequence, end):
                store.close(self._sequences.pop(name))
                return
            copies.saves.append((sequence, *both(begin, end), end))
            sequence.saved = end

    def request_finished(self, request: Any, block_ids: list[int]) -> tuple[bool, None]:
        self._loads.pop(request.request_id, None)
        sequence = self._sequences.pop(request.request_id, None)
        if sequence is not None:
            if request.status in (RequestStatus.FINISHED_STOPPED, RequestStatus.FINISHED_LENGTH_CAPPED):
                self._store.write(sequence, block_ids)
            self._store.close(sequence)
        return False, None

    def reset_cache(self) -> bool:
        with self._store.lock:
            self._store.manager.reset_prefix_cache()
        return True

    # ---- The worker's calls ----

    def register_kv_caches(self, kv_caches: dict[str, torch.Tensor]) -> None:
        self._store.caches = kv_caches

    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
        copies = self._get_connector_metadata()
        assert isinstance(copies, _Copies)
        for pages, blocks in copies.loads:
            self._store.load(pages, blocks)

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Nothing: start_load_kv() has loaded all layers."""

    def save_kv_layer(self, layer_name: str, kv_layer: torch.Tensor, attn_metadata: Any, **kwargs: Any) -> None:
        """Nothing: wait_for_save() saves all layers."""

    def wait_for_save(self) -> None:
        copies = self._get_connector_metadata()
        assert isinstance(copies, _Copies)
        for save in copies.saves:
            self._store.save(*save)

    def shutdown(self) -> None:
        _stores.pop(self._engine, None)
