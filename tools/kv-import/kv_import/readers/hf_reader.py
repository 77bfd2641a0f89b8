"""Hugging Face folders: config.json and *.safetensors."""

import json
import math
import re
from pathlib import Path

import numpy as np

from safetensors import SafetensorError, safe_open

from ..weights import float8
from ..model import latent
from ..model.checks import check_numbers, json_object, regular_file
from .bitsandbytes import ROW_SCALES, ROW_UNIT, FourBitMatrices, method_of, take_row_formats
from .compressed_tensors import row_scales
from ..model.errors import ImportFailure
from .expert_tensors import FORMS, ExpertTensors
from ..model.families import FAMILIES, LANGUAGE
from ..weights.fused import grouped_rows, rows_of, split_shapes, stored_name
from .hf_config import is_wrapper, read_config, text_model
from .hybrid_tensors import HybridTensors
from .packed_integers import PackedIntegers, scheme_of
from ..weights.quant_blocks import row_blocks, row_values
from ..model.schema import Index, checked


def read_json(path, wanted=True):
    """The object in a JSON file; {} when it is absent and not wanted."""
    path = Path(path)
    if not path.exists():
        if not wanted:
            return {}
        raise ImportFailure(f"{path.parent}: lacks {path.name}; a Hugging Face folder has "
                            "config.json, tokenizer.json and *.safetensors")
    regular_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (ValueError, OSError) as error:
        raise ImportFailure(f"{path}: not valid JSON: {error}")
    return json_object(text, path)


def _renamed(name, names):
    """`name` with each of its parts that `names` has replaced."""
    if not names:
        return name
    parts = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![^.])({parts})(?=\.|$)", lambda part: names[part[1]], name)


class HuggingFaceSource:
    """One folder. Tensors come as f32 or as quantised blocks."""

    def __init__(self, folder):
        self.path = str(folder)
        self.folder = Path(folder)
        outer = read_json(self.folder / "config.json")
        self.raw = text_model(self.folder, outer)
        self.config = read_config(self.folder, self.raw)
        self.family = FAMILIES[self.config.architecture]
        check_numbers(self.folder / "config.json", self.config)
        self.originals = {}  # what the files call a tensor that has another name here
        self.index = self._index(is_wrapper(outer))
        self.files = [str(self.folder / "config.json")] + sorted({f for f, *_ in
                                                                  self.index.values()})
        settings = self.raw.get("quantization_config") or {}
        method = method_of(settings)
        self.packed = self._packed(method, scheme_of(self.folder / "config.json", settings))
        # Of each matrix of i8 its scales, and what a number there stands for.
        self.scales, self.scale_unit = {}, np.float32(1)
        if method == "compressed-tensors" and not self.packed:
            self.scales = row_scales(self.path, self.index)
        elif method == "bitsandbytes" and not self.packed:
            self.scales, self.scale_unit = row_scales(self.path, self.index, ROW_SCALES), ROW_UNIT
            take_row_formats(self.path, self.index, self._as_stored(dict(self.index)))
        # Matrices of floats of 8 bits and their scales; what else stands beside these.
        self.floats, self.ignored = float8.matrix_scales(self.path, self.index)
        self.ignored = self.ignored | self._draft_layers()
        self.experts = None
        if self.config.mixture:
            form = "mxfp4" if method == "mxfp4" else self.family.experts
            if form == "joined" and any(map(FORMS["apart"].NAME.fullmatch, self.index)):
                form = "apart"  # as transformers writes them itself
            self.experts = ExpertTensors(form, self.config, self._stored, self._stored_format)

        self.hybrid = None
        if self.config.recurrent:
            self.hybrid = HybridTensors(
                self.config, lambda name: self._stored(self.place_name(name), slice(None)))

    def _packed(self, method, scheme):
        """Matrices that are packed several elements to a number; None: there are none."""
        if not scheme:
            return None
        stored = dict(self.index)
        if method != "bitsandbytes":
            return PackedIntegers(self.path, scheme, self.index, self._as_stored(stored))

        def read_bytes(name, begin, end):
            return self._bits(stored[name][0], name, (end,), slice(begin, end), "u1")
        return FourBitMatrices(self.path, scheme, self.index, self._as_stored(stored), read_bytes)

    def _draft_layers(self):
        """Tensors of layers behind the model's, which predict more tokens (DeepSeek-V3)."""
        first = self.config.layers
        behind = range(first, first + (self.raw.get("num_nextn_predict_layers") or 0))
        layer_of = re.compile(r"model\.layers\.(\d{1,9})\.")
        return {name for name in self.index if (found := layer_of.match(name)) and int(found[1]) in behind}

    def found_as(self, name):
        """What the files call the tensor that holds a weight, for messages."""
        return self._original(self.place_name(name))

    def _original(self, name):
        """What the files call a tensor of the index, or would call it."""
        return self.originals.get(name) or _renamed(name, {ours: theirs for theirs, ours in self.family.names.items()})

    def place_name(self, name):
        """The tensor of the index that holds a weight."""
        if self.config.latent and latent.is_part(name):
            return latent.stored_name(name)
        if self.hybrid:
            name = self.hybrid.found_as(name)
        if self.experts:
            return self.experts.found_as(name)
        return name if self.hybrid else stored_name(name, self.family.fused)

    def shapes(self):
        shapes = {name: shape for name, (_, shape, _) in self.index.items()
                  if name not in self.ignored.union(self.scales.values(), self.floats.values())}

        def where(name):
            return f"{self.path}: the tensor {self._original(name)}"

        if self.hybrid:
            shapes = self.hybrid.shapes(shapes, where)
        if self.family.fused:
            shapes = split_shapes(self.config, shapes, where, self.family.fused)
        if self.config.latent:
            shapes = latent.split_shapes(self.config, shapes, where)
        return self.experts.shapes(shapes, where) if self.experts else shapes

    def format(self, name):
        """The quantised format of a tensor; None for numbers."""
        if self._is_of_experts(name):
            return self.experts.format(name)
        return self._stored_format(self.place_name(name))

    def blocks(self, name, rows=slice(None)):
        """The blocks of a quantised tensor: u8 [rows, bytes of a row]."""
        if self._is_of_experts(name):
            return self.experts.blocks(name, rows, f"{self.path}: the tensor {self.found_as(name)}")
        return self._turned(name, rows, lambda rows: self._placed(name, rows, as_blocks=True))

    def tensor(self, name, rows=slice(None)):
        if self._is_of_experts(name):
            return self.experts.tensor(name, rows)
        values = (self.hybrid.tensor(name, rows) if self.hybrid
                  else self._turned(name, rows, lambda rows: self._placed(name, rows)))
        if latent.is_part(name):
            return latent.part(self.config, name, values)
        # The norm behind a delta net's scan is as others are.
        if (self.family.one_plus and name.endswith("norm.weight")
                and "linear_attn" not in name):
            values = values + np.float32(1)
        if name == "lm_head.weight" and self.family.unit_head in self.raw.get("architectures", ()):
            values = values / np.maximum(np.linalg.norm(values, axis=1, keepdims=True), np.float32(1e-12))
        return values

    def packs(self, name):
        """Whether a tensor of the files is packed."""
        return self.packed is not None and name in self.packed.shapes

    def _is_of_experts(self, name):
        return self.experts is not None and self.experts.holds(name)

    def _turned(self, name, rows, read):
        """Some rows of a weight, `read(rows)` of which gives the file's: of queries and keys whose elements 2i
        and 2i + 1 turn together, these become i and i + half."""
        if not self.family.interleaved or not re.search(r"\.[qk]_proj\.", name):
            return read(rows)
        c = self.config
        heads = c.heads if ".q_proj." in name else c.kv_heads
        begin, end, _ = rows.indices(heads * c.head_dim)
        # Whole heads are read.
        first = begin // c.head_dim * c.head_dim
        last = -(-end // c.head_dim) * c.head_dim
        order = np.arange(c.head_dim)
        order[:c.rotary_dim] = np.arange(c.rotary_dim).reshape(-1, 2).T.reshape(-1)
        values = read(slice(first, last)).reshape((last - first) // c.head_dim, c.head_dim, -1)
        values = values[:, order].reshape(last - first, -1)[begin - first:end - first]
        return values if name.endswith("weight") else values[:, 0]

    def _placed(self, name, rows, **how):
        """Some rows of a weight, which may be rows of another tensor."""
        stored = self.place_name(name)
        if not self.family.fused:
            return self._stored(stored, rows, **how)
        if self.family.grouped and stored != name:
            places = grouped_rows(self.config, name)[rows]
            return self._stored(stored, slice(places[0], places[-1] + 1), **how)[places - places[0]]
        places = range(self.index[stored][1][0])[rows_of(self.config, name, self.family.fused)][rows]
        return self._stored(stored, slice(places.start, places.stop), **how)

    def _stored_format(self, name):
        """The quantised format of a tensor of the files."""
        if self.packs(name):
            return self.packed.format(name)
        if name in self.floats:
            return float8.FORMATS[self.index[name][2]]
        return "i8" if name in self.scales else None

    def _stored(self, name, rows, as_blocks=False):
        """Some rows of a tensor of the files, as f32; bytes of blocks as they are. `as_blocks`: of a
        matrix that has a format, its blocks."""
        if self.packs(name):
            return self.packed.blocks(name, rows) if as_blocks else self.packed.values(name, rows)
        path, shape, _ = self.index[name]
        original = self.originals.get(name, name)
        with safe_open(path, framework="np") as file:
            found = file.get_slice(original)
            dtype = found.get_dtype()
            if dtype == "BF16":
                # numpy has no bfloat16: the bits are widened.
                bits = self._bits(path, name, shape, rows, "<u2")
                return (bits.astype(np.uint32) << 16).view(np.float32)
            if dtype in float8.FORMATS:
                return self._floats(path, name, shape, rows, as_blocks)
            if not shape:
                return np.float32(file.get_tensor(original))
            begin, end, _ = rows.indices(shape[0])
            if name in self.scales:
                blocks = row_blocks(found[begin:end], self._stored(self.scales[name], rows) * self.scale_unit)
                return blocks if as_blocks else row_values(blocks)
            if dtype == "U8" and name.endswith(("_blocks", "_scales")):
                return found[begin:end]
            if dtype not in ("F32", "F16"):
                raise ImportFailure(f"{path}: the tensor {original} has the dtype {dtype}; supported "
                                    "are F32, F16 and BF16, and of matrices with scales F8_E4M3 "
                                    "and F8_E5M2")
            return found[begin:end].astype(np.float32)

    def _as_stored(self, index):
        """What reads a whole tensor of `index` in the type of its file."""
        def read(name):
            path, shape, dtype = index[name]
            if dtype == "BF16":
                bits = self._bits(path, name, shape, slice(None), "<u2")
                return (bits.astype(np.uint32) << 16).view(np.float32)
            with safe_open(path, framework="np") as file:
                return file.get_tensor(self.originals.get(name, name))
        return read

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
            data = json.loads(file.read(size))[self.originals.get(name, name)]["data_offsets"][0]
            file.seek(8 + size + data + begin * width)
            bits = np.frombuffer(file.read((end - begin) * width), dtype=dtype)
        return bits.reshape(end - begin, *shape[1:]) if shape else bits.reshape(())

    def _index(self, wrapper):
        """Name -> (file, shape, dtype) over all shards, by our names; of a wrapper the tensors of text."""
        index = {}
        for path in self._shards():
            try:
                with safe_open(path, framework="np") as file:
                    for name in file.keys():
                        found = file.get_slice(name)
                        if ours := self._our_name(name, wrapper):
                            index[ours] = (str(path), tuple(found.get_shape()), found.get_dtype())
                            self.originals[ours] = name
            except (SafetensorError, OSError) as error:
                raise ImportFailure(f"{path}: truncated or damaged safetensors file of "
                                    f"{path.stat().st_size} bytes: {error}")
        return index

    def _our_name(self, name, wrapper):
        """None: the tensor is not needed."""
        # Old checkpoints carry the frequencies as tensors; they follow from the configuration.
        if name.endswith("rotary_emb.inv_freq"):
            return None
        # Layers that predict more tokens.
        if self.family.recurrent and name.startswith("mtp."):
            return None
        if wrapper:
            prefix = next((each for each in LANGUAGE if name.startswith(each)), None)
            if prefix is None:
                return None
            name = LANGUAGE[prefix] + name.removeprefix(prefix)
        return _renamed(name, self.family.names)

    def _shards(self):
        paths = sorted(self.folder.glob("*.safetensors"))
        if not paths:
            raise ImportFailure(f"{self.path}: lacks *.safetensors; a Hugging Face folder has "
                                "config.json, tokenizer.json and *.safetensors")
        for path in paths:
            regular_file(path)
        name = "model.safetensors.index.json"
        listed = checked(Index, read_json(self.folder / name, wanted=False), self.folder / name)
        for shard in sorted(set(listed.get("weight_map", {}).values())):
            if not (self.folder / shard).exists():
                raise ImportFailure(f"{self.path}: lacks {shard}, which {name} lists")
        return paths
