"""Keys and values as bytes that other engines read and write; docs/reference/exchange.md defines them.

    data = exchange.write(manager, context, model="llama-3.1-8b")  # what the context has computed
    exchange.read(other_manager, other_context, data, model="llama-3.1-8b")  # and here it is not computed again"""

import hashlib
import math
from collections.abc import Iterator
from typing import Any, Optional, Union

import numpy

from ._kvmlir import ExchangeDescriptor, TextGenerationContext
from .managers import PagedKVCacheManager, advance_by

_SIZE = 128  # of a descriptor
_BYTES = {0: 4, 1: 2, 2: 2, 3: 1, 4: 1, 5: 1, 6: 1}  # of an element of a row or a scale
_SAME = ("dtype", "planes", "scale_dtype", "scale_group", "dim", "value_dim", "all_heads", "window")


def _model_digest(model: Union[str, bytes]) -> bytes:
    if isinstance(model, bytes):
        if len(model) != 16:
            raise ValueError(f"model has {len(model)} bytes, allowed: 16, or a text")
        return model
    return hashlib.sha256(model.encode()).digest()[:16]


def prefix_digests(tokens: Any, salt: str = "") -> list[bytes]:
    """The 16 bytes that name the tokens up to each one. tokens: ids, int [N]. N digests."""
    text = salt.encode()
    digest, found = hashlib.sha256(len(text).to_bytes(4, "little") + text), []
    for token in numpy.asarray(tokens, "<i4"):
        digest.update(token.tobytes())
        found.append(digest.digest()[:16])
    return found


def parts(data: Any) -> Iterator[tuple[ExchangeDescriptor, Any, Optional[Any]]]:
    """Each descriptor in `data` with its rows and, or None, its scales: unsigned integers of the elements' size,
    [pages, planes, layers, page, heads, elements], whatever the order in memory is. The arrays look at `data`. Raises
    ValueError: what is wrong with a descriptor; bytes that are missing."""
    view = memoryview(data).cast("B")
    if not view:
        raise ValueError("no bytes are given, allowed: descriptors, each before its rows")
    while view:
        it = ExchangeDescriptor.read(bytes(view[:_SIZE]))
        end = _SIZE + it.num_bytes
        if len(view) < end:
            raise ValueError(f"{len(view) - _SIZE} bytes follow a descriptor, allowed: {it.num_bytes}")
        rows = _array(it, view[_SIZE:end], it.dtype, it.dim)
        yield it, rows, _array(it, view[_SIZE + rows.nbytes:end], it.scale_dtype, it.dim // it.scale_group) \
            if it.scale_group else None
        view = view[end:]


def _array(it: ExchangeDescriptor, view: memoryview, dtype: int, elements: int) -> Any:
    sizes = [it.shape[dim] for dim in it.order] + [elements]
    flat = numpy.frombuffer(view, f"u{_BYTES[dtype]}", math.prod(sizes))
    return _logical(it, flat.reshape(sizes))


def _logical(it: ExchangeDescriptor, array: Any) -> Any:
    return array.transpose(*numpy.argsort(it.order), 5)


def _describe(manager: PagedKVCacheManager, first: int, tokens: int) -> ExchangeDescriptor:
    if not isinstance(manager, PagedKVCacheManager):
        raise ValueError(f"the manager is a {type(manager).__name__}, allowed: PagedKVCacheManager")
    return ExchangeDescriptor.of(manager._spec, first, tokens)


def _blocks(manager: PagedKVCacheManager, context: TextGenerationContext) -> list[Any]:
    """The manager's pages, and scales if there are any, as integers in the order of memory. Begins a step, which runs the
    copies of pages that wait for one."""
    inputs = manager.get_runtime_inputs([])[manager.get_replica(context)]
    if not inputs.blocks.device.startswith("cpu"):
        raise ValueError(f"the manager's device is {inputs.blocks.device}, allowed: cpu")
    return [one.numpy().view(f"u{one.numpy().itemsize}") for one in (inputs.blocks, inputs.kv_scales) if one is not None]


def write(manager: PagedKVCacheManager, context: TextGenerationContext, model: Union[str, bytes], *, first: int = 0,
          salt: str = "") -> bytes:
    """The rows that the cache has of a request, after their descriptor.

    manager: on a CPU, with one paged collection and no window. context: of a request that it tracks, between steps; its
    tokens from position `first`, a multiple of the page size, to processed_length. model: a text that names who computed
    the rows, the same for all that may read them (model.identity.pages is one). salt: of the context's scope. Raises
    ValueError: what the manager, the context or an argument lacks."""
    end = context.processed_length
    if not 0 <= first < end:
        raise ValueError(f"first is {first}, the context has {end} processed tokens, allowed: 0 or more, and less than "
                         "those")
    it = _describe(manager, first, end - first)
    it.model, it.prefix = _model_digest(model), prefix_digests(context.tokens[:end], salt)[-1]
    data = [it.write()]
    pages = manager.get_req_blocks(context.request_id)[first // it.page:][:it.pages]
    for blocks in _blocks(manager, context):
        rows = blocks[pages]
        # Nobody has computed these; they may be another request's.
        _logical(it, rows)[-1, :, :, it.tokens - (it.pages - 1) * it.page:] = 0
        data.append(rows.tobytes())
    return b"".join(data)


def _check(it: ExchangeDescriptor, own: ExchangeDescriptor, wanted: dict[str, bytes]) -> None:
    for name in _SAME:
        if getattr(it, name) != getattr(own, name):
            raise ValueError(f"{name} is {getattr(it, name)}, the manager's cache has {getattr(own, name)}")
    if it.first_layer + it.layers > own.layers:
        raise ValueError(f"the last layer is {it.first_layer + it.layers - 1}, the manager's cache has {own.layers} "
                         "layers")
    for name, digest in wanted.items():
        given = getattr(it, name)
        if given != digest and (name == "model" or any(given)):
            raise ValueError(f"{name} is {given.hex()}, wanted: {digest.hex()}")


def read(manager: PagedKVCacheManager, context: TextGenerationContext, data: Any, model: Union[str, bytes], *,
         salt: str = "") -> int:
    """Puts rows into a request's pages in place of computing them; the number of the context's tokens that are processed
    then. One token at least is left for the next step.

    manager: as for write(); any page size, any layout. context: of a request that it tracks, between steps; alloc() is
    called here. data: descriptors, each before its rows; together they have all layers and heads of the same tokens.
    model, salt: as write() or another engine was given them. Where a descriptor has a prefix, it must be that of the
    context's tokens. Raises ValueError: the field, what it is, and what it must be; InsufficientBlocksError. Nothing was
    read then."""
    found = list(parts(data))
    first, tokens = found[0][0].first, found[0][0].tokens
    end = first + tokens
    own = _describe(manager, 0, context.current_length)
    if end > context.current_length:
        raise ValueError(f"the rows are of {end} tokens, the context has {context.current_length}")
    digests = {"model": _model_digest(model), "prefix": prefix_digests(context.tokens[:end], salt)[-1]}
    has = numpy.zeros((own.layers, own.heads), bool)
    for it, _, _ in found:
        _check(it, own, digests)
        if (it.first, it.tokens) != (first, tokens):
            raise ValueError(f"a descriptor has {it.tokens} tokens from {it.first} on, another one {tokens} from {first} "
                             "on, allowed: the same")
        has[it.first_layer:it.first_layer + it.layers, it.first_head:it.first_head + it.heads] = True
    if not has.all():
        layer, head = numpy.argwhere(~has)[0]
        raise ValueError(f"no descriptor has head {head} of layer {layer}")
    if context.active_length:
        manager.alloc(context)
    begin, end = context.processed_length, min(end, context.current_length - 1)
    if first > begin:
        raise ValueError(f"the rows begin at token {first}, the manager's cache has {begin} before")
    if begin < end:
        blocks = _blocks(manager, context)
        pages = numpy.array(manager.get_req_blocks(context.request_id))
        positions = numpy.arange(begin, end)
        for it, *arrays in found:
            layers = slice(it.first_layer, it.first_layer + it.layers)
            heads = slice(it.first_head, it.first_head + it.heads)
            for target, source in zip(blocks, arrays):
                page, token = numpy.divmod(positions, own.page)
                old_page, old_token = numpy.divmod(positions - first, it.page)
                _logical(own, target)[pages[page], :, layers, token, heads] = source[old_page, :, :, old_token]
        advance_by(context, end - begin)
        manager.step([context])
    return int(context.processed_length)


__all__ = ["ExchangeDescriptor", "parts", "prefix_digests", "read", "write"]
