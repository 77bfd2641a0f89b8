"""Quantised weights: which formats there are, and the packed form that generated code reads.

The layout is that of include/kv/ABI/QuantFormats.def. Nothing is rounded here: a packed block
holds the bits of the file's blocks in another order."""

from collections import namedtuple

import numpy as np

import gguf

from . import float8

ROWS = 16  # of a packed block

# `group`: elements of a row in a block; `file_bytes`: of such a block in a GGUF file; `bytes`: of
# the packed block of 16 rows; `scales`: which numbers of the type `scale` of a file's block are its
# scales. A group of 0: a row is one block, its scale and then its K elements; the bytes are those
# of the scale alone.
_Format = namedtuple("_Format", "group file_bytes bytes scales scale", defaults=(np.float16,))


class Format(_Format):
    @property
    def unit(self):
        """What the columns of a weight are a multiple of."""
        return self.group or 32

    def of(self, columns):
        """The format of the blocks of rows of `columns` elements."""
        if self.group:
            return self
        return self._replace(group=columns, file_bytes=self.file_bytes + columns,
                             bytes=self.bytes + ROWS * columns)


FORMATS = {"q8_0": Format(32, 34, 544, (0,)),
           "q4_0": Format(32, 18, 288, (0,)),
           "q4_1": Format(32, 20, 320, (0, 1)),
           "q4_k": Format(256, 144, 2368, (0, 1)),
           "q6_k": Format(256, 210, 3360, (104,)),
           "i8": Format(0, 4, 64, (0,), np.float32),
           "f8e4m3": Format(128, 132, 2112, (0,), np.float32),
           "f8e5m2": Format(128, 132, 2112, (0,), np.float32)}

# What weights can be quantised to here.
MAKES = ("q8_0", "q4_0", "q4_1", "i8")


def layout(name):
    """How manifests and weights files call the packed form."""
    return f"{name}x{ROWS}"


def fits(name, shape):
    rows, columns = shape
    return rows % ROWS == 0 and columns % FORMATS[name].unit == 0


def packed_shape(name, shape):
    rows, columns = shape
    format_ = FORMATS[name].of(columns)
    return [rows // ROWS, columns // format_.group, format_.bytes]


def quantize(values, name):
    """f32 [N, K] to the blocks that a GGUF file would hold, [N, bytes of a row]."""
    if name == "i8":
        return _rows_of_i8(values)
    return gguf.quantize(values, getattr(gguf.GGMLQuantizationType, name.upper()))


def _rows_of_i8(values):
    """The largest magnitude of a row becomes 127; to the nearest integer, ties to even."""
    scales = np.abs(values).max(axis=1, keepdims=True) / np.float32(127)
    # Of a row so small that its scale is 0 nothing is left; of one that is no number the scale
    # says so.
    with np.errstate(divide="ignore", invalid="ignore"):
        integers = np.where(scales > 0, np.clip(np.rint(values / scales), -127, 127), 0)
    return row_blocks(integers.astype(np.int8), scales)


def row_blocks(integers, scales):
    """i8 [N, K] and f32 [N] or [N, 1] as blocks of i8, u8 [N, 4 + K]."""
    scales = np.ascontiguousarray(scales, dtype=np.float32).reshape(-1, 1)
    return np.concatenate([scales.view(np.uint8), integers.view(np.uint8)], axis=1)


def row_values(blocks):
    """Blocks of i8 as f32 [N, K]."""
    scales = np.ascontiguousarray(blocks[:, :4]).view(np.float32)
    return blocks[:, 4:].view(np.int8) * scales


def _of_rows(name, blocks):
    """The sizes of a format whose rows in a file have the bytes of `blocks`."""
    format_ = FORMATS[name]
    return format_.of(blocks.shape[1] - format_.file_bytes)


def finite(blocks, name):
    """Whether all scales of [N, bytes of a row], and all floats, are numbers."""
    format_ = _of_rows(name, blocks)
    by_block, size = blocks.reshape(-1, format_.file_bytes), np.dtype(format_.scale).itemsize
    numbers = (np.ascontiguousarray(by_block[:, size * i:size * i + size]).view(format_.scale)
               for i in format_.scales)
    if not all(np.isfinite(each).all() for each in numbers):
        return False
    return name not in float8.VALUES or bool(
        np.isfinite(float8.VALUES[name][by_block[:, 4:]]).all())


def pack(blocks, name):
    """[N, bytes of a row] of a file to [N / 16, K / group, bytes of a packed block]."""
    format_ = _of_rows(name, blocks)
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


def _single_scale(b):
    return [b[..., 0:4], _fours(b[..., 4:])]


_PARTS = {"q8_0": _q8_0, "q4_0": _q4_0, "q4_1": _q4_1, "q4_k": _q4_k, "q6_k": _q6_k,
          "i8": _single_scale, "f8e4m3": _single_scale, "f8e5m2": _single_scale}
