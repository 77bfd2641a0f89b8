"""Folders of GPTQ, AWQ, compressed-tensors' pack-quantized and bitsandbytes: matrices become the numbers that they
stand for. The layouts are packed here as the packages that write them do."""

import json

import numpy as np
import pytest

from kv_import import synthetic
from kv_import.model.errors import ImportFailure
from kv_import.readers.bitsandbytes import FourBitMatrices
from kv_import.readers.hf_reader import HuggingFaceSource
from kv_import.readers.packed_integers import Scheme
from kv_import.weights.weight_formats import choose_formats
from kv_import.weights.weights_writer import write_safetensors
from test_end_to_end import LIMIT, compare_logits
from test_quantized import rounded_rows
from tools import QUICK

GROUP = 32
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # the column of each place of a word
SETTINGS = {
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": GROUP},
    "gptq_v2": {"quant_method": "gptq", "bits": 8, "group_size": GROUP, "checkpoint_format": "gptq_v2"},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "GEMM", "zero_point": True},
    "packed": {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {
        "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": GROUP}}}},
    "nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False, "bnb_4bit_quant_type": "nf4"},
    "fp4": {"load_in_4bit": True, "bnb_4bit_quant_type": "fp4"},  # old folders name no method
    "nested": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
    "int8": {"quant_method": "bitsandbytes", "load_in_8bit": True, "load_in_4bit": False},
}
METHODS = {"packed": "pack-quantized", "gptq_v2": "gptq"} | dict.fromkeys(("nf4", "fp4", "nested"), "bitsandbytes")
# Of NF4, as its paper lists them; of FP4: a sign, two bits of exponent (0: 1/16 of the others' unit), one of mantissa.
NF4 = (-1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453, -0.28444138169288635,
       -0.18477343022823334, -0.09105003625154495, 0.0, 0.07958029955625534, 0.16093020141124725,
       0.24611230194568634, 0.33791524171829224, 0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0)
FP4 = tuple(sign * each / 12 for sign in (1, -1) for each in (0, 0.0625, 8, 12, 4, 6, 2, 3))


def pack(integers, bits, order=None):
    """Along the last axis, into i32."""
    per = 32 // bits
    words = integers.astype(np.uint32).reshape(*integers.shape[:-1], -1, per)
    out = np.zeros(words.shape[:-1], np.uint32)
    for place, column in enumerate(order or range(per)):
        out |= words[..., column] << np.uint32(bits * place)
    return out.view(np.int32)


def stored(kind, matrix, random, listed=False):
    """{part: tensor} of integers near a matrix [N, K], and what they stand for."""
    bits = 8 if kind == "gptq_v2" else 4
    count, columns = matrix.shape
    groups = columns // GROUP
    scales = (0.5 + random.random((count, groups))).astype(np.float16)
    zeros = random.integers(1, 1 << bits, (count, groups)) if kind != "packed" else np.full((count, groups), 8)
    integers = random.integers(0, 1 << bits, (count, columns))
    group_of = random.permutation(np.arange(columns) // GROUP) if listed else np.arange(columns) // GROUP
    values = (integers - zeros[:, group_of]).astype(np.float32) * scales[:, group_of].astype(np.float32)
    if kind == "packed":
        parts = {"weight_packed": pack(integers, 4), "weight_scale": scales,
                 "weight_shape": np.array([count, columns], np.int64)}
    elif kind == "awq":
        parts = {"qweight": pack(integers.T, 4, AWQ_ORDER), "qzeros": pack(zeros.T, 4, AWQ_ORDER), "scales": scales.T}
    else:
        parts = {"qweight": pack(integers, bits).T, "scales": scales.T,
                 "qzeros": pack(zeros.T - (1 if kind == "gptq" else 0), bits)}
        if listed:
            parts["g_idx"] = group_of.astype(np.int32)
    return parts, values


def four_bits(kind, matrix):
    """{part: tensor} of bitsandbytes near a matrix, and what they stand for: block by block."""
    size, outer_size = (64, 256) if kind == "nf4" else (32, 16)
    codes = np.array(FP4 if kind == "fp4" else NF4, np.float32)
    flat = matrix.reshape(-1)
    places, values, factors = np.zeros(len(flat), np.uint8), np.zeros(len(flat), np.float32), []
    nested = np.linspace(-1, 1, 256, dtype=np.float32)
    offset, outer = np.float32(np.abs(flat).mean()), []
    for i, begin in enumerate(range(0, len(flat), size)):
        block = slice(begin, begin + size)
        factor = stored_factor = np.abs(flat[block]).max()
        if kind == "nested":
            if i % outer_size == 0:
                outer.append(np.float32(2) * factor)
            stored_factor = np.uint8(np.abs(nested * outer[-1] + offset - factor).argmin())
            factor = nested[stored_factor] * outer[-1] + offset
        factors.append(stored_factor)
        places[block] = np.abs(flat[block, None] / factor - codes).argmin(axis=1)
        values[block] = codes[places[block]] * factor
    packed = places[0::2] << 4 | places[1::2]
    state = {"quant_type": "fp4" if kind == "fp4" else "nf4", "blocksize": size, "dtype": "bfloat16",
             "shape": list(matrix.shape)}
    parts = {"weight": packed.reshape(-1, 1), "weight.quant_map": codes, "weight.absmax": np.array(factors)}
    if kind == "nested":  # in the bytes of another type, as quant_storage says
        parts |= {"weight": packed.view(np.float32).reshape(-1, 1), "weight.nested_quant_map": nested,
                  "weight.nested_absmax": np.array(outer)}
        state |= {"nested_blocksize": outer_size, "nested_dtype": "float32", "nested_offset": float(offset)}
    parts[f"weight.quant_state.bitsandbytes__{state['quant_type']}"] = as_bytes(state)
    return parts, values.reshape(matrix.shape)


def as_bytes(state):
    return np.frombuffer(json.dumps(state).encode(), np.uint8)


def eight_bits(matrix):
    """The same of 8 bits."""
    largest = np.abs(matrix).max(axis=1)
    integers = np.rint(matrix / largest[:, None] * 127).astype(np.int8)
    values = np.array([row.astype(np.float32) * (np.float32(1 / 127) * most) for row, most in zip(integers, largest)])
    return {"weight": integers, "SCB": largest, "weight_format": np.zeros((), np.uint8)}, values


TAGS = {"uint8": "U8", "int8": "I8", "int32": "I32", "int64": "I64", "float16": "F16", "float32": "F32"}


def folder_of(path, kind, listed=False, change=None):
    """A folder whose projections are packed, and the numbers of its matrices."""
    config = synthetic.make_config("llama")
    weights = synthetic.make_weights(config)
    synthetic.write_hf(path, config, weights, settings={"quantization_config": SETTINGS[kind]})
    random, tensors, values = np.random.default_rng(5), {}, {}
    for name, matrix in weights.items():
        if "_proj.weight" not in name:
            tensors[name] = matrix
            continue
        parts, values[name] = (eight_bits(matrix) if kind == "int8" else four_bits(kind, matrix)
                               if METHODS.get(kind) == "bitsandbytes" else stored(kind, matrix, random, listed))
        tensors |= {name.removesuffix("weight") + part: np.ascontiguousarray(tensor)
                    for part, tensor in parts.items()}
    if change:
        change(tensors)
    tensors = dict(sorted(tensors.items(), key=lambda item: -item[1].itemsize))
    write_safetensors(path / "model.safetensors", {"format": "pt"}, {
        name: (TAGS[tensor.dtype.name], tensor.shape, tensor.nbytes) for name, tensor in tensors.items()},
        tensors.values())
    return config, values


@pytest.mark.parametrize("kind, listed", (("gptq", False), ("gptq", True), ("gptq_v2", False), ("awq", False),
                                          ("packed", False), ("nf4", False), ("fp4", False), ("nested", False)))
def test_the_numbers(tmp_path, kind, listed):
    config, values = folder_of(tmp_path, kind, listed)
    source = HuggingFaceSource(tmp_path)
    assert len(values) == 14
    for name, matrix in values.items():
        np.testing.assert_array_equal(source.tensor(name), matrix, err_msg=name)
        np.testing.assert_array_equal(source.tensor(name, slice(16, 32)), matrix[16:32], err_msg=name)
        assert source.shapes()[name] == matrix.shape
    formats, notes = choose_formats(source, source.config, "keep", "bf16")
    bits = 8 if kind == "gptq_v2" else 4
    elements = sum(matrix.size for matrix in values.values())
    assert formats == {} and notes == [
        f"14 weights of {bits} bits ({METHODS.get(kind, kind)}) "
        f"become bf16: {elements * 2 / 1e6:.1f} MB instead of {elements * bits / 8e6:.1f}; --weights q4_1 or q8_0 "
        "stores them smaller"]


def test_rows_of_odd_lengths():
    """Rows begin within a byte, and within a block."""
    matrix = np.random.default_rng(3).standard_normal((6, 17)).astype(np.float32)
    parts, values = four_bits("fp4", matrix)
    parts = {f"m.{part}": tensor for part, tensor in parts.items()}
    index = {name: ("file", tensor.shape, TAGS[tensor.dtype.name]) for name, tensor in parts.items()}
    read = FourBitMatrices("folder", Scheme("bitsandbytes", 4, 0), index, parts.get,
                           lambda name, begin, end: parts[name].reshape(-1)[begin:end])
    assert index == {"m.weight": ("file", (6, 17), "packed")}
    for begin, end in ((0, 6), (1, 2), (3, 6), (5, 5)):
        np.testing.assert_array_equal(read.values("m.weight", slice(begin, end)), values[begin:end])


@pytest.mark.parametrize("kind", ("nested", "int8"))
def test_logits(tmp_path, kind):
    """Of 8 bits as they are, with rows rounded; of 4 bits as numbers."""
    config, values = folder_of(tmp_path / "hf", kind)
    weights = {name: values.get(name, matrix) for name, matrix in synthetic.make_weights(config).items()}
    if kind != "int8":
        compare_logits(tmp_path, "hf", config, weights, "f32", LIMIT["f32"], compiled=(QUICK,))
        return
    assert set(choose_formats(HuggingFaceSource(tmp_path / "hf"), config, "keep", "f32")[0]) == set(values)
    compare_logits(tmp_path, "hf", config, weights, "f32", 5e-2,
                   lambda rows, name: rounded_rows(rows.astype(np.float32)) if name in values else rows,
                   compiled=(QUICK,))


def refused(path, kind, sentence, change=None, **settings):
    folder_of(path, kind, change=change)
    raw = json.loads((path / "config.json").read_text())
    raw["quantization_config"].update(settings)
    (path / "config.json").write_text(json.dumps(raw))
    with pytest.raises(ImportFailure) as failure:
        HuggingFaceSource(path)
    assert sentence in str(failure.value), failure.value


def test_what_is_refused(tmp_path):
    name = "model.layers.0.mlp.up_proj."
    refused(tmp_path / "a", "gptq", "bits is 3; supported: 4, 8", bits=3)
    refused(tmp_path / "b", "awq", "version is 'gemv'; supported: 'gemm'", version="gemv")
    refused(tmp_path / "c", "gptq", "checkpoint_format is 'marlin'; supported: 'gptq', 'gptq_v2'",
            checkpoint_format="marlin")
    refused(tmp_path / "d", "packed", "config_groups is []; supported: an object", config_groups=[])
    refused(tmp_path / "e", "packed", "config_groups.g.input_activations is {'num_bits': 8}",
            config_groups={"g": {"weights": {"num_bits": 4, "strategy": "group"},
                                 "input_activations": {"num_bits": 8}}})
    refused(tmp_path / "h", "packed", "transform_config is {'a': 1}; supported: None", transform_config={"a": 1})
    refused(tmp_path / "f", "gptq", f"the tensor {name}qzeros is missing", lambda tensors: tensors.pop(f"{name}qzeros"))

    def shorten(tensors):
        tensors[f"{name}scales"] = tensors[f"{name}scales"][:, :-8].copy()
    refused(tmp_path / "g", "awq", f"the tensors of {name}weight have sizes that do not fit", shorten)


def test_what_is_refused_of_bitsandbytes(tmp_path):
    name = "model.layers.0.mlp.up_proj."
    where = iter(tmp_path / str(i) for i in range(99))

    def part(changed, value):
        return lambda tensors: tensors.update({f"{name}{changed}": value}) if value is not None else tensors.pop(
            f"{name}{changed}")

    def state(**changes):
        def change(tensors):
            key = f"{name}weight.quant_state.bitsandbytes__nf4"
            found = json.loads(tensors[key].tobytes()) | changes
            tensors[key] = as_bytes({key: value for key, value in found.items() if value is not None})
        return change

    of_state = f"the tensor {name}weight.quant_state.bitsandbytes__nf4"
    refused(next(where), "nf4", "load_in_4bit is True and load_in_8bit is True; one of both must be true",
            load_in_8bit=True)
    refused(next(where), "int8", "load_in_4bit is False and load_in_8bit is 0", load_in_8bit=0)
    for change, sentence in (
            (part("weight.absmax", None), f"the tensor {name}weight.absmax is missing; [128] of F32 is needed"),
            (part("weight.quant_map", np.zeros(8, np.float32)), "has the shape [8] of F32; [16] of F32 is needed"),
            (part("weight.absmax", np.zeros(128, np.uint8)), f"{of_state}: lacks 'nested_blocksize'"),
            (part("weight", np.zeros((5, 1), np.uint8)), "weight has 5 bytes; 8192 elements of 4 bits need 4096"),
            (part("weight", None), "weight has 0 bytes"),
            (part("weight.quant_state.bitsandbytes__nf4", np.frombuffer(b"{", np.uint8)), "not valid JSON"),
            (part("weight.quant_state.bitsandbytes__nf4", np.frombuffer(b"[]", np.uint8)), "holds a JSON list"),
            (part("weight.quant_state.bitsandbytes__nf4", np.zeros(5000, np.uint8)), "at most 4096 bytes"),
            (state(shape=None), f"{of_state}: lacks 'shape'"),
            (state(shape=[128, 64.5]), "its shape[1] is 64.5; a list of positive integers is needed"),
            (state(shape=[2, 64, 64]), "its shape is [2, 64, 64]; matrices are supported"),
            (state(blocksize=0), "its blocksize is 0; a positive integer of 31 bits is needed"),
            (state(quant_type="int4"), "its quant_type is 'int4'; nf4 or fp4 is needed")):
        refused(next(where), "nf4", sentence, change)
    refused(next(where), "nested", "nested_absmax has the shape [1] of F32; [16] of F32 is needed",
            part("weight.nested_absmax", np.zeros(1, np.float32)))
    refused(next(where), "nested", f"{of_state}: its nested_offset is 'x'; a number of at most 1e15 is needed",
            state(nested_offset="x"))
    refused(next(where), "int8", f"lacks the tensor {name}SCB", part("SCB", None))
    refused(next(where), "int8", f"the tensor {name}weight_format is [1]; supported: [0]",
            part("weight_format", np.ones((), np.uint8)))
