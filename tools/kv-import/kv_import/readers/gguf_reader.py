"""GGUF files: configuration and tensors, under their Hugging Face names and values."""

import functools
import math
import re

import numpy as np

import gguf

from ..model.checks import check_numbers
from ..model.config import PROJECTIONS, Mixture, ModelConfig
from ..model.errors import ImportFailure
from ..model.families import FAMILIES
from ..weights.fused import rows_of, split_shapes, stored_name
from .gguf_files import GgufFiles
from .gguf_names import NAMES, gguf_name, hugging_face_name, is_permuted, unpermute_rotary
from ..model.rope import Rope
from ..model.schema import GgufModel, GgufTokenizer, shown

# general.architecture -> `model_type` of Hugging Face; Mistral's models say llama.
FAMILY_NAMES = {"llama": "llama", "qwen2": "qwen2", "qwen3": "qwen3", "qwen3moe": "qwen3_moe",
                "granite": "granite", "phi3": "phi3", "olmo2": "olmo2", "gemma3": "gemma3_text"}


class GGUFSource:
    """One GGUF model. Tensors come in the Hugging Face form, as f32 or as quantised blocks."""

    def __init__(self, path):
        self.path = str(path)
        self.parts = GgufFiles(self.path)
        self.files = list(self.parts.readers)
        architecture = self.parts.general.get("general.architecture")
        if architecture not in FAMILY_NAMES:
            raise ImportFailure(f"{self.path}: the architecture is {shown(architecture)}; supported "
                                f"in a GGUF file are {', '.join(FAMILY_NAMES)}")
        self.architecture = architecture
        self.family = FAMILIES[FAMILY_NAMES[architecture]]
        self.names = NAMES[architecture]
        self.keys = self.parts.keys(GgufModel, f"{architecture}.")
        self.tensors = {hugging_face_name(self.names, name): tensor
                        for name, tensor in self.parts.tensors.items()}
        kinds = ("factors_short", "factors_long") if self.family.partial else ()
        self.rope_factors = {kind: self.tensors.pop(f"rope_{kind}.weight", None)
                             for kind in ("freqs", *kinds)}
        self.config = self._config()
        check_numbers(self.path, self.config)

    def key(self, name, default=None):
        """The value of a key of this architecture."""
        value = self.keys.get(name, default)
        if value is None:
            raise ImportFailure(f"{self.path}: lacks the key {self.architecture}.{name}")
        return value

    @functools.cached_property
    def tokenizer(self):
        return self.parts.keys(GgufTokenizer, "tokenizer.ggml.")

    def found_as(self, name):
        return gguf_name(self.names, stored_name(name, self.family.fused))

    def shapes(self):
        shapes = {name: tuple(int(n) for n in reversed(t.shape))
                  for name, t in self.tensors.items()}
        if self.family.experts:
            # [E, N, K]: the rows of all experts are one below the other already.
            shapes = {name: (shape[0] * shape[1], shape[2])
                      if ".experts." in name and len(shape) == 3 and
                      shape[0] == self.config.mixture.experts else shape
                      for name, shape in shapes.items()}
        if not self.family.fused:
            return shapes
        return split_shapes(self.config, shapes, lambda name: f"{self.path}: the tensor "
                            f"{gguf_name(self.names, name)}", self.family.fused)

    def _stored(self, name):
        """The tensor of the file that holds a weight."""
        return self.tensors[stored_name(name, self.family.fused)]

    def tensor(self, name, rows=slice(None)):
        found = self._stored(name)
        values = gguf.dequantize(self.parts.native(found, self._read(name, rows)), found.tensor_type)
        values = np.ascontiguousarray(values, dtype=np.float32)
        return values.reshape(-1) if len(found.shape) == 1 else values

    def format(self, name):
        """The quantised format of a tensor, in lower case; None for numbers."""
        kind = self._stored(name).tensor_type.name
        return None if kind in ("F32", "F16", "BF16") else kind.lower()

    def blocks(self, name, rows=slice(None)):
        """The blocks of a quantised tensor: u8 [rows, bytes of a row]."""
        return self._read(name, rows)

    def _read(self, name, rows):
        """Some rows of a weight, in the Hugging Face order, as the file stores them."""
        found = self._stored(name)
        sizes = [int(n) for n in found.shape]
        count = math.prod(sizes[1:]) if len(sizes) > 1 else sizes[0]
        places = np.arange(count)
        if self.family.fused:
            places = places[rows_of(self.config, name, self.family.fused)]
        if is_permuted(self.architecture, name):
            places = unpermute_rotary(places, self.config.heads if ".q_proj." in name
                                      else self.config.kv_heads)
        values = found.data.reshape(count, -1)[places[rows]]
        self.parts.forget()
        return values

    def _config(self):
        embedding = self.tensors.get("model.embed_tokens.weight")
        if embedding is None:
            raise ImportFailure(f"{self.path}: lacks the tensor token_embd.weight, which every "
                                "model must have")
        hidden = self.key("embedding_length")
        heads = self.key("attention.head_count")
        kv_heads = self.key("attention.head_count_kv", heads)
        head_dim = self.key("attention.key_length", hidden // heads)
        value_dim = self.key("attention.value_length", head_dim)
        if value_dim != head_dim:
            raise ImportFailure(f"{self.path}: keys are {head_dim} wide and values {value_dim}; "
                                "they must be equal")
        rotated = self.key("rope.dimension_count", head_dim)
        if rotated != head_dim and not self.family.partial:
            raise ImportFailure(f"{self.path}: {rotated} of the {head_dim} elements of a head are "
                                "rotated; all of them must be")
        biases = frozenset(name for name in PROJECTIONS
                           if f"model.layers.0.self_attn.{name}.bias" in self.tensors)
        layers, sliding = self.key("block_count"), self._sliding()
        full_layers = ()
        if sliding and self.family.full_every:
            every = self.key("attention.sliding_window_pattern",
                                self.family.full_every)
            full_layers = range(every - 1, layers, every)
        return ModelConfig(
            name=re.sub(r"[.\-](?:I?Q\d\w*|B?F16|F32)$", "", self.parts.name,
                        flags=re.IGNORECASE),
            architecture=FAMILY_NAMES[self.architecture],
            layers=layers,
            hidden=hidden,
            intermediate=self.key("expert_feed_forward_length" if self.family.experts
                                     else "feed_forward_length"),
            heads=heads,
            kv_heads=kv_heads,
            head_dim=head_dim,
            vocab=int(embedding.shape[-1]),
            max_seq=self.key("context_length"),
            eps=self.key("attention.layer_norm_rms_epsilon"),
            rotary=rotated if rotated != head_dim else None,
            rope=self._rope(rotated),
            tied="lm_head.weight" not in self.tensors,
            biases=biases,
            qk_norm=self.family.qk_norm,
            mixture=self._mixture(),
            sliding=sliding,
            full_layers=full_layers,
            norms=self.family.norms,
            **self._of_family(hidden, head_dim, layers))

    def _mixture(self):
        if not self.family.experts:
            return None
        # llama.cpp normalises the shares of these models without a key.
        return Mixture(experts=self.key("expert_count"),
                       choices=self.key("expert_used_count"), normalised=True)

    def _of_family(self, hidden, head_dim, layers):
        """What llama.cpp takes from keys of one architecture, or knows without a key."""
        if self.architecture == "granite":
            return {"embedding_scale": self.key("embedding_scale", 1.0),
                    "residual_scale": self.key("residual_scale", 1.0),
                    "attention_scale": self.key("attention.scale", head_dim ** -0.5),
                    "logit_scale": 1 / self.key("logit_scale", 1.0)}
        if self.architecture == "gemma3":
            # Of the released models only that of 62 layers (27B) scales scores otherwise.
            heads = self.key("attention.head_count")
            of_scores = hidden / heads if layers == 62 else head_dim
            return {"activation": "gelu_tanh", "embedding_scale": math.sqrt(hidden),
                    "attention_scale": of_scores ** -0.5,
                    "logit_cap": self.keys.get("final_logit_softcapping") or None,
                    "sliding_rope": Rope(self.key("rope.freq_base_swa", 10000.0))}
        return {}

    def _sliding(self):
        window = self.keys.get("attention.sliding_window")
        if window and self.architecture == "olmo2":
            raise ImportFailure(f"{self.path}: olmo2.attention.sliding_window is {window} (OLMo 3); supported "
                                "is a file without it (OLMo 2)")
        return window or None

    def _rope(self, head_dim):
        theta = self.key("rope.freq_base", 10000.0)
        scaling = self.keys.get("rope.scaling.type", "none")
        linear = 1.0
        if scaling == "linear":
            linear = self.key("rope.scaling.factor")
        elif scaling != "none":
            raise ImportFailure(f"{self.path}: the rope scaling is {scaling!r}; supported are "
                                "none, linear and llama3 (a tensor rope_freqs.weight)")
        if self.rope_factors.get("factors_long") is not None:
            return Rope(theta=theta, factors=self._factors("factors_short", head_dim),
                        long_factors=self._factors("factors_long", head_dim),
                        original=self.key("rope.scaling.original_context_length"),
                        scale=self.key("rope.scaling.attn_factor", 1.0))
        return Rope(theta=theta, factors=self._factors("freqs", head_dim), linear=linear)

    def _factors(self, kind, head_dim):
        """The divisors of the frequencies; None: the file has none."""
        tensor = self.rope_factors.get(kind)
        if tensor is None:
            return None
        values = self.parts.native(tensor, tensor.data)
        if tuple(values.shape) != (head_dim // 2,) or values.dtype != np.float32:
            raise ImportFailure(f"{self.path}: the tensor rope_{kind}.weight is "
                                f"{values.dtype}{list(values.shape)}; float32"
                                f"[{head_dim // 2}] is needed")
        if not (np.isfinite(values).all() and (values > 0).all()):
            raise ImportFailure(f"{self.path}: the tensor rope_{kind}.weight holds {values.min()}; positive "
                                "numbers are needed")
        return tuple(float(v) for v in values)
