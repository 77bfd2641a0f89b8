"""What all models of one family have in common, whatever their files say."""

from dataclasses import dataclass


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
    fused: bool = False  # q, k and v are one tensor of the file, gate and up another
    experts: str | None = None  # how a folder stores them: a key of expert_tensors.FORMS
    intermediate: str = "intermediate_size"  # the key of the MLP's or an expert's width
    expert_width: str | None = None  # that of an expert's, where the MLP's is another
    sinks: bool = False  # as ModelConfig.sinks
    one_plus: bool = False  # norms multiply by 1 + their weight
    tied: bool = False  # what a config.json without tie_word_embeddings means
    recurrent: bool = False  # some layers have states in place of attention
    gated: bool = False  # as ModelConfig.gated_attention
    head_dim: int | None = None  # without head_dim; None: the width over the heads
    latent: bool = False  # attention over latents
    corrected: bool = False  # as Mixture.corrected


# By `model_type` of config.json.
FAMILIES = {
    "llama": Family(),
    "mistral": Family(windows="always"),
    "qwen2": Family(windows="asked", biases=("q_proj", "k_proj", "v_proj")),
    "qwen3": Family(windows="asked", qk_norm="head"),
    "qwen3_moe": Family(windows="asked for all", qk_norm="head", experts="apart",
                        intermediate="moe_intermediate_size"),
    "gpt_oss": Family(windows="always", full_every=2, sinks=True, experts="interleaved",
                      biases=("q_proj", "k_proj", "v_proj", "o_proj"), head_dim=64),
    "granite": Family(),
    "deepseek_v2": Family(latent=True, experts="apart", expert_width="moe_intermediate_size"),
    "deepseek_v3": Family(latent=True, experts="apart", expert_width="moe_intermediate_size",
                          corrected=True),
    "phi3": Family(windows="always", partial=True, fused=True),
    "olmo2": Family(norms="after", qk_norm="row"),
    "gemma3_text": Family(norms="around", qk_norm="head", one_plus=True, windows="always",
                          full_every=6, activation=("hidden_activation", "gelu_pytorch_tanh"),
                          tied=True, head_dim=256),
    "qwen3_next": Family(qk_norm="head", one_plus=True, partial=True, recurrent=True, gated=True,
                         experts="apart", expert_width="moe_intermediate_size"),
    "granitemoehybrid": Family(recurrent=True, intermediate="shared_intermediate_size",
                               experts="stacked", expert_width="intermediate_size"),
}
