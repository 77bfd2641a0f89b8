"""Folders of GPTQ, AWQ and compressed-tensors' pack-quantized: matrices become the numbers that they stand for.
The layouts are packed here as the packages that write them do."""

import json

import numpy as np
import pytest

from kv_import import synthetic
from kv_import.model.errors import ImportFailure
from kv_import.readers.hf_reader import HuggingFaceSource
from kv_import.weights.weight_formats import choose_formats
from kv_import.weights.weights_writer import write_safetensors

GROUP = 32
AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # the column of each place of a word
SETTINGS = {
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": GROUP},
    "gptq_v2": {"quant_method": "gptq", "bits": 8, "group_size": GROUP, "checkpoint_format": "gptq_v2"},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": GROUP, "version": "GEMM", "zero_point": True},
    "packed": {"quant_method": "compressed-tensors", "format": "pack-quantized", "config_groups": {"group_0": {
        "weights": {"num_bits": 4, "type": "int", "strategy": "group", "group_size": GROUP}}}},
}


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


TAGS = {"int32": "I32", "int64": "I64", "float16": "F16", "float32": "F32"}


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
        parts, values[name] = stored(kind, matrix, random, listed)
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
                                          ("packed", False)))
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
        f"14 weights of {bits} bits ({'pack-quantized' if kind == 'packed' else 'awq' if kind == 'awq' else 'gptq'}) "
        f"become bf16: {elements * 2 / 1e6:.1f} MB instead of {elements * bits / 8e6:.1f}; --weights q4_1 or q8_0 "
        "stores them smaller"]


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
