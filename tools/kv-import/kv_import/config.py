"""What a model of the Llama family is: its numbers, and the list of its weights."""

from collections import namedtuple
from dataclasses import dataclass, field

from .rope import Rope

ARCHITECTURES = ("llama", "mistral", "qwen2", "qwen3")

# Suffixes of the per-layer projections that may have a bias.
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")


# A cache of the layers in `layers`, which see `window` tokens; None: all of them.
Cache = namedtuple("Cache", "window layers")


@dataclass(frozen=True)
class Weight:
    """One tensor of the weights file. `shape` is logical: [N, K] for a matrix."""

    name: str
    shape: tuple
    role: str  # "linear", "embedding" (rows are gathered, no product), "vector", "table"
    argument: str  # the SSA name in the module, without "%"

    @property
    def packed(self):
        return self.role == "linear" and self.shape[0] % 16 == 0


@dataclass(frozen=True)
class ModelConfig:
    name: str
    architecture: str
    layers: int
    hidden: int
    intermediate: int
    heads: int
    kv_heads: int
    head_dim: int
    vocab: int
    max_seq: int
    eps: float
    rope: Rope
    tied: bool
    biases: frozenset = field(default_factory=frozenset)  # a subset of PROJECTIONS
    qk_norm: bool = False
    sliding: int | None = None  # tokens that a query sees
    full_layers: frozenset = field(default_factory=frozenset)  # those that see all nevertheless

    def window(self, layer):
        """Tokens that a query of the layer sees; None: all of them."""
        # A window that no sequence can outgrow is no window.
        if self.sliding is None or self.sliding >= self.max_seq or layer in self.full_layers:
            return None
        return self.sliding

    def caches(self):
        """Layers of one window share a cache; that of the layers without one comes first."""
        layers = {}
        for layer in range(self.layers):
            layers.setdefault(self.window(layer), []).append(layer)
        return [Cache(window, tuple(layers[window]))
                for window in sorted(layers, key=lambda w: w or 0)]

    def layer_weights(self, layer):
        """The weights of one layer, in the order of @layer's arguments."""
        prefix = f"model.layers.{layer}"
        q, kv = self.heads * self.head_dim, self.kv_heads * self.head_dim
        out = []

        def add(name, shape, role, argument):
            out.append(Weight(f"{prefix}.{name}", shape, role, f"l{layer}_{argument}"))

        def projection(name, rows, columns, argument):
            add(f"self_attn.{name}.weight", (rows, columns), "linear", f"w{argument}")
            if name in self.biases:
                add(f"self_attn.{name}.bias", (rows,), "vector", f"b{argument}")

        add("input_layernorm.weight", (self.hidden,), "vector", "attn_norm")
        projection("q_proj", q, self.hidden, "q")
        projection("k_proj", kv, self.hidden, "k")
        projection("v_proj", kv, self.hidden, "v")
        if self.qk_norm:
            add("self_attn.q_norm.weight", (self.head_dim,), "vector", "q_norm")
            add("self_attn.k_norm.weight", (self.head_dim,), "vector", "k_norm")
        projection("o_proj", self.hidden, q, "o")
        add("post_attention_layernorm.weight", (self.hidden,), "vector", "mlp_norm")
        add("mlp.gate_proj.weight", (self.intermediate, self.hidden), "linear", "gate")
        add("mlp.up_proj.weight", (self.intermediate, self.hidden), "linear", "up")
        add("mlp.down_proj.weight", (self.hidden, self.intermediate), "linear", "down")
        return out

    @property
    def freqs(self):
        return Weight("rope.freqs", (self.max_seq, self.head_dim), "table", "freqs")

    @property
    def embedding(self):
        # A tied embedding is also the matrix of the logits: one copy, packed.
        role = "linear" if self.tied else "embedding"
        return Weight("model.embed_tokens.weight", (self.vocab, self.hidden), role, "embed")

    @property
    def head(self):
        if self.tied:
            return self.embedding
        return Weight("lm_head.weight", (self.vocab, self.hidden), "linear", "lm_head")

    @property
    def final_norm(self):
        return Weight("model.norm.weight", (self.hidden,), "vector", "final_norm")

    def weights(self):
        """Every weight once, in the order of @forward's arguments."""
        out = [self.freqs, self.embedding]
        for layer in range(self.layers):
            out += self.layer_weights(layer)
        out.append(self.final_norm)
        if not self.tied:
            out.append(self.head)
        return out
