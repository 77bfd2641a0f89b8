"""The architectures of Hugging Face transformers that scripts/check-models.sh --record runs, each as a small
random model: name -> (what people call it, transformers' configuration, its settings). A row of the families
that check_models.py has takes its model from there."""

import json

import torch
from check_models import COMMON, EXPERTS, LATENTS, MODELS, SMALL, WINDOWS
from safetensors.torch import load_file, save_file

FAMILIES = {
    "llama": "Llama 3",
    "qwen2": "Qwen 2, Qwen 2.5",
    "qwen3": "Qwen 3",
    "qwen3_moe": "Qwen 3 MoE",
    "qwen3_next_experts": "Qwen 3 Next",
    "gemma3": "Gemma 3, text (1B)",
    "phi3": "Phi-3, Phi-4",
    "mistral": "Mistral",
    "deepseek_v2_experts": "DeepSeek V2",
    "deepseek_v3_experts": "DeepSeek V3",
    "olmo2": "OLMo 2",
    "granite": "Granite 3",
    "granite_hybrid_experts": "Granite 4 hybrid",
    "gpt_oss": "gpt-oss",
    "qwen2_moe": "Qwen 2 MoE",
    "mixtral": "Mixtral",
    "olmo3": "OLMo 3",
    "olmoe": "OLMoE",
    "granitemoe": "Granite MoE",
    "minimax_m2": "MiniMax M2",
    "hunyuan_v1_dense": "Hunyuan, dense",
    "ernie4_5": "ERNIE 4.5",
    "glm": "GLM-4 (9B)",
    "glm4": "GLM-4-0414",
    "smollm3": "SmolLM3",
    "ministral": "Ministral",
    "ministral3": "Ministral 3",
    "exaone4": "EXAONE 4",
    "seed_oss": "Seed-OSS",
    "gemma": "Gemma 1",
    "gemma2": "Gemma 2",
    "gemma3_wrapper": "Gemma 3 (4B and more)",
    "glm4_moe": "GLM-4.5 (MoE)",
    "dots1": "dots.llm1",
    "helium": "Helium",
    "mistral3": "Mistral Small 3.x",
    "qwen3_vl": "Qwen3-VL",
    "glm4_moe_lite": "GLM-4.7-Flash",
    "kimi_k2": "Kimi K2",
    "qwen3_5": "Qwen 3.5, text",
    "qwen3_5_moe": "Qwen 3.5 MoE, text",
    "qwen3_5_wrapper": "Qwen 3.5",
}

LLAMA4 = dict(SMALL, head_dim=32, intermediate_size_mlp=160, attention_chunk_size=32, floor_scale=64,
              layer_types=["chunked_attention", "chunked_attention", "chunked_attention", "full_attention"])
# Of models with a state: Mamba-2 as Bamba names its numbers.
MAMBA = dict(SMALL, mamba_n_heads=12, mamba_d_head=16, mamba_n_groups=1, mamba_d_state=24, mamba_expand=2,
             mamba_chunk_size=32)
GPT2 = dict(n_embd=96, n_layer=3, n_head=4, n_positions=512)

OTHERS = {
    "yi": ("Yi (llama)", "LlamaConfig", dict(SMALL, rope_theta=5000000.0)),
    "llama4_dense": ("Llama 4, dense", "Llama4TextConfig", dict(LLAMA4, moe_layers=[])),
    "llama4": ("Llama 4 with experts", "Llama4TextConfig", dict(LLAMA4, num_local_experts=4, num_experts_per_tok=1)),
    "olmo": ("OLMo 1", "OlmoConfig", SMALL),
    "hunyuan_v1_moe": ("Hunyuan, MoE", "HunYuanMoEV1Config", dict(SMALL, head_dim=24, num_experts=8, moe_topk=3)),
    "ernie4_5_moe": ("ERNIE 4.5 MoE", "Ernie4_5_MoeConfig", dict(
        SMALL, moe_intermediate_size=48, moe_num_experts=8, moe_k=3, moe_num_shared_experts=2)),
    "arcee": ("Arcee (AFM)", "ArceeConfig", dict(SMALL, head_dim=24)),
    "nemotron": ("Nemotron (Minitron)", "NemotronConfig", dict(SMALL, head_dim=24)),
    "cohere": ("Command-R", "CohereConfig", SMALL),
    "cohere2": ("Command-A", "Cohere2Config", dict(WINDOWS, head_dim=24, layer_types=[
        "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"])),
    "stablelm": ("StableLM", "StableLmConfig", SMALL),
    "starcoder2": ("StarCoder2", "Starcoder2Config", SMALL),
    "gpt2": ("GPT-2", "GPT2Config", GPT2),
    "gptj": ("GPT-J", "GPTJConfig", dict(GPT2, rotary_dim=8)),
    "gpt_neox": ("GPT-NeoX, Pythia", "GPTNeoXConfig", dict(
        hidden_size=96, intermediate_size=160, num_hidden_layers=3, num_attention_heads=4)),
    "opt": ("OPT", "OPTConfig", dict(
        hidden_size=96, ffn_dim=160, num_hidden_layers=3, num_attention_heads=4, word_embed_proj_dim=96)),
    "bloom": ("BLOOM", "BloomConfig", dict(hidden_size=96, n_layer=3, n_head=4)),
    "mpt": ("MPT", "MptConfig", dict(d_model=96, n_heads=4, n_layers=3, max_seq_len=512, expansion_ratio=2)),
    "phi": ("Phi-2", "PhiConfig", dict(SMALL, num_key_value_heads=4)),
    "falcon": ("Falcon 7B", "FalconConfig", dict(
        hidden_size=96, ffn_hidden_size=160, num_hidden_layers=3, num_attention_heads=4)),
    "gpt_bigcode": ("GPT-BigCode (StarCoder)", "GPTBigCodeConfig", GPT2),
    "gemma3n": ("Gemma 3n", "Gemma3nTextConfig", dict(
        WINDOWS, head_dim=32, num_hidden_layers=5, intermediate_size=[160] * 5, vocab_size_per_layer_input=320,
        hidden_size_per_layer_input=16, num_kv_shared_layers=0, laurel_rank=8,
        activation_sparsity_pattern=[0.9, 0.0, 0.0, 0.0, 0.0], layer_types=[
            "sliding_attention", "sliding_attention", "full_attention", "sliding_attention", "full_attention"])),
    "gemma4": ("Gemma 4", "Gemma4TextConfig", dict(
        WINDOWS, head_dim=32, num_hidden_layers=4, vocab_size_per_layer_input=320, hidden_size_per_layer_input=16,
        layer_types=["sliding_attention", "sliding_attention", "sliding_attention", "full_attention"])),
    "apertus": ("Apertus", "ApertusConfig", SMALL),
    "lfm2": ("LFM2", "Lfm2Config", dict(SMALL, block_auto_adjust_ff_dim=False, layer_types=[
        "conv", "conv", "full_attention", "conv"])),
    "falcon_h1": ("Falcon H1", "FalconH1Config", dict(
        MAMBA, mamba_d_ssm=192, mamba_rms_norm=True, mamba_norm_before_gate=False, embedding_multiplier=2.0)),
    "bamba": ("Bamba", "BambaConfig", dict(MAMBA, attn_layer_indices=[2])),
    "mamba2": ("Mamba 2", "Mamba2Config", dict(
        hidden_size=96, num_heads=12, head_dim=16, state_size=24, num_hidden_layers=3, n_groups=1, chunk_size=32)),
    "nemotron_h": ("Nemotron-H", "NemotronHConfig", dict(
        SMALL, head_dim=32, layers_block_type=["mamba", "mlp", "attention", "mlp"], ssm_state_size=24,
        mamba_num_heads=12, mamba_head_dim=16, n_groups=2, chunk_size=32)),
    "phimoe": ("Phi-3.5 MoE", "PhimoeConfig", dict(SMALL, num_local_experts=8, num_experts_per_tok=2)),
    "deepseek_v32": ("DeepSeek V3.2", "DeepseekV32Config", dict(
        LATENTS, num_hidden_layers=4, index_topk=16, index_head_dim=48, index_n_heads=2)),
    "deepseek_v4": ("DeepSeek V4", "DeepseekV4Config", dict(
        SMALL, num_hidden_layers=3, num_key_value_heads=1, head_dim=32, moe_intermediate_size=48, q_lora_rank=48,
        o_lora_rank=32, o_groups=2, n_routed_experts=8, num_experts_per_tok=3, sliding_window=24, index_n_heads=2,
        index_head_dim=32, index_topk=8, qk_rope_head_dim=8, partial_rotary_factor=0.25, layer_types=[
            "heavily_compressed_attention", "compressed_sparse_attention", "heavily_compressed_attention"],
        mlp_layer_types=["hash_moe", "moe", "moe"])),
    "zamba2": ("Zamba2", "Zamba2Config", dict(
        SMALL, num_key_value_heads=4, num_hidden_layers=4, layers_block_type=["mamba", "hybrid", "mamba", "hybrid"],
        n_mamba_heads=12, mamba_headdim=16, mamba_d_state=24, chunk_size=32)),
    "jamba": ("Jamba", "JambaConfig", dict(
        SMALL, num_experts=4, num_experts_per_tok=2, attn_layer_period=2, attn_layer_offset=1, mamba_d_state=16,
        mamba_dt_rank=8, use_mamba_kernels=False)),
    "lfm2_moe": ("LFM2 MoE", "Lfm2MoeConfig", dict(
        EXPERTS, num_experts=8, num_dense_layers=1, layer_types=["conv", "conv", "full_attention", "conv"])),
    "minimax": ("MiniMax 01", "MiniMaxConfig", dict(SMALL, head_dim=32, num_local_experts=4, block_size=32)),
    "bitnet": ("BitNet b1.58", "BitNetConfig", SMALL),
    "rwkv": ("RWKV", "RwkvConfig", dict(
        hidden_size=96, attention_hidden_size=96, intermediate_size=160, num_hidden_layers=3, context_length=512)),
    "xlstm": ("xLSTM", "xLSTMConfig", dict(
        hidden_size=96, embedding_dim=96, num_hidden_layers=3, num_blocks=3, num_heads=4, chunk_size=16)),
    "internlm3": ("InternLM3", "InternLM3Config", dict(SMALL, head_dim=24)),
    "kimi_linear": ("Kimi-Linear", "KimiLinearConfig", dict(
        SMALL, num_key_value_heads=4, kv_lora_rank=64, qk_rope_head_dim=32, qk_nope_head_dim=48, v_head_dim=40,
        moe_intermediate_size=48, num_experts=8, num_experts_per_token=3, linear_head_dim=16, linear_num_heads=4,
        model_max_length=512, layer_types=["linear_attention"] * 3 + ["full_attention"],
        mlp_layer_types=["dense"] + ["sparse"] * 3)),
    # Models of images and text without a class of their text's own.
    "aya_vision": ("Aya Vision, text", "AyaVisionConfig", dict(
        text_config=dict(COMMON, **WINDOWS, head_dim=24, model_type="cohere2", layer_types=[
            "sliding_attention", "sliding_attention", "sliding_attention", "full_attention"]),
        vision_config=dict(model_type="siglip_vision_model", hidden_size=32, intermediate_size=32,
                           num_hidden_layers=1, num_attention_heads=2, image_size=56, patch_size=14))),
    "qwen2_5_vl": ("Qwen2.5-VL, text", "Qwen2_5_VLConfig", dict(
        text_config=dict(COMMON, **SMALL, rope_parameters={
            "rope_type": "default", "rope_theta": 10000.0, "mrope_section": [4, 4, 4]}),
        vision_config=dict(depth=1, hidden_size=32, out_hidden_size=96, intermediate_size=32, num_heads=2))),
    # Their code is the repository's own: a Llama whose tensors have their published names is written instead.
    "internlm2": ("InternLM2", "LlamaConfig", SMALL),
    "baichuan": ("Baichuan 2 (7B)", "LlamaConfig", dict(SMALL, num_key_value_heads=4)),
}

ARCHITECTURES = {name: (shown, *MODELS[name]) for name, shown in FAMILIES.items()} | OTHERS



def _wqkv(tensors, layer, config):
    """InternLM2: of each KV head the rows of its query heads, of its key, of its value."""
    parts = [tensors.pop(f"{layer}self_attn.{each}_proj.weight") for each in "qkv"]
    return torch.cat([part.reshape(config.num_key_value_heads, -1, config.hidden_size) for part in parts],
                     1).reshape(-1, config.hidden_size)


def _w_pack(tensors, layer, config):
    return torch.cat([tensors.pop(f"{layer}self_attn.{each}_proj.weight") for each in "qkv"])


# Of Llamas with other names, whose code is the repository's own: the name of queries, keys and values, what joins
# them, and the other names.
RENAMED = {
    "internlm2": ("attention.wqkv", _wqkv, {
        "embed_tokens": "tok_embeddings", "self_attn.o_proj": "attention.wo", "mlp.gate_proj": "feed_forward.w1",
        "mlp.up_proj": "feed_forward.w3", "mlp.down_proj": "feed_forward.w2", "input_layernorm": "attention_norm",
        "post_attention_layernorm": "ffn_norm", "lm_head": "output"}),
    "baichuan": ("self_attn.W_pack", _w_pack, {})}


def publish(name, folder, config):
    """Gives a folder of transformers' Llama the names that the model `name` is published with."""
    whole, join, names = RENAMED[name]
    path = folder / "model.safetensors"
    tensors = load_file(path)
    for i in range(config.num_hidden_layers):
        layer = f"model.layers.{i}."
        tensors[f"{layer}{whole}.weight"] = join(tensors, layer, config)
    for ours, theirs in names.items():
        tensors = {each.replace(ours, theirs): values for each, values in tensors.items()}
    save_file(tensors, path, {"format": "pt"})
    settings = json.loads((folder / "config.json").read_text()) | {"model_type": name}
    (folder / "config.json").write_text(json.dumps(settings))
