"""weights.safetensors of a raised module: each weight as the module reads it, matrices in bf16 where it has
them so and packed where they are multiplied."""

import json
import math
import struct

import numpy as np

from ..model.errors import ImportFailure
from .computed import table
from .programs import output_of, program
from ..weights.weights_writer import pack_n16k, round_to_bf16, write_safetensors

# The element type of a module, that of a file and the bytes of an element.
ELEMENTS = {"f32": ("F32", 4), "bf16": ("BF16", 2), "f16": ("F16", 2), "f64": ("F64", 8),
            "i64": ("I64", 8), "i32": ("I32", 4), "i16": ("I16", 2), "i8": ("I8", 1)}
NUMPY = {"F32": np.float32, "F16": np.float16, "F64": np.float64, "I64": np.int64, "I32": np.int32,
         "I16": np.int16, "I8": np.int8}


class Weight:
    """One object of kv-list-weights. Others than packed weights keep the form that the exporter gave."""

    def __init__(self, row):
        self.name, self.dtype, self.shape = row["name"], row["dtype"], row["shape"]
        self.packed = row.get("layout") == "n16k"
        self.stored = row.get("stored")
        self.computed = row.get("computed")

    @property
    def size(self):
        return math.prod(self.shape) * ELEMENTS[self.dtype][1]

    def entry(self):
        """(dtype tag, shape, bytes) in the file."""
        shape = self.stored["shape"] if self.stored and not self.packed else self.shape
        return ELEMENTS[self.dtype][0], shape, self.size

    def data(self, values):
        if self.packed:
            blocks, columns, lanes = self.shape
            order = self.stored["order"] if self.stored else range(values.ndim)
            values = values.transpose(order).reshape(blocks * lanes, columns)
        if self.dtype == "bf16" and values.dtype == np.float32:
            values = round_to_bf16(values)
        return pack_n16k(values) if self.packed else values


class ExportedFile:
    """The safetensors file of an exporter, whose tensors are mapped and not read."""

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            self.begin = file.tell()

    def values(self, weight):
        """Those of a weight, in the type of the exporter."""
        if weight.computed:
            return self.computed(weight)
        found = self.header.get(weight.name)
        if found is None:
            raise ImportFailure(f"{self.path.name}: the exporter has written no weight {weight.name!r}, which "
                                "the raised module reads")
        dtype, wanted = found["dtype"], ELEMENTS[weight.dtype][0]
        if dtype != wanted and (dtype, wanted) != ("F32", "BF16"):
            raise ImportFailure(f"{self.path.name}: the exporter has written the weight {weight.name!r} in "
                                f"{dtype}, the raised module reads {wanted}")
        return self.tensor(found)

    def tensor(self, found):
        """The values of a row of the header."""
        element = np.dtype(NUMPY.get(found["dtype"], np.uint16))  # bf16 is moved as bits
        first, last = found["data_offsets"]
        return np.memmap(self.path, element, "r", self.begin + first,
                         ((last - first) // element.itemsize,)).reshape(found["shape"])

    def computed(self, weight):
        """Those of a weight that follows from others."""
        def read(name):
            if self.header.get(name, {}).get("dtype") not in NUMPY:
                raise ImportFailure(f"{self.path.name}: {weight.name!r} is computed from the weight {name!r}, of which "
                                    f"the exporter has written no {', '.join(NUMPY)}")
            return self.tensor(self.header[name])
        try:
            return table(weight.computed, weight.shape, read)
        except IndexError as error:
            raise ImportFailure(f"{self.path.name}: {weight.name!r} cannot be computed: {error}")


def listed_weights(module):
    """The weights that the module in a file reads, in the forms that generated code reads."""
    text = output_of([program("kv-opt"), "--kv-pack-weights", "--kv-list-weights", module, "-o", "/dev/null"],
                     "kv-opt")
    weights = [Weight(row) for row in json.loads(text)]
    for weight in weights:
        if weight.dtype not in ELEMENTS:
            raise ImportFailure(f"{module}: the weight {weight.name!r} is of {weight.dtype}; supported: "
                                f"{', '.join(ELEMENTS)}")
    return weights


def write_raised_weights(exported, path, module):
    """Writes the exporter's file `exported` to `path` as the module in a file reads it. Returns its bytes."""
    file = ExportedFile(exported)
    # The widest elements first, so that every tensor is aligned to its element size.
    weights = sorted(listed_weights(module), key=lambda weight: -ELEMENTS[weight.dtype][1])
    for weight in weights:
        file.values(weight)
    metadata = {"format": "kv", **{f"layout.{weight.name}": "n16k" for weight in weights if weight.packed}}
    return write_safetensors(path, metadata, {weight.name: weight.entry() for weight in weights},
                             (weight.data(file.values(weight)) for weight in weights))
