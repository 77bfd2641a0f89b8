"""What a decoder-only model is: its numbers, and the list of its weights."""

import math
from collections import namedtuple
from collections.abc import Collection
from dataclasses import dataclass, field

from .latent import Latent, latent_weights
from .rope import Rope

# Suffixes of the per-layer projections that may have a bias.
PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj")

# Where a layer normalises: what goes into attention and the MLP ("before"), what comes out of
# them before it is added to the residual ("after"), or both. Norm in the module -> its weight.
NORMS = {
    "before": {"attn_norm": "input_layernorm", "mlp_norm": "post_attention_layernorm"},
    "after": {"attn_out_norm": "post_attention_layernorm",
              "mlp_out_norm": "post_feedforward_layernorm"},
    "around": {"attn_norm": "input_layernorm", "attn_out_norm": "post_attention_layernorm",
               "mlp_norm": "pre_feedforward_layernorm",
               "mlp_out_norm": "post_feedforward_layernorm"},
}


# Roles of the matrices that can be stored in 16 bits or quantised, and of those in 16 bits only.
MATRICES = ("linear", "experts", "embedding")
NARROW = (*MATRICES, "heads")


# A cache of the layers in `layers`, which see `window` tokens; None: all of them.
Cache = namedtuple("Cache", "window layers")


@dataclass(frozen=True)
class Weight:
    """One tensor of the weights file. `shape` is logical: [N, K] for a matrix."""

    name: str
    shape: tuple
    # "linear"; "experts" (a matrix below the other); "router" (f32); "embedding" (rows are
    # gathered, no product); "heads" (a matrix a head: [H, N, K]); "vector"; "table"
    role: str
    argument: str  # the SSA name in the module, without "%"

    @property
    def packed(self):
        return self.role in ("linear", "experts", "router") and self.shape[0] % 16 == 0


@dataclass(frozen=True)
class ExpertGroups:
    """A row chooses among the experts of the `kept` best of `count` groups, by the sums of their
    `best` greatest."""

    count: int
    kept: int
    best: int


@dataclass(frozen=True)
class Mixture:
    """A row goes through `choices` of the `experts` of each layer, instead of one MLP."""

    experts: int
    choices: int
    normalised: bool  # the shares of a row's experts add up to 1
    biased: bool = False  # the router and the experts' projections
    scale: float = 1.0  # of the shares, which add up to it
    shared: int | None = None  # the width of one more MLP, which every row goes through
    gated: bool = False  # what it gives is multiplied by the sigmoid of a number of the row
    dense: int = 0  # the first layers that have an MLP instead
    dense_width: int | None = None  # of their MLP
    groups: ExpertGroups | None = None
    # Shares are of logistic functions of the logits; the choice is by these plus a correction.
    corrected: bool = False


@dataclass(frozen=True)
class Recurrent:
    """Layers with a state in place of attention: gated delta nets (`delta`) or Mamba-2, whose
    groups are the key heads, state size the key dimension, heads the value heads."""

    delta: bool
    layers: Collection
    kernel: int  # taps of the convolution
    key_heads: int
    key_dim: int
    value_heads: int  # a multiple of the key heads
    value_dim: int

    @property
    def biased(self):
        """Whether the convolution has a bias."""
        return not self.delta

    @property
    def inner(self):
        return self.value_heads * self.value_dim

    @property
    def channels(self):
        """Of the convolution."""
        return self.inner + 2 * self.key_heads * self.key_dim

    @property
    def gates(self):
        """Numbers a row that decide on decay and strength."""
        return (2 if self.delta else 1) * self.value_heads

    def parts(self):
        """Queries, keys and values among the channels: {name: (first, width)}."""
        keys = self.key_heads * self.key_dim
        if self.delta:
            return {"q": (0, keys), "k": (keys, keys), "v": (2 * keys, self.inner)}
        return {"v": (0, self.inner), "k": (self.inner, keys), "q": (self.inner + keys, keys)}


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
    rotary: int | None = None  # the first elements of a head are rotated; None: all of them
    qk_norm: str | None = None  # of queries and keys: each "head", or the whole "row"
    sliding: int | None = None  # tokens that a query sees
    full_layers: Collection = ()  # those that see all nevertheless
    sliding_rope: Rope | None = None  # of the layers that slide; None: that of all
    plain_layers: Collection = ()  # those whose queries and keys are not rotated
    norm_after_rope: bool = False  # heads are rotated before they are normalised
    sinks: bool = False  # one more logit of each query head's softmax
    norms: str = "before"  # a key of NORMS
    latent: Latent | None = None  # attention over latents; `kv_heads` is then 1
    mixture: Mixture | None = None  # `intermediate` is then the width of an expert
    activation: str = "silu"  # of the MLP's gate: "silu", "gelu_tanh", "clamped_swiglu"
    swiglu_alpha: float | None = None  # of clamped_swiglu: the slope of the sigmoid
    swiglu_limit: float | None = None  # the largest gate, and the largest magnitude of what goes up
    embedding_scale: float = 1.0  # times the embedding of each token
    residual_scale: float = 1.0  # times what attention and the MLP add to the residual
    attention_scale: float | None = None  # times a score; None: 1 / sqrt(head_dim)
    attention_cap: float | None = None  # c: a score s becomes c * tanh(s / c)
    logit_scale: float = 1.0
    logit_cap: float | None = None  # c: after the scale, a logit l becomes c * tanh(l / c)
    recurrent: Recurrent | None = None
    gated_attention: bool = False  # what attention gives is multiplied by sigmoid(gate)

    @property
    def score_scale(self):
        return self.attention_scale or 1 / math.sqrt(self.head_dim)

    @property
    def rotary_dim(self):
        return self.rotary or self.head_dim

    def mixture_of(self, layer):
        """None where the layer has an MLP."""
        return self.mixture if self.mixture and layer >= self.mixture.dense else None

    def slides(self, layer):
        return self.sliding is not None and layer not in self.full_layers

    def window(self, layer):
        """Tokens that a query of the layer sees; None: all of them."""
        # A window that no sequence can outgrow is no window.
        return self.sliding if self.slides(layer) and self.sliding < self.max_seq else None

    def is_recurrent(self, layer):
        return self.recurrent is not None and layer in self.recurrent.layers

    def attention_layers(self):
        return tuple(layer for layer in range(self.layers) if not self.is_recurrent(layer))

    def caches(self):
        """Layers of one window share a cache; that of the layers without one comes first."""
        layers = {}
        for layer in self.attention_layers():
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

        def norm(argument):
            if argument in NORMS[self.norms]:
                add(f"{NORMS[self.norms][argument]}.weight", (self.hidden,), "vector", argument)

        norm("attn_norm")
        if self.is_recurrent(layer):
            self._mixer_weights(add)
            self._mlp_weights(layer, add, norm)
            return out
        if self.latent:
            latent_weights(self, add, projection)
            q = self.heads * self.latent.value
        else:
            projection("q_proj", q, self.hidden, "q")
            if self.gated_attention:
                add("self_attn.q_gate.weight", (q, self.hidden), "linear", "wq_gate")
            projection("k_proj", kv, self.hidden, "k")
            projection("v_proj", kv, self.hidden, "v")
        if self.qk_norm:
            whole = self.qk_norm == "row"
            add("self_attn.q_norm.weight", (q if whole else self.head_dim,), "vector", "q_norm")
            add("self_attn.k_norm.weight", (kv if whole else self.head_dim,), "vector", "k_norm")
        if self.sinks:
            add("self_attn.sinks", (self.heads,), "vector", "sinks")
        projection("o_proj", self.hidden, q, "o")
        norm("attn_out_norm")
        self._mlp_weights(layer, add, norm)
        return out

    def _mixer_weights(self, add):
        r = self.recurrent
        prefix = "linear_attn" if r.delta else "mamba"
        for name, rows in (("in_z", r.inner), ("in_mixed", r.channels), ("in_gates", r.gates)):
            add(f"{prefix}.{name}.weight", (rows, self.hidden), "linear", name)
        add(f"{prefix}.conv1d.weight", (r.kernel, r.channels), "vector", "conv_weight")
        if r.biased:
            add(f"{prefix}.conv1d.bias", (r.channels,), "vector", "conv_bias")
        add(f"{prefix}.A_log", (r.value_heads,), "vector", "a_log")
        add(f"{prefix}.dt_bias", (r.value_heads,), "vector", "dt_bias")
        if not r.delta:
            add(f"{prefix}.D", (r.value_heads,), "vector", "skip")
        add(f"{prefix}.norm.weight", (r.value_dim if r.delta else r.inner,), "vector", "mixer_norm")
        add(f"{prefix}.out_proj.weight", (self.hidden, r.inner), "linear", "wo")

    def _mlp_weights(self, layer, add, norm):
        norm("mlp_norm")

        def sizes(width):
            return {"gate": (width, self.hidden), "up": (width, self.hidden),
                    "down": (self.hidden, width)}

        if mixture := self.mixture_of(layer):
            add("mlp.router.weight", (mixture.experts, self.hidden), "router", "router")
            if mixture.biased:
                add("mlp.router.bias", (mixture.experts,), "vector", "router_bias")
            if mixture.corrected:
                add("mlp.router.e_score_correction_bias", (mixture.experts,), "vector",
                    "router_correction")
            for name, (rows, columns) in sizes(self.intermediate).items():
                add(f"mlp.experts.{name}_proj.weight", (mixture.experts * rows, columns), "experts",
                    name)
                if mixture.biased:
                    add(f"mlp.experts.{name}_proj.bias", (mixture.experts, rows), "vector",
                        f"{name}_bias")
            if mixture.gated:
                add("mlp.shared_expert_gate.weight", (1, self.hidden), "vector", "shared_scale")
            for name, shape in sizes(mixture.shared).items() if mixture.shared else ():
                add(f"mlp.shared_experts.{name}_proj.weight", shape, "linear", f"shared_{name}")
        else:
            width = self.mixture.dense_width if self.mixture else self.intermediate
            for name, shape in sizes(width).items():
                add(f"mlp.{name}_proj.weight", shape, "linear", name)
        norm("mlp_out_norm")

    def _rope_of(self, layer):
        """(Suffix of the table's name, the rotation) of a layer."""
        if layer in self.plain_layers:
            # Every position is the first one, which turns nothing.
            return "_plain", Rope(theta=self.rope.theta, linear=math.inf)
        if self.sliding_rope is not None and self.slides(layer):
            return "_sliding", self.sliding_rope
        return "", self.rope

    def freqs(self, layer):
        """The table of the layer's rotary embedding."""
        suffix, _ = self._rope_of(layer)
        return Weight(f"rope.freqs{suffix}", (self.max_seq, self.rotary_dim), "table",
                      f"freqs{suffix}")

    def ropes(self):
        """{table: what it is made from}, of the tables that some layer uses."""
        return {self.freqs(layer): self._rope_of(layer)[1] for layer in self.attention_layers()}

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
        out = [*sorted(self.ropes(), key=lambda table: table.name), self.embedding]
        for layer in range(self.layers):
            out += self.layer_weights(layer)
        out.append(self.final_norm)
        if not self.tied:
            out.append(self.head)
        return out
