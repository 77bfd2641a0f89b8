"""Matrices of integers of 4 or 8 bits, several in an i32, with a scale and a zero for a group of a row: as GPTQ,
AWQ ("gemm") and compressed-tensors' "pack-quantized" store them. Here they become numbers.

Of a module with the matrix [N, K], G groups of a row:

    GPTQ    qweight [K / p, N], qzeros [G, N / p], scales [G, N], perhaps g_idx [K]
    AWQ     qweight [K, N / p], qzeros [G, N / p], scales [G, N]
    packed  weight_packed [N, K / p], weight_scale [N, G], perhaps weight_zero_point [N / p, G], weight_shape

Where the zeros are in the middle and the scales have 16 bits, blocks of q4_0 or q8_0 hold the same numbers."""

from collections import namedtuple

import numpy as np

from .bitsandbytes import bits_of, method_of
from .compressed_tensors import check_absent
from ..model.errors import ImportFailure

GROUP = 32  # elements of a block of q4_0 or q8_0
# Of eight integers in an i32 of AWQ, by their column: their place.
AWQ_PLACES = (0, 4, 1, 5, 2, 6, 3, 7)
# method -> (the part that names the matrix, all parts).
PARTS = {"gptq": ("qweight", ("qweight", "qzeros", "scales", "g_idx")),
         "awq": ("qweight", ("qweight", "qzeros", "scales")),
         "pack-quantized": ("weight_packed", ("weight_packed", "weight_scale", "weight_zero_point", "weight_shape",
                                              "weight_g_idx"))}

Scheme = namedtuple("Scheme", "method bits shift")  # `shift`: what is added to stored zeros


def scheme_of(where, settings):
    """That of a quantization_config; None: it is of another kind. `where`: its file."""
    method = method_of(settings)
    if method == "bitsandbytes":
        return Scheme(method, 4, 0) if bits_of(where, settings) == 4 else None
    if method in ("gptq", "awq"):
        bits, shift = settings.get("bits", settings.get("w_bit")), 0
        if method == "gptq":
            shift = _checked(where, "checkpoint_format", settings.get("checkpoint_format", "gptq"),
                             ("gptq", "gptq_v2")) == "gptq"
        else:
            _checked(where, "version", str(settings.get("version", "gemm")).lower(), ("gemm",))
        return Scheme(method, _checked(where, "bits", bits, (4, 8) if method == "gptq" else (4,)), int(shift))
    if method == "compressed-tensors" and settings.get("format") == "pack-quantized":
        check_absent(where, settings)
        return Scheme("pack-quantized", _bits_of_groups(where, settings.get("config_groups")), 0)
    return None


def _checked(where, what, found, allowed):
    if isinstance(found, bool) or found not in allowed:
        raise ImportFailure(f"{where}: quantization_config: {what} is {found!r}; supported: "
                            f"{', '.join(map(repr, allowed))}")
    return found


def _bits_of_groups(where, groups):
    """The bits of all groups of a compressed-tensors scheme, whose rows are not rounded."""
    if not isinstance(groups, dict) or not groups:
        raise ImportFailure(f"{where}: quantization_config: config_groups is {groups!r}; supported: an object of "
                            "groups")
    found = set()
    for name, group in groups.items():
        weights = group.get("weights") if isinstance(group, dict) else None
        if not isinstance(weights, dict):
            raise ImportFailure(f"{where}: quantization_config: config_groups.{name} is {group!r}; supported: an "
                                "object with weights")
        for key, allowed in (("input_activations", (None,)), ("output_activations", (None,))):
            _checked(where, f"config_groups.{name}.{key}", group.get(key), allowed)
        for key, allowed in (("num_bits", (4, 8)), ("type", ("int", None)), ("strategy", ("channel", "group"))):
            _checked(where, f"config_groups.{name}.weights.{key}", weights.get(key), allowed)
        found.add(weights["num_bits"])
    return _checked(where, "the number of different num_bits", len(found), (1,)) and found.pop()


def unpacked(values, bits, axis):
    """The integers in an array of i32, the first in the lowest bits."""
    shifts = np.arange(0, 32, bits, dtype=np.uint32)
    words = np.moveaxis(np.asarray(values).view(np.uint32), axis, -1)
    integers = (words[..., None] >> shifts) & np.uint32((1 << bits) - 1)
    return np.moveaxis(integers.reshape(*words.shape[:-1], -1), -1, axis).astype(np.int32)


class PackedIntegers:
    """Those of a folder. `index`: name -> (file, shape, dtype), of which parts are taken away and matrices put
    there; `read(name)`: a tensor of the files as it is stored; `where`: the folder, for messages."""

    def __init__(self, where, scheme, index, read):
        self.where, self.scheme, self.read = where, scheme, read
        self.last = None, None  # the parts of the matrix that was read last, of which rows are still wanted
        self.formats = {}  # of matrices that were asked for
        main, kinds = PARTS[scheme.method]
        self.shapes = {}
        for name in [name for name in index if name.endswith(f".{main}")]:
            module = name.removesuffix(main)
            parts = {kind: index.pop(module + kind) for kind in kinds if module + kind in index}
            shape = self._shape(module, {kind: part[1] for kind, part in parts.items()})
            self.shapes[f"{module}weight"] = shape, tuple(parts)
            index[f"{module}weight"] = parts[main][0], shape, "packed"

    def _shape(self, module, parts):
        """[N, K]; all parts are there and of sizes that fit."""
        per, (method, *_) = 32 // self.scheme.bits, self.scheme
        needed = ("weight_packed", "weight_scale") if method == "pack-quantized" else ("qweight", "qzeros", "scales")
        for kind in needed:
            if len(parts.get(kind, ())) != 2:
                raise ImportFailure(f"{self.where}: the tensor {module}{kind} is missing, or no matrix; {method} "
                                    f"stores {', '.join(needed)}")
        if method == "gptq":
            rows, columns = parts["qweight"][1], parts["qweight"][0] * per
        elif method == "awq":
            rows, columns = parts["qweight"][1] * per, parts["qweight"][0]
        else:
            rows, columns = parts["weight_packed"][0], parts["weight_packed"][1] * per
        groups, lanes = (parts["weight_scale"][::-1] if method == "pack-quantized" else parts["scales"])
        zeros = {"weight_zero_point": (-(-rows // per), groups), "qzeros": (groups, -(-rows // per))}
        fits = lanes == rows and groups > 0 and columns % groups == 0 and all(
            parts[kind] == shape for kind, shape in zeros.items() if kind in parts) and parts.get(
                "g_idx", (columns,)) == (columns,)
        if not fits:
            raise ImportFailure(f"{self.where}: the tensors of {module}weight have sizes that do not fit: {parts}")
        return rows, columns

    def format(self, name):
        """Of blocks that hold the same numbers as a matrix; None: there are none."""
        if name not in self.formats:
            rows, columns = self.shapes[name][0]
            _, zeros, scales, groups = self._read(name, slice(0, rows))
            blocks = groups.reshape(-1, GROUP) if columns % GROUP == 0 else np.arange(2)[None]
            with np.errstate(over="ignore"):
                held = (blocks == blocks[:, :1]).all() and (scales.astype(np.float16) == scales).all()
            middle = np.all(zeros == 1 << (self.scheme.bits - 1))
            self.formats[name] = f"q{self.scheme.bits}_0" if held and middle else None
        return self.formats[name]

    def blocks(self, name, rows):
        """Some rows of a matrix as blocks of its format."""
        integers, _, scales, groups = self._read(name, rows)
        integers = integers.reshape(len(integers), -1, GROUP)
        if self.scheme.bits == 4:
            quants = (integers[..., :GROUP // 2] | integers[..., GROUP // 2:] << 4).astype(np.uint8)
        else:
            quants = (integers - 128).astype(np.int8).view(np.uint8)
        halves = scales[:, groups[::GROUP]].astype(np.float16)[..., None].view(np.uint8)
        return np.concatenate([halves, quants], axis=2).reshape(len(integers), -1)

    def values(self, name, rows):
        """Some rows of a matrix, f32."""
        integers, zeros, scales, groups = self._read(name, rows)
        zeros = zeros[:, groups] if np.ndim(zeros) else zeros
        return (integers - zeros).astype(np.float32) * scales[:, groups]

    def _read(self, name, rows):
        """Of some rows of a matrix: integers, zeros (one, or of each group), scales, the group of each column."""
        (count, columns), kinds = self.shapes[name]
        if self.last[0] != name:
            module = name.removesuffix("weight")
            self.last = name, {kind: self.read(module + kind) for kind in kinds if kind != "weight_shape"}
        parts, (method, bits, shift) = self.last[1], self.scheme
        begin, end, _ = rows.indices(count)
        if method == "pack-quantized":
            integers = unpacked(parts["weight_packed"][begin:end], bits, 1)
            scales = parts["weight_scale"][begin:end].astype(np.float32)
            zeros = (unpacked(parts["weight_zero_point"], bits, 0)[begin:end] if "weight_zero_point" in parts
                     else np.int32(1 << (bits - 1)))
            groups = self._groups(name, columns, scales.shape[1], parts.get("weight_g_idx"))
        else:
            integers, zeros = self._turned(parts, method, bits, shift, begin, end)
            scales = parts["scales"][:, begin:end].T.astype(np.float32)
            groups = self._groups(name, columns, scales.shape[1], parts.get("g_idx"))
        return integers, zeros, scales, groups

    @staticmethod
    def _turned(parts, method, bits, shift, begin, end):
        """Integers [rows, K] and zeros [rows, G] of GPTQ and AWQ."""
        per = 32 // bits
        if method == "gptq":
            integers = unpacked(parts["qweight"][:, begin:end], bits, 0).T
        # Whole words of columns.
        first, last = begin // per, -(-end // per)
        zeros = parts["qzeros"][:, first:last].view(np.uint32)
        # As one sum in each word: what is carried was borrowed when it was stored.
        zeros = unpacked(zeros + np.uint32(shift * sum(1 << i for i in range(0, 32, bits))), bits, 1)
        own = slice(begin - first * per, end - first * per)
        if method == "awq":
            places = (np.arange((last - first) * per).reshape(-1, per)[:, AWQ_PLACES]).reshape(-1)
            integers = unpacked(parts["qweight"][:, first:last], bits, 1)[:, places][:, own].T
            zeros = zeros[:, places]
        return integers, zeros[:, own].T

    def _groups(self, name, columns, count, listed):
        """The group of each column."""
        if listed is None:
            return np.arange(columns) // (columns // count)
        if listed.min() < 0 or listed.max() >= count:
            raise ImportFailure(f"{self.where}: the groups of {name} are {listed.min()} to {listed.max()}; it has "
                                f"{count}")
        return listed.astype(np.int64)
