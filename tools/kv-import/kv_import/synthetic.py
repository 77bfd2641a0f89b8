"""Small models with seeded random weights, as a Hugging Face folder or a GGUF file.

    python -m kv_import.synthetic --kind llama|qwen3|gemma3|... --hf DIR --gguf FILE

Both forms of one seed hold the same weights, all representable in bf16: --dtype f32 and bf16
differ in the cache only. The vocabulary is the 256 bytes, 15 special tokens and one merge."""

import argparse
import dataclasses
import json
import math
from pathlib import Path

import numpy as np

import gguf

from .model import latent
from . import synthetic_experts
from .model.config import ExpertGroups, Mixture, ModelConfig, Recurrent
from .model.families import FAMILIES
from .weights.fused import stored_name
from .model.latent import Latent
from .readers.gguf_names import NAMES, gguf_name, is_permuted, permute_rotary
from .readers.hybrid_tensors import HybridTensors
from .model.rope import Rope, llama3_factors, longrope_scale, yarn_factors, yarn_scale
from .weights.weights_writer import round_to_bf16, write_safetensors

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"] + [f"<|special_{i}|>" for i in range(12)]
MERGED = "ĠĠ"  # two spaces: a GGUF file cannot hold an empty list of merges
TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + "
            "message['content'] + '<|im_end|>' + '\n' }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}")
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}
LATENT_YARN = {"rope_type": "yarn", "factor": 8.0, "mscale": 1.0, "mscale_all_dim": 0.7,
               "beta_fast": 32.0, "beta_slow": 1.0, "original_max_position_embeddings": 64}
YARN = {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "truncate": False, "original_max_position_embeddings": 64}

KINDS = {
    "llama": {},
    # An untied head, rope scaling.
    "llama3": {"architecture": "llama", "tied": False, "rope": Rope(
        theta=500000.0, factors=llama3_factors(500000.0, 16, 8.0, 1.0, 4.0, 64))},
    "qwen2": {"biases": frozenset(("q_proj", "k_proj", "v_proj")), "eps": 1e-6},
    # Head dimension independent of the width.
    "qwen3": {"qk_norm": "head", "head_dim": 32, "eps": 1e-6, "rope": Rope(theta=1000000.0)},
    "qwen3_moe": {"qk_norm": "head", "head_dim": 32, "eps": 1e-6, "intermediate": 48,
                  "tied": False, "rope": Rope(theta=1000000.0),
                  "mixture": Mixture(experts=8, choices=3, normalised=True)},
    # Every second layer sees everything; biases everywhere.
    "gpt_oss": {"sliding": 24, "full_layers": frozenset((1, 3)), "layers": 4, "intermediate": 48,
                "biases": frozenset(("q_proj", "k_proj", "v_proj", "o_proj")), "sinks": True,
                "tied": False, "activation": "clamped_swiglu", "swiglu_alpha": 1.702,
                "swiglu_limit": 2.0,
                "mixture": Mixture(experts=6, choices=2, normalised=True, biased=True),
                "rope": Rope(theta=150000.0, scale=yarn_scale(32.0), factors=yarn_factors(
                    150000.0, 16, 32.0, 64, truncate=False))},
    "mistral": {"sliding": 32, "tied": False, "heads": 8, "head_dim": 8},
    # Six layers that see a window, and among them two that see everything.
    "mixed": {"architecture": "qwen3", "qk_norm": "head", "eps": 1e-6, "layers": 8,
              "sliding": 24, "full_layers": frozenset((2, 5))},
    "granite": {"embedding_scale": 12.0, "residual_scale": 0.22, "attention_scale": 0.0625,
                "logit_scale": 0.125},
    "phi3": {"sliding": 40, "tied": False},
    # Twelve of sixteen elements are rotated, by factors for more than 64 positions.
    "phi3_long": {"architecture": "phi3", "sliding": 40, "tied": False, "rotary": 12, "rope": Rope(
        theta=10000.0, factors=(1.0, 1.0, 1.0, 1.25, 1.5, 2.0),
        long_factors=(1.0, 1.5, 2.0, 4.0, 16.0, 32.0), original=64,
        scale=longrope_scale(8.0, 64))},
    # Attention over latents; queries from a latent of their own, scaled positions.
    "deepseek_v2": {"latent": Latent(rank=128, rotary=64, plain=32, value=48), "head_dim": 96,
                    "kv_heads": 1, "rotary": 64, "tied": False, "attention_scale": 96 ** -0.5},
    # Layers with experts behind one without, and an MLP that all rows share.
    "deepseek_v2_experts": {
        "architecture": "deepseek_v2", "latent": Latent(rank=128, rotary=64, plain=32, value=48),
        "head_dim": 96, "kv_heads": 1, "rotary": 64, "tied": False, "attention_scale": 96 ** -0.5,
        "layers": 3, "intermediate": 48, "mixture": Mixture(
            experts=8, choices=3, normalised=False, scale=2.5, shared=96, dense=1,
            dense_width=128, groups=ExpertGroups(count=4, kept=2, best=1))},
    # The same with as many in two of four groups, chosen by corrected scores.
    "deepseek_v3_experts": {
        "architecture": "deepseek_v3", "eps": 1e-6, "head_dim": 96, "kv_heads": 1, "rotary": 64,
        "latent": Latent(rank=128, rotary=64, plain=32, value=48, query_rank=48),
        "tied": False, "attention_scale": 96 ** -0.5, "layers": 3, "intermediate": 48,
        "mixture": Mixture(experts=16, choices=3, normalised=True, scale=2.5, shared=48, dense=1,
                           dense_width=128, groups=ExpertGroups(count=4, kept=2, best=2),
                           corrected=True)},
    "deepseek_v3": {"latent": Latent(rank=128, rotary=64, plain=32, value=48, query_rank=48),
                    "head_dim": 96, "kv_heads": 1, "rotary": 64, "tied": False, "eps": 1e-6,
                    "attention_scale": 96 ** -0.5 * yarn_scale(8.0, 0.7) ** 2,
                    "rope": Rope(theta=10000.0, factors=yarn_factors(10000.0, 64, 8.0, 64),
                                 scale=yarn_scale(8.0) / yarn_scale(8.0, 0.7))},
    # Queries are wider than keys, and both are normalised whole.
    "olmo2": {"norms": "after", "qk_norm": "row", "tied": False, "eps": 1e-6},
    # Every sixth layer sees everything.
    "gemma3": {"architecture": "gemma3_text", "layers": 7, "kv_heads": 1, "head_dim": 32,
               "eps": 1e-6, "qk_norm": "head", "norms": "around", "activation": "gelu_tanh",
               "embedding_scale": 8.0, "attention_scale": 32 ** -0.5, "sliding": 24,
               "full_layers": frozenset((5,)), "rope": Rope(theta=1000000.0),
               "sliding_rope": Rope(theta=10000.0)},
}
# Three delta nets to one attention; two value heads to a key head; a quarter of a head is rotated.
KINDS["qwen3_next"] = {
    "layers": 4, "head_dim": 32, "rotary": 8, "qk_norm": "head", "eps": 1e-6, "tied": False,
    "gated_attention": True, "recurrent": Recurrent(
        delta=True, layers=(0, 1, 2), kernel=4, key_heads=2, key_dim=8, value_heads=4,
        value_dim=16)}
# Mamba-2 with two groups, and attention without positions. The embedding counts for less than in
# released models, so that the layers decide on tokens.
KINDS["granite_hybrid"] = {
    **KINDS["granite"], "architecture": "granitemoehybrid", "layers": 4, "tied": False,
    "embedding_scale": 2.0, "residual_scale": 0.7,
    "rope": Rope(theta=10000.0, linear=math.inf), "recurrent": Recurrent(
        delta=False, layers=(0, 2, 3), kernel=4, key_heads=2, key_dim=16, value_heads=8,
        value_dim=16)}
# The same with experts, as they are released: Qwen 3 Next, Granite 4 Tiny and Small.
KINDS["qwen3_next_experts"] = {
    **KINDS["qwen3_next"], "architecture": "qwen3_next", "intermediate": 48, "mixture": Mixture(
        experts=8, choices=3, normalised=True, shared=32, gated=True)}
KINDS["granite_hybrid_experts"] = {
    **KINDS["granite_hybrid"], "intermediate": 48, "mixture": Mixture(
        experts=8, choices=3, normalised=True, shared=96)}
# What no released Gemma 3 has at once: both caps, a scale of scores that is not that of the
# heads, layers of both kinds in another order, scaled positions.
KINDS["gemma3_caps"] = {**KINDS["gemma3"], "layers": 3, "full_layers": frozenset((1,)),
                        "attention_scale": 48 ** -0.5, "attention_cap": 2.0, "logit_cap": 3.0,
                        "rope": Rope(theta=1000000.0, linear=8.0)}


def make_config(kind="llama", **changes):
    base = ModelConfig(
        name=f"tiny-{kind}", architecture=kind, layers=2, hidden=64, intermediate=128, heads=4,
        kv_heads=2, head_dim=16, vocab=272, max_seq=512, eps=1e-5, rope=Rope(theta=10000.0),
        tied=True)
    return dataclasses.replace(base, **{**KINDS[kind], **changes})


def make_weights(config, seed=0):
    """Name -> f32 array with bf16 values, in the Hugging Face form."""
    random = np.random.default_rng(seed)
    family = FAMILIES[config.architecture]
    out = {}
    for weight in config.weights():
        if weight.role == "table":
            continue
        values = random.standard_normal(weight.shape)
        if weight.role == "vector" and "norm" in weight.name:
            values = 0.2 * values + (0 if family.one_plus else 1)
        elif weight.role == "vector":
            values = 0.5 * values
        elif weight.name != "model.embed_tokens.weight":
            values = values * (0.5 if weight.name.endswith("bias")
                               else 1.5 / np.sqrt(weight.shape[1]))
        out[weight.name] = (round_to_bf16(values.astype(np.float32)).astype(np.uint32)
                            << 16).view(np.float32)
    if config.latent:
        out = latent.join(config, out)
    if config.recurrent:
        out = HybridTensors(config).stored(out)
    if config.mixture:
        return synthetic_experts.FORMS[family.experts](config, out)
    return fuse(out, family.fused)


def fuse(weights, wholes):
    """Those that one tensor of a file holds together, in its order: q, k, v; gate, up."""
    parts = {}
    for name, values in weights.items():
        parts.setdefault(stored_name(name, wholes), []).append(values)
    return {name: np.concatenate(values) for name, values in parts.items()}


def _byte_alphabet():
    """The printable character that byte-level BPE uses for each byte (GPT-2)."""
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [b for b in range(256) if b not in kept]
    table = {b: chr(b) for b in kept} | {b: chr(256 + i) for i, b in enumerate(others)}
    return [table[b] for b in range(256)]


def tokens():
    return [*_byte_alphabet(), *SPECIAL, MERGED]


CLASSES = {"llama": "Llama", "mistral": "Mistral", "qwen2": "Qwen2", "qwen3": "Qwen3",
           "qwen3_moe": "Qwen3Moe", "gpt_oss": "GptOss",
           "deepseek_v2": "DeepseekV2", "deepseek_v3": "DeepseekV3",
           "granite": "Granite", "phi3": "Phi3", "olmo2": "Olmo2", "gemma3_text": "Gemma3",
           "qwen3_next": "Qwen3Next", "granitemoehybrid": "GraniteMoeHybrid"}


def _common_settings(config):
    return {"architectures": [f"{CLASSES.get(config.architecture)}ForCausalLM"],
            "model_type": config.architecture,
            "hidden_size": config.hidden, "intermediate_size": config.intermediate,
            "num_hidden_layers": config.layers, "num_attention_heads": config.heads,
            "num_key_value_heads": config.kv_heads, "head_dim": config.head_dim,
            "vocab_size": config.vocab, "max_position_embeddings": config.max_seq,
            "rms_norm_eps": config.eps, "rope_theta": config.rope.theta, "hidden_act": "silu",
            "tie_word_embeddings": config.tied, "bos_token_id": 257, "eos_token_id": 258,
            "sliding_window": config.sliding, "torch_dtype": "bfloat16",
            "use_sliding_window": True if config.full_layers else None,
            "layer_types": ["full_attention" if i in config.full_layers else "sliding_attention"
                            for i in range(config.layers)] if config.full_layers else None,
            "attention_bias": "o_proj" in config.biases,
            "rope_scaling": LLAMA3 if config.rope.factors else None}


def _latent_experts(config):
    mixture = config.mixture
    if not mixture:
        return {"n_routed_experts": 4, "first_k_dense_replace": config.layers}
    return {"n_routed_experts": mixture.experts, "first_k_dense_replace": mixture.dense,
            "num_experts_per_tok": mixture.choices, "intermediate_size": mixture.dense_width,
            "moe_intermediate_size": config.intermediate,
            "n_shared_experts": mixture.shared // config.intermediate,
            "routed_scaling_factor": mixture.scale, "norm_topk_prob": mixture.normalised,
            **_choice_settings(mixture)}


def _choice_settings(mixture):
    """How DeepSeek's routers choose."""
    if not mixture.groups:
        return {"topk_method": "greedy"}
    method = ({"topk_method": "noaux_tc", "scoring_func": "sigmoid"} if mixture.corrected
              else {"topk_method": "group_limited_greedy"})
    return method | {"n_group": mixture.groups.count, "topk_group": mixture.groups.kept}


def _family_settings(config):
    """Entries of config.json that other families lack, or call otherwise."""
    if config.architecture in ("granite", "granitemoehybrid"):
        return {"embedding_multiplier": config.embedding_scale,
                "residual_multiplier": config.residual_scale,
                "attention_multiplier": config.attention_scale,
                "logits_scaling": 1 / config.logit_scale,
                **(_mamba_settings(config) if config.recurrent else {})}
    if it := config.latent:
        return {"kv_lora_rank": it.rank, "qk_rope_head_dim": it.rotary, "q_lora_rank": it.query_rank,
                "qk_nope_head_dim": it.plain, "v_head_dim": it.value, "head_dim": it.rotary,
                "num_key_value_heads": config.heads, **_latent_experts(config),
                "rope_scaling": LATENT_YARN if config.rope.factors else None}
    if config.architecture == "qwen3_next":
        r = config.recurrent
        return {"num_experts": 0, "mlp_only_layers": [], "decoder_sparse_step": 1,
                **_gated_experts(config),
                "partial_rotary_factor": config.rotary_dim / config.head_dim,
                "layer_types": ["linear_attention" if config.is_recurrent(i) else "full_attention"
                                for i in range(config.layers)],
                "linear_conv_kernel_dim": r.kernel, "linear_num_key_heads": r.key_heads,
                "linear_key_head_dim": r.key_dim, "linear_num_value_heads": r.value_heads,
                "linear_value_head_dim": r.value_dim}
    if config.architecture == "qwen3_moe":
        return {"num_experts": config.mixture.experts, "intermediate_size": 4 * config.hidden,
                "moe_intermediate_size": config.intermediate, "decoder_sparse_step": 1,
                "num_experts_per_tok": config.mixture.choices, "mlp_only_layers": [],
                "norm_topk_prob": config.mixture.normalised}
    if config.architecture == "gpt_oss":
        return {"num_local_experts": config.mixture.experts, "rope_scaling": YARN,
                "num_experts_per_tok": config.mixture.choices, "use_sliding_window": None,
                "swiglu_alpha": config.swiglu_alpha, "swiglu_limit": config.swiglu_limit}
    if config.architecture == "phi3":
        rope = config.rope
        return {"original_max_position_embeddings": rope.original or config.max_seq,
                "pad_token_id": 0, "partial_rotary_factor": config.rotary_dim / config.head_dim,
                "rope_scaling": {"type": "longrope", "short_factor": list(rope.factors),
                                 "long_factor": list(rope.long_factors)}
                if rope.long_factors else None}
    if config.architecture == "gemma3_text":
        scaling = {"rope_type": "linear", "factor": config.rope.linear}
        return {"hidden_act": None, "hidden_activation": "gelu_pytorch_tanh",
                "use_sliding_window": None, "rope_local_base_freq": config.sliding_rope.theta,
                "query_pre_attn_scalar": round(config.attention_scale ** -2),
                "attn_logit_softcapping": config.attention_cap,
                "final_logit_softcapping": config.logit_cap,
                "rope_scaling": scaling if config.rope.linear != 1 else None}
    return {}


def _gated_experts(config):
    if not (mixture := config.mixture):
        return {}
    return {"num_experts": mixture.experts, "num_experts_per_tok": mixture.choices,
            "moe_intermediate_size": config.intermediate,
            "shared_expert_intermediate_size": mixture.shared,
            "norm_topk_prob": mixture.normalised}


def _mamba_settings(config):
    r, mixture = config.recurrent, config.mixture
    return {"num_local_experts": mixture.experts if mixture else 0,
            "num_experts_per_tok": mixture.choices if mixture else 0,
            "shared_intermediate_size": mixture.shared if mixture else config.intermediate,
            "position_embedding_type": "nope", "mamba_n_heads": r.value_heads,
            "mamba_d_head": r.value_dim, "mamba_n_groups": r.key_heads,
            "mamba_d_state": r.key_dim, "mamba_d_conv": r.kernel,
            "mamba_expand": r.inner // config.hidden, "mamba_conv_bias": True,
            "mamba_proj_bias": False,
            "layer_types": ["mamba" if config.is_recurrent(i) else "attention"
                            for i in range(config.layers)]}


def write_hf(folder, config, weights, dtype="BF16", settings=None):
    """`settings` override entries of config.json (None removes one)."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    raw = {**_common_settings(config), **_family_settings(config)}
    raw.update(settings or {})
    (folder / "config.json").write_text(
        json.dumps({k: v for k, v in raw.items() if v is not None}, indent=2) + "\n")
    convert = {"BF16": round_to_bf16, "F32": np.float32, "F16": np.float16}[dtype]
    # Bytes of the last ones are floats of 8 bits.
    integers = {np.dtype(np.uint8): "U8", np.dtype(np.int8): "I8",
                **{np.dtype([(tag, np.uint8)]): tag for tag in ("F8_E4M3", "F8_E5M2")}}
    data = [values if values.dtype in integers else convert(values) for values in weights.values()]
    write_safetensors(folder / "model.safetensors", {"format": "pt"},
                      {name: (integers.get(values.dtype, dtype), values.shape, values.nbytes)
                       for name, values in zip(weights, data)}, data)
    vocab = {token: i for i, token in enumerate(tokens())}
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=[("Ġ", "Ġ")]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False)
                                  for t in SPECIAL])
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps(
        {"chat_template": TEMPLATE, "bos_token": "<|im_start|>", "eos_token": "<|im_end|>"},
        indent=2) + "\n")
    (folder / "generation_config.json").write_text('{"eos_token_id": [258, 256]}\n')


def write_gguf(path, config, weights, dtype="BF16", extra=None):
    """As llama.cpp's converter would: its names, and q and k of llama permuted.
    `extra` is called with the writer before it closes."""
    family = FAMILIES.get(config.architecture)
    every = family.full_every if family else None
    pattern = frozenset(range(every - 1, config.layers, every)) if every else frozenset()
    if frozenset(config.full_layers) != pattern:
        raise ValueError("no key of a GGUF file says which layers of these architectures slide")
    # llama.cpp has no architecture of its own for Mistral.
    architecture = {"mistral": "llama", "gemma3_text": "gemma3", "qwen3_moe": "qwen3moe"}.get(
        config.architecture, config.architecture)
    writer = gguf.GGUFWriter(str(path), architecture)
    writer.add_name(config.name)
    writer.add_block_count(config.layers)
    writer.add_context_length(config.max_seq)
    writer.add_embedding_length(config.hidden)
    writer.add_feed_forward_length(config.intermediate)
    writer.add_head_count(config.heads)
    writer.add_head_count_kv(config.kv_heads)
    writer.add_key_length(config.head_dim)
    writer.add_value_length(config.head_dim)
    writer.add_rope_dimension_count(config.rotary_dim)
    writer.add_rope_freq_base(config.rope.theta)
    writer.add_layer_norm_rms_eps(config.eps)
    writer.add_vocab_size(config.vocab)
    if config.mixture:
        writer.add_expert_count(config.mixture.experts)
        writer.add_expert_used_count(config.mixture.choices)
        writer.add_expert_feed_forward_length(config.intermediate)
        weights = synthetic_experts.stacked(weights)
    if config.sliding:
        writer.add_sliding_window(config.sliding)
    if architecture == "granite":
        writer.add_embedding_scale(config.embedding_scale)
        writer.add_residual_scale(config.residual_scale)
        writer.add_attention_scale(config.attention_scale)
        writer.add_logit_scale(1 / config.logit_scale)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list(tokens())
    writer.add_token_types([1] * 256 + [3] * len(SPECIAL) + [1])
    writer.add_token_merges(["Ġ Ġ"])
    writer.add_bos_token_id(257)
    writer.add_eos_token_id(258)
    writer.add_add_bos_token(False)
    writer.add_chat_template(TEMPLATE)
    if config.rope.long_factors:
        writer.add_rope_scaling_orig_ctx_len(config.rope.original)
        writer.add_rope_scaling_attn_factors(config.rope.scale)
        for kind, factors in (("long", config.rope.long_factors), ("short", config.rope.factors)):
            writer.add_tensor(f"rope_factors_{kind}.weight", np.array(factors, dtype=np.float32))
    elif config.rope.factors:
        writer.add_tensor("rope_freqs.weight", np.array(config.rope.factors, dtype=np.float32))
    names = NAMES.get(architecture, NAMES["llama"])
    for name, values in weights.items():
        if is_permuted(architecture, name):
            values = permute_rotary(values, config.heads if ".q_proj." in name
                                    else config.kv_heads)
        if family and family.one_plus and name.endswith("norm.weight"):
            values = values + np.float32(1)
        values = np.ascontiguousarray(values)
        if values.ndim == 1 or dtype == "F32" or ".router." in name:
            writer.add_tensor(gguf_name(names, name), values)
        else:
            kind = gguf.GGMLQuantizationType[dtype]
            writer.add_tensor(gguf_name(names, name), gguf.quantize(values, kind), raw_dtype=kind)
    if extra:
        extra(writer)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(prog="python -m kv_import.synthetic", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", default="llama",
                        choices=tuple(KINDS))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--hf", metavar="DIR")
    parser.add_argument("--gguf", metavar="FILE")
    options = parser.parse_args()
    config = make_config(options.kind)
    weights = make_weights(config, options.seed)
    if options.hf:
        write_hf(options.hf, config, weights)
    if options.gguf:
        write_gguf(options.gguf, config, weights)


if __name__ == "__main__":
    main()
