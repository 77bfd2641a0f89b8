"""Layouts, dtypes and values of weights.safetensors."""

import json
import os
import re
import struct
import subprocess
import sys

import gguf
import numpy as np
import pytest
from safetensors import safe_open

from channel_weights import channels, settings
from kv_import import synthetic
from kv_import.synthetic_experts import stacked
from kv_import.readers.gguf_names import permute_rotary, unpermute_rotary
from kv_import.model.rope import Rope, llama3_factors
from kv_import.weights.weights_writer import pack_n16k, round_to_bf16, unpack_n16k
from tools import KV_IMPORT, run

KINDS = ("llama", "llama3", "qwen2", "qwen3", "mistral", "granite", "phi3", "phi3_long", "olmo2",
         "gemma3", "qwen3_moe")


def of_module(config, weights):
    """The weights of a Hugging Face folder as a module takes them: one matrix a projection, and
    norms that multiply by their weight."""
    if config.architecture == "qwen3_moe":
        return {name: values.reshape(-1, values.shape[-1]) if ".experts." in name else values
                for name, values in stacked(weights).items()}
    out = {}
    for name, values in weights.items():
        if ".qkv_proj." in name:
            q, kv = config.heads * config.head_dim, config.kv_heads * config.head_dim
            for one, part in zip("qkv", np.split(values, [q, q + kv])):
                out[name.replace("qkv_proj", f"{one}_proj")] = part
        elif ".gate_up_proj." in name:
            for one, part in zip(("gate", "up"), np.split(values, 2)):
                out[name.replace("gate_up_proj", f"{one}_proj")] = part
        elif config.architecture == "gemma3_text" and "norm" in name:
            out[name] = 1 + values
        else:
            out[name] = values
    return out


def imported(source, folder, *options):
    done = run(KV_IMPORT, source, "-o", folder, "--name", "m", *options)
    assert done.returncode == 0, done.stderr
    return folder


def read_file(path):
    """(metadata, name -> (dtype, array of raw numbers)); bf16 as uint16."""
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    out = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        kind = {"F32": "<f4", "BF16": "<u2", "I8": "u1"}[entry["dtype"]]
        out[name] = (entry["dtype"], np.frombuffer(data[8 + size + begin:8 + size + end],
                                                   dtype=kind).reshape(entry["shape"]))
    return header["__metadata__"], out


def test_packing_is_the_documented_one():
    matrix = np.arange(32 * 5, dtype=np.float32).reshape(32, 5)
    packed = pack_n16k(matrix)
    assert packed.shape == (2, 5, 16)
    for n in range(32):
        for k in range(5):
            assert packed[n // 16][k][n % 16] == matrix[n][k]
    assert np.array_equal(unpack_n16k(packed), matrix)


@pytest.mark.parametrize("value,bits", [
    (1.0, 0x3F80), (1.00390625, 0x3F80),  # half way, to even: down
    (1.01171875, 0x3F82),  # half way, to even: up
    (1.0039064, 0x3F81), (-2.0, 0xC000), (0.0, 0), (1e-40, 0x0001),
])
def test_bf16_rounds_to_nearest_even(value, bits):
    assert round_to_bf16(np.array([value], dtype=np.float32))[0] == bits


def test_rotary_permutation_is_undone():
    rows = np.arange(2 * 8)[:, None] * np.ones((1, 3))
    # The converter pairs row i of a head with row i + 4.
    assert permute_rotary(rows, 2)[:8, 0].tolist() == [0, 4, 1, 5, 2, 6, 3, 7]
    assert np.array_equal(unpermute_rotary(permute_rotary(rows, 2), 2), rows)


def test_rope_table():
    table = Rope(theta=100.0, linear=2.0).table(7, 4)
    for position in range(7):
        for pair in range(2):
            angle = position / 100.0 ** (2 * pair / 4) / 2.0
            assert table[position, 2 * pair] == np.float32(np.cos(angle))
            assert table[position, 2 * pair + 1] == np.float32(np.sin(angle))


def test_llama3_factors():
    """Llama 3.2 1B; the values of the tensor rope_freqs.weight of its GGUF files."""
    factors = llama3_factors(500000.0, 64, 32.0, 1.0, 4.0, 8192)
    assert factors[:14] == (1.0,) * 14 and factors[18:] == (32.0,) * 14
    assert 1.0 < factors[15] < factors[16] < factors[17] <= 32.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ("bf16", "f32"))
def test_folder_and_gguf_give_the_same_files(tmp_path, kind, dtype):
    config = synthetic.make_config(kind)
    weights = synthetic.make_weights(config)
    synthetic.write_hf(tmp_path / "hf", config, weights)
    synthetic.write_gguf(tmp_path / "model.gguf", config, weights)
    one = imported(tmp_path / "hf", tmp_path / "one", "--dtype", dtype)
    two = imported(tmp_path / "model.gguf", tmp_path / "two", "--dtype", dtype)
    assert (one / "weights.safetensors").read_bytes() == (two / "weights.safetensors").read_bytes()
    text = (two / "model.mlir").read_text()
    if kind == "mistral":  # a GGUF file calls it llama
        text = text.replace("m: llama", "m: mistral").replace('"llama"', '"mistral"')
    assert (one / "model.mlir").read_text() == text


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ("bf16", "f32"))
def test_values_and_layouts(tmp_path, kind, dtype):
    config = synthetic.make_config(kind)
    weights = synthetic.make_weights(config)
    synthetic.write_hf(tmp_path / "hf", config, weights)
    folder = imported(tmp_path / "hf", tmp_path / "out", "--dtype", dtype, "--max-seq", "100")
    metadata, stored = read_file(folder / "weights.safetensors")
    weights = of_module(config, weights)
    tables = {"rope.freqs"} | ({"rope.freqs_sliding"} if kind == "gemma3" else set())
    assert set(stored) == set(weights) | tables
    for table in tables:
        assert stored[table][1].shape == (100, config.rotary_dim)
    for name, values in weights.items():
        kind_stored, raw = stored[name]
        gathered_only = name == "model.embed_tokens.weight" and not config.tied
        if ".router." in name:
            assert kind_stored == "F32"
        elif values.ndim == 1:
            assert kind_stored == "F32" and f"layout.{name}" not in metadata
        else:
            assert kind_stored == dtype.upper()
            assert metadata.get(f"layout.{name}") == (None if gathered_only else "n16k")
            if not gathered_only:
                raw = unpack_n16k(raw)
        if kind_stored == "BF16":
            raw = (raw.astype(np.uint32) << 16).view(np.float32)
        assert np.array_equal(raw, values), name
    with safe_open(folder / "weights.safetensors", framework="np") as file:
        assert set(file.keys()) == set(stored)


def test_experts_of_gpt_oss(tmp_path):
    """Columns that alternate become the rows of two weights; matrices are transposed."""
    config = synthetic.make_config("gpt_oss")
    weights = synthetic.make_weights(config)
    synthetic.write_hf(tmp_path / "hf", config, weights)
    metadata, stored = read_file(imported(tmp_path / "hf", tmp_path / "out", "--dtype", "f32")
                                 / "weights.safetensors")
    prefix = "model.layers.2.mlp.experts."
    for part, begin in (("gate", 0), ("up", 1), ("down", 0)):
        whole, step = ("down", 1) if part == "down" else ("gate_up", 2)
        name = f"{prefix}{part}_proj.weight"
        want = weights[f"{prefix}{whole}_proj"][..., begin::step].swapaxes(1, 2)
        assert metadata[f"layout.{name}"] == "n16k"
        assert np.array_equal(unpack_n16k(stored[name][1]), want.reshape(-1, want.shape[2]))
        name = f"{prefix}{part}_proj.bias"
        assert np.array_equal(stored[name][1], weights[f"{prefix}{whole}_proj_bias"][:, begin::step])
    sinks = "model.layers.2.self_attn.sinks"
    assert np.array_equal(stored[sinks][1], weights[sinks])


def mxfp4(weights, random):
    """`weights` of gpt-oss with experts of random MXFP4 blocks, and with what these stand for."""
    table = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6])
    table = np.concatenate([table, -table])
    packed, plain = {}, {}
    for name, values in weights.items():
        if not name.endswith(("experts.gate_up_proj", "experts.down_proj")):
            packed[name] = plain[name] = values
            continue
        experts, columns, rows = values.shape
        blocks = random.integers(0, 256, (experts, rows, columns // 32, 16), dtype=np.uint8)
        scales = random.integers(120, 125, blocks.shape[:3], dtype=np.uint8)
        blocks[0, 0, 0], scales[0, 0, 0] = 0x80, 0  # zeros of a power that an f16 has not
        packed |= {f"{name}_blocks": blocks, f"{name}_scales": scales}
        decoded = np.empty((experts, rows, columns), np.float32)
        for i in range(columns):
            nibble = blocks[:, :, i // 32, i % 32 // 2] >> (4 * (i % 2)) & 15
            decoded[:, :, i] = table[nibble] * 2.0 ** (scales[:, :, i // 32].astype(int) - 127)
        plain[name] = decoded.swapaxes(1, 2)
    return packed, plain


def test_mxfp4(tmp_path):
    """Dense, what the blocks stand for, in bf16 without rounding; kept, the same numbers in q8_0."""
    config = synthetic.make_config("gpt_oss", intermediate=64)
    packed, plain = mxfp4(synthetic.make_weights(config), np.random.default_rng(3))
    synthetic.write_hf(tmp_path / "plain", config, plain)
    synthetic.write_hf(tmp_path / "mxfp4", config, packed,
                       settings={"quantization_config": {"quant_method": "mxfp4"}})
    dense = imported(tmp_path / "plain", tmp_path / "one") / "weights.safetensors"
    same = imported(tmp_path / "mxfp4", tmp_path / "two", "--weights", "dense")
    _, numbers = read_file(dense)
    for name, (tag, values) in read_file(same / "weights.safetensors")[1].items():
        # A zero has a sign.
        assert np.array_equal(values & 0x7FFF if tag == "BF16" else values,
                              numbers[name][1] & 0x7FFF if tag == "BF16" else numbers[name][1])
    kept = imported(tmp_path / "mxfp4", tmp_path / "three")
    metadata, stored = read_file(kept / "weights.safetensors")
    for weight in config.weights():
        if weight.role != "experts":
            assert stored[weight.name][0] != "I8"
            continue
        assert metadata[f"layout.{weight.name}"] == "q8_0x16"
        blocks = stored[weight.name][1]
        scales = np.ascontiguousarray(blocks[..., :32]).view(np.float16).astype(np.float32)
        values = np.ascontiguousarray(blocks[..., 32:]).view(np.int8).astype(np.float32)
        values = values.reshape(*blocks.shape[:2], 8, 16, 4) * scales[:, :, None, :, None]
        values = values.transpose(0, 3, 1, 2, 4).reshape(weight.shape)
        want = (unpack_n16k(numbers[weight.name][1]).astype(np.uint32) << 16).view(np.float32)
        assert np.array_equal(values, want)


def test_head_that_is_no_multiple_of_16_stays_row_major(tmp_path):
    config = synthetic.make_config("llama", vocab=272, intermediate=72)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config))
    metadata, stored = read_file(imported(tmp_path / "hf", tmp_path / "out")
                                 / "weights.safetensors")
    name = "model.layers.0.mlp.gate_proj.weight"
    assert stored[name][1].shape == (72, 64) and f"layout.{name}" not in metadata
    assert stored["model.layers.0.mlp.down_proj.weight"][1].shape == (4, 72, 16)


@pytest.mark.parametrize("dtype", ("F32", "F16", "BF16"))
def test_dtypes_of_a_folder(tmp_path, dtype):
    config = synthetic.make_config("llama")
    weights = {n: np.round(v * 64) / 64 for n, v in synthetic.make_weights(config).items()}
    weights = {n: np.clip(v, -2, 2).astype(np.float32) for n, v in weights.items()}
    synthetic.write_hf(tmp_path / "hf", config, weights, dtype=dtype)
    _, stored = read_file(imported(tmp_path / "hf", tmp_path / "out", "--dtype", "f32")
                          / "weights.safetensors")
    for name, values in weights.items():
        raw = stored[name][1]
        assert np.array_equal(unpack_n16k(raw) if raw.ndim == 3 else raw, values)


@pytest.mark.parametrize("dtype", ("Q8_0", "Q4_1", "F16"))
def test_quantised_gguf(tmp_path, dtype):
    """Dequantised values, compared with the arithmetic of the block formats."""
    config = synthetic.make_config("qwen2")  # q and k are not permuted
    weights = synthetic.make_weights(config)
    synthetic.write_gguf(tmp_path / "m.gguf", config, weights, dtype=dtype)
    _, stored = read_file(imported(tmp_path / "m.gguf", tmp_path / "out", "--dtype", "f32",
                                   "--weights", "dense") / "weights.safetensors")
    name = "model.layers.1.mlp.up_proj.weight"
    values, got = weights[name].reshape(-1, 32), unpack_n16k(stored[name][1]).reshape(-1, 32)
    span = {"Q8_0": np.abs(values).max(axis=1) / 127, "F16": np.abs(values).max(axis=1) / 1024,
            "Q4_1": (values.max(axis=1) - values.min(axis=1)) / 15}[dtype]
    assert (np.abs(values - got) <= 0.52 * span[:, None] + 1e-3 * np.abs(values)).all()


@pytest.mark.parametrize("kind", ("llama", "qwen2", "granite", "phi3", "qwen3_moe"))
@pytest.mark.parametrize("dtype", ("Q8_0", "Q4_0", "Q4_1"))
def test_blocks_are_kept(tmp_path, kind, dtype):
    """Bit by bit: what the file holds and what is stored, element by element. The rows of q and k
    of llama files stand in another order, those of Phi-3 in one tensor, and experts below one
    another."""
    config = synthetic.make_config(kind, **({"intermediate": 64} if kind == "qwen3_moe" else {}))
    weights = synthetic.make_weights(config)
    synthetic.write_gguf(tmp_path / "m.gguf", config, weights, dtype=dtype)
    weights = of_module(config, weights)
    metadata, stored = read_file(imported(tmp_path / "m.gguf", tmp_path / "out")
                                 / "weights.safetensors")
    format_ = dtype.lower()
    quantised = [w for w in config.weights() if w.role in ("linear", "embedding", "experts")]
    for weight in quantised:
        tag, packed = stored[weight.name]
        assert tag == "I8" and metadata[f"layout.{weight.name}"] == f"{format_}x16"
        blocks = gguf.quantize(weights[weight.name], gguf.GGMLQuantizationType[dtype])
        n, k = weight.shape
        bytes_ = blocks.shape[1] * 32 // k
        rows = blocks.reshape(n // 16, 16, k // 32, bytes_)
        head = 4 if format_ == "q4_1" else 2
        scales = rows[..., :head].reshape(n // 16, 16, k // 32, head // 2, 2)
        # [block of rows, block of columns, which scale, row, byte]
        assert np.array_equal(packed[..., :16 * head].reshape(n // 16, k // 32, head // 2, 16, 2),
                              scales.transpose(0, 2, 3, 1, 4))
        values = rows[..., head:].reshape(n // 16, 16, k // 32, -1, 4)
        assert np.array_equal(packed[..., 16 * head:].reshape(n // 16, k // 32, -1, 16, 4),
                              values.transpose(0, 2, 3, 1, 4))


def test_weights_are_quantised_on_import(tmp_path):
    """A Hugging Face folder with --weights q8_0: the blocks that the gguf package makes; what does
    not fit is dense, which the import says."""
    config = synthetic.make_config("llama")
    weights = synthetic.make_weights(config)
    synthetic.write_hf(tmp_path / "hf", config, weights)
    done = run(KV_IMPORT, tmp_path / "hf", "-o", tmp_path / "out", "--weights", "q8_0")
    assert done.returncode == 0, done.stderr
    metadata, stored = read_file(tmp_path / "out/weights.safetensors")
    kept = [w for w in config.weights() if w.role == "linear"]
    assert {metadata[f"layout.{w.name}"] for w in kept} == {"q8_0x16"}
    assert "!kv.quant<q8_0>" in (tmp_path / "out/model.mlir").read_text()
    assert "kv.activations = i8" in (tmp_path / "out/model.mlir").read_text()


def unpack_i8(packed, shape):
    """Of the packed form of i8, [N / 16, 1, 64 + 16 K]: f32 scales [N], integers [N, K]."""
    rows, columns = shape
    packed = packed.reshape(rows // 16, -1)
    scales = np.ascontiguousarray(packed[:, :64]).view(np.float32).reshape(-1)
    integers = packed[:, 64:].reshape(rows // 16, columns // 4, 16, 4).view(np.int8)
    return scales, integers.transpose(0, 2, 1, 3).reshape(shape)


@pytest.mark.parametrize("kind", ("llama", "qwen2", "phi3", "gemma3", "qwen3_moe"))
@pytest.mark.parametrize("dtype", ("BF16", "F32", "F16"))
def test_channels_are_kept(tmp_path, kind, dtype):
    """A folder of i8 with a scale a row: bit by bit, also the embedding, tensors that hold several
    weights, and experts; what is none of these stays dense."""
    config = synthetic.make_config(kind, **({"intermediate": 64} if kind == "qwen3_moe" else {}))
    folder, plain = channels(synthetic.make_weights(config), np.random.default_rng(4))
    if dtype == "F16":  # has fewer powers of two than bf16
        for name in [n for n in folder if n.endswith("_scale")]:
            folder[name] = np.full_like(folder[name], 0.5 ** 9 * 1.25)
            plain[name[:-6]] = folder[name[:-6]] * np.float32(0.5 ** 9 * 1.25)
    synthetic.write_hf(tmp_path / "hf", config, folder, dtype=dtype, settings=settings())
    metadata, stored = read_file(imported(tmp_path / "hf", tmp_path / "out")
                                 / "weights.safetensors")
    whole = of_module(config, plain)
    for weight in config.weights():
        tag, packed = stored[weight.name]
        if weight.role not in ("linear", "embedding", "experts"):
            assert tag == "F32"
            continue
        assert tag == "I8" and metadata[f"layout.{weight.name}"] == "i8x16"
        scales, integers = unpack_i8(packed, weight.shape)
        # A scale of bf16 times 8 bits is exact.
        assert np.array_equal(integers * scales[:, None], whole[weight.name])
        assert integers.min() == -128
    dense = imported(tmp_path / "hf", tmp_path / "dense", "--weights", "dense", "--dtype", "f32")
    for name, (tag, values) in read_file(dense / "weights.safetensors")[1].items():
        if name in whole and values.ndim > 1:
            values = unpack_n16k(values) if values.ndim == 3 else values
            assert tag == "F32" and np.array_equal(values, whole[name])


def test_channels_of_some_weights(tmp_path):
    """What quantization_config ignores is dense beside the others; experts are dense if one is."""
    config = synthetic.make_config("qwen3_moe", intermediate=64)
    dense = "model.layers.1.mlp.experts.3.up_proj.weight"
    weights = synthetic.make_weights(config)
    folder, plain = channels({n: v for n, v in weights.items() if n != dense},
                             np.random.default_rng(5), re.compile(r".*\.experts\..*"))
    folder[dense] = plain[dense] = weights[dense]
    synthetic.write_hf(tmp_path / "hf", config, folder, dtype="F32", settings=settings())
    _, stored = read_file(imported(tmp_path / "hf", tmp_path / "out", "--dtype", "f32")
                          / "weights.safetensors")
    whole = of_module(config, {name: plain[name] for name in weights})
    for weight in config.weights():
        if weight.role != "experts":
            continue
        tag, values = stored[weight.name]
        if "layers.1.mlp.experts.up_proj" in weight.name:
            assert tag == "F32" and np.array_equal(unpack_n16k(values), whole[weight.name])
        else:
            assert tag == "I8"
    assert stored["model.layers.0.self_attn.q_proj.weight"][0] == "F32"


def test_rows_are_quantised_on_import(tmp_path):
    """--weights i8: the largest magnitude of a row is 127, the others the nearest multiples."""
    config = synthetic.make_config("llama")
    weights = synthetic.make_weights(config)
    name = "model.layers.0.mlp.gate_proj.weight"
    weights[name][0] = 0
    weights[name][1, :6] = [12.7, -12.7, 0.25, 0.35, -0.25, 0]  # ties, to even
    weights[name][1, 6:] = 0
    synthetic.write_hf(tmp_path / "hf", config, weights, dtype="F32")
    metadata, stored = read_file(imported(tmp_path / "hf", tmp_path / "out", "--weights", "i8")
                                 / "weights.safetensors")
    for weight in config.weights():
        if weight.role not in ("linear", "embedding"):
            continue
        assert metadata[f"layout.{weight.name}"] == "i8x16"
        scales, integers = unpack_i8(stored[weight.name][1], weight.shape)
        values = weights[weight.name]
        largest = np.abs(values).max(axis=1)
        assert np.array_equal(scales, largest / np.float32(127))
        assert (np.abs(integers).max(axis=1)[largest > 0] == 127).all()
        error = np.abs(integers * scales[:, None].astype(np.float64) - values)
        assert (error <= 0.5001 * scales[:, None]).all()
        if weight.name == name:
            assert not integers[0].any() and not scales[0]
            assert integers[1, :3].tolist() == [127, -127, 2] and integers[1, 5] == 0
    text = (tmp_path / "out/model.mlir").read_text()
    assert "!kv.quant<i8>" in text and "kv.activations = i8" in text


def peak_memory(*arguments):
    """Bytes that an import has resident at most; pages of mapped files count."""
    program = """
import sys
from kv_import import cli
assert cli.main(sys.argv[1:]) == 0
print([line for line in open("/proc/self/status") if line.startswith("VmHWM")][0])"""
    done = subprocess.run([sys.executable, "-c", program, *map(str, arguments)], check=True, text=True,
                          stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, KV_IMPORT.parents[:2]))})
    return int(done.stdout.split()[-2]) * 1024


@pytest.mark.parametrize("kind", ("folder", "gguf"))
def test_matrices_are_streamed(tmp_path, kind):
    """Three matrices of 67 MB each in f32, in more pieces than one: an import takes little more memory
    than that of a tiny model, and every row is where it belongs."""
    def write(config, path, weights):
        if kind == "gguf":
            synthetic.write_gguf(path, config, weights, dtype="Q8_0")
        else:
            synthetic.write_hf(path, config, weights)
        return path

    tiny = synthetic.make_config("llama", layers=1)
    base = peak_memory(write(tiny, tmp_path / "tiny", synthetic.make_weights(tiny)),
                       "-o", tmp_path / "tiny-out")
    config = synthetic.make_config("llama", layers=1, hidden=512, heads=8, head_dim=64,
                                   intermediate=32768)
    weights = synthetic.make_weights(config)
    peak = peak_memory(write(config, tmp_path / "large", weights), "-o", tmp_path / "out")
    assert peak < base + 80e6, f"{(peak - base) / 1e6:.0f} MB more than a tiny model"

    _, stored = read_file(tmp_path / "out/weights.safetensors")
    for part in ("self_attn.q_proj", "mlp.gate_proj", "mlp.down_proj"):
        name = f"model.layers.0.{part}.weight"
        values = weights[name]
        if kind == "folder":
            assert np.array_equal(stored[name][1], pack_n16k(round_to_bf16(values)))
            continue
        blocks = gguf.quantize(values, gguf.GGMLQuantizationType.Q8_0)
        n, k = values.shape
        scales = blocks.reshape(n // 16, 16, k // 32, 34)[..., :2].transpose(0, 2, 1, 3)
        assert np.array_equal(stored[name][1][..., :32], scales.reshape(n // 16, k // 32, 32))


def test_layers_that_predict_more_tokens(tmp_path):
    """DeepSeek-V3's last ones: left out where the configuration names them, else refused as unknown."""
    config = synthetic.make_config("deepseek_v3_experts", layers=2)
    weights = synthetic.make_weights(config)
    more = {"model.layers.2.eh_proj.weight": np.zeros((64, 128), np.float32),
            "model.layers.2.mlp.experts.0.up_proj.weight": np.zeros((48, 64), np.float32)}
    for layers, taken in ((1, True), (None, False)):
        folder, out = tmp_path / f"hf-{layers}", tmp_path / f"out-{layers}"
        synthetic.write_hf(folder, config, weights | more,
                           settings={"num_nextn_predict_layers": layers})
        done = run(KV_IMPORT, folder, "-o", out)
        assert (done.returncode == 0) == taken, done.stderr
        assert taken or "model.layers.2." in done.stderr
    _, stored = read_file(tmp_path / "out-1/weights.safetensors")
    assert not any(".layers.2." in name for name in stored)
