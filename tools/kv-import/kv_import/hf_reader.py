"""Hugging Face folders: config.json and *.safetensors."""

import json
import math
from pathlib import Path

import numpy as np

from safetensors import SafetensorError, safe_open

from . import float8, latent
from .checks import check_numbers
from .compressed_tensors import row_scales, scale_name
from .errors import ImportFailure
from .expert_tensors import ExpertTensors
from .families import FAMILIES
from .fused import rows_of, split_shapes, stored_name
from .hf_config import read_config
from .hybrid_tensors import HybridTensors
from .quant_blocks import row_blocks, row_values


def read_json(path, wanted=True):
    """The object in a JSON file; {} when it is absent and not wanted."""
    path = Path(path)
    if not path.exists():
        if not wanted:
            return {}
        raise ImportFailure(f"{path.parent}: lacks {path.name}; a Hugging Face folder has "
                            "config.json, tokenizer.json and *.safetensors")
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError:
        raise ImportFailure(f"{path}: not valid JSON: it is nested too deeply")
    except (ValueError, OSError) as error:
        raise ImportFailure(f"{path}: not valid JSON: {error}")
    if not isinstance(value, dict):
        raise ImportFailure(f"{path}: holds a JSON {type(value).__name__}, an object is needed")
    return value


class HuggingFaceSource:
    """One folder. Tensors come as f32 or as quantised blocks."""

    def __init__(self, folder):
        self.path = str(folder)
        self.folder = Path(folder)
        self.raw = read_json(self.folder / "config.json")
        self.index = self._index()
        self.files = [str(self.folder / "config.json")] + sorted({f for f, *_ in
                                                                  self.index.values()})
        self.config = read_config(self.folder, self.raw)
        self.family = FAMILIES[self.config.architecture]
        check_numbers(self.folder / "config.json", self.config)
        method = (self.raw.get("quantization_config") or {}).get("quant_method")
        self.scales = (row_scales(self.path, self.index) if method == "compressed-tensors"
                       else frozenset())
        # Matrices of floats of 8 bits and their scales; what else stands beside these.
        self.floats, self.ignored = float8.matrix_scales(self.path, self.index)
        self.ignored = self.ignored | self._draft_layers()
        self.experts = None
        if self.config.mixture:
            form = "mxfp4" if method == "mxfp4" else self.family.experts
            self.experts = ExpertTensors(form, self.config, self._stored, self._stored_format)

        self.hybrid = None
        if self.config.recurrent:
            self.hybrid = HybridTensors(
                self.config, lambda name: self._stored(self.found_as(name), slice(None)))

    def _draft_layers(self):
        """Tensors of layers behind the model's, which predict more tokens (DeepSeek-V3)."""
        first, more = self.config.layers, self.raw.get("num_nextn_predict_layers") or 0
        layers = tuple(f"model.layers.{first + i}." for i in range(more))
        return {name for name in self.index if name.startswith(layers)}

    def found_as(self, name):
        if self.config.latent and latent.is_part(name):
            return latent.stored_name(name)
        if self.hybrid:
            name = self.hybrid.found_as(name)
        if self.experts:
            return self.experts.found_as(name)
        if self.hybrid:
            return name
        return stored_name(name) if self.family.fused else name

    def shapes(self):
        shapes = {name: shape for name, (_, shape, _) in self.index.items()
                  if name not in self.scales | self.ignored | set(self.floats.values())}

        def where(name):
            return f"{self.path}: the tensor {name}"

        if self.hybrid:
            shapes = self.hybrid.shapes(shapes, where)
        if self.family.fused:
            shapes = split_shapes(self.config, shapes, where)
        if self.config.latent:
            shapes = latent.split_shapes(self.config, shapes, where)
        return self.experts.shapes(shapes, where) if self.experts else shapes

    def format(self, name):
        """The quantised format of a tensor; None for numbers."""
        if self._is_of_experts(name):
            return self.experts.format(name)
        return self._stored_format(self.found_as(name))

    def blocks(self, name, rows=slice(None)):
        """The blocks of a quantised tensor: u8 [rows, bytes of a row]."""
        if self._is_of_experts(name):
            return self.experts.blocks(name, rows, f"{self.path}: the tensor {self.found_as(name)}")
        return self._stored(*self._place(name, rows), as_blocks=True)

    def tensor(self, name, rows=slice(None)):
        if self._is_of_experts(name):
            return self.experts.tensor(name, rows)
        values = (self.hybrid.tensor(name, rows) if self.hybrid
                  else self._stored(*self._place(name, rows)))
        if latent.is_part(name):
            return latent.part(self.config, name, values)
        # The norm behind a delta net's scan is as others are.
        if (self.family.one_plus and name.endswith("norm.weight")
                and "linear_attn" not in name):
            values = values + np.float32(1)
        return values

    def _is_of_experts(self, name):
        return self.experts is not None and self.experts.holds(name)

    def _place(self, name, rows):
        """The tensor that holds some rows of a weight, and which of its own these are."""
        stored = self.found_as(name)
        if self.family.fused:
            whole = rows_of(self.config, name)
            places = range(self.index[stored][1][0])[whole][rows]
            rows = slice(places.start, places.stop)
        return stored, rows

    def _stored_format(self, name):
        """The quantised format of a tensor of the files."""
        if name in self.floats:
            return float8.FORMATS[self.index[name][2]]
        return "i8" if scale_name(name) in self.scales else None

    def _stored(self, name, rows, as_blocks=False):
        """Some rows of a tensor of the files, as f32; bytes of blocks as they are. `as_blocks`: of a
        matrix of i8, its rows with their scales."""
        path, shape, _ = self.index[name]
        with safe_open(path, framework="np") as file:
            found = file.get_slice(name)
            dtype = found.get_dtype()
            if dtype == "BF16":
                # numpy has no bfloat16: the bits are widened.
                bits = self._bits(path, name, shape, rows, "<u2")
                return (bits.astype(np.uint32) << 16).view(np.float32)
            if dtype in float8.FORMATS:
                return self._floats(path, name, shape, rows, as_blocks)
            if not shape:
                return np.float32(file.get_tensor(name))
            begin, end, _ = rows.indices(shape[0])
            if scale_name(name) in self.scales:
                blocks = row_blocks(found[begin:end], self._stored(scale_name(name), rows))
                return blocks if as_blocks else row_values(blocks)
            if dtype == "U8" and name.endswith(("_blocks", "_scales")):
                return found[begin:end]
            if dtype not in ("F32", "F16"):
                raise ImportFailure(f"{path}: the tensor {name} has the dtype {dtype}; supported "
                                    "are F32, F16 and BF16, and of matrices with scales F8_E4M3 "
                                    "and F8_E5M2")
            return found[begin:end].astype(np.float32)

    def _floats(self, path, name, shape, rows, as_blocks):
        """Some rows of a matrix of 8 bits, times its scales or as blocks."""
        matrix = self._bits(path, name, shape, rows, "u1")
        of_rows = range(shape[0])[rows]
        scales = float8.row_scales(self._stored(self.floats[name], slice(None)), shape, of_rows)
        if as_blocks:
            return float8.blocks(matrix, scales)
        return float8.values(matrix, scales, self._stored_format(name))

    def _bits(self, path, name, shape, rows, dtype):
        """Some rows of a tensor of a type that numpy has not. The header has been checked by
        safe_open."""
        begin, end, _ = rows.indices(shape[0]) if shape else (0, 1, 1)
        width = math.prod(shape[1:]) * np.dtype(dtype).itemsize
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            data = json.loads(file.read(size))[name]["data_offsets"][0]
            file.seek(8 + size + data + begin * width)
            bits = np.frombuffer(file.read((end - begin) * width), dtype=dtype)
        return bits.reshape(end - begin, *shape[1:]) if shape else bits.reshape(())

    def _index(self):
        """Name -> (file, shape, dtype) over all shards."""
        paths = sorted(self.folder.glob("*.safetensors"))
        if not paths:
            raise ImportFailure(f"{self.path}: lacks *.safetensors; a Hugging Face folder has "
                                "config.json, tokenizer.json and *.safetensors")
        listed = read_json(self.folder / "model.safetensors.index.json", wanted=False)
        for name in sorted(set(listed.get("weight_map", {}).values())):
            if not (self.folder / name).exists():
                raise ImportFailure(f"{self.path}: lacks {name}, which "
                                    "model.safetensors.index.json lists")
        index = {}
        for path in paths:
            try:
                with safe_open(path, framework="np") as file:
                    for name in file.keys():
                        found = file.get_slice(name)
                        index[name] = (str(path), tuple(found.get_shape()), found.get_dtype())
            except (SafetensorError, OSError) as error:
                raise ImportFailure(f"{path}: truncated or damaged safetensors file of "
                                    f"{path.stat().st_size} bytes: {error}")
        # Old checkpoints carry the frequencies as tensors; they follow from the configuration.
        return {n: v for n, v in index.items() if not n.endswith("rotary_emb.inv_freq")}
