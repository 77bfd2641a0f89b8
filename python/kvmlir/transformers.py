"""Paged caches for Hugging Face transformers: requests to model.generate() share the pages of equal prefixes.

    pool = PagePool(model, num_pages=1024)
    cache = PagedCache(pool, input_ids)
    model.generate(input_ids, past_key_values=cache)"""

import inspect
import weakref
from typing import Any, Optional

try:
    import torch
    from transformers.cache_utils import Cache, CacheLayerMixin, DummyLayer, DynamicCache, DynamicLayer
    from transformers.cache_utils import DynamicSlidingWindowLayer
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"kvmlir.transformers needs the package {error.name}, which is not installed",
                              name=error.name) from error

from .managers import PagedKVCacheManager, TextGenerationContext, advance_by, pool_blocks
from .params import KVCacheParams, MultiKVCacheParams

# Tensors of a forward pass that say nothing which the token ids do not say.
_INPUTS = ("input_ids", "attention_mask", "position_ids", "logits_to_keep")
_ROPES_OF_LENGTHS = ("dynamic", "longrope")
_hooked: "weakref.WeakSet[torch.nn.Module]" = weakref.WeakSet()


def _refuse(model: torch.nn.Module, why: str) -> None:
    raise ValueError(f"{type(model).__name__} {why}")


def _check_rope(model: torch.nn.Module, config: Any) -> None:
    given = getattr(config, "rope_parameters", None) or {}
    kinds = [given, *(one for one in given.values() if isinstance(one, dict))]
    for kind in kinds:
        if kind.get("rope_type") in _ROPES_OF_LENGTHS:
            _refuse(model, f"has the rope_type {kind['rope_type']!r}, whose keys depend on the length of the whole "
                           f"sequence: allowed are all but {', '.join(_ROPES_OF_LENGTHS)}")


def _layers_of(model: torch.nn.Module) -> list[Any]:
    """transformers' layers of a cache with one token, which show shapes and types."""
    config = model.config.get_text_config(decoder=True)
    if model.config.is_encoder_decoder:
        _refuse(model, "has an encoder, allowed: decoders without cross attention")
    if model.device.type != "cpu":
        _refuse(model, f"is on {model.device}, allowed: cpu")
    _check_rope(model, config)
    try:
        cache = DynamicCache(config=config)
    except KeyError as kind:
        _refuse(model, f"has layers of the kind {kind}, allowed: attention over keys and values alone")
    for layer in cache.layers:
        if type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer, DummyLayer):
            _refuse(model, f"has a {type(layer).__name__}, allowed: attention over keys and values alone")
    with torch.no_grad():
        model(input_ids=torch.zeros(1, 1, dtype=torch.long), past_key_values=cache, use_cache=True)
    if all(layer.keys is None for layer in cache.layers):
        _refuse(model, "stores no keys in its cache, allowed: attention over keys and values alone")
    return cache.layers


class PagePool:
    """The pages of one model, and the index of prefixes that they hold.

    model: a decoder of transformers on the CPU whose cache has keys and values only; one token is computed to see their
    shapes. num_pages: of page_size tokens, for all layers. max_requests: rows of all caches at a time. Layers with a
    sliding window keep all tokens. Call manager.reset_prefix_cache() after the weights have changed."""

    def __init__(self, model: torch.nn.Module, num_pages: int, page_size: int = 16, max_requests: int = 64):
        layers = _layers_of(model)
        # One collection for each shape; a value that is shorter than its key is padded, and the other way round.
        places: dict[tuple[Any, int, int], list[int]] = {}
        for i, layer in enumerate(layers):
            if layer.keys is not None:
                shape = (layer.keys.dtype, layer.keys.shape[1], max(layer.keys.shape[3], layer.values.shape[3]))
                places.setdefault(shape, []).append(i)
        params = MultiKVCacheParams.from_params(*(
            KVCacheParams(dtype=str(dtype).removeprefix("torch."), n_kv_heads=heads, head_dim=dim, num_layers=len(found),
                          page_size=page_size, n_devices=1, enable_prefix_caching=True, name=f"kv{i}")
            for i, ((dtype, heads, dim), found) in enumerate(places.items())))
        self.model, self.page_size = weakref.ref(model), page_size
        self.manager = PagedKVCacheManager(params, max_requests, num_pages * page_size, None, ["cpu:0"], None, 0,
                                           num_pages=num_pages, page_size=page_size, warn=False)
        blocks = [torch.from_dlpack(one) for one in pool_blocks(self.manager)]
        # Of each layer keys and values, [pages, page_size, heads, elements].
        self.planes: list[Optional[tuple[torch.Tensor, torch.Tensor]]] = [None] * len(layers)
        for block, found in zip(blocks, places.values(), strict=True):
            for i, layer in enumerate(found):
                self.planes[layer] = (block[:, 0, i, ..., :layers[layer].keys.shape[3]],
                                      block[:, 1, i, ..., :layers[layer].values.shape[3]])
        # When Python ends, torch no longer gives back what it has from others.
        weakref.finalize(self, self.planes.clear)
        # update() sees no tokens, so the pages of a pass are made ready before it.
        if model not in _hooked:
            _hooked.add(model)
            model.register_forward_pre_hook(_before_forward, with_kwargs=True)
            model.register_forward_hook(_after_forward, with_kwargs=True)


def _cache_in(model: torch.nn.Module, named: dict[str, Any]) -> "Optional[PagedCache]":
    cache = named.get("past_key_values")
    return cache if isinstance(cache, PagedCache) and cache.pool.model() is model else None


def _before_forward(model: torch.nn.Module, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    cache = _cache_in(model, named)
    if cache is None:
        return
    for name, given in named.items():
        if isinstance(given, torch.Tensor) and name not in _INPUTS:
            raise ValueError(f"{name} is given with a PagedCache, allowed: {', '.join(_INPUTS)}")
    ids, positions = arguments[0] if arguments else named.get("input_ids"), named.get("position_ids")
    if named.get("use_cache") is False:  # MPT's default; the whole sequence would follow the cached one
        raise ValueError("use_cache is False, a PagedCache needs True")
    if ids is None:
        raise ValueError("input_ids is not given, a PagedCache needs the tokens")
    if positions is None and any(row.padding for row in cache.rows) and \
            "position_ids" in inspect.signature(model.forward).parameters:
        raise ValueError("position_ids is not given, a PagedCache of padded rows needs them")
    cache._begin(ids, named.get("attention_mask"), positions)


def _after_forward(model: torch.nn.Module, arguments: tuple[Any, ...], named: dict[str, Any], output: Any) -> None:
    cache = _cache_in(model, named)
    if cache is not None:
        cache._end()


class _Row:
    """One sequence of a batch: a request of the manager."""

    def __init__(self, pool: PagePool, tokens: list[int], padding: int):
        self.context = TextGenerationContext(tokens)
        self.padding = padding
        self.pages = torch.empty(0, dtype=torch.long)
        self.kept = 0  # tokens whose keys and values are in the pages
        pool.manager.claim(self.context.request_id)

    def reserve(self, pool: PagePool, tokens: int) -> None:
        """Pages for so many tokens. A step may have put an equal page in the place of another, so they are read anew."""
        if len(self.pages) * pool.page_size < tokens:
            pool.manager.alloc(self.context)
            self.kept = self.context.processed_length
        self.pages = torch.tensor(pool.manager.get_req_blocks(self.context.request_id))


class _PagedLayer(CacheLayerMixin):
    """The keys and values of one layer, of all rows."""

    def __init__(self, cache: "PagedCache", index: int):
        super().__init__()
        self.cache = weakref.proxy(cache)  # which owns this layer
        self.index = index
        self.length = cache.columns
        self.is_initialized = True

    def lazy_initialization(self, key_states: torch.Tensor, value_states: torch.Tensor) -> None:
        """Nothing: the pages are there."""

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any,
               **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Writes the new rows into pages; all rows, dense."""
        if self.length + key_states.shape[2] != self.cache.end:
            raise ValueError("the PagedCache is given to another model than its PagePool's, or not by its name "
                             "past_key_values")
        if torch.is_grad_enabled() and key_states.requires_grad:
            raise ValueError("gradients are wanted, a PagedCache needs torch.no_grad()")
        start, self.length = self.length, self.length + key_states.shape[2]
        results = []
        for plane, given in zip(self.cache.pool.planes[self.index], (key_states, value_states)):
            dense = given.new_zeros(*given.shape[:2], self.length, given.shape[3])
            for row, new, out in zip(self.cache.rows, given, dense):
                # Tokens that were found in pages may be computed again, for another row's sake.
                begin, end = max(start - row.padding, row.kept), self.length - row.padding
                if begin < end:
                    tokens = torch.arange(begin, end)
                    page_size = plane.shape[1]
                    plane[row.pages[tokens // page_size], tokens % page_size] = new[:, begin - end:].transpose(0, 1)
                if end > 0:
                    out[:, row.padding:] = plane[row.pages].flatten(0, 1)[:end].transpose(0, 1)
            results.append(dense)
        return results[0], results[1]

    def get_mask_sizes(self, query_length: int) -> tuple[int, int]:
        return self.length + query_length, 0

    def get_seq_length(self) -> int:
        return self.length

    def get_max_length(self) -> int:
        return -1


def _release(manager: PagedKVCacheManager, rows: list[_Row]) -> None:
    for row in rows:
        manager.release(row.context.request_id)
    del rows[:]


class PagedCache(Cache):
    """The cache of one call of model.generate(), of all rows of its batch.

    input_ids, attention_mask: as generate() gets them; rows are padded on the left. What is cached of them is not
    computed again. Later calls with longer prompts may go on with the same cache. release() gives the pages back, and so
    does the end of the object; computed pages stay in the index until they are evicted. salt: only requests with the
    same one share pages. Beams, assisted generation and inputs other than tokens are refused."""

    def __init__(self, pool: PagePool, input_ids: torch.Tensor, attention_mask: Optional[torch.Tensor] = None,
                 salt: Optional[str] = None):
        if input_ids.dim() != 2 or input_ids.shape[1] < 1:
            raise ValueError(f"input_ids has the shape {list(input_ids.shape)}, allowed: [rows, tokens], 1 token or more")
        self.pool, self.ids = pool, input_ids
        self.rows: list[_Row] = []
        self._finalizer = weakref.finalize(self, _release, pool.manager, self.rows)
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        for tokens, row_mask in zip(input_ids, mask, strict=True):
            padding = int((row_mask == 0).sum())
            if row_mask[:padding].any() or padding == len(tokens):
                self.release()
                raise ValueError(f"attention_mask is {row_mask.tolist()}, allowed: zeros, then at least one 1")
            self.rows.append(_Row(pool, tokens[padding:].tolist(), padding))
            if salt is not None:
                self.rows[-1].context.set_scope(salt=salt)
            try:
                self.rows[-1].reserve(pool, len(tokens) - padding)
            except Exception:
                self.release()
                raise
        #: Tokens of each row that were found.
        self.cached_tokens = [row.kept for row in self.rows]
        #: Columns that every row has computed, padding included.
        self.columns = self.end = min(row.padding + row.kept for row in self.rows)
        super().__init__(layers=[DummyLayer() if planes is None else _PagedLayer(self, i)
                                 for i, planes in enumerate(pool.planes)])

    def release(self) -> None:
        """Gives the pages back; computed ones can be found until they are evicted."""
        self._finalizer()

    def _begin(self, ids: torch.Tensor, mask: Optional[torch.Tensor], positions: Optional[torch.Tensor]) -> None:
        """Before a forward pass over ids: they must be the tokens that the pages are for."""
        if not self.rows:
            raise ValueError("the PagedCache is released")
        if len(ids) != len(self.rows):
            raise ValueError(f"{len(ids)} rows are given, the PagedCache has {len(self.rows)}, allowed: as many; beams and "
                             "num_return_sequences need a cache of repeated input_ids")
        end = self.columns + ids.shape[1]
        known = self.ids[:, self.columns:end]
        if not torch.equal(known, ids[:, :known.shape[1]]):
            raise ValueError(f"the tokens {ids.tolist()} are given after {self.columns} columns, allowed: those of the "
                             "input_ids that the PagedCache was made with")
        padding = torch.tensor([[row.padding] for row in self.rows])
        column = torch.arange(end)
        if padding.any() if mask is None else mask.dim() != 2 or not torch.equal(mask != 0, column >= padding):
            raise ValueError("attention_mask is not the one that the PagedCache was made with")
        wanted = (column[self.columns:] - padding).clamp(min=0)
        if positions is not None and not (positions == wanted).all():
            raise ValueError(f"position_ids is {positions.tolist()}, allowed: {wanted.tolist()}, each token's place")
        new = ids[:, known.shape[1]:]
        for row, tokens in zip(self.rows, new):
            if len(tokens):
                row.context.append(tokens.tolist(), drafts=0)
        self.ids, self.end = torch.cat([self.ids, new], dim=1), end
        for row in self.rows:
            row.reserve(self.pool, end - row.padding)
        for layer in self.layers:
            if isinstance(layer, _PagedLayer):
                layer.length = self.columns

    def _end(self) -> None:
        """After a forward pass: full pages can be found."""
        computed = []
        for row in self.rows:
            count = self.end - row.padding - row.kept
            if count > 0:
                advance_by(row.context, count)
                row.kept += count
                computed.append(row.context)
        self.pool.manager.step(computed)
        self.columns = self.end
