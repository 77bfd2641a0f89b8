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
            columns = self.shapes[name][0][1]
            zeros, scales, groups = self._scaling(name, slice(None))
            blocks = groups.reshape(-1, GROUP) if columns % GROUP == 0 else np.arange(2)[None]
            with np.errstate(over="ignore"):
                held = (blocks == blocks[:, :1]).all() and (scales.astype(np.float16) == scales).all()
            middle = np.all(zeros == 1 << (self.scheme.bits - 1))
            self.formats[name] = f"q{self.scheme.bits}_0" if held and middle else None
        return self.formats[name]

    def blocks(self, name, rows):
        """Some rows of a matrix as blocks of its format."""
        _, scales, groups = self._scaling(name, rows)
        integers = self._integers(name, rows)
        integers = integers.reshape(len(integers), -1, GROUP)
        if self.scheme.bits == 4:
            quants = (integers[..., :GROUP // 2] | integers[..., GROUP // 2:] << 4).astype(np.uint8)
        else:
            quants = (integers - 128).astype(np.int8).view(np.uint8)
        halves = scales[:, groups[::GROUP]].astype(np.float16)[..., None].view(np.uint8)
        return np.concatenate([halves, quants], axis=2).reshape(len(integers), -1)

    def values(self, name, rows):
        """Some rows of a matrix, f32."""
        zeros, scales, groups = self._scaling(name, rows)
        zeros = zeros[:, groups] if np.ndim(zeros) else zeros
        return (self._integers(name, rows) - zeros).astype(np.float32) * scales[:, groups]

    def _part(self, name, kind):
        """A part of a matrix; None: it has none of this kind."""
        if kind not in self.shapes[name][1]:
            return None
        if self.last[0] != name:
            self.last = name, {}
        if kind not in self.last[1]:
            self.last[1][kind] = self.read(name.removesuffix("weight") + kind)
        return self.last[1][kind]

    def _integers(self, name, rows):
        """Of some rows of a matrix: [rows, K]."""
        begin, end, _ = rows.indices(self.shapes[name][0][0])
        method, bits, _ = self.scheme
        if method == "pack-quantized":
            return unpacked(self._part(name, "weight_packed")[begin:end], bits, 1)
        words = self._part(name, "qweight")
        if method == "gptq":
            return unpacked(words[:, begin:end], bits, 0).T
        own, places = self._words(begin, end)
        return unpacked(words[:, own], bits, 1)[:, places].T

    def _scaling(self, name, rows):
        """Of some rows of a matrix: zeros (one, or [rows, G]), scales [rows, G], the group of each column."""
        count, columns = self.shapes[name][0]
        begin, end, _ = rows.indices(count)
        method, bits, shift = self.scheme
        if method == "pack-quantized":
            packed = self._part(name, "weight_zero_point")
            zeros = np.int32(1 << (bits - 1)) if packed is None else unpacked(packed, bits, 0)[begin:end]
            scales, listed = self._part(name, "weight_scale")[begin:end], self._part(name, "weight_g_idx")
        else:
            own, places = self._words(begin, end)
            words = self._part(name, "qzeros")[:, own].view(np.uint32)
            # As one sum in each word: what is carried was borrowed when it was stored.
            words = words + np.uint32(shift * sum(1 << i for i in range(0, 32, bits)))
            zeros = unpacked(words, bits, 1)[:, places].T
            scales, listed = self._part(name, "scales")[:, begin:end].T, self._part(name, "g_idx")
        scales = scales.astype(np.float32)
        return zeros, scales, self._groups(name, columns, scales.shape[1], listed)

    def _words(self, begin, end):
        """(The words that hold some integers of a row, the integers' places in them), of GPTQ and AWQ."""
        per = 32 // self.scheme.bits
        first, last = begin // per, -(-end // per)
        places = np.arange((last - first) * per)
        if self.scheme.method == "awq":
            places = places.reshape(-1, per)[:, AWQ_PLACES].reshape(-1)
        return slice(first, last), places[begin - first * per:end - first * per]

    def _groups(self, name, columns, count, listed):
        """The group of each column."""
        if listed is None:
            return np.arange(columns) // (columns // count)
        if listed.min() < 0 or listed.max() >= count:
            raise ImportFailure(f"{self.where}: the groups of {name} are {listed.min()} to {listed.max()}; it has "
                                f"{count}")
        return listed.astype(np.int64)
