"""weights.safetensors of an exporter, with the matrices in bf16 that a raised module has so."""

import json
import re
import struct

import numpy as np

from .weights_writer import DTYPES, round_to_bf16, write_safetensors

# An argument's type, and its name among its attributes.
NARROW = re.compile(r'tensor<[0-9x]+xbf16> \{(?:kv\.stored = \{[^{}]*\}, )?kv\.weight = "([^"]*)"')


def round_weights(path, module):
    """Rewrites the file `path` for the text of a module. All of it is f32 before."""
    narrow = set(NARROW.findall(module))
    with open(path, "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
        begin = file.tell()
    tensors = {name: each for name, each in header.items() if name != "__metadata__"}
    # The widest elements first, so that every tensor is aligned to its element size.
    names = sorted(tensors, key=lambda name: name in narrow)
    kinds = {name: DTYPES["bf16" if name in narrow else "f32"] for name in names}
    entries = {name: (kinds[name][0], tensors[name]["shape"],
                      int(np.prod(tensors[name]["shape"])) * kinds[name][1]) for name in names}

    def values(name):
        first, last = tensors[name]["data_offsets"]
        data = np.memmap(path, np.float32, "r", begin + first, ((last - first) // 4,))
        return round_to_bf16(data) if name in narrow else data

    rounded = path.with_suffix(".rounded")
    write_safetensors(rounded, {"format": "kv"}, entries, (values(name) for name in names))
    rounded.replace(path)
