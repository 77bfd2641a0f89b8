"""Folders of the compressed-tensors package whose matrices are i8 with a scale a row: W8A8, as the
formats "int-quantized" and "naive-quantized" store it; or floats of 8 bits, "float-quantized"
(float8.py)."""

from ..model.errors import ImportFailure

FORMATS = ("int-quantized", "naive-quantized", "float-quantized")

# Of each entry: what it is where it is absent, and what it may be.
_WEIGHTS = {"num_bits": (8, 8), "type": ("int", "int"), "symmetric": (True, True),
            "strategy": ("tensor", "channel"), "dynamic": (False, False)}
_ACTIVATIONS = {"num_bits": (8, 8), "type": ("int", "int"), "symmetric": (True, True),
                "dynamic": (False, True), "strategy": ("tensor", "token")}
# The same of floats.
_FLOAT_WEIGHTS = {"num_bits": (8, 8), "type": ("int", "float"), "symmetric": (True, True),
                  "strategy": ("tensor", "tensor", "channel", "block"), "dynamic": (False, False)}
_FLOAT_ACTIVATIONS = {"num_bits": (8, 8), "type": ("int", "float"), "symmetric": (True, True),
                      "dynamic": (False, True, False),
                      "strategy": ("tensor", "tensor", "token", "group")}
_ABSENT = ("kv_cache_scheme", "sparsity_config", "transform_config")


def check_absent(where, settings):
    """Refuses what would change the numbers in another way."""
    for key in _ABSENT:
        value = settings.get(key) or None
        if key == "sparsity_config" and isinstance(value, dict) and value.get("format") == "dense":
            continue
        if value is not None:
            raise ImportFailure(f"{where}: quantization_config: {key} is {value!r}; supported: None")


def check_scheme(where, settings):
    """Refuses what a scale a row, and rows rounded as they come, would not stand for. `settings`:
    the quantization_config of the file `where`."""
    def refuse(what, found, allowed):
        raise ImportFailure(f"{where}: quantization_config: {what} is {found!r}; supported: "
                            f"{allowed}")

    def check(what, found, allowed):
        if found not in allowed:
            refuse(what, found, ", ".join(map(repr, allowed)))

    check("format", settings.get("format"), FORMATS)
    check_absent(where, settings)
    groups = settings.get("config_groups")
    if not isinstance(groups, dict) or not groups:
        refuse("config_groups", groups, "an object of groups")
    for name, group in groups.items():
        if not isinstance(group, dict) or not isinstance(group.get("weights"), dict):
            refuse(f"config_groups.{name}", group, "an object with weights")
        check(f"config_groups.{name}.output_activations", group.get("output_activations"), (None,))
        floats = settings["format"] == "float-quantized"
        for part, wanted in (("weights", _FLOAT_WEIGHTS if floats else _WEIGHTS),
                             ("input_activations",
                              _FLOAT_ACTIVATIONS if floats else _ACTIVATIONS)):
            # Without activations only the weights were rounded.
            for key, (default, *allowed) in wanted.items() if group.get(part) else ():
                found = group[part].get(key)
                check(f"config_groups.{name}.{part}.{key}", default if found is None else found,
                      allowed)


def row_scales(where, index, suffix="weight_scale"):
    """Name of each matrix of i8 -> the name of its scales, of `index`: name -> (file, shape, dtype). `suffix`: what
    stands behind the module's name there; `where`: the folder, for messages."""
    scales = {}
    for name, (_, shape, dtype) in index.items():
        if dtype != "I8" or not name.endswith(".weight"):
            continue
        scale = name.removesuffix("weight") + suffix
        if scale not in index:
            raise ImportFailure(f"{where}: lacks the tensor {scale}, which the tensor {name} of I8 "
                                "calls for")
        found = index[scale][1]
        if len(shape) != 2 or found not in (shape[:1], (shape[0], 1)):
            raise ImportFailure(f"{where}: the tensor {scale} has the shape {list(found)}; a scale "
                                f"for each row of {name}, {list(shape)}, is needed")
        scales[name] = scale
    return scales
