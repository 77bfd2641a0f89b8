"""Folders of GPTQ, AWQ, compressed-tensors' pack-quantized and bitsandbytes, packed as the packages that write them do;
and what numbers their matrices stand for."""

import json

import numpy as np

from kv_import import synthetic
from kv_import.weights.weights_writer import write_safetensors

GROUP = 32
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # the column of each place of a word
SETTINGS = {
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": GROUP},
    "gptq_v2": {"quant_method": "gptq", "bits": 8, "group_size": GROUP, "checkpoint_format": "gptq_v2"},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "GEMM", "zero_point": True},
    "packed": {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {
        "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": GROUP}}}},
    "w8a16": {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {
        "weights": {"num_bits": 8, "type": "int", "strategy": "group", "group_size": GROUP}}}},
    "gptq_middle": {"quant_method": "gptq", "bits": 4, "group_size": GROUP, "sym": True},
    "nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": False, "bnb_4bit_quant_type": "nf4"},
    "fp4": {"load_in_4bit": True, "bnb_4bit_quant_type": "fp4"},  # old folders name no method
    "nested": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
    "int8": {"quant_method": "bitsandbytes", "load_in_8bit": True, "load_in_4bit": False},
}
EIGHT = ("gptq_v2", "w8a16")
MIDDLE = ("packed", "w8a16", "gptq_middle")  # zeros are in the middle
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
    bits = 8 if kind in EIGHT else 4
    count, columns = matrix.shape
    groups = columns // GROUP
    scales = (0.5 + random.random((count, groups))).astype(np.float16)
    zeros = (np.full((count, groups), 1 << (bits - 1)) if kind in MIDDLE
             else random.integers(1, 1 << bits, (count, groups)))
    integers = random.integers(0, 1 << bits, (count, columns))
    group_of = random.permutation(np.arange(columns) // GROUP) if listed else np.arange(columns) // GROUP
    values = (integers - zeros[:, group_of]).astype(np.float32) * scales[:, group_of].astype(np.float32)
    if kind in ("packed", "w8a16"):
        parts = {"weight_packed": pack(integers, bits), "weight_scale": scales,
                 "weight_shape": np.array([count, columns], np.int64)}
    elif kind == "awq":
        parts = {"qweight": pack(integers.T, 4, AWQ_ORDER), "qzeros": pack(zeros.T, 4, AWQ_ORDER), "scales": scales.T}
    else:
        parts = {"qweight": pack(integers, bits).T, "scales": scales.T,
                 "qzeros": pack(zeros.T - (kind != "gptq_v2"), bits)}
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


def folder_of(path, kind, listed=False, change=None, **sizes):
    """A folder whose projections are packed, and the numbers of its matrices."""
    config = synthetic.make_config("llama", **sizes)
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
