"""Folders of matrices of floats of 8 bits, with the scales that they are published with."""

import numpy as np

from channel_weights import MATRIX
from kv_import.weights import float8

TAGS = {format_: tag for tag, format_ in float8.FORMATS.items()}
# config.json's entry of each kind, the scale's name, and how many scales a matrix has.
METHODS = {
    "block": ({"quant_method": "fp8", "fmt": "e4m3", "activation_scheme": "dynamic",
               "weight_block_size": [128, 128]}, "weight_scale_inv", "block"),
    "row": ({"quant_method": "compressed-tensors", "format": "float-quantized", "config_groups": {
        "group_0": {"targets": ["Linear"], "weights": {
            "num_bits": 8, "type": "float", "symmetric": True, "strategy": "channel",
            "dynamic": False}, "input_activations": {
                "num_bits": 8, "type": "float", "symmetric": True, "strategy": "token",
                "dynamic": True}}}}, "weight_scale", "row"),
    "tensor": ({"quant_method": "modelopt", "quant_algo": "FP8"}, "weight_scale", "tensor")}


def settings(method, **changes):
    return {"quantization_config": {**METHODS[method][0], **changes}}


def finite_bytes(bytes_, format_):
    """The same, but for those that are no numbers, which become others."""
    return np.where(np.isfinite(float8.VALUES[format_][bytes_]), bytes_, bytes_ & 0xBF).astype(np.uint8)


def matrices(weights, random, method, format_="f8e4m3", which=MATRIX):
    """`weights` with random matrices of 8 bits for those whose names `which` matches, as a folder
    holds them, and what these stand for."""
    folder, plain = {}, {}
    _, name_of_scale, each = METHODS[method]
    for name, values in weights.items():
        if not which.fullmatch(name):
            folder[name] = plain[name] = values
            continue
        bytes_ = finite_bytes(random.integers(0, 256, values.shape, np.uint8), format_)
        numbers = float8.VALUES[format_][bytes_]
        shape = {"block": tuple(-(-size // 128) for size in values.shape),
                 "row": (values.shape[0], 1), "tensor": ()}[each]
        scales = (values.std() / numbers.std() * random.uniform(0.5, 1.5, shape)).astype(np.float32)
        scales = (scales.view(np.uint32) & 0xFFFF0000).view(np.float32)  # which bf16 has
        folder[name] = bytes_.view([(TAGS[format_], np.uint8)])
        folder[name.removesuffix("weight") + name_of_scale] = scales
        if each == "tensor":
            folder[name.removesuffix("weight") + "input_scale"] = np.float32(1) * np.ones(())
        spread = scales
        if each == "block":
            spread = np.repeat(np.repeat(scales, 128, 0), 128, 1)[:values.shape[0], :values.shape[1]]
        plain[name] = numbers * spread
    return folder, plain
