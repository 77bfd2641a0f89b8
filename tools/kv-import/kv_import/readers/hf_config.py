"""config.json of a Hugging Face folder, as a ModelConfig."""

import math

import numpy as np

from ..weights import float8
from ..model.checks import integer
from .bitsandbytes import method_of
from .compressed_tensors import check_scheme
from ..model.config import ExpertGroups, Mixture, ModelConfig
from ..model.errors import ImportFailure, NotTaken
from ..model.families import FAMILIES, WRAPPERS
from ..model.hybrid_config import hybrid_mixture, recurrent_settings
from ..model.latent import Latent
from .packed_integers import scheme_of
from ..model.rope import Rope, llama3_factors, longrope_scale, yarn_factors, yarn_scale
from ..model.schema import HuggingFace, checked, shown

# "dynamic" changes nothing up to max_position_embeddings, which is the longest sequence here.
ROPE_KINDS = ("default", "linear", "llama3", "yarn", "longrope", "dynamic")
# By the names of transformers.
ACTIVATIONS = {"silu": "silu", "swish": "silu", "gelu_pytorch_tanh": "gelu_tanh"}


def is_wrapper(raw):
    kind = raw.get("model_type")
    return isinstance(kind, str) and kind in WRAPPERS


def text_model(folder, raw):
    """What config.json says of the model of text: itself, or a part of it."""
    if not is_wrapper(raw):
        return raw
    text = raw.get("text_config")
    if not isinstance(text, dict):
        raise ImportFailure(f"{folder / 'config.json'}: text_config is {shown(text)}; an object is needed")
    outer = {key: raw[key] for key in ("bos_token_id", "eos_token_id") if raw.get(key) is not None}
    # The head is the whole model's.
    tied = raw.get("tie_word_embeddings", text.get("tie_word_embeddings"))
    return {"model_type": WRAPPERS[raw["model_type"]], **outer, **text, "tie_word_embeddings": tied,
            "quantization_config": raw.get("quantization_config") or text.get("quantization_config")}


def read_config(folder, raw):
    """`raw`: the object in the folder's config.json, or the part of it that describes text."""
    return _Reader(folder, raw).config()


class _Reader:
    def __init__(self, folder, raw):
        self.folder, self.path = folder, folder / "config.json"
        kind = raw.get("model_type")
        # First, since other families' keys may have other types.
        if isinstance(kind, str) and kind not in FAMILIES:
            raise NotTaken(f"{self.path}: model_type is {shown(kind)}; supported: "
                           f"{', '.join([*FAMILIES, *WRAPPERS])}", f"{kind} has no importer of its own")
        self.raw = checked(HuggingFace, raw, self.path)
        self.kind = self._value("model_type")
        self.family = FAMILIES[self.kind]
        self.raw = self.family.missing | self.raw
        self.quantised = raw.get("quantization_config")

    def _value(self, key, default=None):
        value = self.raw.get(key, default)
        if value is None:
            raise ImportFailure(f"{self.path}: lacks {key!r}")
        return value

    def _positive(self, key, default=None):
        """Of keys that may also be 0, which says that there is none."""
        return integer(self.path, key, self._value(key, default))

    def _refuse(self, what, found, allowed):
        sentence = f"{self.path}: {what} is {shown(found)}; supported: {allowed}"
        if self.quantised:  # which PyTorch's code needs more packages for
            raise ImportFailure(sentence)
        raise NotTaken(sentence, f"the importer of {self.kind} takes no {what} of {shown(found)}")

    def config(self):
        family = self.family
        activation = self._value(*family.activation)
        if activation not in ACTIVATIONS:
            self._refuse(family.activation[0], activation, "silu, gelu_pytorch_tanh")
        for key in ("mlp_bias", "use_bias", "use_bidirectional_attention", "clip_qkv"):
            if self.raw.get(key):
                self._refuse(key, self.raw[key], "none" if key == "clip_qkv" else "false")
        self._check_quantisation()
        hidden, heads = self._value("hidden_size"), self._value("num_attention_heads")
        latent = self._latent()
        if latent:
            head_dim, rotary = latent.plain + latent.rotary, latent.rotary
        else:
            head_dim = self._value("head_dim", hidden // heads)
            rotary = self._rotary(head_dim)
        mixture = self._mixture_of_family()
        sliding, full_layers = self._sliding()
        return ModelConfig(
            name=self.folder.resolve().name,
            architecture=self.kind,
            layers=self._value("num_hidden_layers"),
            hidden=hidden,
            intermediate=self._value(mixture and family.expert_width or family.intermediate),
            heads=heads,
            kv_heads=1 if latent else self._value("num_key_value_heads", heads),
            head_dim=head_dim,
            rotary=rotary if rotary != head_dim else None,
            vocab=self._value("vocab_size"),
            max_seq=self._value("max_position_embeddings"),
            eps=self._value("rms_norm_eps", 1e-6),
            tied=self._value("tie_word_embeddings", False),
            biases=self._biases(latent),
            qk_norm=family.qk_norm or ("head" if self.raw.get("use_qk_norm") else None),
            norm_after_rope=family.norm_after_rope,
            sinks=family.sinks,
            latent=latent,
            mixture=mixture,
            sliding=sliding,
            full_layers=full_layers,
            norms=family.norms,
            gated_attention=family.gated,
            **({"activation": ACTIVATIONS[activation]} | self._ropes(rotary)
               | self._plain_layers(sliding, full_layers) | self._of_family(hidden)))

    def _check_quantisation(self):
        settings = self.quantised
        if not settings:
            return
        method = method_of(settings) if isinstance(settings, dict) else settings
        if isinstance(settings, dict) and scheme_of(self.path, settings):
            return
        if method == "compressed-tensors":
            check_scheme(self.path, settings)
        elif isinstance(method, str) and method in ("fp8", "modelopt"):
            float8.check_settings(self.path, settings)
        elif method != "bitsandbytes" and (self.kind, method) != ("gpt_oss", "mxfp4"):
            self._refuse("quantization_config", method, "F32, F16 or BF16 weights without one, "
                         "compressed-tensors, gptq, awq, bitsandbytes, fp8, modelopt, and mxfp4 of gpt_oss")

    def _biases(self, latent):
        """Which projections have one."""
        family = self.family
        if latent and self.raw.get("attention_bias"):
            self._refuse("attention_bias", True, "false with latents")
        biases = set(family.biases or (family.biased if self.raw.get("attention_bias") else ()))
        if family.out_bias:
            biases |= {"o_proj"} if self.raw.get(family.out_bias) else set()
        return frozenset(biases)

    def _latent(self):
        """The numbers of attention over latents."""
        if not self.family.latent:
            return None
        return Latent(rank=self._value("kv_lora_rank"), rotary=self._value("qk_rope_head_dim"),
                      plain=self._value("qk_nope_head_dim"), value=self._value("v_head_dim"),
                      query_rank=self.raw.get("q_lora_rank"),
                      interleaved=self.raw.get("rope_interleave", True) is not False)

    def _mixture_of_family(self):
        if self.family.recurrent:
            return hybrid_mixture(self.family.recurrent, self.raw, self._positive, self._refuse)
        if self.family.mixture == "deepseek":
            return self._deepseek_mixture()
        return self._mixture()

    def _mixture(self):
        if not self.family.experts:
            return None
        if self.raw.get("mlp_only_layers"):
            self._refuse("mlp_only_layers", self.raw["mlp_only_layers"], "[]")
        if self.raw.get("decoder_sparse_step", 1) != 1:
            self._refuse("decoder_sparse_step", self.raw["decoder_sparse_step"], "1")
        # transformers 5 calls it num_local_experts everywhere.
        experts = self._positive("num_local_experts", self.raw.get("num_experts"))
        gated = self.family.mixture == "gated"
        normalised = self.family.normalised
        return Mixture(experts=experts, choices=self._positive("num_experts_per_tok"),
                       normalised=bool(self.raw.get("norm_topk_prob")) if normalised is None else normalised,
                       biased=self.kind == "gpt_oss", corrected=self.family.corrected, gated=gated,
                       shared=self._positive("shared_expert_intermediate_size") if gated else None)

    def _of_family(self, hidden):
        """The factors, caps and activations that only some families have."""
        if self.kind == "gpt_oss":
            return {"activation": "clamped_swiglu",
                    "swiglu_alpha": self._value("swiglu_alpha", 1.702),
                    "swiglu_limit": self._value("swiglu_limit", 7.0)}
        if self.family.latent:
            return {"attention_scale": self._latent_scale()}
        more = {}
        if self.family.recurrent:
            more = recurrent_settings(self.family.recurrent, self.raw, self._positive, self._refuse)
        if self.family.scales == "granite":
            return more | {"embedding_scale": self._value("embedding_multiplier", 1.0),
                           "residual_scale": self._value("residual_multiplier", 1.0),
                           "attention_scale": self._value("attention_multiplier", 1.0),
                           "logit_scale": 1 / self._value("logits_scaling", 1.0)}
        if self.family.scales == "gemma":
            scores = self.raw.get("query_pre_attn_scalar", None if self.kind == "gemma" else 256)
            return {"embedding_scale": math.sqrt(hidden),
                    "attention_scale": scores and scores ** -0.5,
                    "attention_cap": self.raw.get("attn_logit_softcapping"),
                    "logit_cap": self.raw.get("final_logit_softcapping")}
        return more

    def _deepseek_mixture(self):
        """Experts in all layers but the first, and an MLP beside them."""
        layers = self._value("num_hidden_layers")
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
        width = self._value("moe_intermediate_size")
        shared = self.raw.get("n_shared_experts")
        return Mixture(experts=self._positive("n_routed_experts"),
                       choices=self._positive("num_experts_per_tok"),
                       normalised=corrected and bool(self.raw.get("norm_topk_prob", True)),
                       corrected=corrected, groups=self._expert_groups(),
                       scale=self._value("routed_scaling_factor", 1.0),
                       shared=shared and width * shared,
                       dense=dense, dense_width=self._value("intermediate_size"))

    def _expert_groups(self):
        """A V2 without groups has the numbers, too."""
        corrected = self.family.corrected
        if not corrected and self.raw.get("topk_method") != "group_limited_greedy":
            return None
        groups = ExpertGroups(count=self._value("n_group"), kept=self._value("topk_group"),
                              best=2 if corrected else 1)
        return groups if groups.count > 1 else None

    def _latent_scale(self):
        """Of scores. Where positions are scaled by mscale_all_dim, so are scores, by its square."""
        latent, scaling = self._latent(), self._found_ropes()
        scale = (latent.plain + latent.rotary) ** -0.5
        if scaling.get("mscale_all_dim"):
            scale *= yarn_scale(self._parameter(scaling, "factor"),
                                scaling["mscale_all_dim"]) ** 2
        return scale

    def _parameter(self, scaling, key):
        if key not in scaling:
            raise ImportFailure(f"{self.path}: rope scaling {scaling.get('rope_type') or scaling.get('type')!r} "
                                f"lacks {key!r}")
        return scaling[key]

    def _sliding(self):
        """The window, and the layers that have none nevertheless."""
        if self.family.recurrent:
            return None, ()
        layers = self._value("num_hidden_layers")
        full = self._full_layers(layers)
        window = self.raw.get("sliding_window")
        windowless = self.family.ropes == "windows only" and window is None
        if full is None and self.family.full_every and not windowless:
            every = self._positive("sliding_window_pattern", self.family.full_every)
            full, window = range(every - 1, layers, every), self._positive("sliding_window")
        if self.family.windows.startswith("asked"):
            if not self.raw.get("use_sliding_window"):
                window = None
            elif full is None and self.family.windows == "asked":
                # The first ones see all.
                full = range(min(self._value("max_window_layers", 28), layers))
        if self.family.windows == "never" or window is None:
            if full is not None and len(full) < layers:
                self._refuse("layer_types", "sliding_attention",
                             "full_attention without a sliding_window")
            return None, ()
        return self._positive("sliding_window"), full or ()

    def _full_layers(self, layers):
        """Those that `layer_types` says see all tokens; None without it."""
        types = self.raw.get("layer_types")
        if types is None:
            return None
        allowed = ("full_attention", "sliding_attention")
        if len(types) != layers:
            self._refuse("layer_types", types, f"a list of {layers} kinds, one a layer")
        for one in types:
            if one not in allowed:
                self._refuse("layer_types", one, ", ".join(allowed))
        return [i for i, one in enumerate(types) if one == "full_attention"]

    def _plain_layers(self, sliding, full_layers):
        """Layers whose queries and keys are not rotated."""
        layers = self._value("num_hidden_layers")
        if self.family.ropes == "windows only" and sliding:
            return {"plain_layers": tuple(full_layers)}
        if self.family.ropes != "listed":
            return {}
        every = self._value("no_rope_layer_interval", 4)
        rotated = self.raw.get("no_rope_layers", [(i + 1) % every != 0 for i in range(layers)])
        if len(rotated) != layers:
            self._refuse("no_rope_layers", rotated, f"a list of {layers} of 0 and 1, one a layer")
        return {"plain_layers": tuple(i for i, each in enumerate(rotated) if not each)}

    def _rotary(self, head_dim):
        """How many elements of a head are rotated."""
        partial = self._found_ropes().get("partial_rotary_factor", self.raw.get("partial_rotary_factor", 1))
        if "rotary_dim" in self.raw:  # of MiniMax M2 as it is published
            partial = self.raw["rotary_dim"] / head_dim
        if partial != 1 and not self.family.partial:
            self._refuse("partial_rotary_factor", partial, "1")
        rotated = int(head_dim * partial)
        if rotated < 2:
            self._refuse("partial_rotary_factor", partial, f"what rotates 2 of {head_dim} elements at least")
        return rotated

    def _found_ropes(self):
        # transformers 5 gathers in rope_parameters what stood in rope_theta and rope_scaling;
        # where layers of two kinds differ, under the name of each kind.
        return self.raw.get("rope_parameters") or self.raw.get("rope_scaling") or {}

    def _ropes(self, head_dim):
        found, family = self._found_ropes(), self.family
        theta = self.raw.get("rope_theta", 10000.0)
        if family.ropes != "by kind":
            rope = self._rope(found, theta, head_dim)
            if family.ropes == "asked" and self.raw.get("position_embedding_type") != "rope":
                # No position embedding: every position is the first one, which turns nothing.
                rope = Rope(theta=10000.0, linear=math.inf)
            return {"rope": rope}
        local = self.raw.get("rope_local_base_freq", 10000.0 if family.scales == "gemma"
                             else found.get("rope_theta", theta))
        of_kinds = {kind: found.get(kind, {}) for kind in ("full_attention", "sliding_attention")}
        if not any(of_kinds.values()):
            of_kinds["full_attention"] = found  # the layers that slide are never scaled
        return {"rope": self._rope(of_kinds["full_attention"], theta, head_dim),
                "sliding_rope": self._rope(of_kinds["sliding_attention"], local, head_dim)}

    def _rope(self, scaling, theta, head_dim):
        """`scaling`: the parameters of one kind of layers; `theta` where they have none."""
        theta = scaling.get("rope_theta", theta)
        kind = scaling.get("rope_type") or scaling.get("type") or "default"
        if not self.family.partial and scaling.get("partial_rotary_factor", 1) != 1:
            self._refuse("partial_rotary_factor", scaling["partial_rotary_factor"], "1")
        if kind not in ROPE_KINDS:
            self._refuse("rope scaling", kind, ", ".join(ROPE_KINDS))

        def parameter(key):
            return self._parameter(scaling, key)

        growth = scaling.get("llama_4_scaling_beta")
        original = scaling.get("original_max_position_embeddings")
        if growth and (original is None or original < self._value("max_position_embeddings")):
            self._refuse("llama_4_scaling_beta", growth, "none, or up to original_max_position_embeddings "
                         f"tokens ({original})")
        if kind == "dynamic" and scaling.get("alpha"):
            if self.kind != "hunyuan_v1_dense":
                self._refuse("rope scaling 'dynamic' with alpha", scaling["alpha"], "none")
            return Rope(theta=theta * scaling["alpha"] ** (head_dim / (head_dim - 2)))
        if kind == "longrope":
            return self._longrope(scaling, theta, head_dim // 2)
        if kind == "yarn":
            return self._yarn(scaling, theta, head_dim)
        if kind == "linear":
            return Rope(theta=theta, linear=parameter("factor"))
        if kind == "llama3":
            if parameter("low_freq_factor") >= parameter("high_freq_factor"):
                self._refuse("high_freq_factor", scaling["high_freq_factor"],
                             f"more than low_freq_factor, {scaling['low_freq_factor']}")
            return Rope(theta=theta, factors=llama3_factors(theta, head_dim, *map(parameter, (
                "factor", "low_freq_factor", "high_freq_factor",
                "original_max_position_embeddings"))))
        return Rope(theta=theta)

    def _yarn(self, scaling, theta, head_dim):
        for key in ("mscale", "mscale_all_dim"):
            if scaling.get(key) and not self.family.yarn_scales:
                self._refuse(f"rope scaling 'yarn' with {key}", scaling[key], "none")
        optional = {key: scaling[key] for key in ("beta_fast", "beta_slow") if key in scaling}
        factor = self._parameter(scaling, "factor")
        return Rope(theta=theta, factors=yarn_factors(
            theta, head_dim, factor, self._parameter(scaling, "original_max_position_embeddings"),
            truncate=scaling.get("truncate", True), **optional),
            scale=scaling.get("attention_factor") or self._yarn_growth(scaling, factor))

    def _yarn_growth(self, scaling, factor):
        """Of cos and sin: of the two scales of latent attention, what scores do not have."""
        if not (scaling.get("mscale") and scaling.get("mscale_all_dim")):
            return yarn_scale(factor)
        return (yarn_scale(factor, scaling["mscale"])
                / yarn_scale(factor, scaling["mscale_all_dim"]))

    def _longrope(self, scaling, theta, pairs):
        """Two tables of factors; which of them counts is a matter of the longest sequence."""
        def factors(key):
            values = scaling.get(key)
            if values is None or len(values) != pairs:
                self._refuse(f"rope scaling 'longrope' with {key}", values,
                             f"a list of {pairs} numbers, one a pair")
            return tuple(float(np.float32(value)) for value in values)

        limit = self._value("max_position_embeddings")
        original = (scaling.get("original_max_position_embeddings")
                    or self.raw.get("original_max_position_embeddings") or limit)
        if original < 2:
            self._refuse("original_max_position_embeddings", original, "2 at least")
        scale = scaling.get("attention_factor")
        if scale is None:
            scale = longrope_scale(scaling.get("factor") or limit / original, original)
        return Rope(theta=theta, factors=factors("short_factor"),
                    long_factors=factors("long_factor"), original=original, scale=scale)
