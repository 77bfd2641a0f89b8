"""GGUF files: configuration and tensors, under their Hugging Face names and values."""

import re
import warnings
from pathlib import Path

import numpy as np

import gguf

from .checks import check_numbers, integer, real
from .config import PROJECTIONS, ModelConfig
from .errors import ImportFailure
from .rope import Rope

ARCHITECTURES = ("llama", "qwen2", "qwen3")

GLOBAL_NAMES = {"token_embd.weight": "model.embed_tokens.weight",
                "output_norm.weight": "model.norm.weight",
                "output.weight": "lm_head.weight"}
LAYER_NAMES = {"attn_norm": "input_layernorm",
               "attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
               "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
               "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
               "ffn_norm": "post_attention_layernorm", "ffn_gate": "mlp.gate_proj",
               "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}


def hugging_face_name(name):
    """blk.3.attn_q.weight -> model.layers.3.self_attn.q_proj.weight; unknown names as they are."""
    if name in GLOBAL_NAMES:
        return GLOBAL_NAMES[name]
    match = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name)
    if match and match[2] in LAYER_NAMES:
        return f"model.layers.{match[1]}.{LAYER_NAMES[match[2]]}.{match[3]}"
    return name


def gguf_name(name):
    """The inverse, for messages and for the synthetic models."""
    for ours, theirs in GLOBAL_NAMES.items():
        if theirs == name:
            return ours
    match = re.fullmatch(r"model\.layers\.(\d+)\.(.+)\.(weight|bias)", name)
    if match:
        for ours, theirs in LAYER_NAMES.items():
            if theirs == match[2]:
                return f"blk.{match[1]}.{ours}.{match[3]}"
    return name


def permute_rotary(values, heads):
    """What llama.cpp's converter does to q and k of the llama architecture: the two halves
    of a head become even and odd rows."""
    head_dim = values.shape[0] // heads
    return values.reshape(heads, 2, head_dim // 2, *values.shape[1:]).swapaxes(1, 2).reshape(
        values.shape)


def unpermute_rotary(values, heads):
    head_dim = values.shape[0] // heads
    return values.reshape(heads, head_dim // 2, 2, *values.shape[1:]).swapaxes(1, 2).reshape(
        values.shape)


class CheckedReader(gguf.GGUFReader):
    """The package's reader slices beyond the end of a truncated file without a word."""

    def _get(self, offset, dtype, count=1, override_order=None):
        needed = int(offset) + int(count) * np.dtype(dtype).itemsize
        if needed > len(self.data):
            raise ImportFailure(f"truncated or damaged GGUF: {len(self.data)} bytes, but its "
                                f"header calls for at least {needed}")
        return super()._get(offset, dtype, count, override_order)


def _open(path):
    try:
        with open(path, "rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise ImportFailure(f"{path}: cannot be read: {error.strerror}")
    if magic != b"GGUF":
        raise ImportFailure(f"{path}: not a GGUF file: it starts with {magic!r}, "
                            "a GGUF file with b'GGUF'")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return CheckedReader(path)
    except ImportFailure as error:
        raise ImportFailure(f"{path}: {error}")
    except Exception as error:  # whatever damaged bytes provoke in the package
        raise ImportFailure(f"{path}: damaged GGUF: {str(error).splitlines()[0]}")


class GGUFSource:
    """One GGUF file. Tensors come in the Hugging Face form, as f32 or as quantised blocks."""

    def __init__(self, path):
        self.path = str(path)
        self.reader = _open(self.path)
        self.files = [self.path]
        architecture = self.value("general.architecture")
        if architecture not in ARCHITECTURES:
            raise ImportFailure(f"{self.path}: the architecture is {architecture!r}; supported "
                                f"in a GGUF file are {', '.join(ARCHITECTURES)}")
        self.architecture = architecture
        if not all(t.name.isprintable() for t in self.reader.tensors):
            raise ImportFailure(f"{self.path}: damaged GGUF: a tensor's name is not text")
        self.tensors = {hugging_face_name(t.name): t for t in self.reader.tensors}
        self.rope_factors = self.tensors.pop("rope_freqs.weight", None)
        self.config = self._config()
        check_numbers(self.path, self.config)

    def value(self, key, default=None):
        field = self.reader.get_field(key)
        try:
            return default if field is None else field.contents()
        except UnicodeDecodeError:
            raise ImportFailure(f"{self.path}: damaged GGUF: the key {key} is not UTF-8")

    def number(self, kind, key, default=None):
        """The value of a key of this architecture; `kind` is integer or real."""
        key = f"{self.architecture}.{key}"
        value = self.value(key, default)
        if value is None:
            raise ImportFailure(f"{self.path}: lacks the key {key}")
        return kind(self.path, key, value)

    def found_as(self, name):
        return gguf_name(name)

    def shapes(self):
        return {name: tuple(int(n) for n in reversed(t.shape)) for name, t in self.tensors.items()}

    def tensor(self, name):
        found = self.tensors[name]
        try:
            values = gguf.dequantize(found.data, found.tensor_type)
        except NotImplementedError:
            raise ImportFailure(f"{self.path}: the tensor {found.name} has the type "
                                f"{found.tensor_type.name}, which the gguf package cannot "
                                "dequantise")
        return self._in_order(name, np.ascontiguousarray(values, dtype=np.float32))

    def format(self, name):
        """The quantised format of a tensor, in lower case; None for numbers."""
        kind = self.tensors[name].tensor_type.name
        return None if kind in ("F32", "F16", "BF16") else kind.lower()

    def blocks(self, name):
        """The blocks of a quantised tensor: u8 [rows, bytes of a row]."""
        found = self.tensors[name]
        return self._in_order(name, found.data.reshape(int(found.shape[-1]), -1))

    def _in_order(self, name, rows):
        """Rows of q and k in the Hugging Face order."""
        if self.architecture == "llama":
            if ".q_proj." in name:
                return unpermute_rotary(rows, self.config.heads)
            if ".k_proj." in name:
                return unpermute_rotary(rows, self.config.kv_heads)
        return rows

    def _config(self):
        embedding = self.tensors.get("model.embed_tokens.weight")
        if embedding is None:
            raise ImportFailure(f"{self.path}: lacks the tensor token_embd.weight, which every "
                                "model must have")
        hidden = self.number(integer, "embedding_length")
        heads = self.number(integer, "attention.head_count")
        kv_heads = self.number(integer, "attention.head_count_kv", heads)
        head_dim = self.number(integer, "attention.key_length", hidden // heads)
        value_dim = self.number(integer, "attention.value_length", head_dim)
        if value_dim != head_dim:
            raise ImportFailure(f"{self.path}: keys are {head_dim} wide and values {value_dim}; "
                                "they must be equal")
        rotated = self.number(integer, "rope.dimension_count", head_dim)
        if rotated != head_dim:
            raise ImportFailure(f"{self.path}: {rotated} of the {head_dim} elements of a head are "
                                "rotated; all of them must be")
        biases = frozenset(name for name in PROJECTIONS
                           if f"model.layers.0.self_attn.{name}.bias" in self.tensors)
        return ModelConfig(
            name=re.sub(r"[.\-](?:I?Q\d\w*|B?F16|F32)$", "", Path(self.path).stem,
                        flags=re.IGNORECASE),
            architecture=self.architecture,
            layers=self.number(integer, "block_count"),
            hidden=hidden,
            intermediate=self.number(integer, "feed_forward_length"),
            heads=heads,
            kv_heads=kv_heads,
            head_dim=head_dim,
            vocab=int(embedding.shape[-1]),
            max_seq=self.number(integer, "context_length"),
            eps=self.number(real, "attention.layer_norm_rms_epsilon"),
            rope=self._rope(head_dim),
            tied="lm_head.weight" not in self.tensors,
            biases=biases,
            qk_norm="head" if "model.layers.0.self_attn.q_norm.weight" in self.tensors else None,
            sliding=self._sliding())

    def _sliding(self):
        key = f"{self.architecture}.attention.sliding_window"
        return integer(self.path, key, self.value(key)) if self.value(key) else None

    def _rope(self, head_dim):
        theta = self.number(real, "rope.freq_base", 10000.0)
        scaling = self.value(f"{self.architecture}.rope.scaling.type", "none")
        linear = 1.0
        if scaling == "linear":
            linear = self.number(real, "rope.scaling.factor")
        elif scaling != "none":
            raise ImportFailure(f"{self.path}: the rope scaling is {scaling!r}; supported are "
                                "none, linear and llama3 (a tensor rope_freqs.weight)")
        factors = None
        if self.rope_factors is not None:
            values = self.rope_factors.data
            if tuple(values.shape) != (head_dim // 2,) or values.dtype != np.float32:
                raise ImportFailure(f"{self.path}: the tensor rope_freqs.weight is "
                                    f"{values.dtype}{list(values.shape)}; float32"
                                    f"[{head_dim // 2}] is needed")
            factors = tuple(float(v) for v in values)
        return Rope(theta=theta, factors=factors, linear=linear)
