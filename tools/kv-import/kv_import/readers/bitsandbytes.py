"""Folders of the bitsandbytes package.

In 4 bits (NF4, FP4) a matrix [N, K] is one run of elements, two to a byte, the first in the upper bits. Each
element is a place in a map of 16 numbers. `blocksize` elements share a factor:

    weight              bytes, in any type
    weight.quant_map    f32 [16]
    weight.absmax       f32, a factor per block; or u8, places in the map of 256 numbers below
    weight.nested_quant_map, weight.nested_absmax    f32; times the factor of `nested_blocksize` factors, plus an offset
    weight.quant_state.bitsandbytes__nf4 (or fp4)    u8, JSON: sizes, and the offset

In 8 bits a matrix is i8. SCB is 127 times the factor of each row."""

import math

import numpy as np

from ..model.checks import json_object
from ..model.errors import ImportFailure
from ..model.schema import FourBits, checked

# Factors of rows: the name behind that of the module, and what a number there stands for.
ROW_SCALES, ROW_UNIT = "SCB", np.float32(1 / 127)
# How the bytes of a matrix of 8 bits are ordered: only rows are supported, which is format 0.
ROW_FORMAT = "weight_format"
STATE = "weight.quant_state.bitsandbytes__"
PARTS = ("weight.absmax", "weight.quant_map", "weight.nested_absmax", "weight.nested_quant_map")
MOST_STATE = 4096  # bytes of JSON
# Of the types that hold packed bytes (bnb_4bit_quant_storage).
TYPE_BYTES = {"U8": 1, "I8": 1, "F16": 2, "BF16": 2, "F32": 4}


def method_of(settings):
    """The quant_method of a quantization_config; some that bitsandbytes wrote name none."""
    loaded = settings.get("load_in_4bit") or settings.get("load_in_8bit")
    return settings.get("quant_method") or ("bitsandbytes" if loaded else None)


def bits_of(where, settings):
    """4 or 8; `settings`: the quantization_config of the file `where`."""
    found = [bits for bits in (4, 8) if settings.get(f"load_in_{bits}bit")]
    if len(found) != 1:
        raise ImportFailure(f"{where}: quantization_config: load_in_4bit is {settings.get('load_in_4bit')!r} and "
                            f"load_in_8bit is {settings.get('load_in_8bit')!r}; one of both must be true")
    return found[0]


def take_row_formats(where, index, read):
    """Takes the names of formats of rows away from `index`. `read(name)`: a tensor of the files."""
    for name in [name for name in index if name.endswith(f".{ROW_FORMAT}")]:
        del index[name]
        found = np.asarray(read(name)).reshape(-1).tolist()
        if found != [0]:
            raise ImportFailure(f"{where}: the tensor {name} is {found}; supported: [0], which says that rows are "
                                "stored")


class FourBitMatrices:
    """Those of a folder. `index`: name -> (file, shape, dtype), of which parts are taken away and matrices put
    there; `read(name)`: a tensor of the files; `read_bytes(name, begin, end)`: some of its bytes."""

    def __init__(self, where, scheme, index, read, read_bytes):
        self.where, self.scheme, self.read, self.read_bytes = where, scheme, read, read_bytes
        self.last = None, None  # the factors of the matrix that was read last, of which rows are still wanted
        self.shapes, self.states = {}, {}
        for state in [name for name in index if f".{STATE}" in name]:
            module = state.partition(STATE)[0]
            entries = self._entries(state, index.pop(state)[1])
            parts = {part: index.pop(module + part) for part in PARTS if module + part in index}
            name, shape = f"{module}weight", tuple(entries["shape"])
            self._check(module, entries, parts, index.get(name, (None, (), "")))
            self.states[name] = entries
            self.shapes[name] = shape, tuple(parts)
            index[name] = index[name][0], shape, "packed"

    @staticmethod
    def format(name):
        """No blocks hold numbers of such a map."""

    def _entries(self, name, shape):
        """The state of a matrix."""
        where = f"{self.where}: the tensor {name}"
        if len(shape) != 1 or not 0 < shape[0] <= MOST_STATE:
            raise ImportFailure(f"{where} has the shape {list(shape)}; a JSON text of at most {MOST_STATE} bytes is "
                                "needed")
        raw = json_object(self.read_bytes(name, 0, shape[0]).tobytes(), where)
        found = checked(FourBits, raw, where, prefix="its ")
        for key in ("quant_type", "blocksize", "shape"):
            if key not in found:
                raise ImportFailure(f"{where}: lacks {key!r}")
        if len(found["shape"]) != 2:
            raise ImportFailure(f"{where}: its shape is {found['shape']}; matrices are supported")
        return found

    def _check(self, module, entries, parts, stored):
        """Whether all parts are there, in sizes that fit."""
        elements = math.prod(entries["shape"])
        blocks = -(-elements // entries["blocksize"])
        wanted = {"weight.absmax": ("F32", (blocks,)), "weight.quant_map": ("F32", (16,))}
        if parts.get("weight.absmax", (None, None, ""))[2] == "U8":
            for key in ("nested_blocksize", "nested_offset"):
                if key not in entries:
                    raise ImportFailure(f"{self.where}: the tensor {module}{STATE}{entries['quant_type']}: lacks "
                                        f"{key!r}")
            wanted |= {"weight.absmax": ("U8", (blocks,)), "weight.nested_quant_map": ("F32", (256,)),
                       "weight.nested_absmax": ("F32", (-(-blocks // entries["nested_blocksize"]),))}
        for part, (dtype, shape) in wanted.items():
            _, found, tag = parts.get(part, (None, None, None))
            if (found, tag) != (shape, dtype):
                raise ImportFailure(
                    f"{self.where}: the tensor {module}{part} "
                    + ("is missing" if found is None else f"has the shape {list(found)} of {tag}")
                    + f"; {list(shape)} of {dtype} is needed")
        _, shape, dtype = stored
        found = math.prod(shape) * TYPE_BYTES.get(dtype, 0)
        if found != -(-elements // 2):
            raise ImportFailure(f"{self.where}: the tensor {module}weight has {found} bytes; {elements} elements of "
                                f"4 bits need {-(-elements // 2)}")

    def values(self, name, rows):
        """Some rows of a matrix, f32."""
        (count, columns), _ = self.shapes[name]
        begin, end, _ = rows.indices(count)
        first, last = begin * columns, end * columns
        packed = self.read_bytes(name, first // 2, -(-last // 2))
        places = np.stack([packed >> 4, packed & 15], axis=1).reshape(-1)[first % 2:][:last - first]
        codes, factors = self._factors(name)
        blocks = np.arange(first, last) // self.states[name]["blocksize"]
        return (codes[places] * factors[blocks]).reshape(end - begin, columns)

    def _factors(self, name):
        """(The numbers of the 16 codes, the factor of each block)."""
        if self.last[0] != name:
            codes, factors = self.read(f"{name}.quant_map"), self.read(f"{name}.absmax")
            if factors.dtype == np.uint8:
                state = self.states[name]
                outer = self.read(f"{name}.nested_absmax")[np.arange(len(factors)) // state["nested_blocksize"]]
                factors = (self.read(f"{name}.nested_quant_map")[factors] * outer
                           + np.float32(state["nested_offset"]))
            self.last = name, (codes, factors)
        return self.last[1]
