"""config.json of a Hugging Face folder, as a ModelConfig."""

import math

import numpy as np

from . import float8
from .checks import integer, real
from .compressed_tensors import check_scheme
from .config import PROJECTIONS, ExpertGroups, Mixture, ModelConfig
from .errors import ImportFailure
from .families import FAMILIES
from .hybrid_config import hybrid_mixture, recurrent_settings
from .latent import Latent
from .rope import Rope, llama3_factors, longrope_scale, yarn_factors, yarn_scale

ROPE_KINDS = ("default", "linear", "llama3", "yarn", "longrope")
# By the names of transformers.
ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh"}


def read_config(folder, raw):
    """`raw`: the object in the folder's config.json."""
    return _Reader(folder, raw).config()


class _Reader:
    def __init__(self, folder, raw):
        self.folder, self.raw = folder, raw
        self.path = folder / "config.json"
        kind = raw.get("model_type")
        if not isinstance(kind, str) or kind not in FAMILIES:
            self._refuse("model_type", kind, ", ".join(FAMILIES))
        self.kind, self.family = kind, FAMILIES[kind]

    def _value(self, key, default=None):
        value = self.raw.get(key)
        value = default if value is None else value
        if value is None:
            raise ImportFailure(f"{self.path}: lacks {key!r}")
        return value

    def _integer(self, key, default=None):
        return integer(self.path, key, self._value(key, default))

    def _real(self, key, default=None):
        return real(self.path, key, self._value(key, default))

    def _refuse(self, what, found, allowed):
        raise ImportFailure(f"{self.path}: {what} is {found!r}; "
                            f"supported: {allowed}")

    def _optional(self, key):
        return None if self.raw.get(key) is None else self._real(key)

    def config(self):
        family = self.family
        activation = self._value(*family.activation)
        if not isinstance(activation, str) or activation not in ACTIVATIONS:
            self._refuse(family.activation[0], activation, "silu, gelu_pytorch_tanh")
        if self.raw.get("mlp_bias"):
            self._refuse("mlp_bias", True, "false")
        quantised = self.raw.get("quantization_config")
        if quantised:
            method = quantised.get("quant_method") if isinstance(quantised, dict) else quantised
            if method == "compressed-tensors":
                check_scheme(self.path, quantised)
            elif method in ("fp8", "modelopt"):
                float8.check_settings(self.path, quantised)
            elif (self.kind, method) != ("gpt_oss", "mxfp4"):
                self._refuse("quantization_config", method, "F32, F16 or BF16 weights without one, "
                             "compressed-tensors, fp8, modelopt, and mxfp4 of gpt_oss")
        hidden, heads = self._integer("hidden_size"), self._integer("num_attention_heads")
        latent = self._latent()
        if latent:
            head_dim, rotary = latent.plain + latent.rotary, latent.rotary
        else:
            head_dim = self._integer("head_dim", family.head_dim or hidden // heads)
            rotary = self._rotary(head_dim)
        mixture = self._mixture_of_family()
        if latent and self.raw.get("attention_bias"):
            self._refuse("attention_bias", True, "false with latents")
        biases = family.biases or (PROJECTIONS if self.raw.get("attention_bias") else ())
        sliding, full_layers = self._sliding()
        return ModelConfig(
            name=self.folder.resolve().name,
            architecture=self.kind,
            layers=self._integer("num_hidden_layers"),
            hidden=hidden,
            intermediate=self._integer(mixture and family.expert_width or family.intermediate),
            heads=heads,
            kv_heads=1 if latent else self._integer("num_key_value_heads", heads),
            head_dim=head_dim,
            rotary=rotary if rotary != head_dim else None,
            vocab=self._integer("vocab_size"),
            max_seq=self._integer("max_position_embeddings"),
            eps=self._real("rms_norm_eps", 1e-6),
            tied=bool(self._value("tie_word_embeddings", family.tied)),
            biases=frozenset(biases),
            qk_norm=family.qk_norm,
            sinks=family.sinks,
            latent=latent,
            mixture=mixture,
            sliding=sliding,
            full_layers=full_layers,
            norms=family.norms,
            gated_attention=family.gated,
            **({"activation": ACTIVATIONS[activation]} | self._ropes(rotary)
               | self._of_family(hidden)))

    def _latent(self):
        """The numbers of attention over latents."""
        if not self.family.latent:
            return None
        rank = self.raw.get("q_lora_rank")
        return Latent(rank=self._integer("kv_lora_rank"), rotary=self._integer("qk_rope_head_dim"),
                      plain=self._integer("qk_nope_head_dim"), value=self._integer("v_head_dim"),
                      query_rank=None if rank is None else self._integer("q_lora_rank"),
                      interleaved=self.raw.get("rope_interleave", True) is not False)

    def _mixture_of_family(self):
        if self.family.latent:
            return self._latent_mixture()
        if self.family.recurrent:
            return hybrid_mixture(self.kind, self.raw, self._integer, self._refuse)
        return self._mixture()

    def _mixture(self):
        if not self.family.experts:
            return None
        if self.raw.get("mlp_only_layers"):
            self._refuse("mlp_only_layers", self.raw["mlp_only_layers"], "[]")
        if self.raw.get("decoder_sparse_step", 1) != 1:
            self._refuse("decoder_sparse_step", self.raw["decoder_sparse_step"], "1")
        # transformers 5 calls it num_local_experts everywhere.
        experts = self._integer("num_local_experts", self.raw.get("num_experts"))
        gpt_oss = self.kind == "gpt_oss"
        return Mixture(experts=experts, choices=self._integer("num_experts_per_tok"),
                       normalised=gpt_oss or bool(self.raw.get("norm_topk_prob")), biased=gpt_oss)

    def _of_family(self, hidden):
        """The factors, caps and activations that only some families have."""
        if self.kind == "gpt_oss":
            return {"activation": "clamped_swiglu",
                    "swiglu_alpha": self._real("swiglu_alpha", 1.702),
                    "swiglu_limit": self._real("swiglu_limit", 7.0)}
        if self.family.latent:
            return {"attention_scale": self._latent_scale()}
        more = {}
        if self.family.recurrent:
            more = recurrent_settings(self.kind, self.raw, self._integer, self._refuse)
            if self.kind == "qwen3_next":
                return more
        if self.kind in ("granite", "granitemoehybrid"):
            return more | {"embedding_scale": self._real("embedding_multiplier", 1.0),
                           "residual_scale": self._real("residual_multiplier", 1.0),
                           "attention_scale": self._real("attention_multiplier", 1.0),
                           "logit_scale": 1 / self._real("logits_scaling", 1.0)}
        if self.kind == "gemma3_text":
            if self.raw.get("use_bidirectional_attention"):
                self._refuse("use_bidirectional_attention", True, "false")
            return {"embedding_scale": math.sqrt(hidden),
                    "attention_scale": self._real("query_pre_attn_scalar", 256) ** -0.5,
                    "attention_cap": self._optional("attn_logit_softcapping"),
                    "logit_cap": self._optional("final_logit_softcapping")}
        return {}

    def _latent_mixture(self):
        """Experts in all layers but the first, and an MLP beside them."""
        layers = self._integer("num_hidden_layers")
        dense = self.raw.get("first_k_dense_replace") or 0
        if not self.raw.get("n_routed_experts") or dense >= layers:
            return None
        corrected = self.family.corrected
        for key, allowed in (
                ("topk_method", ("noaux_tc",) if corrected else ("greedy", "group_limited_greedy")),
                ("scoring_func", ("sigmoid",) if corrected else ("softmax",)),
                ("moe_layer_freq", (1,)),
                ("norm_topk_prob", (False, True) if corrected else (False,))):
            if self.raw.get(key) is not None and self.raw[key] not in allowed:
                self._refuse(key, self.raw[key], ", ".join(map(str, allowed)))
        width = self._integer("moe_intermediate_size")
        shared = self.raw.get("n_shared_experts")
        return Mixture(experts=self._integer("n_routed_experts"),
                       choices=self._integer("num_experts_per_tok"),
                       normalised=corrected and bool(self.raw.get("norm_topk_prob", True)),
                       corrected=corrected, groups=self._expert_groups(),
                       scale=self._real("routed_scaling_factor", 1.0),
                       shared=shared and width * self._integer("n_shared_experts"),
                       dense=dense, dense_width=self._integer("intermediate_size"))

    def _expert_groups(self):
        """A V2 without groups has the numbers, too."""
        corrected = self.family.corrected
        if not corrected and self.raw.get("topk_method") != "group_limited_greedy":
            return None
        groups = ExpertGroups(count=self._integer("n_group"), kept=self._integer("topk_group"),
                              best=2 if corrected else 1)
        return groups if groups.count > 1 else None

    def _latent_scale(self):
        """Of scores. Where positions are scaled by mscale_all_dim, so are scores, by its square."""
        latent, scaling = self._latent(), self._found_ropes()
        scale = (latent.plain + latent.rotary) ** -0.5
        if scaling.get("mscale_all_dim"):
            scale *= yarn_scale(self._yarn_real(scaling, "factor"),
                                self._yarn_real(scaling, "mscale_all_dim")) ** 2
        return scale

    def _yarn_real(self, scaling, key):
        return real(self.path, key, scaling.get(key))

    def _sliding(self):
        """The window, and the layers that have none nevertheless."""
        if self.family.recurrent:
            return None, ()
        layers = self._integer("num_hidden_layers")
        full = self._full_layers(layers)
        window = self.raw.get("sliding_window")
        if full is None and self.family.full_every:
            every = self._integer("sliding_window_pattern", self.family.full_every)
            full, window = range(every - 1, layers, every), self._integer("sliding_window")
        if self.family.windows.startswith("asked"):
            if not self.raw.get("use_sliding_window"):
                window = None
            elif full is None and self.family.windows == "asked":
                # The first ones see all.
                full = range(min(self._integer("max_window_layers", 28), layers))
        if self.family.windows == "never" or window is None:
            if full is not None and len(full) < layers:
                self._refuse("layer_types", "sliding_attention",
                             "full_attention without a sliding_window")
            return None, ()
        return self._integer("sliding_window"), full or ()

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

    def _rotary(self, head_dim):
        """How many elements of a head are rotated."""
        partial = self._found_ropes().get("partial_rotary_factor")
        partial = partial or self.raw.get("partial_rotary_factor") or 1
        if partial != 1 and not self.family.partial:
            self._refuse("partial_rotary_factor", partial, "1")
        return int(head_dim * real(self.path, "partial_rotary_factor", partial))

    def _found_ropes(self):
        # transformers 5 gathers in rope_parameters what stood in rope_theta and rope_scaling;
        # where layers of two kinds differ, under the name of each kind.
        found = self.raw.get("rope_parameters") or self.raw.get("rope_scaling") or {}
        if not isinstance(found, dict):
            self._refuse("rope_scaling", found, "an object")
        return found

    def _ropes(self, head_dim):
        found = self._found_ropes()
        theta = self.raw.get("rope_theta")
        if self.kind != "gemma3_text":
            return {"rope": self._rope(found, theta or 10000.0, head_dim)}
        local = self.raw.get("rope_local_base_freq") or 10000.0
        of_kinds = {kind: found.get(kind) or {} for kind in ("full_attention", "sliding_attention")}
        if not any(of_kinds.values()):
            of_kinds["full_attention"] = found  # the layers that slide are never scaled
        return {"rope": self._rope(of_kinds["full_attention"], theta or 1000000.0, head_dim),
                "sliding_rope": self._rope(of_kinds["sliding_attention"], local, head_dim)}

    def _rope(self, scaling, theta, head_dim):
        """`scaling`: the parameters of one kind of layers; `theta` where they have none."""
        if not isinstance(scaling, dict):
            self._refuse("rope_parameters", scaling, "an object")
        theta = real(self.path, "rope_theta", scaling.get("rope_theta") or theta)
        kind = scaling.get("rope_type") or scaling.get("type") or "default"
        if not self.family.partial and scaling.get("partial_rotary_factor") not in (None, 1):
            self._refuse("partial_rotary_factor", scaling["partial_rotary_factor"], "1")
        if kind not in ROPE_KINDS:
            self._refuse("rope scaling", kind, ", ".join(ROPE_KINDS))

        def parameter(key):
            if key not in scaling:
                raise ImportFailure(f"{self.path}: rope scaling {kind!r} lacks {key!r}")
            return real(self.path, key, scaling[key])

        if kind == "longrope":
            return self._longrope(scaling, theta, head_dim // 2)
        if kind == "yarn":
            for key in ("mscale", "mscale_all_dim"):
                if scaling.get(key) is not None and not self.family.latent:
                    self._refuse(f"rope scaling 'yarn' with {key}", scaling[key], "none")
            optional = {key: real(self.path, key, scaling[key]) for key in (
                "beta_fast", "beta_slow") if scaling.get(key) is not None}
            factor = parameter("factor")
            return Rope(theta=theta, factors=yarn_factors(
                theta, head_dim, factor, parameter("original_max_position_embeddings"),
                truncate=scaling.get("truncate") is not False, **optional),
                scale=parameter("attention_factor") if scaling.get("attention_factor") else
                self._yarn_growth(scaling, factor))
        if kind == "linear":
            return Rope(theta=theta, linear=parameter("factor"))
        if kind == "llama3":
            return Rope(theta=theta, factors=llama3_factors(theta, head_dim, *map(parameter, (
                "factor", "low_freq_factor", "high_freq_factor",
                "original_max_position_embeddings"))))
        return Rope(theta=theta)

    def _yarn_growth(self, scaling, factor):
        """Of cos and sin: of the two scales of latent attention, what scores do not have."""
        if not (scaling.get("mscale") and scaling.get("mscale_all_dim")):
            return yarn_scale(factor)
        return (yarn_scale(factor, self._yarn_real(scaling, "mscale"))
                / yarn_scale(factor, self._yarn_real(scaling, "mscale_all_dim")))

    def _longrope(self, scaling, theta, pairs):
        """Two tables of factors; which of them counts is a matter of the longest sequence."""
        def factors(key):
            values = scaling.get(key)
            if not isinstance(values, list) or len(values) != pairs:
                self._refuse(f"rope scaling 'longrope' with {key}", values,
                             f"a list of {pairs} numbers, one a pair")
            return tuple(float(np.float32(real(self.path, key, value))) for value in values)

        limit = self._integer("max_position_embeddings")
        original = integer(self.path, "original_max_position_embeddings", scaling.get(
            "original_max_position_embeddings")
            or self.raw.get("original_max_position_embeddings") or limit)
        scale = scaling.get("attention_factor")
        if scale is None:
            factor = real(self.path, "factor", scaling.get("factor") or limit / original)
            scale = longrope_scale(factor, original)
        return Rope(theta=theta, factors=factors("short_factor"),
                    long_factors=factors("long_factor"), original=original,
                    scale=real(self.path, "attention_factor", scale))
