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
    recurrent: str | None = None  # what some layers have in place of attention: "delta" nets, "mamba" (Mamba-2)
    apart: bool = False  # each projection of a layer with a state is a tensor of its own
    gated: bool = False  # as ModelConfig.gated_attention
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
    # What keys mean that config.json lacks, where it is not what hf_config.py takes for most families.
    missing: dict = field(default_factory=dict)
    # Parts of tensors' names in files, by what they are called here.
    names: dict = field(default_factory=dict)


QKV = ("q_proj", "k_proj", "v_proj")
TIED = {"tie_word_embeddings": True}
GEMMA = Family(one_plus=True, activation=("hidden_activation", "gelu_pytorch_tanh"), scales="gemma",
               missing=TIED | {"head_dim": 256})
GRANITE = Family(scales="granite")
GLM = {"partial_rotary_factor": 0.5, "head_dim": 128, "rms_norm_eps": 1.5625e-7, "attention_bias": True}
DEEPSEEK_V3 = Family(latent=True, experts="apart", expert_width="moe_intermediate_size", corrected=True,
                     mixture="deepseek", yarn_scales=True, missing={"routed_scaling_factor": 2.5})
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
                      biases=PROJECTIONS, normalised=True,
                      missing={"head_dim": 64, "rms_norm_eps": 1e-5, "rope_theta": 150000.0}),
    "granite": GRANITE,
    "deepseek_v2": replace(DEEPSEEK_V3, corrected=False, missing={}),
    "deepseek_v3": DEEPSEEK_V3,
    "phi3": Family(windows="always", partial=True, fused=("self_attn.qkv_proj", "mlp.gate_up_proj"),
                   missing={"rms_norm_eps": 1e-5}),
    "olmo2": Family(norms="after", qk_norm="row", missing={"rms_norm_eps": 1e-5}),
    "gemma3_text": replace(GEMMA, norms="around", qk_norm="head", windows="always", full_every=6,
                           ropes="by kind", missing=GEMMA.missing | {"rope_theta": 1000000.0}),
    "qwen3_next": Family(qk_norm="head", one_plus=True, partial=True, recurrent="delta", gated=True,
                         experts="apart", expert_width="moe_intermediate_size",
                         missing={"partial_rotary_factor": 0.25, "head_dim": 256}),
    "granitemoehybrid": Family(recurrent="mamba", ropes="asked", intermediate="shared_intermediate_size",
                               experts="stacked", expert_width="intermediate_size", scales="granite"),
    "bamba": Family(recurrent="mamba", partial=True, missing={
        "partial_rotary_factor": 0.5, "rms_norm_eps": 1e-5}, names={
        "feed_forward": "mlp", "pre_ff_layernorm": "post_attention_layernorm", "final_layernorm": "norm"}),
    "internlm2": Family(fused=("self_attn.qkv_proj",), grouped=True, names={
        "tok_embeddings": "embed_tokens", "attention.wqkv": "self_attn.qkv_proj", "attention.wo": "self_attn.o_proj",
        "feed_forward.w1": "mlp.gate_proj", "feed_forward.w3": "mlp.up_proj", "feed_forward.w2": "mlp.down_proj",
        "attention_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "output": "lm_head"}),
    "internlm3": Family(biased=QKV, missing={"head_dim": 128, "rms_norm_eps": 1e-5}),
    "baichuan": Family(fused=("self_attn.qkv_proj",), unit_head="BaichuanForCausalLM",
                       names={"self_attn.W_pack": "self_attn.qkv_proj"}),
    "kimi_k2": DEEPSEEK_V3,
    "glm4_moe_lite": replace(DEEPSEEK_V3, missing={"routed_scaling_factor": 1.8, "rms_norm_eps": 1e-5}),
    "gemma": GEMMA,
    "gemma2": replace(GEMMA, norms="around", windows="always", full_every=2, missing=GEMMA.missing | {
        "attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}),
    "olmo3": Family(norms="after", qk_norm="row", windows="always", full_every=4, ropes="by kind",
                    missing={"rms_norm_eps": 1e-5, "rope_theta": 500000.0}),
    "olmoe": Family(qk_norm="row", experts="apart", missing={"rms_norm_eps": 1e-5}),
    "ministral": Family(windows="always"),
    "ministral3": Family(windows="always", yarn_scales=True),
    "smollm3": Family(windows="asked for all", ropes="listed", missing=TIED | {"rope_theta": 2000000.0}),
    "seed_oss": Family(biased=QKV, out_bias="attention_out_bias",
                       missing={"head_dim": 128, "attention_bias": True}),
    "ernie4_5": Family(interleaved=True, missing=TIED | {
        "head_dim": 128, "rms_norm_eps": 1e-5, "rope_theta": 500000.0}),
    "helium": Family(interleaved=True, missing={"rms_norm_eps": 1e-8, "rope_theta": 100000.0}),
    "granitemoe": replace(GRANITE, experts="stacked", normalised=True),
    "mixtral": Family(windows="always", experts="apart", normalised=True, names=MIXTRAL_NAMES,
                      missing={"rms_norm_eps": 1e-5, "rope_theta": 1000000.0}),
    "minimax_m2": Family(qk_norm="row", partial=True, experts="apart", normalised=True, corrected=True,
                         missing={"head_dim": 128, "rope_theta": 5000000.0}, names=MIXTRAL_NAMES | {
                             "block_sparse_moe.e_score_correction_bias": "mlp.gate.e_score_correction_bias"}),
    "glm": Family(partial=True, interleaved=True, biased=QKV, fused=("mlp.gate_up_proj",), missing=GLM),
    "glm4": Family(partial=True, interleaved=True, biased=QKV, fused=("mlp.gate_up_proj",), norms="around",
                   missing=GLM, names={"post_self_attn_layernorm": "post_attention_layernorm",
                          "post_attention_layernorm": "pre_feedforward_layernorm",
                          "post_mlp_layernorm": "post_feedforward_layernorm"}),
    "glm4_moe": Family(partial=True, biased=QKV, experts="apart", expert_width="moe_intermediate_size",
                       corrected=True, mixture="deepseek", missing={
                           "partial_rotary_factor": 0.5, "rms_norm_eps": 1e-5}),
    "dots1": Family(qk_norm="head", windows="asked for all", experts="apart", corrected=True,
                    expert_width="moe_intermediate_size", mixture="deepseek"),
    "qwen2_moe": Family(windows="asked", biases=QKV, experts="apart", mixture="gated",
                        expert_width="moe_intermediate_size",
                        names={"mlp.shared_expert": "mlp.shared_experts"}),
    "exaone4": Family(norms="after", qk_norm="head", windows="always", full_every=4, ropes="windows only",
                      missing={"rms_norm_eps": 1e-5}),
    "hunyuan_v1_dense": Family(qk_norm="head", norm_after_rope=True,
                               missing={"head_dim": 128, "rms_norm_eps": 1e-5},
                               names={"query_layernorm": "q_norm", "key_layernorm": "k_norm"}),
}
FAMILIES["qwen3_vl_text"] = replace(FAMILIES["qwen3"], missing={"rope_theta": 500000.0})
FAMILIES["qwen3_5_text"] = replace(FAMILIES["qwen3_next"], apart=True)
FAMILIES["qwen3_5_moe_text"] = replace(FAMILIES["qwen3_5_text"], experts="joined")

# Models of text and more, by what the text's model is called where text_config does not say. Text alone is
# taken; tensors with other names than LANGUAGE has are left out.
WRAPPERS = {"gemma3": "gemma3_text", "mistral3": "mistral", "qwen3_vl": "qwen3_vl_text", "qwen3_5": "qwen3_5_text",
            "qwen3_5_moe": "qwen3_5_moe_text", "llava": "llama", "llava_next": "llama"}
# What stands before the names of a wrapper's tensors of text, and what stands there here.
LANGUAGE = {"model.language_model.": "model.", "language_model.model.": "model.",
            "language_model.lm_head.": "lm_head.", "lm_head.": "lm_head."}
