"""What GGUF files call the tensors of Hugging Face models, and in which order they keep rows."""

import re

GLOBAL_NAMES = {"token_embd.weight": "model.embed_tokens.weight",
                "output_norm.weight": "model.norm.weight",
                "output.weight": "lm_head.weight"}
_PROJECTIONS = {"attn_q": "self_attn.q_proj", "attn_k": "self_attn.k_proj",
                "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
                "attn_q_norm": "self_attn.q_norm", "attn_k_norm": "self_attn.k_norm",
                "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}
_NORMS_BEFORE = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm"}
_NORMS_AFTER = {"post_attention_norm": "post_attention_layernorm",
                "post_ffw_norm": "post_feedforward_layernorm"}
_PLAIN = {**_PROJECTIONS, **_NORMS_BEFORE}

# By general.architecture: the names of a layer's tensors.
NAMES = {
    "qwen3moe": {**_PLAIN, "ffn_gate_inp": "mlp.router", "ffn_gate_exps": "mlp.experts.gate_proj",
                 "ffn_up_exps": "mlp.experts.up_proj", "ffn_down_exps": "mlp.experts.down_proj"},
    "llama": _PLAIN, "qwen2": _PLAIN, "qwen3": _PLAIN, "granite": _PLAIN,
    # Gate and up are one tensor, which has the name of the second.
    "phi3": {"attn_qkv": "self_attn.qkv_proj", "attn_output": "self_attn.o_proj",
             "ffn_up": "mlp.gate_up_proj", "ffn_down": "mlp.down_proj", **_NORMS_BEFORE},
    "olmo2": {**_PROJECTIONS, **_NORMS_AFTER},
    "gemma3": {**_PROJECTIONS, **_NORMS_AFTER, "attn_norm": "input_layernorm",
               "ffn_norm": "pre_feedforward_layernorm"},
}


def hugging_face_name(names, name):
    """blk.3.attn_q.weight -> model.layers.3.self_attn.q_proj.weight; unknown names as they are.
    `names`: those of an architecture."""
    if name in GLOBAL_NAMES:
        return GLOBAL_NAMES[name]
    match = re.fullmatch(r"blk\.(\d+)\.(\w+)\.(weight|bias)", name)
    if match and match[2] in names:
        return f"model.layers.{match[1]}.{names[match[2]]}.{match[3]}"
    return name


def gguf_name(names, name):
    """The inverse, for messages and for the synthetic models."""
    for ours, theirs in GLOBAL_NAMES.items():
        if theirs == name:
            return ours
    match = re.fullmatch(r"model\.layers\.(\d+)\.(.+)\.(weight|bias)", name)
    if match:
        for ours, theirs in names.items():
            if theirs == match[2]:
                return f"blk.{match[1]}.{ours}.{match[3]}"
    return name


def is_permuted(architecture, name):
    """Whether llama.cpp's converter permutes the rows of the weight."""
    return architecture in ("llama", "granite") and (".q_proj." in name or ".k_proj." in name)


def permute_rotary(values, heads):
    """What llama.cpp's converter does to q and k of some architectures: the two halves
    of a head become even and odd rows."""
    head_dim = values.shape[0] // heads
    return values.reshape(heads, 2, head_dim // 2, *values.shape[1:]).swapaxes(1, 2).reshape(
        values.shape)


def unpermute_rotary(values, heads):
    head_dim = values.shape[0] // heads
    return values.reshape(heads, head_dim // 2, 2, *values.shape[1:]).swapaxes(1, 2).reshape(
        values.shape)
