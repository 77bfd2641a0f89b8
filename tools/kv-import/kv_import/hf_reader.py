"""Hugging Face folders: config.json and *.safetensors."""

import json
from pathlib import Path

import numpy as np

from safetensors import SafetensorError, safe_open

from .checks import check_numbers, integer, real
from .config import ModelConfig
from .errors import ImportFailure
from .rope import Rope, llama3_factors

ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3")
ROPE_KINDS = ("default", "linear", "llama3")


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
    except (ValueError, OSError) as error:
        raise ImportFailure(f"{path}: not valid JSON: {error}")
    if not isinstance(value, dict):
        raise ImportFailure(f"{path}: holds a JSON {type(value).__name__}, an object is needed")
    return value


class HuggingFaceSource:
    """One folder. Tensors come as f32."""

    def __init__(self, folder):
        self.path = str(folder)
        self.folder = Path(folder)
        self.raw = read_json(self.folder / "config.json")
        self.index = self._index()
        self.files = [str(self.folder / "config.json")] + sorted({f for f, _ in
                                                                  self.index.values()})
        self.config = self._config()
        check_numbers(self.folder / "config.json", self.config)

    def found_as(self, name):
        return name

    def shapes(self):
        return {name: shape for name, (_, shape) in self.index.items()}

    def format(self, name):
        """None: all tensors are numbers."""
        return None

    def tensor(self, name):
        path, shape = self.index[name]
        with safe_open(path, framework="np") as file:
            dtype = file.get_slice(name).get_dtype()
            if dtype == "BF16":
                return self._bf16(path, name).reshape(shape)
            if dtype not in ("F32", "F16"):
                raise ImportFailure(f"{path}: the tensor {name} has the dtype {dtype}; supported "
                                    "are F32, F16 and BF16")
            return file.get_tensor(name).astype(np.float32)

    def _bf16(self, path, name):
        """numpy has no bfloat16: the bits are read here and widened. The header has been
        checked by safe_open."""
        with open(path, "rb") as file:
            size = int.from_bytes(file.read(8), "little")
            begin, end = json.loads(file.read(size))[name]["data_offsets"]
            file.seek(8 + size + begin)
            bits = np.frombuffer(file.read(end - begin), dtype="<u2")
        return (bits.astype(np.uint32) << 16).view(np.float32)

    def _index(self):
        """Name -> (file, shape) over all shards."""
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
                        index[name] = (str(path), tuple(file.get_slice(name).get_shape()))
            except (SafetensorError, OSError) as error:
                raise ImportFailure(f"{path}: truncated or damaged safetensors file of "
                                    f"{path.stat().st_size} bytes: {error}")
        # Old checkpoints carry the frequencies as tensors; they follow from the configuration.
        return {n: v for n, v in index.items() if not n.endswith("rotary_emb.inv_freq")}

    def _value(self, key, default=None):
        value = self.raw.get(key)
        value = default if value is None else value
        if value is None:
            raise ImportFailure(f"{self.folder / 'config.json'}: lacks {key!r}")
        return value

    def _integer(self, key, default=None):
        return integer(self.folder / "config.json", key, self._value(key, default))

    def _real(self, key, default=None):
        return real(self.folder / "config.json", key, self._value(key, default))

    def _refuse(self, what, found, allowed):
        raise ImportFailure(f"{self.folder / 'config.json'}: {what} is {found!r}; "
                            f"supported: {allowed}")

    def _config(self):
        kind = self.raw.get("model_type")
        if kind not in ARCHITECTURES:
            self._refuse("model_type", kind, ", ".join(ARCHITECTURES))
        act = self._value("hidden_act", "silu")
        if act not in ("silu", "swish"):
            self._refuse("hidden_act", act, "silu")
        if self.raw.get("mlp_bias"):
            self._refuse("mlp_bias", True, "false")
        quantised = self.raw.get("quantization_config")
        if quantised:
            method = quantised.get("quant_method") if isinstance(quantised, dict) else quantised
            self._refuse("quantization_config", method, "F32, F16 or BF16 weights without one")
        hidden, heads = self._integer("hidden_size"), self._integer("num_attention_heads")
        head_dim = self._integer("head_dim", hidden // heads)
        if kind == "qwen2":
            biases = frozenset(("q_proj", "k_proj", "v_proj"))
        elif self.raw.get("attention_bias"):
            biases = frozenset(("q_proj", "k_proj", "v_proj", "o_proj"))
        else:
            biases = frozenset()
        sliding, full_layers = self._sliding(kind)
        return ModelConfig(
            name=self.folder.resolve().name,
            architecture=kind,
            layers=self._integer("num_hidden_layers"),
            hidden=hidden,
            intermediate=self._integer("intermediate_size"),
            heads=heads,
            kv_heads=self._integer("num_key_value_heads", heads),
            head_dim=head_dim,
            vocab=self._integer("vocab_size"),
            max_seq=self._integer("max_position_embeddings"),
            eps=self._real("rms_norm_eps", 1e-6),
            rope=self._rope(head_dim),
            tied=bool(self.raw.get("tie_word_embeddings", False)),
            biases=biases,
            qk_norm="head" if kind == "qwen3" else None,
            sliding=sliding,
            full_layers=full_layers)

    def _sliding(self, kind):
        """The window, and the layers that have none nevertheless."""
        layers = self._integer("num_hidden_layers")
        full = self._full_layers(layers)
        window = self.raw.get("sliding_window")
        if kind in ("qwen2", "qwen3"):
            if not self.raw.get("use_sliding_window"):
                window = None
            elif full is None:
                # The first ones see all.
                full = range(min(self._integer("max_window_layers", 28), layers))
        if kind == "llama" or window is None:
            if full is not None and len(full) < layers:
                self._refuse("layer_types", "sliding_attention",
                             "full_attention without a sliding_window")
            return None, frozenset()
        return self._integer("sliding_window"), frozenset(full or ())

    def _full_layers(self, layers):
        """Those that `layer_types` says see all tokens; None without it."""
        types = self.raw.get("layer_types")
        if types is None:
            return None
        allowed = ("full_attention", "sliding_attention")
        if not isinstance(types, list) or len(types) != layers:
            self._refuse("layer_types", types, f"a list of {layers} kinds, one a layer")
        for one in types:
            if one not in allowed:
                self._refuse("layer_types", one, ", ".join(allowed))
        return [i for i, one in enumerate(types) if one == "full_attention"]

    def _rope(self, head_dim):
        # transformers 5 gathers in rope_parameters what stood in rope_theta and rope_scaling.
        where = self.folder / "config.json"
        scaling = self.raw.get("rope_parameters") or self.raw.get("rope_scaling") or {}
        if not isinstance(scaling, dict):
            self._refuse("rope_scaling", scaling, "an object")
        theta = real(where, "rope_theta",
                     scaling.get("rope_theta") or self.raw.get("rope_theta") or 10000.0)
        kind = scaling.get("rope_type") or scaling.get("type") or "default"
        partial = scaling.get("partial_rotary_factor") or self.raw.get("partial_rotary_factor")
        if partial not in (None, 1, 1.0):
            self._refuse("partial_rotary_factor", partial, "1")
        if kind not in ROPE_KINDS:
            self._refuse("rope scaling", kind, ", ".join(ROPE_KINDS))

        def parameter(key):
            if key not in scaling:
                raise ImportFailure(f"{where}: rope scaling {kind!r} lacks {key!r}")
            return real(where, key, scaling[key])

        if kind == "linear":
            return Rope(theta=theta, linear=parameter("factor"))
        if kind == "llama3":
            return Rope(theta=theta, factors=llama3_factors(theta, head_dim, *map(parameter, (
                "factor", "low_freq_factor", "high_freq_factor",
                "original_max_position_embeddings"))))
        return Rope(theta=theta)
