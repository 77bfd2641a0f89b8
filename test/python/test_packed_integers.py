"""Folders of GPTQ, AWQ, compressed-tensors' pack-quantized and bitsandbytes: matrices become the numbers that they
stand for."""

import json

import gguf
import numpy as np
import pytest

from kv_import import synthetic
from kv_import.model.errors import ImportFailure
from kv_import.readers.bitsandbytes import FourBitMatrices
from kv_import.readers.hf_reader import HuggingFaceSource
from kv_import.readers.packed_integers import Scheme
from kv_import.weights.weight_formats import choose_formats
from packed_weights import EIGHT, METHODS, MIDDLE, TAGS, as_bytes, folder_of, four_bits
from test_end_to_end import LIMIT, compare_logits
from test_quantized import rounded_rows
from tools import QUICK


@pytest.mark.parametrize("kind, listed", (("gptq", False), ("gptq", True), ("gptq_v2", False), ("awq", False),
                                          ("packed", False), ("w8a16", False), ("gptq_middle", False),
                                          ("gptq_middle", True), ("nf4", False), ("fp4", False), ("nested", False)))
def test_the_numbers(tmp_path, kind, listed):
    config, values = folder_of(tmp_path, kind, listed)
    source = HuggingFaceSource(tmp_path)
    assert len(values) == 14
    for name, matrix in values.items():
        np.testing.assert_array_equal(source.tensor(name), matrix, err_msg=name)
        np.testing.assert_array_equal(source.tensor(name, slice(16, 32)), matrix[16:32], err_msg=name)
        assert source.shapes()[name] == matrix.shape
    formats, notes = choose_formats(source, source.config, "keep", "bf16")
    bits = 8 if kind in EIGHT else 4
    if kind in MIDDLE and not listed:  # blocks hold the same numbers
        assert formats == dict.fromkeys(values, f"q{bits}_0") and notes == []
        for name, matrix in values.items():
            blocks = source.blocks(name, slice(16, 48))
            np.testing.assert_array_equal(gguf.dequantize(blocks, getattr(gguf.GGMLQuantizationType, f"Q{bits}_0")),
                                          matrix[16:48], err_msg=name)
        return
    elements = sum(matrix.size for matrix in values.values())
    assert formats == {} and notes == [
        f"14 weights of {bits} bits ({METHODS.get(kind, kind.split('_')[0])}) "
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


@pytest.mark.parametrize("kind", ("nested", "int8", "packed"))
def test_logits(tmp_path, kind):
    """As they are, with rows rounded, where a format holds the same numbers."""
    config, values = folder_of(tmp_path / "hf", kind)
    weights = {name: values.get(name, matrix) for name, matrix in synthetic.make_weights(config).items()}
    if kind == "nested":
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
