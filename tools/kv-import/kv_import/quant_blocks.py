"""Quantised weights: which formats there are, and the packed form that generated code reads.

The layout is that of include/kv/ABI/QuantFormats.def. Nothing is rounded here: a packed block
holds the bits of the file's blocks in another order."""

from collections import namedtuple

import numpy as np

import gguf

ROWS = 16  # of a packed block

# `group`: elements of a row in a block; `file_bytes`: of such a block in a GGUF file; `bytes`: of
# the packed block of 16 rows; `halves`: which f16 numbers of a file's block are its scales.
Format = namedtuple("Format", "group file_bytes bytes halves")

FORMATS = {"q8_0": Format(32, 34, 544, (0,)),
           "q4_0": Format(32, 18, 288, (0,)),
           "q4_1": Format(32, 20, 320, (0, 1)),
           "q4_k": Format(256, 144, 2368, (0, 1)),
           "q6_k": Format(256, 210, 3360, (104,))}

# What weights can be quantised to here.
MAKES = ("q8_0", "q4_0", "q4_1")


def layout(name):
    """How manifests and weights files call the packed form."""
    return f"{name}x{ROWS}"


def fits(name, shape):
    rows, columns = shape
    return rows % ROWS == 0 and columns % FORMATS[name].group == 0


def packed_shape(name, shape):
    rows, columns = shape
    return [rows // ROWS, columns // FORMATS[name].group, FORMATS[name].bytes]


def quantize(values, name):
    """f32 [N, K] to the blocks that a GGUF file would hold, [N, bytes of a row]."""
    return gguf.quantize(values, getattr(gguf.GGMLQuantizationType, name.upper()))


def finite(blocks, name):
    """Whether all scales of [N, bytes of a row] are numbers."""
    format_ = FORMATS[name]
    halves = blocks.reshape(-1, format_.file_bytes).view(np.float16)
    return all(np.isfinite(halves[:, i]).all() for i in format_.halves)


def pack(blocks, name):
    """[N, bytes of a row] of a file to [N / 16, K / group, bytes of a packed block]."""
    format_ = FORMATS[name]
    rows = blocks.shape[0]
    by_row = blocks.reshape(rows // ROWS, ROWS, -1, format_.file_bytes)
    parts = _PARTS[name](np.ascontiguousarray(by_row.transpose(0, 2, 1, 3)))
    return np.concatenate([part.reshape(*part.shape[:2], -1) for part in parts], axis=2)


# Each takes [n, k, 16, bytes] and gives the parts of the packed blocks, [n, k, ...].


def _fours(values):
    """[n, k, 16, 4 j] to [n, k, j, 16, 4]: four neighbours of each row side by side."""
    n, k, rows, size = values.shape
    return values.reshape(n, k, rows, size // 4, 4).swapaxes(2, 3)


def _nibbles(elements):
    """Elements [..., e] to bytes [..., e / 2]: the second half in the upper bits."""
    half = elements.shape[-1] // 2
    return (elements[..., :half] & 15) | ((elements[..., half:] & 15) << 4)


def _q8_0(b):
    return [b[..., 0:2], _fours(b[..., 2:])]


def _q4_0(b):
    return [b[..., 0:2], _fours(b[..., 2:])]


def _q4_1(b):
    return [b[..., 0:2], b[..., 2:4], _fours(b[..., 4:])]


def _q4_k(b):
    numbers, quants = b[..., 4:16], b[..., 16:144]
    low, mid, high = numbers[..., 0:4], numbers[..., 4:8], numbers[..., 8:12]
    scales = np.concatenate([low & 63, (high & 15) | ((low >> 6) << 4)], axis=-1)
    minima = np.concatenate([mid & 63, (high >> 4) | ((mid >> 6) << 4)], axis=-1)
    parts = [b[..., 0:2], b[..., 2:4]]
    for s in range(8):
        of_two = quants[..., 32 * (s // 2):32 * (s // 2) + 32]
        elements = of_two >> 4 if s % 2 else of_two & 15
        parts += [scales[..., s:s + 1], minima[..., s:s + 1], _fours(_nibbles(elements))]
    return parts


def _q6_k(b):
    low, high, scales = b[..., 0:128], b[..., 128:192], b[..., 192:208]
    elements = []
    for half in range(2):
        for quarter in range(4):
            begin = 64 * half + 32 * (quarter % 2)
            nibbles = (low[..., begin:begin + 32] >> (4 * (quarter // 2))) & 15
            upper = (high[..., 32 * half:32 * half + 32] >> (2 * quarter)) & 3
            elements.append(nibbles | (upper << 4))
    elements = np.concatenate(elements, axis=-1)
    parts = [b[..., 208:210]]
    for s in range(16):
        own = elements[..., 16 * s:16 * s + 16]
        upper = sum((own[..., 4 * f:4 * f + 4] >> 4) << (2 * f) for f in range(4))
        parts += [scales[..., s:s + 1], _fours(_nibbles(own)), upper]
    return parts


_PARTS = {"q8_0": _q8_0, "q4_0": _q4_0, "q4_1": _q4_1, "q4_k": _q4_k, "q6_k": _q6_k}
