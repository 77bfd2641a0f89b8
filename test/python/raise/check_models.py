"""Every supported family against Hugging Face transformers, in f32, on random small weights of
the family's real configuration. Run by scripts/check-models.sh, in an environment with PyTorch.

A family passes when the logits of every prompt position, computed in chunks, are within LIMIT of
transformers' relative to the largest, with equal argmax, and when every token that is decoded
after the prompts is the argmax of transformers' logits."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
import transformers

ROOT = Path(__file__).resolve().parents[3]
LIMIT = 1e-4  # a slightly wrong gelu is beyond it
LENGTHS = (1, 7, 64, 150)  # windows are of 24 to 48 tokens, a chunk of 40, a page of 16
DECODED = 12
COMMON = dict(vocab_size=320, max_position_embeddings=512, pad_token_id=0, bos_token_id=1,
              eos_token_id=2)
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64, "rope_theta": 500000.0}
LONGROPE = {"rope_type": "longrope", "rope_theta": 10000.0, "partial_rotary_factor": 0.75,
            "short_factor": [1 + i / 32 for i in range(12)],
            "long_factor": [1 + i * i / 4 for i in range(12)]}
# Options of the import.
OPTIONS = {"phi3_short": ("--max-seq", "256")}

# Name -> (transformers' configuration, its settings). The ratios of heads are of released models.
MODELS = {
    # Llama 3.2 3B.
    "llama": ("LlamaConfig", dict(
        hidden_size=96, intermediate_size=256, num_hidden_layers=3, num_attention_heads=6,
        num_key_value_heads=2, rope_parameters=LLAMA3, tie_word_embeddings=True)),
    # Mistral 7B.
    "mistral": ("MistralConfig", dict(
        hidden_size=128, intermediate_size=224, num_hidden_layers=3, num_attention_heads=8,
        num_key_value_heads=2, sliding_window=32)),
    # Qwen 2.5 0.5B.
    "qwen2": ("Qwen2Config", dict(
        hidden_size=112, intermediate_size=304, num_hidden_layers=3, num_attention_heads=7,
        num_key_value_heads=1, tie_word_embeddings=True)),
    # Windows in all layers but the first.
    "qwen2_sliding": ("Qwen2Config", dict(
        hidden_size=64, intermediate_size=176, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, use_sliding_window=True, sliding_window=24, max_window_layers=1)),
    # Qwen 3 0.6B: heads wider than the model.
    "qwen3": ("Qwen3Config", dict(
        hidden_size=64, intermediate_size=192, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, tie_word_embeddings=True)),
    # Qwen 3 30B-A3B: each token goes through 8 experts of 128, here 4 of 16.
    "qwen3_moe": ("Qwen3MoeConfig", dict(
        hidden_size=64, moe_intermediate_size=48, num_hidden_layers=3, num_attention_heads=8,
        num_key_value_heads=1, head_dim=32, num_experts=16, num_experts_per_tok=4,
        norm_topk_prob=True)),
    # Shares that do not add up to 1; windows.
    "qwen3_moe_shares": ("Qwen3MoeConfig", dict(
        hidden_size=96, moe_intermediate_size=32, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, num_experts=9, num_experts_per_tok=3,
        norm_topk_prob=False, use_sliding_window=True, sliding_window=24, max_window_layers=1)),
    # gpt-oss 20b: heads wider than the model, eight to a KV head, scaled positions, a limit that
    # numbers of this size reach.
    "gpt_oss": ("GptOssConfig", dict(
        hidden_size=96, intermediate_size=96, num_hidden_layers=4, num_attention_heads=16,
        num_key_value_heads=2, head_dim=32, num_local_experts=8, num_experts_per_tok=4,
        sliding_window=24, swiglu_limit=2.0, rope_parameters={
            "rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0, "beta_slow": 1.0,
            "truncate": False, "original_max_position_embeddings": 64, "rope_theta": 150000.0})),
    # Qwen 2.5 with the scaling that its model card recommends.
    "qwen2_yarn": ("Qwen2Config", dict(
        hidden_size=128, intermediate_size=304, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, rope_parameters={
            "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128,
            "rope_theta": 1000000.0})),
    # DeepSeek-V2-Lite and DeepSeek-V3 without their experts; the latter with scaled positions.
    "deepseek_v2": ("DeepseekV2Config", dict(
        hidden_size=128, intermediate_size=224, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=4, q_lora_rank=None, kv_lora_rank=64, qk_rope_head_dim=32,
        qk_nope_head_dim=48, v_head_dim=40, first_k_dense_replace=3)),
    # DeepSeek-V2-Lite: one layer without experts, two MLPs' width beside them.
    "deepseek_v2_experts": ("DeepseekV2Config", dict(
        hidden_size=96, intermediate_size=224, moe_intermediate_size=48, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=4, q_lora_rank=None, kv_lora_rank=64,
        qk_rope_head_dim=32, qk_nope_head_dim=48, v_head_dim=40, first_k_dense_replace=1,
        n_routed_experts=16, num_experts_per_tok=4, n_shared_experts=2, routed_scaling_factor=1.5,
        topk_method="greedy", norm_topk_prob=False)),
    "deepseek_v3": ("DeepseekV3Config", dict(
        hidden_size=96, intermediate_size=256, num_hidden_layers=3, num_attention_heads=6,
        num_key_value_heads=6, q_lora_rank=80, kv_lora_rank=128, qk_rope_head_dim=64,
        qk_nope_head_dim=32, v_head_dim=48, first_k_dense_replace=3, rope_parameters={
            "rope_type": "yarn", "factor": 40.0, "mscale": 1.0, "mscale_all_dim": 1.0,
            "beta_fast": 32.0, "beta_slow": 1.0, "original_max_position_embeddings": 64,
            "rope_theta": 10000.0})),
    # The same with experts: of two of four groups, chosen by corrected scores.
    "deepseek_v3_experts": ("DeepseekV3Config", dict(
        hidden_size=96, intermediate_size=224, moe_intermediate_size=48, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=4, q_lora_rank=80, kv_lora_rank=64,
        qk_rope_head_dim=32, qk_nope_head_dim=48, v_head_dim=40, first_k_dense_replace=1,
        n_routed_experts=16, num_experts_per_tok=4, n_shared_experts=1, n_group=4, topk_group=2,
        routed_scaling_factor=2.5, norm_topk_prob=True, num_nextn_predict_layers=1)),
    # DeepSeek-V2: the best groups.
    "deepseek_v2_groups": ("DeepseekV2Config", dict(
        hidden_size=96, intermediate_size=224, moe_intermediate_size=48, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=4, q_lora_rank=48, kv_lora_rank=64,
        qk_rope_head_dim=32, qk_nope_head_dim=48, v_head_dim=40, first_k_dense_replace=1,
        n_routed_experts=16, num_experts_per_tok=4, n_shared_experts=2, n_group=4, topk_group=2,
        routed_scaling_factor=16.0, topk_method="group_limited_greedy", norm_topk_prob=False)),
    # Granite 3.x 2B.
    "granite": ("GraniteConfig", dict(
        hidden_size=128, intermediate_size=512, num_hidden_layers=4, num_attention_heads=8,
        num_key_value_heads=2, embedding_multiplier=12.0, attention_multiplier=0.015625,
        residual_multiplier=0.22, logits_scaling=8.0, tie_word_embeddings=True)),
    # Granite 4.0 H Micro: Mamba-2 beside attention without positions, no experts; here two groups.
    "granite_hybrid": ("GraniteMoeHybridConfig", dict(
        hidden_size=96, intermediate_size=256, shared_intermediate_size=256, num_hidden_layers=5,
        num_attention_heads=4, num_key_value_heads=2, num_local_experts=0, num_experts_per_tok=0,
        layer_types=["mamba", "mamba", "attention", "mamba", "mamba"], mamba_n_heads=12,
        mamba_d_head=16, mamba_n_groups=2, mamba_d_state=24, position_embedding_type="nope",
        embedding_multiplier=12.0, attention_multiplier=0.04, residual_multiplier=0.22,
        logits_scaling=8.0, tie_word_embeddings=True)),
    # The same with positions, and states of one group.
    "granite_hybrid_rope": ("GraniteMoeHybridConfig", dict(
        hidden_size=64, intermediate_size=192, shared_intermediate_size=192, num_hidden_layers=3,
        num_attention_heads=4, num_key_value_heads=4, num_local_experts=0, num_experts_per_tok=0,
        layer_types=["mamba", "attention", "mamba"], mamba_n_heads=8, mamba_d_head="auto",
        mamba_n_groups=1, mamba_d_state=32, position_embedding_type="rope")),
    # Qwen 3 Next with dense layers: two value heads to a key head, a quarter of a head rotated.
    "qwen3_next": ("Qwen3NextConfig", dict(
        hidden_size=96, intermediate_size=256, num_hidden_layers=5, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, num_experts=0, mlp_only_layers=[0, 1, 2, 3, 4],
        linear_num_key_heads=4, linear_num_value_heads=8, linear_key_head_dim=16,
        linear_value_head_dim=24, layer_types=["linear_attention", "linear_attention",
                                               "full_attention", "linear_attention",
                                               "full_attention"])),
    # As they are released: experts, and one more MLP that all rows share, Qwen's by a gate.
    "qwen3_next_experts": ("Qwen3NextConfig", dict(
        hidden_size=96, moe_intermediate_size=48, shared_expert_intermediate_size=64,
        num_hidden_layers=4, num_attention_heads=4, num_key_value_heads=2, head_dim=32,
        num_experts=16, num_experts_per_tok=4, norm_topk_prob=True, linear_num_key_heads=2,
        linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=24,
        layer_types=["linear_attention", "linear_attention", "linear_attention",
                     "full_attention"])),
    "granite_hybrid_experts": ("GraniteMoeHybridConfig", dict(
        hidden_size=96, intermediate_size=48, shared_intermediate_size=112, num_hidden_layers=4,
        num_attention_heads=4, num_key_value_heads=2, num_local_experts=12, num_experts_per_tok=4,
        layer_types=["mamba", "mamba", "attention", "mamba"], mamba_n_heads=12,
        mamba_d_head=16, mamba_n_groups=1, mamba_d_state=24, position_embedding_type="nope",
        embedding_multiplier=12.0, attention_multiplier=0.04, residual_multiplier=0.22,
        logits_scaling=6.0, tie_word_embeddings=True)),
    # Phi-3 mini: as many KV heads as heads; and Phi-3 medium: a quarter.
    "phi3": ("Phi3Config", dict(
        hidden_size=96, intermediate_size=256, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=4, sliding_window=31, original_max_position_embeddings=512)),
    "phi3_grouped": ("Phi3Config", dict(
        hidden_size=128, intermediate_size=448, num_hidden_layers=2, num_attention_heads=8,
        num_key_value_heads=2, sliding_window=48, original_max_position_embeddings=512)),
    # Phi-4 mini: three quarters of a head are rotated, with factors for long sequences; imported
    # for short ones, and for long ones, which all passes here are then.
    "phi3_short": ("Phi3Config", dict(
        hidden_size=128, intermediate_size=352, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, partial_rotary_factor=0.75, original_max_position_embeddings=256,
        rope_parameters=dict(LONGROPE, original_max_position_embeddings=256))),
    "phi3_long": ("Phi3Config", dict(
        hidden_size=128, intermediate_size=352, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, partial_rotary_factor=0.75, original_max_position_embeddings=8,
        rope_parameters=dict(LONGROPE, original_max_position_embeddings=8))),
    # OLMo 2 7B, and 32B with grouped heads.
    "olmo2": ("Olmo2Config", dict(
        hidden_size=128, intermediate_size=352, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=4, rope_theta=500000.0, rms_norm_eps=1e-6)),
    "olmo2_grouped": ("Olmo2Config", dict(
        hidden_size=80, intermediate_size=432, num_hidden_layers=2, num_attention_heads=5,
        num_key_value_heads=1, rope_theta=500000.0, rms_norm_eps=1e-6)),
    # Gemma 3 1B: one KV head, every sixth layer full, heads wider than the model.
    "gemma3": ("Gemma3TextConfig", dict(
        hidden_size=96, intermediate_size=576, num_hidden_layers=7, num_attention_heads=4,
        num_key_value_heads=1, head_dim=32, sliding_window=24, query_pre_attn_scalar=32)),
    # The same with what 4B to 27B have (scaled positions of the full layers, a scale of scores
    # of its own) and a cap of the logits.
    "gemma3_scaled": ("Gemma3TextConfig", dict(
        hidden_size=80, intermediate_size=320, num_hidden_layers=4, num_attention_heads=4,
        num_key_value_heads=2, head_dim=32, sliding_window=24, query_pre_attn_scalar=20,
        final_logit_softcapping=10.0,
        layer_types=["sliding_attention", "full_attention", "sliding_attention",
                     "full_attention"],
        rope_parameters={
            "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1000000.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}})),
}

# Families that a name, or little more, separates from those above.
SMALL = dict(hidden_size=96, intermediate_size=160, num_hidden_layers=4, num_attention_heads=4,
             num_key_value_heads=2)
EXPERTS = dict(SMALL, moe_intermediate_size=48, num_experts_per_tok=3)
LATENTS = dict(SMALL, num_key_value_heads=4, q_lora_rank=48, kv_lora_rank=64, qk_rope_head_dim=32,
               qk_nope_head_dim=48, v_head_dim=40, moe_intermediate_size=48, first_k_dense_replace=1,
               n_routed_experts=8, num_experts_per_tok=3, n_shared_experts=1, n_group=1, topk_group=1)
GROUPS = dict(EXPERTS, n_routed_experts=8, n_shared_experts=1, first_k_dense_replace=1, n_group=2,
              topk_group=1, routed_scaling_factor=1.5)
WINDOWS = dict(SMALL, sliding_window=24)
MODELS |= {
    "gemma": ("GemmaConfig", dict(SMALL, head_dim=32)),
    "gemma2": ("Gemma2Config", dict(WINDOWS, head_dim=32, query_pre_attn_scalar=20)),
    "olmo3": ("Olmo3Config", dict(WINDOWS, rope_theta=500000.0)),
    "olmoe": ("OlmoeConfig", dict(SMALL, num_attention_heads=6, num_key_value_heads=2, num_experts=8,
                                  num_experts_per_tok=3, norm_topk_prob=False)),
    "ministral": ("MinistralConfig", dict(WINDOWS, head_dim=32, layer_types=[
        "sliding_attention", "full_attention"] * 2)),
    "ministral3": ("Ministral3Config", dict(SMALL, head_dim=32, rope_parameters={
        "rope_type": "yarn", "rope_theta": 1000000.0, "factor": 4.0, "beta_fast": 32.0, "beta_slow": 1.0,
        "mscale": 1.0, "mscale_all_dim": 1.0, "original_max_position_embeddings": 512,
        "llama_4_scaling_beta": 0.1})),
    "smollm3": ("SmolLM3Config", dict(SMALL, no_rope_layer_interval=2)),
    "seed_oss": ("SeedOssConfig", dict(SMALL, head_dim=32, attention_bias=True, attention_out_bias=False)),
    "ernie4_5": ("Ernie4_5Config", dict(SMALL, head_dim=32)),
    "helium": ("HeliumConfig", dict(SMALL, head_dim=24)),
    "granitemoe": ("GraniteMoeConfig", dict(
        SMALL, num_local_experts=8, num_experts_per_tok=3, embedding_multiplier=12.0,
        attention_multiplier=0.06, residual_multiplier=0.22, logits_scaling=6.0)),
    "mixtral": ("MixtralConfig", dict(SMALL, num_local_experts=8, num_experts_per_tok=2)),
    "minimax_m2": ("MiniMaxM2Config", dict(SMALL, head_dim=32, num_local_experts=8, num_experts_per_tok=3,
                                           partial_rotary_factor=0.5)),
    "glm": ("GlmConfig", dict(SMALL, head_dim=24, attention_bias=True)),
    "glm4": ("Glm4Config", dict(SMALL, head_dim=24, attention_bias=True)),
    "glm4_moe": ("Glm4MoeConfig", dict(GROUPS, head_dim=32, attention_bias=True)),
    "glm4_moe_normalised": ("Glm4MoeConfig", dict(GROUPS, head_dim=32, use_qk_norm=True)),
    "dots1": ("Dots1Config", dict(GROUPS, head_dim=32, norm_topk_prob=True)),
    "qwen2_moe": ("Qwen2MoeConfig", dict(EXPERTS, num_experts=8, shared_expert_intermediate_size=80)),
    "exaone4": ("Exaone4Config", dict(WINDOWS, sliding_window_pattern=4)),
    "exaone4_small": ("Exaone4Config", dict(
        SMALL, sliding_window=None, layer_types=["full_attention"] * 4)),
    "hunyuan_v1_dense": ("HunYuanDenseV1Config", dict(SMALL, head_dim=24)),
    # As it is published, and a scaling that begins after the longest sequence.
    "hunyuan_alpha": ("HunYuanDenseV1Config", dict(SMALL, head_dim=24, rope_parameters={
        "rope_type": "dynamic", "rope_theta": 10000.0, "alpha": 1000.0, "factor": 1.0})),
    "llama_dynamic": ("LlamaConfig", dict(SMALL, rope_parameters={
        "rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0})),
    "glm4_moe_lite": ("Glm4MoeLiteConfig", LATENTS),
    "kimi_k2": ("DeepseekV3Config", LATENTS),
    "qwen3_5": ("Qwen3_5TextConfig", dict(
        SMALL, head_dim=32, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16,
        linear_value_head_dim=24)),
    "qwen3_5_moe": ("Qwen3_5MoeTextConfig", dict(
        EXPERTS, head_dim=32, num_experts=8, shared_expert_intermediate_size=80, linear_num_key_heads=2,
        linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=24)),
    "qwen3_5_wrapper": ("Qwen3_5Config", dict(text_config=dict(
        COMMON, **SMALL, head_dim=32, linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16,
        linear_value_head_dim=24, model_type="qwen3_5_text"))),
    "qwen3_5_moe_wrapper": ("Qwen3_5MoeConfig", dict(text_config=dict(
        COMMON, **EXPERTS, head_dim=32, num_experts=8, shared_expert_intermediate_size=80,
        linear_num_key_heads=2, linear_num_value_heads=4, linear_key_head_dim=16, linear_value_head_dim=24,
        model_type="qwen3_5_moe_text"))),
    # Models of text and more, of which text is taken.
    "gemma3_wrapper": ("Gemma3Config", dict(text_config=dict(
        COMMON, **WINDOWS, head_dim=32, query_pre_attn_scalar=32, model_type="gemma3_text"))),
    "mistral3": ("Mistral3Config", dict(text_config=dict(COMMON, **SMALL, head_dim=32, model_type="mistral"))),
    "qwen3_vl": ("Qwen3VLConfig", dict(text_config=dict(
        COMMON, **SMALL, head_dim=32, model_type="qwen3_vl_text"))),
    "llava": ("LlavaConfig", dict(text_config=dict(COMMON, **SMALL, model_type="llama"))),
}
# config.json of a published model that has another name than transformers' class of the same numbers.
NAMES = {"kimi_k2": "kimi_k2"}


def embedding_scale(config):
    if config.model_type.startswith("gemma"):
        return config.hidden_size ** 0.5
    return getattr(config, "embedding_multiplier", 1)


def is_of_text(name):
    return not any(part in name for part in ("visual", "vision_tower", "multi_modal_projector"))


def make(name, folder, kind, settings):
    """A folder that transformers has written, and its model."""
    config = getattr(transformers, kind)(**{**COMMON, **settings})
    config._attn_implementation = "eager"
    torch.manual_seed(5)
    kinds = transformers.AutoModelForImageTextToText if "text_config" in settings else \
        transformers.AutoModelForCausalLM
    model = kinds.from_config(config, dtype=torch.float32).eval()
    random = torch.Generator().manual_seed(9)
    with torch.no_grad():
        for parameter_name, parameter in model.named_parameters():
            values = torch.randn(parameter.shape, generator=random)
            if "norm" in parameter_name or ".ln_" in parameter_name:
                parameter += 0.2 * values
            elif not is_of_text(parameter_name):
                continue
            elif parameter_name.endswith(".bias"):
                # Of many layers' sums they must not outweigh what follows from the tokens.
                parameter.copy_(0.1 * values)
            elif parameter.dim() == 1 or "bias" in parameter_name:
                parameter.copy_(0.5 * values)
            elif "embed_tokens" in parameter_name:
                # After its scale as large as what a layer adds, so that layers decide.
                parameter.copy_(values / (4 * embedding_scale(config.get_text_config())))
            else:
                parameter.copy_(values * 1.5 / parameter.shape[1] ** 0.5)
    model.save_pretrained(folder)
    if name in NAMES:
        path = Path(folder) / "config.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"model_type": NAMES[name]}))
    return model


def wanted(model, tokens):
    """f32 [T, vocab]: the logits of all positions, in one forward pass without a cache."""
    with torch.no_grad():
        return model(torch.tensor([tokens]), use_cache=False).logits[0].numpy()


def program(name):
    return os.environ.get(name.upper().replace("-", "_"), ROOT / "build/release/bin" / name)


class Failed(Exception):
    """What a program said when it failed."""


def ran(command, **options):
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=600, **options)
    if done.returncode != 0:
        raise Failed(f"{Path(command[0]).name} failed: {(done.stderr + done.stdout)[:2000]}")
    return done.stdout


def imported(folder, out, *options):
    """What the importer says, in its own environment, as users run it."""
    return ran([ROOT / ".venv/bin/python", ROOT / "tools/kv-import/kv-import", folder, "-o", out, "--dtype", "f32",
                *options])


def compiled(out):
    ran([program("kv-compile"), out / "model.mlir", "-o", out / "model.so"])


def ours(out, prompts, vocab):
    """The logits of every prompt position, and the tokens decoded after each prompt."""
    requests = "".join(json.dumps({"id": str(i), "tokens": prompt, "max_new_tokens": DECODED}) +
                       "\n" for i, prompt in enumerate(prompts))
    answers = ran([program("kv-run"), out / "model.so", "--weights", out / "weights.safetensors",
                   "--dump-logits", out / "logits", "--threads", "2", "--max-batch-tokens", "40"],
                  input=requests)
    rows = np.fromfile(out / "logits", dtype=np.float32).reshape(-1, vocab)
    lines = [json.loads(line) for line in answers.splitlines()]
    decoded = [[line["token"] for line in lines if line.get("id") == str(i) and "token" in line]
               for i in range(len(prompts))]
    return rows, decoded


def prompts_of(model):
    """(Prompts, the number of tokens that there are)."""
    random = np.random.default_rng(3)
    vocab = model.config.get_text_config().vocab_size
    return [random.integers(3, vocab, length).tolist() for length in LENGTHS], vocab


def compared(model, prompts, rows, decoded):
    """What is equal: {gap, rows, argmax, tokens, decoded}, and whether the family passes."""
    # One forward pass over prompt and answer gives both: a row depends on the past alone.
    passes = [wanted(model, prompt + answer) for prompt, answer in zip(prompts, decoded)]
    expected = np.concatenate([p[:length] for p, length in zip(passes, LENGTHS)])
    if rows.shape != expected.shape or any(len(answer) != DECODED for answer in decoded):
        raise Failed(f"{rows.shape} logits and {[len(a) for a in decoded]} tokens")
    found = {"gap": float(np.abs(rows - expected).max() / np.abs(expected).max()), "rows": len(rows),
             "argmax": int((rows.argmax(1) == expected.argmax(1)).sum()), "tokens": DECODED * len(LENGTHS),
             "decoded": sum(int(p[length - 1 + i].argmax() == token)
                            for p, length, answer in zip(passes, LENGTHS, decoded)
                            for i, token in enumerate(answer))}
    spread = float(expected.std() / np.abs(expected).max())
    return found, (found["gap"] < LIMIT and found["argmax"] == len(rows) and found["decoded"] == found["tokens"]
                   and spread > 0.05 and len(set(rows.argmax(1).tolist())) > 20)


def check(name):
    """One sentence, and whether the family passes."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        model, out = make(name, folder, *MODELS[name]), folder / "imported"
        prompts, vocab = prompts_of(model)
        imported(folder, out, "--page", "16", "--no-tokenizer", *OPTIONS.get(name, ()))
        compiled(out)
        found, passed = compared(model, prompts, *ours(out, prompts, vocab))
    return ("largest difference {gap:.1e} of the largest logit, argmax of {argmax} of {rows} prompt rows and "
            "{decoded} of {tokens} decoded tokens".format(**found)), passed


def main():
    transformers.utils.logging.disable_progress_bar()
    names = sys.argv[1:] or list(MODELS)
    unknown = [name for name in names if name not in MODELS]
    if unknown:
        sys.exit(f"check-models: {unknown[0]!r} is none of {', '.join(MODELS)}")
    failed = []
    for name in names:
        try:
            sentence, passed = check(name)
        except Failed as failure:
            sentence, passed = str(failure), False
        print(f"{name}: {'pass' if passed else 'FAIL'}: {sentence}", flush=True)
        if not passed:
            failed.append(name)
    if failed:
        sys.exit(f"check-models: {', '.join(failed)} differ from transformers "
                 f"{transformers.__version__}")
    print(f"check-models: {len(names)} models agree with transformers {transformers.__version__}")


if __name__ == "__main__":
    main()
