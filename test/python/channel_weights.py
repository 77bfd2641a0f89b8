"""Folders of i8 weights with a scale a row, as the compressed-tensors package writes them."""

import re

import numpy as np

MATRIX = re.compile(r".*_proj\.weight|lm_head\.weight|model\.embed_tokens\.weight")


def settings(weights=None, activations=None, **changes):
    """Entries of config.json; changes are to quantization_config and to its two schemes."""
    scheme = {"num_bits": 8, "type": "int", "symmetric": True, "group_size": None,
              "actorder": None, "observer_kwargs": {}}
    group = {"targets": ["Linear"], "output_activations": None,
             "weights": {**scheme, "strategy": "channel", "dynamic": False, "observer": "mse",
                         **(weights or {})},
             "input_activations": {**scheme, "strategy": "token", "dynamic": True,
                                   **(activations or {})}}
    return {"quantization_config": {
        "quant_method": "compressed-tensors", "format": "int-quantized", "ignore": ["lm_head"],
        "config_groups": {"group_0": group}, "kv_cache_scheme": None,
        "quantization_status": "compressed", "global_compression_ratio": 1.4, **changes}}


def channels(weights, random, which=MATRIX, ranks=(2, 1)):
    """`weights` with random matrices of i8 for those whose names `which` matches, as a folder holds
    them, and what these stand for. The scales, which bf16 has, have in turn one of `ranks`."""
    folder, plain = {}, {}
    for name, values in weights.items():
        if not which.fullmatch(name):
            folder[name] = plain[name] = values
            continue
        integers = random.integers(-128, 128, values.shape, np.int8)
        size = np.abs(values).max() / 128 * random.uniform(0.5, 1.5, len(values))
        scales = (size.astype(np.float32).view(np.uint32) & 0xFFFF0000).view(np.float32)
        folder[name] = integers
        folder[f"{name}_scale"] = scales.reshape((-1, 1) if ranks[len(plain) % len(ranks)] == 2
                                                 else -1)
        plain[name] = integers * scales[:, None]
    return folder, plain
