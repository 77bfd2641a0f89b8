"""Folders of floats of 8 bits: what kv-import keeps of them, the logits of their models, and what is
refused."""

import dataclasses
import re

import numpy as np
import pytest

from channel_weights import MATRIX
from float_weights import METHODS, matrices, settings
from kv_import.weights import float8, quant_blocks
from kv_import import synthetic
from test_bad_input import folder_with, refused
from test_end_to_end import compare_logits
from test_quantized import rounded_rows
from test_weights import imported, of_module, read_file, unpack_n16k
from tools import KV_IMPORT, run

# Rows of matrices are whole blocks of 128.
SIZES = {"hidden": 128, "heads": 4, "head_dim": 32, "intermediate": 128}


def test_the_numbers_of_bytes():
    """Each by the definition: sign, exponent, mantissa."""
    for format_, exponent_bits, bias, top in (("f8e4m3", 4, 7, 448.0), ("f8e5m2", 5, 15, 57344.0)):
        mantissa_bits = 7 - exponent_bits
        for byte in range(256):
            exponent = byte >> mantissa_bits & (1 << exponent_bits) - 1
            fraction = (byte & (1 << mantissa_bits) - 1) / 2 ** mantissa_bits
            value = (2.0 ** (1 - bias) * fraction if exponent == 0
                     else 2.0 ** (exponent - bias) * (1 + fraction))
            got = float8.VALUES[format_][byte]
            if value > top:
                assert np.isnan(got)
            else:
                assert got == (-value if byte & 0x80 else value), (format_, byte)
        assert np.nanmax(float8.VALUES[format_]) == top


@pytest.mark.parametrize("method,format_", [(method, format_) for method in METHODS
                                            for format_ in float8.VALUES
                                            if (method, format_) != ("block", "f8e5m2")])
def test_blocks_are_kept(tmp_path, method, format_):
    """What is stored stands for the file's numbers to the bit, as blocks and dense."""
    config = synthetic.make_config("qwen3_moe", **SIZES)
    folder, plain = matrices(synthetic.make_weights(config), np.random.default_rng(4), method, format_)
    synthetic.write_hf(tmp_path / "hf", config, folder, settings=settings(method))
    metadata, stored = read_file(imported(tmp_path / "hf", tmp_path / "out") / "weights.safetensors")
    whole, kept = of_module(config, plain), 0
    for weight in config.weights():
        tag, packed = stored[weight.name]
        if weight.role not in ("linear", "embedding", "experts"):
            continue
        kept += 1
        assert tag == "I8" and metadata[f"layout.{weight.name}"] == f"{format_}x16"
        assert packed.shape == tuple(quant_blocks.packed_shape(format_, weight.shape))
        blocks = packed.view(np.uint8).reshape(*packed.shape[:2], -1)
        scales = np.ascontiguousarray(blocks[..., :64]).view(np.float32)  # [N/16, K/128, 16]
        # Parts of 16 rows by four elements.
        bytes_ = blocks[..., 64:].reshape(*blocks.shape[:2], 32, 16, 4)
        numbers = float8.VALUES[format_][bytes_] * scales[:, :, None, :, None]
        numbers = numbers.transpose(0, 3, 1, 2, 4).reshape(weight.shape)
        assert np.array_equal(numbers, whole[weight.name]), weight.name
    assert kept > 10
    dense = imported(tmp_path / "hf", tmp_path / "dense", "--weights", "dense", "--dtype", "f32")
    for name, (tag, values) in read_file(dense / "weights.safetensors")[1].items():
        if name in whole and values.ndim > 1:
            values = unpack_n16k(values) if values.ndim == 3 else values
            assert tag == "F32" and np.array_equal(values, whole[name])


@pytest.mark.parametrize("kind,method", [("qwen3_moe", "block"), ("phi3", "row"),
                                         ("qwen2", "tensor"), ("deepseek_v2_experts", "block")])
def test_logits(tmp_path, kind, method):
    """Against the plain weights in f32, with rows rounded before these products."""
    sizes = SIZES
    if kind == "deepseek_v2_experts":
        mixture = dataclasses.replace(synthetic.KINDS[kind]["mixture"], shared=128, dense_width=256)
        # A head's value of 64: o_proj has rows of 256.
        latent = dataclasses.replace(synthetic.KINDS[kind]["latent"], value=64)
        sizes = {"hidden": 128, "intermediate": 128, "mixture": mixture, "latent": latent}
    config = synthetic.make_config(kind, **sizes)
    folder, weights = matrices(synthetic.make_weights(config, seed=7), np.random.default_rng(8), method)
    synthetic.write_hf(tmp_path / "hf", config, folder, "F32", settings(method))
    # What is taken apart into heads is dense.
    kept = re.compile(r"(?!.*kv_b_proj).*_proj(_with_mqa)?\.weight|lm_head\.weight|model\.embed_tokens\.weight")

    def rounded(rows, name):
        return (rounded_rows(rows.astype(np.float32))
                if kept.fullmatch(name) and MATRIX.fullmatch(name) else rows)

    compare_logits(tmp_path, "hf", config, weights, "f32", 5e-2, rounded)


def test_what_is_refused(tmp_path):
    config = synthetic.make_config("llama", **SIZES)
    name = "model.layers.1.mlp.down_proj.weight"

    def folder(method="row", changes=(), format_="f8e4m3", **entries):
        weights, _ = matrices(synthetic.make_weights(config), np.random.default_rng(1), method, format_)
        for key, value in dict(changes).items():
            if value is None:
                del weights[key]
            else:
                weights[key] = value
        return folder_with(tmp_path, config, weights, **settings(method, **entries))

    assert run(KV_IMPORT, folder(), "-o", tmp_path / "out").returncode == 0
    refused(folder(changes={f"{name}_scale": None}), tmp_path, f"the tensor {name} of F8_E4M3 must be",
            "weight_scale, weight_scale_inv")
    refused(folder(changes={f"{name}_scale_inv": np.ones(1, np.float32)}), tmp_path, name, "one of")
    refused(folder(changes={f"{name}_scale": np.ones((2, 64), np.float32)}), tmp_path,
            f"{name}_scale has the shape [2, 64]", "128 x 128")
    refused(folder(changes={f"{name}_scale": np.full(128, np.inf, np.float32)}), tmp_path, name,
            "NaN or infinity")
    nan = np.full((128, 128), 0x7F, np.uint8).view([("F8_E4M3", np.uint8)])
    refused(folder(changes={name: nan}), tmp_path, name, "NaN or infinity")
    refused(folder("block", weight_block_size=[64, 64]), tmp_path,
            "weight_block_size is [64, 64]; supported: [128, 128]")
    refused(folder("block", fmt="e5m2"), tmp_path, "fmt is 'e5m2'; supported: 'e4m3'")
    refused(folder("tensor", quant_algo="NVFP4"), tmp_path, "quant_algo is 'NVFP4'; supported: 'FP8'")
    refused(folder(format="nvfp4-pack-quantized"), tmp_path, "format is 'nvfp4-pack-quantized'")


def test_rows_that_are_no_blocks_are_dense(tmp_path):
    """Of 64 elements no block is whole: the numbers are kept, and a note says so."""
    config = synthetic.make_config("llama")
    folder, plain = matrices(synthetic.make_weights(config), np.random.default_rng(4), "row")
    synthetic.write_hf(tmp_path / "hf", config, folder, settings=settings("row"))
    done = run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path / "out", "--dtype", "f32")
    assert done.returncode == 0, done.stderr
    assert "whose sizes are no multiples of 16 and 128" in done.stdout + done.stderr
    tag, values = read_file(tmp_path / "out/weights.safetensors")[1]["model.layers.0.mlp.up_proj.weight"]
    assert tag == "F32"
    assert np.array_equal(unpack_n16k(values), plain["model.layers.0.mlp.up_proj.weight"])
