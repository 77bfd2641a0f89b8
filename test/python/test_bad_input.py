"""Each bad input: one clear sentence that names the file, and no traceback."""

import json
import os
import struct
from unittest import mock

import numpy as np
import pytest

from channel_weights import channels
from channel_weights import settings as channel_settings
from kv_import import synthetic
from kv_import.cli import main
from tools import KV_IMPORT, fails, quietly, run


@pytest.fixture
def config():
    return synthetic.make_config("llama")


@pytest.fixture
def weights(config):
    return synthetic.make_weights(config)


@pytest.fixture
def model(tmp_path, config, weights):
    path = tmp_path / "model.gguf"
    synthetic.write_gguf(path, config, weights)
    return path


def folder_with(tmp_path, config, weights, **settings):
    synthetic.write_hf(tmp_path / "hf", config, weights, settings=settings)
    return tmp_path / "hf"


def refused(source, tmp_path, *parts, options=(), environment=None):
    with mock.patch.dict(os.environ, environment or {}):
        status, _, message = quietly(main, source, "-o", tmp_path / "out", *options)
    assert status == 1 and message.count("\n") == 1 and message.startswith("kv-import: "), message
    for part in parts:
        assert str(part) in message, message
    return message


def test_absent(tmp_path):
    refused(tmp_path / "none.gguf", tmp_path, "none.gguf: no such file or folder")


def test_not_gguf(tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"PK\3\4 something else entirely")
    refused(path, tmp_path, path, "not a GGUF file", "b'PK", "b'GGUF'")


def test_empty_file(tmp_path):
    path = tmp_path / "x.gguf"
    path.write_bytes(b"")
    refused(path, tmp_path, path, "not a GGUF file")


@pytest.mark.parametrize("keep", (4, 7, 20, 24, 100, 1000, 5000, 0.5, 0.9, -1))
def test_truncated_gguf(tmp_path, model, keep):
    data = model.read_bytes()
    size = keep if keep >= 1 else int(len(data) * keep) if keep > 0 else len(data) - 1
    model.write_bytes(data[:size])
    refused(model, tmp_path, model, "truncated or damaged GGUF", f"{size} bytes")


def test_gguf_with_absurd_counts(tmp_path, model):
    data = bytearray(model.read_bytes())
    data[8:16] = struct.pack("<Q", 2 ** 60)  # tensors
    model.write_bytes(data)
    refused(model, tmp_path, model, "damaged GGUF")


def test_gguf_of_a_future_version(tmp_path, model):
    data = bytearray(model.read_bytes())
    data[4:8] = struct.pack("<I", 9)
    model.write_bytes(data)
    refused(model, tmp_path, model, "version 9")


def test_damaged_bytes_never_give_a_traceback(tmp_path, model):
    """A seeded walk over single-byte damage of the header; success is fine, a crash is not."""
    data, random = model.read_bytes(), np.random.default_rng(1)
    for _ in range(60):
        damaged = bytearray(data)
        for place in random.integers(4, 14000, size=3):
            damaged[place] = int(random.integers(256))
        model.write_bytes(damaged)
        assert main([str(model), "-o", str(tmp_path / "out")]) in (0, 1)


def test_unknown_gguf_architecture(tmp_path, config, weights):
    path = tmp_path / "m.gguf"
    synthetic.write_gguf(path, synthetic.dataclasses.replace(config, architecture="gpt2"), weights)
    refused(path, tmp_path, path, "'gpt2'", "llama, qwen2, qwen3, qwen3moe, granite, phi3, olmo2, gemma3")


def test_unknown_folder_architecture(tmp_path, config, weights):
    folder = folder_with(tmp_path, config, weights, model_type="novel")
    refused(folder, tmp_path, "config.json: model_type is 'novel'; supported: llama, mistral, qwen2, ",
            ", llava_next; kv-import --from torch may take it, through its PyTorch code")


def test_wrapper_without_its_text(tmp_path, config, weights):
    folder = folder_with(tmp_path, config, weights, model_type="gemma3")
    refused(folder, tmp_path, "config.json: text_config is None; an object is needed")


def test_missing_gguf_tensor(tmp_path, config, weights):
    del weights["model.layers.1.mlp.up_proj.weight"]
    path = tmp_path / "m.gguf"
    synthetic.write_gguf(path, config, weights)
    refused(path, tmp_path, path, "lacks the tensor blk.1.ffn_up.weight")


def test_missing_folder_tensor(tmp_path, config, weights):
    del weights["model.layers.1.mlp.up_proj.weight"]
    del weights["model.norm.weight"]
    refused(folder_with(tmp_path, config, weights), tmp_path,
            "lacks the tensor model.layers.1.mlp.up_proj.weight (and 1 more)")


def test_wrong_shape(tmp_path, config, weights):
    name = "model.layers.0.self_attn.k_proj.weight"
    weights[name] = weights[name][:16]
    refused(folder_with(tmp_path, config, weights), tmp_path, name, "[16, 64]", "[32, 64]")


def test_unexpected_tensor(tmp_path, config, weights):
    weights["model.layers.0.self_attn.q_norm.weight"] = np.ones(16, dtype=np.float32)
    refused(folder_with(tmp_path, config, weights), tmp_path,
            "model.layers.0.self_attn.q_norm.weight", "no llama model")


def test_nan(tmp_path, config, weights):
    weights["model.norm.weight"][3] = np.nan
    folder = tmp_path / "hf"
    synthetic.write_hf(folder, config, weights, dtype="F32")
    refused(folder, tmp_path, "model.norm.weight", "NaN")


@pytest.mark.parametrize("scaling", (
    {"rope_type": "ntk", "factor": 4.0}, {"type": "su", "factor": 2.0},
    {"type": "proportional", "factor": 2.0}))
def test_rope_scaling_of_a_folder(tmp_path, config, weights, scaling):
    folder = folder_with(tmp_path, config, weights, rope_scaling=scaling)
    refused(folder, tmp_path, "config.json", list(scaling.values())[0],
            "default, linear, llama3, yarn, longrope, dynamic")


@pytest.mark.parametrize("scaling,parts", [
    ({"rope_type": "linear"}, ("'linear'", "'factor'")),
    ({"rope_type": "dynamic", "alpha": 4.0}, ("'dynamic' with alpha is 4.0", "none")),
    ({"rope_type": "yarn", "factor": 4.0}, ("'yarn'", "'original_max_position_embeddings'")),
    ({"rope_type": "yarn", "factor": 4.0, "mscale": 1.0}, ("'yarn' with mscale is 1.0", "none")),
    ({"rope_type": "yarn", "factor": 4.0, "beta_fast": 0}, ("beta_fast is 0",)),
    ({"rope_type": "longrope", "factor": 2.0}, ("short_factor is None", "a list of 8 numbers"))])
def test_rope_scaling_that_lacks_a_number(tmp_path, config, weights, scaling, parts):
    folder = folder_with(tmp_path, config, weights, rope_scaling=scaling)
    refused(folder, tmp_path, "config.json", *parts)


def test_rope_scaling_of_a_gguf(tmp_path, config, weights):
    import gguf
    path = tmp_path / "m.gguf"
    synthetic.write_gguf(path, config, weights,
                         extra=lambda w: w.add_rope_scaling_type(gguf.RopeScalingType.YARN))
    refused(path, tmp_path, path, "'yarn'", "none, linear and llama3")


@pytest.mark.parametrize("name", ("config.json", "model.safetensors", "tokenizer.json"))
def test_folder_that_lacks_a_file(tmp_path, config, weights, name):
    folder = folder_with(tmp_path, config, weights)
    (folder / name).unlink()
    message = refused(folder, tmp_path, folder, "lacks")
    assert name.replace("model.safetensors", "*.safetensors") in message


def test_folder_that_lacks_a_shard(tmp_path, config, weights):
    folder = folder_with(tmp_path, config, weights)
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"weight_map": {"model.norm.weight": "model-00002-of-00002.safetensors"}}))
    refused(folder, tmp_path, folder, "lacks model-00002-of-00002.safetensors")


@pytest.mark.parametrize("keep", (0, 4, 8, 100, 0.5, -1))
def test_truncated_safetensors(tmp_path, config, weights, keep):
    folder = folder_with(tmp_path, config, weights)
    path = folder / "model.safetensors"
    data = path.read_bytes()
    size = keep if keep >= 1 or keep == 0 else int(len(data) * keep) if keep > 0 else len(data) - 1
    path.write_bytes(data[:size])
    refused(folder, tmp_path, path, "truncated or damaged safetensors", f"{size} bytes")


@pytest.mark.parametrize("text", ("{", "[1]", "null", "", "[" * 200_000), ids=range(5))
def test_config_that_is_no_object(tmp_path, config, weights, text):
    folder = folder_with(tmp_path, config, weights)
    (folder / "config.json").write_text(text)
    refused(folder, tmp_path, "config.json")


@pytest.mark.parametrize("key,value,part", [
    ("num_hidden_layers", 0, "num_hidden_layers is 0"),
    ("hidden_size", "64", "hidden_size is '64'"),
    ("num_attention_heads", 0, "num_attention_heads is 0"),
    ("num_key_value_heads", 3, "3 KV heads"),
    ("vocab_size", None, "lacks 'vocab_size'"), ("hidden_act", "gelu", "'gelu'"),
    ("mlp_bias", True, "mlp_bias"), ("partial_rotary_factor", 0.5, "0.5"),
    ("head_dim", 15, "15"), ("rms_norm_eps", "x", "rms_norm_eps"),
    ("rope_theta", "big", "rope_theta"), ("sliding_window", -3, None),
    ("quantization_config", {"quant_method": "hqq"}, "'hqq'")])
def test_config_values(tmp_path, config, weights, key, value, part):
    folder = folder_with(tmp_path, config, weights, **{key: value})
    if part is None:
        return
    refused(folder, tmp_path, "config.json", part)


def test_mistral_window(tmp_path):
    config = synthetic.make_config("mistral")
    weights = synthetic.make_weights(config)
    folder = folder_with(tmp_path, config, weights, sliding_window=-3)
    refused(folder, tmp_path, "config.json", "sliding_window", "-3")


@pytest.mark.parametrize("settings,parts", [
    ({"layer_types": ["full_attention"] * 2}, ("layer_types", "a list of 8 kinds, one a layer")),
    ({"layer_types": "all"}, ("layer_types is 'all'; a list of texts is needed",)),
    ({"layer_types": ["full_attention"] * 7 + ["linear_attention"]},
     ("layer_types", "'linear_attention'", "full_attention, sliding_attention")),
    ({"use_sliding_window": False}, ("layer_types", "'sliding_attention'",
                                     "full_attention without a sliding_window")),
    ({"sliding_window": 0}, ("sliding_window", "0")),
    ({"layer_types": None, "max_window_layers": -1}, ("max_window_layers", "-1"))])
def test_mixed_layers(tmp_path, settings, parts):
    config = synthetic.make_config("mixed")
    folder = folder_with(tmp_path, config, synthetic.make_weights(config), **settings)
    refused(folder, tmp_path, "config.json", *parts)


def family_folder(tmp_path, kind, change=None, **settings):
    """A folder of a small model of a kind; `change` may change its weights."""
    config = synthetic.make_config(kind)
    weights = synthetic.make_weights(config)
    if change:
        change(weights)
    return folder_with(tmp_path, config, weights, **settings)


@pytest.mark.parametrize("kind,settings,parts", [
    ("granite", {"embedding_multiplier": 0}, ("embedding_multiplier", "0", "a positive number")),
    ("granite", {"attention_multiplier": "1"}, ("attention_multiplier", "'1'")),
    ("granite", {"residual_multiplier": -0.5}, ("residual_multiplier", "-0.5")),
    ("granite", {"logits_scaling": False}, ("logits_scaling", "False")),
    ("granite", {"mlp_bias": True}, ("mlp_bias is True", "false")),
    ("phi3", {"rope_scaling": {"type": "longrope", "long_factor": [1.0], "short_factor": [1.0]}},
     ("short_factor is [1.0]", "a list of 8 numbers, one a pair")),
    ("phi3_long", {"rope_scaling": {"type": "longrope", "long_factor": [1.0, -1.0] * 3,
                                    "short_factor": [1.0] * 6}}, ("long_factor[1] is -1.0",)),
    ("phi3", {"rope_scaling": {"type": "su"}}, ("rope scaling is 'su'", "default, linear, llama3")),
    ("phi3", {"partial_rotary_factor": 0.7}, ("11 of the 16 elements", "an even number")),
    ("phi3", {"partial_rotary_factor": 0.01}, ("partial_rotary_factor is 0.01; supported: what rotates 2 of",)),
    ("phi3", {"partial_rotary_factor": 1.5}, ("partial_rotary_factor is 1.5; a number above 0, at most 1",)),
    ("qwen3_moe", {"mlp_only_layers": [1]}, ("mlp_only_layers is [1]", "[]")),
    ("qwen3_moe", {"decoder_sparse_step": 2}, ("decoder_sparse_step is 2", "1")),
    ("qwen3_moe", {"num_experts": None}, ("lacks 'num_local_experts'",)),
    ("qwen3_moe", {"num_experts_per_tok": 9}, ("9 experts a token", "only 8 in a layer")),
    ("qwen3_moe", {"moe_intermediate_size": 40}, ("experts of 64 and 40 rows", "multiples of 16")),
    ("deepseek_v3_experts", {"topk_method": "greedy"}, ("topk_method is 'greedy'", "noaux_tc")),
    ("deepseek_v3_experts", {"n_group": 5}, ("3 of 16 experts in 2 of 5 groups", "must be equal")),
    ("deepseek_v3_experts", {"topk_group": 5}, ("3 of 16 experts in 5 of 4 groups",)),
    ("deepseek_v3_experts", {"n_group": 16}, ("in 2 of 16 groups", "of at least 2")),
    ("deepseek_v3_experts", {"num_experts_per_tok": 9}, ("9 of 16 experts in 2 of 4 groups",
                                                         "hold the choices")),
    ("deepseek_v3_experts", {"topk_group": None}, ("lacks 'topk_group'",)),
    ("deepseek_v2_experts", {"topk_method": "noaux_tc"},
     ("topk_method is 'noaux_tc'", "greedy, group_limited_greedy")),
    ("deepseek_v2_experts", {"norm_topk_prob": True}, ("norm_topk_prob is True", "False")),
    ("deepseek_v2_experts", {"scoring_func": "sigmoid"}, ("scoring_func is 'sigmoid'", "softmax")),
    ("deepseek_v2_experts", {"routed_scaling_factor": 0}, ("routed_scaling_factor is 0",)),
    ("deepseek_v2", {"kv_lora_rank": 0}, ("kv_lora_rank is 0", "a positive integer")),
    ("deepseek_v2", {"v_head_dim": None}, ("lacks 'v_head_dim'",)),
    ("deepseek_v3", {"q_lora_rank": "48"}, ("q_lora_rank is '48'", "a positive integer")),
    ("deepseek_v3", {"attention_bias": True}, ("attention_bias is True", "false with latents")),
    ("deepseek_v3", {"rope_scaling": {"type": "yarn", "mscale_all_dim": 1, "factor": 0}},
     ("factor is 0", "a positive number")),
    ("gpt_oss", {"swiglu_limit": 0}, ("swiglu_limit is 0", "a positive number")),
    ("gpt_oss", {"quantization_config": {"quant_method": "hqq"}}, ("'hqq'", "mxfp4 of gpt_oss")),
    ("qwen3_moe", {"quantization_config": {"quant_method": "mxfp4"}},
     ("'mxfp4'", "F32, F16 or BF16 weights")),
    ("phi3", {"sliding_window": 0}, ("sliding_window", "0")),
    ("olmo2", {"layer_types": ["full_attention", "sliding_attention"]},
     ("layer_types", "'sliding_attention'", "full_attention")),
    ("olmo2", {"hidden_act": "relu2"}, ("hidden_act is 'relu2'", "silu, gelu_pytorch_tanh")),
    ("olmo2", {"hidden_act": ["silu"]}, ("hidden_act is ['silu']; a text is needed",)),
    ("gemma3", {"hidden_activation": "gelu"},
     ("hidden_activation is 'gelu'", "silu, gelu_pytorch_tanh")),
    ("gemma3", {"use_bidirectional_attention": True},
     ("use_bidirectional_attention is True", "false")),
    ("gemma3", {"query_pre_attn_scalar": -1}, ("query_pre_attn_scalar", "-1")),
    ("gemma3", {"final_logit_softcapping": 0}, ("final_logit_softcapping", "0")),
    ("gemma3", {"attn_logit_softcapping": "50"}, ("attn_logit_softcapping", "'50'")),
    ("gemma3", {"rope_local_base_freq": -3}, ("rope_local_base_freq is -3; a number above 1",)),
    ("gemma3", {"rope_parameters": {"full_attention": {"rope_type": "yarn"}}},
     ("'yarn'", "lacks 'factor'")),
    ("gemma3", {"rope_parameters": {"sliding_attention": "default"}},
     ("rope_parameters", "'default'", "an object")),
    ("gemma3", {"layer_types": None, "sliding_window_pattern": 0},
     ("sliding_window_pattern", "0")),
    ("gemma3", {"layer_types": None, "sliding_window": None}, ("lacks 'sliding_window'",)),
    ("gemma3", {"sliding_window": None},
     ("layer_types", "full_attention without a sliding_window")),
    ("gemma3", {"model_type": ["gemma3_text"]}, ("model_type", "gemma3_text"))])
def test_settings_of_families(tmp_path, kind, settings, parts):
    refused(family_folder(tmp_path, kind, **settings), tmp_path, "config.json", *parts)


def test_tensors_of_latents(tmp_path):
    name = "model.layers.1.self_attn.kv_b_proj.weight"

    def shorten(weights):
        weights[name] = weights[name][:-16]

    refused(family_folder(tmp_path, "deepseek_v2", shorten), tmp_path, name, "[304, 128]", "[320, 128]")
    refused(family_folder(tmp_path, "deepseek_v2", lambda weights: weights.pop(name)), tmp_path,
            "lacks the tensor", name)


def test_fused_tensors(tmp_path):
    name = "model.layers.1.self_attn.qkv_proj.weight"

    def shorten(weights):
        weights[name] = weights[name][:-16]

    folder = family_folder(tmp_path, "phi3", shorten)
    refused(folder, tmp_path, folder, name, "[112, 64]", "[128, 64]")
    folder = family_folder(tmp_path, "phi3", lambda weights: weights.pop(name))
    refused(folder, tmp_path, folder, f"lacks the tensor {name}")
    folder = family_folder(tmp_path, "phi3", lambda weights: weights[name].fill(np.inf))
    refused(folder, tmp_path, name, "NaN or infinity")


def test_experts(tmp_path):
    prefix = "model.layers.1.mlp.experts."

    def without(name):
        return family_folder(tmp_path, "qwen3_moe", lambda weights: weights.pop(name))

    refused(without(f"{prefix}7.up_proj.weight"), tmp_path, f"{prefix}7.up_proj.weight is missing",
            "8 experts")
    refused(without("model.layers.0.mlp.gate.weight"), tmp_path,
            "lacks the tensor model.layers.0.mlp.gate.weight")
    refused(family_folder(tmp_path, "qwen3_moe", num_experts=7), tmp_path, "mlp.gate.weight",
            "[8, 64]", "[7, 64]")
    folder = family_folder(tmp_path, "qwen3_moe", lambda weights: weights.update(
        {f"{prefix}8.up_proj.weight": np.ones((48, 64), dtype=np.float32)}))
    refused(folder, tmp_path, f"{prefix}8.up_proj.weight", "no qwen3_moe model")
    refused(family_folder(tmp_path, "qwen3_moe", num_experts=10 ** 5), tmp_path,
            "experts.8.gate_proj.weight is missing")
    name = f"{prefix}gate_up_proj"
    folder = family_folder(tmp_path, "gpt_oss", lambda weights: weights.update(
        {name: weights[name][..., :-2]}))
    refused(folder, tmp_path, name, "[6, 64, 94]", "[6, 64, 96]")
    folder = family_folder(tmp_path, "gpt_oss", lambda weights: weights[name].fill(np.nan))
    refused(folder, tmp_path, name, "NaN or infinity")


def test_blocks_of_mxfp4(tmp_path):
    config = synthetic.make_config("gpt_oss", intermediate=64)
    name = "model.layers.1.mlp.experts.down_proj"
    weights = {}
    for key, values in synthetic.make_weights(config).items():
        if key.endswith(("gate_up_proj", "down_proj")):
            experts, columns, rows = values.shape
            weights[f"{key}_blocks"] = np.full((experts, rows, columns // 32, 16), 0x11, np.uint8)
            weights[f"{key}_scales"] = np.full((experts, rows, columns // 32), 120, np.uint8)
        else:
            weights[key] = values
    settings = {"quantization_config": {"quant_method": "mxfp4"}}
    folder = folder_with(tmp_path, config, weights, **settings)
    assert run(KV_IMPORT, folder, "-o", tmp_path / "out").returncode == 0
    weights[f"{name}_scales"][2, 3, 0] = 90
    folder = folder_with(tmp_path, config, weights, **settings)
    refused(folder, tmp_path, folder, name, "powers of two that blocks of q8_0 have not",
            "--weights dense")
    assert run(KV_IMPORT, folder, "-o", tmp_path / "out", "--weights", "dense").returncode == 0
    del weights[f"{name}_scales"]
    refused(folder_with(tmp_path, config, weights, **settings), tmp_path,
            f"{name}_scales is missing")


@pytest.mark.parametrize("changes,parts", [
    ({"format": "marlin-24"}, ("format is 'marlin-24'", "'int-quantized', 'naive-")),
    ({"kv_cache_scheme": {"num_bits": 8}}, ("kv_cache_scheme is {'num_bits': 8}", "None")),
    ({"sparsity_config": {"format": "sparse-24-bitmask"}}, ("sparsity_config", "sparse-24")),
    ({"transform_config": {"config_groups": {"R1": {}}}}, ("transform_config", "R1")),
    ({"config_groups": {}}, ("config_groups is {}", "an object of groups")),
    ({"config_groups": {"W8A8": ["Linear"]}}, ("config_groups.W8A8 is ['Linear']",)),
    ({"weights": {"symmetric": False}}, ("weights.symmetric is False", "True")),
    ({"weights": {"num_bits": 4}}, ("weights.num_bits is 4", "8")),
    ({"weights": {"type": "float"}}, ("weights.type is 'float'", "'int'")),
    ({"weights": {"strategy": "group", "group_size": 128}},
     ("group_0.weights.strategy is 'group'", "'channel'")),
    ({"weights": {"strategy": None}}, ("weights.strategy is 'tensor'", "'channel'")),
    ({"weights": {"dynamic": True}}, ("weights.dynamic is True", "False")),
    ({"activations": {"dynamic": False}}, ("input_activations.dynamic is False", "True")),
    ({"activations": {"strategy": "tensor"}}, ("input_activations.strategy is 'tensor'", "token")),
    ({"activations": {"num_bits": 4}}, ("input_activations.num_bits is 4", "8")),
    ({"activations": {"symmetric": False}}, ("input_activations.symmetric is False", "True"))])
def test_schemes_of_compressed_tensors(tmp_path, changes, parts):
    config = synthetic.make_config("llama")
    weights, _ = channels(synthetic.make_weights(config), np.random.default_rng(1))
    folder = folder_with(tmp_path, config, weights, **channel_settings(**changes))
    refused(folder, tmp_path, "config.json: quantization_config:", *parts)


def test_tensors_of_compressed_tensors(tmp_path):
    config = synthetic.make_config("llama")
    name = "model.layers.1.mlp.down_proj.weight"

    def folder(settings=channel_settings(), **changes):
        weights, _ = channels(synthetic.make_weights(config), np.random.default_rng(1))
        weights.update({name + key: value for key, value in changes.items()})
        return folder_with(tmp_path, config, {n: v for n, v in weights.items() if v is not None},
                           **settings)

    sparse = channel_settings(format="naive-quantized", sparsity_config={"format": "dense"})
    for settings in (channel_settings(), sparse):
        assert run(KV_IMPORT, folder(settings), "-o", tmp_path / "out").returncode == 0
    one = np.ones(1, dtype=np.float32)
    refused(folder(_scale=None), tmp_path, f"lacks the tensor {name}_scale", "I8")
    refused(folder(_scale=one), tmp_path, f"{name}_scale has the shape [1]", "[64, 128]")
    refused(folder(_scale=np.full(64, np.nan, np.float32)), tmp_path, name, "NaN or infinity")
    refused(folder(_zero_point=np.zeros((64, 1), np.int8)), tmp_path, f"{name}_zero_point",
            "no llama model")
    refused(folder(settings={}), tmp_path, "embed_tokens.weight_scale", "no llama model")
    dense = {"": np.ones((64, 128), np.float32)}
    refused(folder(**dense), tmp_path, f"{name}_scale", "no llama model")


def test_norms_of_another_family(tmp_path):
    """An OLMo 2 model with a norm before attention is none."""
    folder = family_folder(tmp_path, "olmo2", lambda weights: weights.update(
        {"model.layers.0.input_layernorm.weight": np.ones(64, dtype=np.float32)}))
    refused(folder, tmp_path, "model.layers.0.input_layernorm.weight", "no olmo2 model")


def test_gguf_of_a_family_beyond(tmp_path):
    """OLMo 3 has OLMo 2's name in a GGUF file; long Phi-3 models have two tables of factors, and
    no others have; a pattern of Gemma 3 is a number."""
    path = tmp_path / "m.gguf"
    config = synthetic.make_config("olmo2")
    synthetic.write_gguf(path, config, synthetic.make_weights(config),
                         extra=lambda writer: writer.add_sliding_window(64))
    refused(path, tmp_path, path, "olmo2.attention.sliding_window is 64", "OLMo 2")
    config = synthetic.make_config("llama")
    weights = {**synthetic.make_weights(config),
               "rope_factors_long.weight": np.ones(8, dtype=np.float32)}
    synthetic.write_gguf(path, config, weights)
    refused(path, tmp_path, path, "rope_factors_long.weight", "no llama model")
    config = synthetic.make_config("phi3")
    synthetic.write_gguf(path, config, synthetic.make_weights(config) | {
        "rope_factors_long.weight": np.ones(6, dtype=np.float32),
        "rope_factors_short.weight": np.ones(8, dtype=np.float32)}, extra=lambda writer:
        writer.add_rope_scaling_orig_ctx_len(64))
    refused(path, tmp_path, path, "rope_factors_long.weight is float32[6]", "float32[8]")
    config = synthetic.make_config("gemma3")
    synthetic.write_gguf(path, config, synthetic.make_weights(config), extra=lambda writer:
                         writer.add_array("gemma3.attention.sliding_window_pattern", [True]))
    refused(path, tmp_path, path, "gemma3.attention.sliding_window_pattern is [True]",
            "a positive integer")


def test_absurd_sizes(tmp_path, config, weights):
    refused(folder_with(tmp_path, config, weights, num_hidden_layers=9999), tmp_path,
            "9999 layers", "20 tensors")
    refused(family_folder(tmp_path, "gemma3", num_hidden_layers=10 ** 12, layer_types=None),
            tmp_path, "num_hidden_layers is 1000000000000; a positive integer up to 10000 is needed")
    folder = folder_with(tmp_path, config, weights, max_position_embeddings=10 ** 9)
    refused(folder, tmp_path, folder, "1000000000 tokens", "--max-seq")
    assert run(KV_IMPORT, folder, "-o", tmp_path / "out", "--max-seq", "64").returncode == 0
    # Nothing is counted up to a number that only a file says.
    folder = folder_with(tmp_path, config, weights, num_nextn_predict_layers=2 ** 31 - 1)
    assert quietly(main, folder, "-o", tmp_path / "out")[0] == 0


def test_max_seq_and_page(tmp_path, model):
    refused(model, tmp_path, "--max-seq 513", "1 to 512", options=("--max-seq", "513"))


@pytest.mark.parametrize("options, sentence", (
    (("--page", "0"), "--page: '0' is given, allowed: an integer from 1 to 1048576"),
    (("--page", "1048577"), "--page: '1048577' is given, allowed: an integer from 1 to 1048576"),
    (("--page", "many"), "--page: 'many' is given, allowed: an integer from 1 to 1048576"),
    (("--max-seq", "0"), "--max-seq: '0' is given, allowed: an integer from 1 to 2147483647"),
    # What a shell makes of a variable that is not set is not the current folder, nor the default.
    (("-o", ""), "-o/--output: '' is given, allowed: a text that is not empty"),
    (("--name", ""), "--name: '' is given, allowed: a text that is not empty"),
    (("--dtype", "f64"), "--dtype: invalid choice: 'f64' (choose from 'bf16', 'f32')"),
    (("--colour",), "unrecognized arguments: --colour")))
def test_bad_options(tmp_path, model, options, sentence):
    done = run(KV_IMPORT, model, "-o", tmp_path / "out", *options, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr == f"kv-import: {sentence}\n", done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.gguf"]


@pytest.mark.parametrize("file, text, sentence", (
    ("generation_config.json", '{"eos_token_id": "x"}', "eos_token_id is 'x'; a token id, or a list of them is needed"),
    ("generation_config.json", '{"eos_token_id": [1, -2]}', "eos_token_id is [1, -2]; a token id, or a list of them is needed"),
    ("generation_config.json", '{"do_sample": true, "temperature": "hot"}',
     "temperature is 'hot'; a number of 0 or more is needed"),
    ("generation_config.json", '{"do_sample": true, "temperature": 1e999}', "temperature is inf"),
    ("generation_config.json", '{"do_sample": true, "top_p": 7}', "top_p is 7; a number above 0, at most 1 is needed"),
    ("generation_config.json", '{"do_sample": true, "top_k": 0.5}', "top_k is 0.5; an integer of 0 or more is needed"),
    ("generation_config.json", '{"do_sample": true, "min_p": -1}', "min_p is -1; a number from 0 to 1 is needed"),
    ("tokenizer_config.json", '{"chat_template": 5}', "the chat template is a int, a text is needed"),
    ("chat_template.jinja", b"\xff", "chat_template.jinja: not UTF-8")))
def test_text_side(tmp_path, config, weights, file, text, sentence):
    folder = folder_with(tmp_path, config, weights)
    (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(folder, tmp_path, folder, sentence)


@pytest.mark.parametrize("settings", (
    {}, {"eos_token": 5}, {"chat_template": ["a", {"name": "b", "template": "c"}]}))
def test_text_side_that_says_nothing(tmp_path, config, weights, settings):
    folder = folder_with(tmp_path, config, weights, eos_token_id=[])
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    assert run(KV_IMPORT, folder, "-o", tmp_path / "out").returncode == 0


def test_output_over_what_is_read(tmp_path, config, weights):
    """Nothing is lost."""
    folder = folder_with(tmp_path, config, weights)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    (tmp_path / "link").symlink_to(folder)
    for output in (folder, tmp_path / "link"):
        assert fails(KV_IMPORT, folder, "-o", output) == f"kv-import: -o {output}: the model's own folder"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    (tmp_path / "model.mlir").write_text("module {}")
    assert fails(KV_IMPORT, tmp_path / "model.mlir", "--from", "jax", "-o", tmp_path) == (
        f"kv-import: -o {tmp_path}: its model.mlir is a file that is read")
    assert (tmp_path / "model.mlir").read_text() == "module {}"


def test_no_model(tmp_path):
    done = run(KV_IMPORT, "", "-o", tmp_path / "out")
    assert done.returncode == 2 and done.stderr == (
        "kv-import: model: '' is given, allowed: a text that is not empty\n")


def test_names_that_no_text_can_hold(tmp_path, model, config, weights):
    refused(model, tmp_path, "'a\\nb'", "printable", options=("--name", "a\nb"))
    # Without the option it is the file's.
    path = tmp_path / "line\nbreak.gguf"
    synthetic.write_gguf(path, config, weights)
    refused(path, tmp_path, "'line\\nbreak'", "printable", "--name")
    assert run(KV_IMPORT, path, "-o", tmp_path / "out", "--name", '"\\ 日本').returncode == 0


def test_activations(tmp_path, config, weights):
    path = tmp_path / "m.gguf"
    synthetic.write_gguf(path, config, weights, dtype="Q8_0")
    refused(path, tmp_path, "--activations bf16", "8 bits", "--weights dense",
            options=("--activations", "bf16"))
    assert run(KV_IMPORT, path, "-o", tmp_path / "out", "--activations", "bf16", "--weights",
               "dense").returncode == 0
    assert "kv.activations = bf16" in (tmp_path / "out/model.mlir").read_text()


def test_unknown_tokenizer(tmp_path, config, weights):
    path = tmp_path / "m.gguf"

    def other(writer):
        writer.kv_data[0]["tokenizer.ggml.pre"].value = "novel"

    synthetic.write_gguf(path, config, weights, extra=other)
    refused(path, tmp_path, path, "'novel'", "gpt-2, phi-2, ", ", llama-bpe, ", "--no-tokenizer")
    assert run(KV_IMPORT, path, "-o", tmp_path / "out", "--no-tokenizer").returncode == 0


def test_output_that_is_a_file(tmp_path, model):
    (tmp_path / "out").write_text("")
    refused(model, tmp_path, tmp_path / "out")
