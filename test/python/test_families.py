"""Rows of the table of families: a model that is written as another family writes it has the same weights and
the same numbers. That these numbers mean what transformers means by them: scripts/check-models.sh."""

import dataclasses
import json

import numpy as np
import pytest

from kv_import import synthetic
from kv_import.model.errors import ImportFailure
from kv_import.model.families import FAMILIES, LANGUAGE, WRAPPERS
from kv_import.readers.hf_reader import HuggingFaceSource
from kv_import.writers.module_writer import ModuleWriter
from kv_import.model.rope import Rope


def source_of(folder, config, weights, **settings):
    synthetic.write_hf(folder, config, weights, settings=settings)
    return HuggingFaceSource(folder)


def assert_same(found, expected):
    """Two sources of one model."""
    for weight in expected.config.weights():
        if weight.role == "table":
            continue
        values = expected.tensor(weight.name)
        np.testing.assert_array_equal(found.tensor(weight.name), values, err_msg=weight.name)
        # Pieces, as the writer reads them.
        if values.ndim == 2:
            rows = slice(16, 48)
            np.testing.assert_array_equal(found.tensor(weight.name, rows), values[rows], err_msg=weight.name)
    assert found.shapes() == expected.shapes()


def interleaved(values, heads, rotary):
    """Rows of queries or keys whose element i turned with i + half, as 2i and 2i + 1."""
    by_head = values.reshape(heads, -1, *values.shape[1:]).copy()
    by_head[:, :rotary] = by_head[:, :rotary].reshape(heads, 2, rotary // 2, *values.shape[1:]).swapaxes(
        1, 2).reshape(heads, rotary, *values.shape[1:])
    return by_head.reshape(values.shape)


@pytest.mark.parametrize("family", ("ernie4_5", "helium"))
def test_pairs_of_neighbours(tmp_path, family):
    config = synthetic.make_config("llama")
    weights = synthetic.make_weights(config)
    expected = source_of(tmp_path / "plain", config, weights)
    for name in weights:
        if ".q_proj." in name or ".k_proj." in name:
            heads = config.heads if ".q_proj." in name else config.kv_heads
            weights[name] = interleaved(weights[name], heads, 16)
    found = source_of(tmp_path / "hf", config, weights, model_type=family)
    assert_same(found, expected)
    assert dataclasses.replace(found.config, name="", architecture="") == dataclasses.replace(
        expected.config, name="", architecture="")


def renamed(weights, family):
    """As files of the family call them."""
    theirs = {ours: name for name, ours in FAMILIES[family].names.items()}
    out = {}
    for name, values in weights.items():
        for ours in sorted(theirs, key=len, reverse=True):
            if f".{ours}." in name or name.endswith(f".{ours}"):
                name = name.replace(f".{ours}", f".{theirs[ours]}", 1)
                if "experts" not in ours:
                    break
        out[name] = values
    return out


def test_names_partial_rotation_and_one_tensor_of_two(tmp_path):
    config = synthetic.make_config("llama", architecture="glm4", norms="around", rotary=8,
                                   biases=frozenset(("q_proj", "k_proj", "v_proj")), tied=False)
    weights = synthetic.make_weights(config)
    for name in weights:
        if ".q_proj." in name or ".k_proj." in name:
            weights[name] = interleaved(weights[name], config.heads if ".q_proj." in name else config.kv_heads, 8)
    stored = renamed(weights, "glm4")
    assert "model.layers.1.post_mlp_layernorm.weight" in stored
    assert "model.layers.1.mlp.gate_up_proj.weight" in stored and "model.layers.1.self_attn.q_proj.bias" in stored
    found = source_of(tmp_path, config, stored, attention_bias=True, partial_rotary_factor=0.5, head_dim=16)
    assert (found.config.biases, found.config.rotary, found.config.norms) == (config.biases, 8, "around")
    for ours, theirs in (("post_attention_layernorm", "post_self_attn_layernorm"),
                         ("pre_feedforward_layernorm", "post_attention_layernorm"),
                         ("post_feedforward_layernorm", "post_mlp_layernorm")):
        np.testing.assert_array_equal(found.tensor(f"model.layers.0.{ours}.weight"),
                                      stored[f"model.layers.0.{theirs}.weight"])
        assert found.found_as(f"model.layers.0.{ours}.weight") == f"model.layers.0.{theirs}.weight"
    gate_up = stored["model.layers.0.mlp.gate_up_proj.weight"]
    np.testing.assert_array_equal(found.tensor("model.layers.0.mlp.up_proj.weight"), gate_up[128:])
    # A row of a query's bias goes where the row of the matrix goes.
    bias = stored["model.layers.0.self_attn.q_proj.bias"].reshape(4, 16)
    np.testing.assert_array_equal(found.tensor("model.layers.0.self_attn.q_proj.bias").reshape(4, 16),
                                  bias[:, [0, 2, 4, 6, 1, 3, 5, 7, *range(8, 16)]])


def test_names_of_experts(tmp_path):
    config = synthetic.make_config("qwen3_moe", architecture="mixtral", qk_norm=None)
    weights = synthetic.make_weights(config)
    stored = renamed(weights, "mixtral")
    swap = {"gate_proj": "w1", "up_proj": "w3", "down_proj": "w2"}
    stored = {".".join(swap.get(part, part) for part in name.split(".")): values for name, values in stored.items()}
    assert "model.layers.0.block_sparse_moe.experts.7.w2.weight" in stored
    found = source_of(tmp_path, config, stored, model_type="mixtral", intermediate_size=config.intermediate,
                      num_local_experts=8, num_experts_per_tok=3, sliding_window=None)
    assert found.config.mixture.normalised
    np.testing.assert_array_equal(found.tensor("model.layers.0.mlp.experts.up_proj.weight")[48:96],
                                  weights["model.layers.0.mlp.experts.1.up_proj.weight"])
    del stored["model.layers.1.block_sparse_moe.experts.5.w3.weight"]
    with pytest.raises(ImportFailure, match=r"block_sparse_moe.experts.5.w3.weight is missing"):
        source_of(tmp_path / "less", config, stored, model_type="mixtral", intermediate_size=config.intermediate,
                  num_local_experts=8, num_experts_per_tok=3, sliding_window=None).shapes()


@pytest.mark.parametrize("prefix", ("model.language_model.", "language_model.model."))
def test_text_of_a_wrapper(tmp_path, prefix):
    config = synthetic.make_config("gemma3")
    weights = synthetic.make_weights(config)
    expected = source_of(tmp_path / "plain", config, weights)
    raw = json.loads((tmp_path / "plain/config.json").read_text())
    del raw["model_type"]
    names = {name: LANGUAGE[prefix].join(("", name.removeprefix("model."))) for name in weights}
    assert all(names[name] == name for name in names)
    stored = {prefix + name.removeprefix("model."): values for name, values in weights.items()}
    stored["model.vision_tower.patch.weight"] = np.zeros((16, 16), np.float32)
    synthetic.write_hf(tmp_path / "hf", config, stored)
    (tmp_path / "hf/config.json").write_text(json.dumps({"model_type": "gemma3", "text_config": raw}))
    found = HuggingFaceSource(tmp_path / "hf")
    assert_same(found, expected)
    assert dataclasses.replace(found.config, name="") == dataclasses.replace(expected.config, name="")
    assert found.found_as("model.norm.weight") == f"{prefix}norm.weight"
    assert set(WRAPPERS.values()) <= set(FAMILIES)


def qkv_of(weights, layer):
    return [weights[f"model.layers.{layer}.self_attn.{name}_proj.weight"] for name in "qkv"]


def test_queries_keys_and_values_by_kv_head(tmp_path):
    """InternLM2: a Llama whose names are others, even that of the head."""
    config = synthetic.make_config("llama", tied=False)
    weights = synthetic.make_weights(config)
    expected = source_of(tmp_path / "plain", config, weights)
    stored = {name: values for name, values in weights.items() if not any(f".{x}_proj." in name for x in "qkv")}
    for layer in range(config.layers):
        stored[f"model.layers.{layer}.self_attn.qkv_proj.weight"] = np.concatenate(
            [values.reshape(config.kv_heads, -1, config.hidden) for values in qkv_of(weights, layer)],
            axis=1).reshape(-1, config.hidden)
    stored = renamed(stored, "internlm2")
    stored["output.weight"] = stored.pop("lm_head.weight")
    assert {"model.tok_embeddings.weight", "model.layers.1.attention.wqkv.weight",
            "model.layers.1.feed_forward.w2.weight"} <= set(stored)
    found = source_of(tmp_path / "hf", config, stored, model_type="internlm2")
    assert_same(found, expected)
    # Rows that begin and end within a head.
    name = "model.layers.0.self_attn.v_proj.weight"
    np.testing.assert_array_equal(found.tensor(name, slice(5, 23)), weights[name][5:23])
    assert found.found_as(name) == "model.layers.0.attention.wqkv.weight"


@pytest.mark.parametrize("version, unit", (("BaiChuanForCausalLM", False), ("BaichuanForCausalLM", True)))
def test_a_head_of_unit_rows(tmp_path, version, unit):
    """Baichuan 2; the first Baichuan has another spelling."""
    config = synthetic.make_config("llama", tied=False)
    weights = synthetic.make_weights(config)
    stored = {name: values for name, values in weights.items() if not any(f".{x}_proj." in name for x in "qkv")}
    for layer in range(config.layers):
        stored[f"model.layers.{layer}.self_attn.W_pack.weight"] = np.concatenate(qkv_of(weights, layer))
    found = source_of(tmp_path, config, stored, model_type="baichuan", architectures=[version])
    head = weights["lm_head.weight"]
    wanted = head / np.linalg.norm(head, axis=1, keepdims=True) if unit else head
    np.testing.assert_array_equal(found.tensor("lm_head.weight", slice(16, 48)), wanted[16:48])
    for name in ("q", "k", "v"):
        name = f"model.layers.1.self_attn.{name}_proj.weight"
        np.testing.assert_array_equal(found.tensor(name), weights[name])


def test_granite_hybrid_without_its_scales(tmp_path):
    """Bamba: other names, half of a head is rotated."""
    config = synthetic.make_config(
        "granite_hybrid", architecture="bamba", embedding_scale=1.0, residual_scale=1.0, attention_scale=None,
        logit_scale=1.0, rotary=8, rope=Rope(theta=10000.0))
    weights = synthetic.make_weights(config)
    r = config.recurrent
    settings = {"attn_layer_indices": [1], "mamba_n_heads": r.value_heads, "mamba_d_head": r.value_dim,
                "mamba_n_groups": r.key_heads, "mamba_d_state": r.key_dim, "mamba_expand": 2, "mamba_d_conv": 4,
                "partial_rotary_factor": 0.5}
    stored = {name.replace(".mlp.", ".feed_forward.").replace("post_attention_layernorm", "pre_ff_layernorm").replace(
        "model.norm.", "model.final_layernorm."): values for name, values in weights.items()}
    found = source_of(tmp_path, config, stored, **settings)
    assert dataclasses.replace(found.config, name="") == dataclasses.replace(config, name="")
    for name in ("model.norm.weight", "model.layers.3.mlp.up_proj.weight", "model.layers.0.mamba.norm.weight"):
        np.testing.assert_array_equal(found.tensor(name), weights[name])
    whole = weights["model.layers.2.mamba.in_proj.weight"]
    np.testing.assert_array_equal(found.tensor("model.layers.2.mamba.in_z.weight"), whole[:r.inner])


def test_another_name_of_deepseek(tmp_path):
    config = synthetic.make_config("deepseek_v3_experts")
    weights = synthetic.make_weights(config)
    expected = source_of(tmp_path / "plain", config, weights)
    found = source_of(tmp_path / "hf", config, weights, model_type="kimi_k2")
    assert_same(found, expected)
    assert dataclasses.replace(found.config, name="", architecture="") == dataclasses.replace(
        expected.config, name="", architecture="")


def module_of(source):
    return ModuleWriter(source.config, "f32", 16).text()


def calls(module):
    """The tables of angles that layers are called with, in their order."""
    return [line.split("%positions, %")[1].split(",")[0] for line in module.splitlines()
            if "call @layer" in line]


def test_layers_without_a_rotation(tmp_path):
    config = synthetic.make_config("llama", layers=4)
    weights = synthetic.make_weights(config)
    source = source_of(tmp_path / "every", config, weights, model_type="smollm3")
    assert calls(module_of(source)) == ["freqs", "freqs", "freqs", "freqs_plain"]
    table = next(rope for weight, rope in source.config.ropes().items() if weight.name == "rope.freqs_plain")
    np.testing.assert_array_equal(table.table(5, 4), np.tile(np.float32([1, 0, 1, 0]), (5, 1)))
    source = source_of(tmp_path / "listed", config, weights, model_type="smollm3", no_rope_layers=[0, 1, 1, 0])
    assert calls(module_of(source)) == ["freqs_plain", "freqs", "freqs", "freqs_plain"]
    with pytest.raises(ImportFailure, match=r"no_rope_layers is \[1\]; supported: a list of 4 of 0 and 1"):
        source_of(tmp_path / "short", config, weights, model_type="smollm3", no_rope_layers=[1])
    # Of layers that slide and others, the first alone are rotated; without windows all of them.
    config = synthetic.make_config("llama", layers=4, norms="after", qk_norm="head", sliding=24,
                                   full_layers=frozenset((3,)))
    weights = synthetic.make_weights(config)
    source = source_of(tmp_path / "windows", config, weights, model_type="exaone4")
    assert calls(module_of(source)) == ["freqs", "freqs", "freqs", "freqs_plain"]
    source = source_of(tmp_path / "none", config, weights, model_type="exaone4", sliding_window=None,
                       layer_types=["full_attention"] * 4)
    assert calls(module_of(source)) == ["freqs"] * 4


def test_norms_behind_the_rotation(tmp_path):
    config = synthetic.make_config("qwen3")
    weights = {name.replace("q_norm", "query_layernorm").replace("k_norm", "key_layernorm"): values
               for name, values in synthetic.make_weights(config).items()}
    text = module_of(source_of(tmp_path, config, weights, model_type="hunyuan_v1_dense"))
    assert text.index("%q_rope = kv.rope %q_heads") < text.index("call @head_norm(%q_rope_flat, %q_norm)")
    assert "kv.store %k_scaled" in text and "kv.attention %q_scaled" in text


@pytest.mark.parametrize("family, settings, biases", (
    ("seed_oss", {"attention_bias": True, "attention_out_bias": False}, "qkv"),
    ("seed_oss", {"attention_bias": True, "attention_out_bias": True}, "qkvo"),
    ("glm", {"attention_bias": True}, "qkv"), ("olmo3", {"attention_bias": True}, "qkvo"),
    ("qwen2_moe", {"sliding_window": 0}, "qkv"), ("smollm3", {}, "")))
def test_biases(tmp_path, family, settings, biases):
    from kv_import.readers.hf_config import read_config
    raw = {"model_type": family, "vocab_size": 8, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2,
           "num_attention_heads": 4, "max_position_embeddings": 64, "sliding_window": 8, "num_experts": 4,
           "moe_intermediate_size": 16, "num_experts_per_tok": 2, "shared_expert_intermediate_size": 16, **settings}
    assert read_config(tmp_path, raw).biases == {f"{letter}_proj" for letter in biases}


@pytest.mark.parametrize("family, settings, wanted", (
    ("llama", {}, {"eps": 1e-6, "rotary": None, "tied": False}),
    ("ernie4_5", {}, {"eps": 1e-5, "head_dim": 128, "tied": True}),
    ("glm", {}, {"eps": 1.5625e-7, "rotary": 64}), ("glm", {"partial_rotary_factor": 0.25}, {"rotary": 32}),
    ("gemma2", {}, {"attention_cap": 50.0, "logit_cap": 30.0}),
    ("gemma2", {"final_logit_softcapping": 20.0, "rms_norm_eps": 1e-4}, {"logit_cap": 20.0, "eps": 1e-4}),
    # As MiniMax M2 is published.
    ("minimax_m2", {"rotary_dim": 64}, {"head_dim": 128, "rotary": 64})))
def test_missing_keys(tmp_path, family, settings, wanted):
    """Of other families and keys: test/python/raise/check_missing.py, beside transformers."""
    from kv_import.readers.hf_config import read_config
    raw = {"model_type": family, "vocab_size": 8, "hidden_size": 64, "intermediate_size": 64, "num_hidden_layers": 2,
           "num_attention_heads": 4, "max_position_embeddings": 64, "sliding_window": 8, "num_local_experts": 4,
           "num_experts_per_tok": 2, **settings}
    config = read_config(tmp_path, raw)
    assert {key: getattr(config, key) for key in wanted} == wanted


def test_queries_that_grow_with_their_position(tmp_path):
    config = synthetic.make_config("llama")
    weights = synthetic.make_weights(config)
    rope = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 512, "mscale": 1.0,
            "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.1, "rope_theta": 1e6}
    assert source_of(tmp_path / "a", config, weights, model_type="ministral3", rope_parameters=rope).config
    rope["original_max_position_embeddings"] = 256
    with pytest.raises(ImportFailure, match=r"llama_4_scaling_beta is 0.1; supported: none, or up to"):
        source_of(tmp_path / "b", config, weights, model_type="ministral3", rope_parameters=rope)


@pytest.mark.parametrize("joined", (True, False))
def test_delta_nets_of_one_projection_each(tmp_path, joined):
    config = synthetic.make_config("qwen3_next_experts")
    weights = synthetic.make_weights(config)
    expected = source_of(tmp_path / "whole", config, weights)
    stored = {name: values for name, values in weights.items() if "in_proj_" not in name and not (
        joined and ".experts." in name)}
    for layer in range(config.layers):
        prefix = f"model.layers.{layer}."
        if layer in config.recurrent.layers:
            for ours, theirs in (("in_mixed", "in_proj_qkv"), ("in_z", "in_proj_z")):
                stored[f"{prefix}linear_attn.{theirs}.weight"] = expected.tensor(f"{prefix}linear_attn.{ours}.weight")
            b, a = np.split(expected.tensor(f"{prefix}linear_attn.in_gates.weight"), 2)
            stored |= {f"{prefix}linear_attn.in_proj_b.weight": b, f"{prefix}linear_attn.in_proj_a.weight": a}
        if joined:
            gate, up, down = (expected.tensor(f"{prefix}mlp.experts.{name}_proj.weight").reshape(
                8, -1, 48 if name == "down" else 64) for name in ("gate", "up", "down"))
            stored |= {f"{prefix}mlp.experts.gate_up_proj": np.concatenate([gate, up], axis=1),
                       f"{prefix}mlp.experts.down_proj": down}
    stored["mtp.fc.weight"] = np.zeros((16, 16), np.float32)  # predicts more tokens
    found = source_of(tmp_path / "parts", config, stored, model_type="qwen3_5_moe_text")
    assert_same(found, expected)
    assert dataclasses.replace(found.config, name="", architecture="") == dataclasses.replace(
        expected.config, name="", architecture="")
    del stored["model.layers.1.linear_attn.in_proj_a.weight"]
    less = source_of(tmp_path / "less", config, stored, model_type="qwen3_5_moe_text")
    assert "model.layers.1.linear_attn.in_gates.weight" not in less.shapes()
