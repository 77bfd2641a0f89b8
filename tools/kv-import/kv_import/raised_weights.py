"""weights.safetensors of an exporter in the form that its raised module reads: matrices in bf16 where the
module has them so, and packed where they are multiplied."""

import json
import math
import re
import struct

import numpy as np

from .weights_writer import DTYPES, pack_n16k, round_to_bf16, write_safetensors

# %arg5: tensor<96x32xbf16> {kv.stored = {order = [1, 0], shape = [32, 96]}, kv.weight = "q"}
ARGUMENT = re.compile(r'(%\w+): tensor<([0-9x]+)x(bf16|f32)> \{(?:kv\.stored = \{order = \[([^\]]*)\], '
                      r'shape = [^}]*\}, )?kv\.weight = "([^"]*)"')
MULTIPLIED = re.compile(r"(?:linalg\.matmul .*ins\(|kv\.expert_matmul )%\w+, (%\w+)(?: :| experts)")


class Weight:
    """One argument of a raised module."""

    def __init__(self, match, multiplied):
        value, shape, self.dtype, order, self.name = match.groups()
        self.shape = [int(each) for each in shape.split("x")]
        self.order = [int(each) for each in order.split(", ")] if order else None
        self.packed = value in multiplied and len(self.shape) == 2 and self.shape[0] % 16 == 0

    def entry(self, values):
        """(dtype tag, shape, bytes) in the file. Others than packed ones keep the form that they came in."""
        tag, width = DTYPES[self.dtype]
        rows, *columns = self.shape
        shape = [rows // 16, *columns, 16] if self.packed else values.shape
        return tag, shape, math.prod(shape) * width

    def data(self, values):
        if self.packed and self.order:
            values = values.transpose(self.order).reshape(self.shape)
        if self.dtype == "bf16":
            values = round_to_bf16(values)
        return pack_n16k(values) if self.packed else values


def write_raised_weights(path, module):
    """Rewrites the file `path`, all of it f32, for the text of a module. Returns its bytes."""
    multiplied = set(MULTIPLIED.findall(module))
    weights = {each.name: each for each in (Weight(match, multiplied) for match in ARGUMENT.finditer(module))}
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        begin = file.tell()

    def values(name):
        first, last = header[name]["data_offsets"]
        return np.memmap(path, np.float32, "r", begin + first, ((last - first) // 4,)).reshape(
            header[name]["shape"])

    # The widest elements first, so that every tensor is aligned to its element size.
    names = sorted((name for name in header if name in weights), key=lambda name: weights[name].dtype == "bf16")
    metadata = {"format": "kv", **{f"layout.{name}": "n16k" for name in names if weights[name].packed}}
    packed = path.with_suffix(".packed")
    size = write_safetensors(packed, metadata, {name: weights[name].entry(values(name)) for name in names},
                             (weights[name].data(values(name)) for name in names))
    packed.replace(path)
    return size
