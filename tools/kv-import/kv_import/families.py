"""What all models of one family have in common, whatever their files say."""

from dataclasses import dataclass, field, replace

from .config import PROJECTIONS


@dataclass(frozen=True)
class Family:
    norms: str = "before"  # as ModelConfig.norms
    qk_norm: str | None = None  # as ModelConfig.qk_norm
    biases: tuple = ()  # projections that always have one
    # The key of the activation's name in config.json, and the name where the key is missing.
    activation: tuple = ("hidden_act", "silu")
    # Layers see a window of sliding_window tokens: "never", "always", or, where use_sliding_window
    # is true, those from max_window_layers on ("asked") or every one ("asked for all").
    windows: str = "never"
    full_every: int | None = None  # every n-th layer sees all where layer_types is missing
    partial: bool = False  # partial_rotary_factor says how much of a head is rotated
    fused: tuple = ()  # tensors of the file that hold several weights: keys of fused.PARTS
    grouped: bool = False  # that of queries, keys and values: one KV head after the other, its queries first
    unit_head: str | None = None  # the class (of architectures) whose rows of the head are divided by their lengths
    experts: str | None = None  # how a folder stores them: a key of expert_tensors.FORMS
    intermediate: str = "intermediate_size"  # the key of the MLP's or an expert's width
    expert_width: str | None = None  # that of an expert's, where the MLP's is another
    sinks: bool = False  # as ModelConfig.sinks
    one_plus: bool = False  # norms multiply by 1 + their weight
    tied: bool = False  # what a config.json without tie_word_embeddings means
    recurrent: str | None = None  # what some layers have in place of attention: "delta" nets, "mamba" (Mamba-2)
    apart: bool = False  # each projection of a layer with a state is a tensor of its own
    gated: bool = False  # as ModelConfig.gated_attention
    head_dim: int | None = None  # without head_dim; None: the width over the heads
    latent: bool = False  # attention over latents
    corrected: bool = False  # as Mixture.corrected
    # What attention_bias gives a bias, and the key that gives one to the projection of what comes out.
    biased: tuple = PROJECTIONS
    out_bias: str | None = None
    # Layers' rotations: "one" for all; "by kind", of layers that slide and of others; "windows only": where
    # some slide, the others have none; "listed": no_rope_layers says which have one; "asked": none unless
    # position_embedding_type is "rope".
    ropes: str = "one"
    yarn_scales: bool = False  # "yarn" has mscale and mscale_all_dim
    interleaved: bool = False  # elements 2i and 2i + 1 of a head turn together, not i and i + half
    norm_after_rope: bool = False  # as ModelConfig.norm_after_rope
    mixture: str = "plain"  # how config.json describes experts: "plain", "gated" or "deepseek"
    normalised: bool | None = None  # as Mixture.normalised; None: norm_topk_prob says
    scales: str | None = None  # what else is scaled: "granite", "gemma"
    # Parts of tensors' names in files, by what they are called here.
    names: dict = field(default_factory=dict)


QKV = ("q_proj", "k_proj", "v_proj")
GEMMA = Family(one_plus=True, activation=("hidden_activation", "gelu_pytorch_tanh"), tied=True, head_dim=256,
               scales="gemma")
GRANITE = Family(scales="granite")
DEEPSEEK_V3 = Family(latent=True, experts="apart", expert_width="moe_intermediate_size", corrected=True,
                     mixture="deepseek", yarn_scales=True)
MIXTRAL_NAMES = {"block_sparse_moe.gate": "mlp.gate", "block_sparse_moe.experts": "mlp.experts",
                 "w1": "gate_proj", "w3": "up_proj", "w2": "down_proj"}

# By `model_type` of config.json.
FAMILIES = {
    "llama": Family(),
    "mistral": Family(windows="always"),
    "qwen2": Family(windows="asked", biases=QKV),
    "qwen3": Family(windows="asked", qk_norm="head"),
    "qwen3_moe": Family(windows="asked for all", qk_norm="head", experts="apart",
                        intermediate="moe_intermediate_size"),
    "gpt_oss": Family(windows="always", full_every=2, sinks=True, experts="interleaved",
                      biases=PROJECTIONS, head_dim=64, normalised=True),
    "granite": GRANITE,
    "deepseek_v2": replace(DEEPSEEK_V3, corrected=False),
    "deepseek_v3": DEEPSEEK_V3,
    "phi3": Family(windows="always", partial=True, fused=("self_attn.qkv_proj", "mlp.gate_up_proj")),
    "olmo2": Family(norms="after", qk_norm="row"),
    "gemma3_text": replace(GEMMA, norms="around", qk_norm="head", windows="always", full_every=6,
                           ropes="by kind"),
    "qwen3_next": Family(qk_norm="head", one_plus=True, partial=True, recurrent="delta", gated=True,
                         experts="apart", expert_width="moe_intermediate_size"),
    "granitemoehybrid": Family(recurrent="mamba", ropes="asked", intermediate="shared_intermediate_size",
                               experts="stacked", expert_width="intermediate_size", scales="granite"),
    "bamba": Family(recurrent="mamba", partial=True, names={
        "feed_forward": "mlp", "pre_ff_layernorm": "post_attention_layernorm", "final_layernorm": "norm"}),
    "internlm2": Family(fused=("self_attn.qkv_proj",), grouped=True, names={
        "tok_embeddings": "embed_tokens", "attention.wqkv": "self_attn.qkv_proj", "attention.wo": "self_attn.o_proj",
        "feed_forward.w1": "mlp.gate_proj", "feed_forward.w3": "mlp.up_proj", "feed_forward.w2": "mlp.down_proj",
        "attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "output": "lm_head"}),
    "internlm3": Family(biased=QKV, head_dim=128),
    "baichuan": Family(fused=("self_attn.qkv_proj",), unit_head="BaichuanForCausalLM",
                       names={"self_attn.W_pack": "self_attn.qkv_proj"}),
    "kimi_k2": DEEPSEEK_V3,
    "glm4_moe_lite": DEEPSEEK_V3,
    "gemma": GEMMA,
    "gemma2": replace(GEMMA, norms="around", windows="always", full_every=2),
    "olmo3": Family(norms="after", qk_norm="row", windows="always", full_every=4, ropes="by kind"),
    "olmoe": Family(qk_norm="row", experts="apart"),
    "ministral": Family(windows="always"),
    "ministral3": Family(windows="always", yarn_scales=True),
    "smollm3": Family(windows="asked for all", ropes="listed", tied=True),
    "seed_oss": Family(biased=QKV, out_bias="attention_out_bias", head_dim=128),
    "ernie4_5": Family(interleaved=True, tied=True),
    "helium": Family(interleaved=True),
    "granitemoe": replace(GRANITE, experts="stacked", normalised=True),
    "mixtral": Family(windows="always", experts="apart", normalised=True, names=MIXTRAL_NAMES),
    "minimax_m2": Family(qk_norm="row", partial=True, experts="apart", normalised=True, corrected=True,
                         names=MIXTRAL_NAMES | {"block_sparse_moe.e_score_correction_bias":
                                                "mlp.gate.e_score_correction_bias"}),
    "glm": Family(partial=True, interleaved=True, biased=QKV, fused=("mlp.gate_up_proj",), head_dim=128),
    "glm4": Family(partial=True, interleaved=True, biased=QKV, fused=("mlp.gate_up_proj",), norms="around",
                   names={"post_self_attn_layernorm": "post_attention_layernorm",
                          "post_attention_layernorm": "pre_feedforward_layernorm",
                          "post_mlp_layernorm": "post_feedforward_layernorm"}, head_dim=128),
    "glm4_moe": Family(partial=True, biased=QKV, experts="apart", expert_width="moe_intermediate_size",
                       corrected=True, mixture="deepseek"),
    "dots1": Family(qk_norm="head", windows="asked for all", experts="apart", corrected=True,
                    expert_width="moe_intermediate_size", mixture="deepseek"),
    "qwen2_moe": Family(windows="asked", biases=QKV, experts="apart", mixture="gated",
                        expert_width="moe_intermediate_size",
                        names={"mlp.shared_expert": "mlp.shared_experts"}),
    "exaone4": Family(norms="after", qk_norm="head", windows="always", ropes="windows only"),
    "hunyuan_v1_dense": Family(qk_norm="head", norm_after_rope=True, head_dim=128,
                               names={"query_layernorm": "q_norm", "key_layernorm": "k_norm"}),
}
FAMILIES["qwen3_vl_text"] = FAMILIES["qwen3"]
FAMILIES["qwen3_5_text"] = replace(FAMILIES["qwen3_next"], apart=True)
FAMILIES["qwen3_5_moe_text"] = replace(FAMILIES["qwen3_5_text"], experts="joined")

# Models of text and more, by what the text's model is called where text_config does not say. Text alone is
# taken; tensors with other names than LANGUAGE has are left out.
WRAPPERS = {"gemma3": "gemma3_text", "mistral3": "mistral", "qwen3_vl": "qwen3_vl_text", "qwen3_5": "qwen3_5_text",
            "qwen3_5_moe": "qwen3_5_moe_text", "llava": "llama", "llava_next": "llama"}
# What stands before the names of a wrapper's tensors of text, and what stands there here.
LANGUAGE = {"model.language_model.": "model.", "language_model.model.": "model.",
            "language_model.lm_head.": "lm_head.", "lm_head.": "lm_head."}
