"""weights.safetensors: every weight in the layout that the generated code reads."""

import json
import math
import struct

import numpy as np
from tqdm import tqdm

from . import quant_blocks
from ..model.config import NARROW
from ..model.errors import ImportFailure
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


def _entries(config, dtype, formats):
    """[(weight, (dtype tag, shape, bytes), layout or None)] in the order of the file: the widest elements first,
    so that every tensor is aligned to its element size."""
    entries = []
    for weight in config.weights():
        if format_ := formats.get(weight.name):
            shape = quant_blocks.packed_shape(format_, weight.shape)
            entries.append((1, weight, ("I8", shape, math.prod(shape)), quant_blocks.layout(format_)))
            continue
        tag, width = DTYPES[stored_dtype(weight, dtype)]
        entries.append((width, weight, (tag, stored_shape(weight), math.prod(weight.shape) * width),
                        "n16k" if weight.packed else None))
    return [entry[1:] for entry in sorted(entries, key=lambda entry: -entry[0])]


def weights_size(config, dtype, formats):
    """Bytes of the file's data."""
    return sum(entry[2] for _, entry, _ in _entries(config, dtype, formats))


def write_weights(path, config, source, dtype, formats):
    """Streams one piece of a tensor after the other: only one is in memory at a time. `formats`:
    the quantised weights with their formats. On a terminal a bar shows how far it is."""
    entries = _entries(config, dtype, formats)
    metadata = {"format": "kv", "model": config.name,
                **{f"layout.{weight.name}": layout for weight, _, layout in entries if layout}}
    with tqdm(total=sum(entry[2] for _, entry, _ in entries), desc="kv-import: weights", unit="B",
              unit_scale=True, disable=None, leave=False) as bar:
        def pieces():
            for weight, _, _ in entries:
                for rows in _pieces(weight):
                    piece = _encode(weight, rows, config, source, dtype, formats.get(weight.name))
                    yield piece
                    bar.update(piece.nbytes)

        return write_safetensors(path, metadata, {weight.name: entry for weight, entry, _ in entries}, pieces())


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
