"""weights.safetensors: every weight in the layout that the generated code reads."""

import json
import math
import struct

import numpy as np

from . import quant_blocks
from .config import NARROW
from .errors import ImportFailure
from .weight_formats import blocks_of

DTYPES = {"f32": ("F32", 4), "bf16": ("BF16", 2)}

# Elements of a matrix that are in memory at a time, with the copies that encoding them takes.
PIECE = 1 << 21


def round_to_bf16(values):
    """f32 to the bits of bf16, ties to even. The caller excludes NaN."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    return ((bits + (0x7FFF + ((bits >> 16) & 1))) >> 16).astype(np.uint16)


def pack_n16k(matrix):
    """packed[n / 16][k][n % 16] = matrix[n][k]."""
    rows, columns = matrix.shape
    return np.ascontiguousarray(matrix.reshape(rows // 16, 16, columns).transpose(0, 2, 1))


def unpack_n16k(packed):
    blocks, columns, lanes = packed.shape
    return np.ascontiguousarray(packed.transpose(0, 2, 1)).reshape(blocks * lanes, columns)


def stored_dtype(weight, dtype):
    """Matrices are stored as asked; routers, norms, biases and the rope table stay f32."""
    return dtype if weight.role in NARROW else "f32"


def stored_shape(weight):
    if not weight.packed:
        return list(weight.shape)
    rows, columns = weight.shape
    return [rows // 16, columns, 16]


def write_safetensors(path, metadata, entries, data):
    """`entries`: name -> (dtype tag, shape, bytes), in file order; `data` gives the arrays in
    the same order, one at a time. Returns the bytes of data."""
    header, offset = {"__metadata__": metadata}, 0
    for name, (tag, shape, size) in entries.items():
        header[name] = {"dtype": tag, "shape": list(shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % 64)  # the data start at a cache line
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        for values in data:
            file.write(np.ascontiguousarray(values).data)
    return offset


def write_weights(path, config, source, dtype, formats):
    """Streams one piece of a tensor after the other: only one is in memory at a time. `formats`:
    the quantised weights with their formats."""
    def width(weight):
        return 1 if weight.name in formats else DTYPES[stored_dtype(weight, dtype)][1]

    # The widest elements first, so that every tensor is aligned to its element size.
    weights = sorted(config.weights(), key=lambda w: -width(w))
    metadata, entries = {"format": "kv", "model": config.name}, {}
    for weight in weights:
        if format_ := formats.get(weight.name):
            shape = quant_blocks.packed_shape(format_, weight.shape)
            entries[weight.name] = ("I8", shape, math.prod(shape))
            metadata[f"layout.{weight.name}"] = quant_blocks.layout(format_)
            continue
        tag = DTYPES[stored_dtype(weight, dtype)][0]
        entries[weight.name] = (tag, stored_shape(weight), math.prod(weight.shape) * width(weight))
        if weight.packed:
            metadata[f"layout.{weight.name}"] = "n16k"
    return write_safetensors(path, metadata, entries,
                             (_encode(weight, rows, config, source, dtype, formats.get(weight.name))
                              for weight in weights for rows in _pieces(weight)))


def _pieces(weight):
    """Slices of a weight's rows: whole blocks of 16, which follow one another in every layout."""
    if weight.role == "table" or len(weight.shape) != 2:
        yield slice(None)
        return
    rows, columns = weight.shape
    step = max(1, PIECE // columns // 16) * 16
    for begin in range(0, rows, step):
        yield slice(begin, min(begin + step, rows))


def _encode(weight, rows, config, source, dtype, format_):
    if weight.role == "table":
        return config.ropes()[weight].table(*weight.shape)
    if format_:
        blocks = blocks_of(source, weight, rows, format_)
        _check(quant_blocks.finite(blocks, format_), source, weight)
        return quant_blocks.pack(blocks, format_)
    values = source.tensor(weight.name, rows)
    _check(np.isfinite(values).all(), source, weight)
    if stored_dtype(weight, dtype) == "bf16":
        values = round_to_bf16(values)
    return pack_n16k(values) if weight.packed else values


def _check(finite, source, weight):
    if not finite:
        raise ImportFailure(f"{source.path}: the tensor {source.found_as(weight.name)} holds "
                            "NaN or infinity; all weights must be finite")
