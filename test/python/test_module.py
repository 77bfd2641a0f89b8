"""The text of model.mlir: it parses, and says what the configuration says."""

import os
import re
import subprocess

import pytest

from kv_import import synthetic
from kv_import.model.config import ModelConfig
from kv_import.readers.hf_reader import HuggingFaceSource
from kv_import.writers.module_types import number
from kv_import.writers.module_writer import ModuleWriter
from stock_mlir import to_generic
from tools import find

KINDS = tuple(synthetic.KINDS)


MLIR_OPT = find("mlir-opt", "/usr/lib/llvm-22/bin/mlir-opt")
KV_OPT = find("kv-opt")


def text_of(kind, dtype="bf16", **changes):
    return ModuleWriter(synthetic.make_config(kind, **changes), dtype, 128).text()


def accepted(program, text, *options):
    done = subprocess.run([program, *options, "-o", "-"], input=text, text=True,
                          capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr[:2000]
    return done.stdout


@pytest.mark.skipif(MLIR_OPT is None, reason="no mlir-opt")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ("bf16", "f32"))
def test_stock_mlir_opt_takes_all_but_the_kv_operations(kind, dtype):
    generic = to_generic(text_of(kind, dtype))
    assert not re.search(r"(?<![\"\w!])kv\.(rope|store|attention|positions|route|expert_matmul) ", generic)
    accepted(MLIR_OPT, generic, "-allow-unregistered-dialect")


@pytest.mark.skipif(KV_OPT is None, reason="kv-opt is not built")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ("bf16", "f32"))
def test_kv_opt_takes_it(kind, dtype):
    accepted(KV_OPT, text_of(kind, dtype), "--verify-roundtrip")


@pytest.mark.skipif(KV_OPT is None, reason="kv-opt is not built")
@pytest.mark.parametrize("kind,taken", [
    ("llama", True), ("phi3", True), ("olmo2", True), ("deepseek_v2", True), ("granite", True),
    ("gemma3", True), ("qwen3_moe", True), ("deepseek_v2_experts", True),
    ("deepseek_v3_experts", True),
    ("granite_hybrid", True), ("qwen3_next", False)])
def test_what_gpus_have_kernels_for(kind, taken):
    """The small Qwen 3 Next has rows of four gates, which are no chunk: refused, not computed without."""
    more = {"head_dim": 64, "layers": 2}
    if kind.startswith("deepseek"):
        more.pop("head_dim")
    elif kind in ("qwen3_next", "granite_hybrid"):
        more.pop("layers")  # some have attention
    done = subprocess.run([KV_OPT, "--kv-cuda=chips=sm_80", "-o", os.devnull],
                          input=text_of(kind, **more), text=True,
                          capture_output=True, timeout=120)
    assert (done.returncode == 0) == taken, done.stderr[:2000]
    assert taken or "op has no kernel on a GPU" in done.stderr


def test_no_operation_beyond_the_contract():
    allowed = {"affine_map", "func", "linalg", "tensor", "arith", "math", "kv", "call", "return"}
    for kind in KINDS:
        text = re.sub(r"//.*", "", text_of(kind))
        operations = set(re.findall(r"(?:=|^)\s*([a-z]+\.[a-z_0-9]+)", text, flags=re.M))
        assert {name.split(".")[0] for name in operations} <= allowed
        assert {n for n in operations if n.startswith("math.")} <= {
            "math.exp", "math.rsqrt", "math.sqrt", "math.tanh", "math.absf", "math.log1p"}
        assert {n for n in operations if n.startswith("kv.")} <= {
            "kv.positions", "kv.rope", "kv.store", "kv.attention", "kv.model", "kv.route",
            "kv.keep_groups", "kv.expert_matmul", "kv.state_convolution", "kv.state_scan"}


def test_entry():
    text = text_of("qwen2")
    assert text.count("kv.entry") == 1 and text.count("func.func @") == 1
    assert '%tokens: tensor<?xi32> {kv.name = "tokens", kv.dims = ["T"]}' in text
    assert '%row_offsets: tensor<?xi32> {kv.name = "row_offsets", kv.dims = ["offsets"]}' in text
    assert '%logit_rows: tensor<?xi32> {kv.name = "logit_rows", kv.dims = ["R"]}' in text
    assert '-> (tensor<?x272xf32> {kv.name = "logits", kv.dims = ["R"]})' in text
    config = synthetic.make_config("qwen2")
    weights = re.findall(r'kv\.weight = "([^"]+)"', text)
    assert weights == [w.name for w in config.weights()]
    assert "model.layers.1.self_attn.k_proj.bias" in weights


def test_collection_and_mask():
    assert ("!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 16, page = 128>"
            in text_of("llama"))
    assert "mask <causal> scale 0.25" in text_of("llama")
    assert "mask <sliding = 32> scale 0.35355338" in text_of("mistral")
    assert "mask <causal> scale 0.35355338" in text_of("mistral", max_seq=32)


def test_windows():
    """A collection for each window, with the layers that have it in their order."""
    assert ("!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 8, page = 128, "
            "window = 32>") in text_of("mistral")
    assert "window" not in text_of("mistral", max_seq=32)  # none that a sequence can outgrow
    text = text_of("mixed")
    assert "!kv = !kv.collection<paged, bf16, layers = 2, heads = 2, dim = 16, page = 128>" in text
    assert ("!kv_sliding = !kv.collection<paged, bf16, layers = 6, heads = 2, dim = 16, page = 128, "
            "window = 24>") in text
    assert '%kv: !kv {kv.name = "kv"}' in text
    assert '%kv_sliding: !kv_sliding {kv.name = "kv_sliding"}' in text
    assert re.findall(r"call @(layer\w*)\(%x\d+, %(\w+), %(\w+),", text) == [
        ("layer_sliding", "kv_sliding", "c0"), ("layer_sliding", "kv_sliding", "layer1"),
        ("layer", "kv", "c0"), ("layer_sliding", "kv_sliding", "layer2"),
        ("layer_sliding", "kv_sliding", "layer3"), ("layer", "kv", "layer1"),
        ("layer_sliding", "kv_sliding", "layer4"), ("layer_sliding", "kv_sliding", "layer5")]
    assert text.count("mask <causal>") == 1 and text.count("mask <sliding = 24>") == 1


def test_one_cache_for_all_layers():
    text = ModuleWriter(synthetic.make_config("mixed"), "bf16", 128, keep_all=True).text()
    assert "!kv = !kv.collection<paged, bf16, layers = 8, heads = 2, dim = 16, page = 128>" in text
    assert "window" not in text.replace("// One transformer layer, whose", "")
    assert re.findall(r"call @(layer\w*)\(%x\d+, %kv, %(\w+),", text) == [
        ("layer_sliding", "c0"), ("layer_sliding", "layer1"), ("layer", "layer2"),
        ("layer_sliding", "layer3"), ("layer_sliding", "layer4"), ("layer", "layer5"),
        ("layer_sliding", "layer6"), ("layer_sliding", "layer7")]
    assert text.count("mask <causal>") == 1 and text.count("mask <sliding = 24>") == 1


def test_untied_embedding_and_head():
    text = text_of("llama3")
    assert '%lm_head: tensor<272x64xbf16> {kv.weight = "lm_head.weight"}' in text
    assert "ins(%normal, %lm_head :" in text
    assert "ins(%normal, %embed :" in text_of("llama")


def test_norms_after():
    """Of attention and MLP, before the residual sum; queries and keys as whole rows."""
    text = text_of("olmo2")
    assert re.findall(r"%(\w+) = call @(rms_norm\w*|add)\(%(\w+), %(\w+)\)", text) == [
        ("q_normal", "rms_norm_64", "q", "q_norm"), ("k_normal", "rms_norm_32", "k", "k_norm"),
        ("attended_normal", "rms_norm", "attended", "attn_out_norm"),
        ("middle", "add", "x", "attended_normal"),
        ("d_normal", "rms_norm", "d", "mlp_out_norm"), ("y", "add", "middle", "d_normal"),
        ("normal", "rms_norm", "last", "final_norm")]
    assert text.count("func.func private @rms_norm") == 3
    assert text_of("olmo2", kv_heads=4).count("func.func private @rms_norm") == 2


def test_norms_around_and_two_ropes():
    text = text_of("gemma3")
    for name in ("input", "post_attention", "pre_feedforward", "post_feedforward"):
        assert text.count(f"{name}_layernorm.weight") == 7
    assert text.count("call @gelu_tanh_mul") == 2 and "silu" not in text
    assert "%x0 = call @scale_embedding(%embedded)" in text
    assert re.findall(r"call @(layer\w*)\(%x\d+, %(\w+), %\w+, %row_offsets, %positions, %(\w+)",
                      text) == [("layer_sliding", "kv_sliding", "freqs_sliding")] * 5 + [
        ("layer", "kv", "freqs"), ("layer_sliding", "kv_sliding", "freqs_sliding")]
    assert 'kv.weight = "rope.freqs_sliding"' in text and "softcap" not in text
    # A table that no layer uses is none; a window that no sequence can outgrow slides still.
    text = text_of("gemma3", layers=2, max_seq=16)
    assert "window" not in text and 'kv.weight = "rope.freqs"' not in text
    assert 'kv.weight = "rope.freqs_sliding"' in text


def config_of(tmp_path, kind, **settings):
    config = synthetic.make_config(kind)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config), settings=settings)
    return HuggingFaceSource(tmp_path / "hf").config


def test_layers_that_see_all_by_a_pattern(tmp_path):
    """Gemma 3's config.json without layer_types."""
    def full(**settings):
        return list(config_of(tmp_path, "gemma3", layer_types=None, **settings).full_layers)

    assert full() == [5] and full(sliding_window_pattern=3) == [2, 5]
    assert full(sliding_window_pattern=1) == list(range(7))


@pytest.mark.parametrize("kind", ("llama3", "phi3", "phi3_long", "olmo2", "gemma3",
                                  "gemma3_caps", "gpt_oss"))
def test_both_forms_of_rope_settings(tmp_path, kind):
    """As transformers 4 and 5 write them."""
    one = config_of(tmp_path, kind)
    theta = {"rope_theta": one.rope.theta}
    default = {"rope_type": "default"} | theta
    new = {"llama3": synthetic.LLAMA3 | theta, "gpt_oss": synthetic.YARN | theta,
           "phi3_long": {"rope_type": "longrope", "short_factor": list(one.rope.factors),
                         "long_factor": list(one.rope.long_factors or ()),
                         "original_max_position_embeddings": 64,
                         "partial_rotary_factor": 0.75} | theta if kind == "phi3_long" else {},
           "gemma3": {
        "full_attention": default,
        "sliding_attention": {"rope_type": "default", "rope_theta": 10000.0}}}
    new["gemma3_caps"] = new["gemma3"] | {
        "full_attention": {"rope_type": "linear", "factor": 8.0} | theta}
    two = config_of(tmp_path, kind, rope_theta=None, rope_scaling=None, rope_local_base_freq=None,
                    rope_parameters=new.get(kind, default))
    assert one == two and one.rope == synthetic.make_config(kind).rope
    assert one.sliding_rope == synthetic.make_config(kind).sliding_rope


def test_experts():
    text = text_of("qwen3_moe")
    assert "%logits = call @router(%m, %router)" in text
    assert "%experts, %shares = kv.route %logits normalised" in text
    assert re.findall(r"(%\w+(?:, %\w+)*) = kv.expert_matmul %(\w+), (.*) experts", text) == [
        ("%g, %u", "m", "%gate, %up"), ("%e", "a", "%down")]
    assert "%d = call @share_experts(%e, %shares)" in text and "bias" not in text
    # Each expert's rows below those of the one before; the router in f32.
    assert ('%l1_down: tensor<512x48xbf16> {kv.weight = "model.layers.1.mlp.experts.down_proj.weight"}'
            in text)
    assert '%l1_router: tensor<8x64xf32> {kv.weight = "model.layers.1.mlp.router.weight"}' in text
    mixture = synthetic.Mixture(experts=8, choices=3, normalised=False)
    assert "kv.route %logits\n" in text_of("qwen3_moe", mixture=mixture)


def test_gpt_oss():
    text = text_of("gpt_oss")
    assert text.count(" sinks %sinks mask ") == 2
    assert "%logits = call @router(%m, %router, %router_bias)" in text
    for what, width in (("gate", 48), ("up", 48), ("down", 64)):
        assert f"%experts, %{what}_bias)\n        : " in text
        assert f"%l3_{what}_bias: tensor<6x{width}xf32>" in text
    assert "%limit = arith.constant 2.0" in text and "%slope = arith.constant -1.702" in text
    assert re.findall(r"call @(layer\w*)\(%x\d+, %(\w+)", text) == [
        ("layer_sliding", "kv_sliding"), ("layer", "kv")] * 2


def test_part_of_a_head_is_rotated():
    text = text_of("phi3_long")
    assert "%freqs: tensor<512x12xf32>" in text and "tensor<?x4x16xf32>, tensor<?xi32>" in text


def test_scales_and_caps():
    text = text_of("gemma3_caps")
    assert text.count("scale 0.14433756 softcap 2.0") == 2
    assert "%cap = arith.constant 3.0 : f32" in text
    assert "%logits = call @adjust_logits(%products)" in text
    text = text_of("granite")
    for line in ("scale 0.0625", "%scale = arith.constant 12.0", "%scale = arith.constant 0.22",
                 "%scale = arith.constant 0.125"):
        assert text.count(line) == 1
    assert "math.tanh" not in text
    for kind in ("llama", "qwen3", "mistral"):
        assert "adjust_logits" not in text_of(kind) and "scale_embedding" not in text_of(kind)


def test_f32_module_widens_nothing():
    assert "arith.extf" in text_of("llama") and "arith.extf" not in text_of("llama", "f32")


@pytest.mark.parametrize("value,text", [
    (1e-5, "1.0e-05"), (9.999999747378752e-06, "1.0e-05"), (0.125, "0.125"), (576, "576.0"),
    (1e-6, "1.0e-06"), (64 ** -0.5, "0.125"), (128 ** -0.5, "0.088388346")])
def test_numbers_are_short_and_exact(value, text):
    assert number(value) == text


def test_name_is_escaped():
    assert r'name = "a\"b\\c"' in text_of("llama", name='a"b\\c')


def test_weight_arguments_are_unique():
    for kind in KINDS:
        config: ModelConfig = synthetic.make_config(kind)
        names = [w.argument for w in config.weights()]
        assert len(set(names)) == len(names)
