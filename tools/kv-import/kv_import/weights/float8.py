"""Matrices of floats of 8 bits in Hugging Face folders, with a scale for a tensor, a row or a block of
128 x 128: as transformers' method "fp8" (DeepSeek-V3), compressed-tensors' format "float-quantized" and
ModelOpt's "FP8" store them."""

import numpy as np

from ..model.errors import ImportFailure

BLOCK = 128  # rows and columns that share a scale, at most
# dtype of a file -> format of kv.quant
FORMATS = {"F8_E4M3": "f8e4m3", "F8_E5M2": "f8e5m2"}
# Of a matrix <module>.weight: its scale is one of these, by which it is multiplied (also by the one
# that is called an inverse).
_SCALES = ("weight_scale", "weight_scale_inv")
# Factors that rows were to be rounded with; here they are rounded as they come.
_INPUTS = ("input_scale", "activation_scale")


def _values(exponent_bits, mantissa_bits, largest):
    """What the 256 bytes of a type stand for; NaN where the magnitude is above `largest`."""
    magnitudes = np.arange(128)
    exponents, mantissas = magnitudes >> mantissa_bits, magnitudes & ((1 << mantissa_bits) - 1)
    bias = (1 << (exponent_bits - 1)) - 1
    numbers = np.ldexp((mantissas + np.where(exponents > 0, 1 << mantissa_bits, 0)).astype(np.float32),
                       np.maximum(exponents, 1) - bias - mantissa_bits)
    numbers[magnitudes > largest] = np.nan
    return np.concatenate([numbers, -numbers])


VALUES = {"f8e4m3": _values(4, 3, 0x7E), "f8e5m2": _values(5, 2, 0x7B)}


def check_settings(where, settings):
    """Refuses what a quantization_config of "fp8" or "modelopt" says beyond the above. `where`: its
    file."""
    method = settings["quant_method"]
    wanted = ({"fmt": ("e4m3", None), "weight_block_size": ([BLOCK, BLOCK], None),
               "activation_scheme": ("dynamic", "static", None)} if method == "fp8"
              else {"quant_algo": ("FP8",)})
    for key, allowed in wanted.items():
        if settings.get(key) not in allowed:
            raise ImportFailure(
                f"{where}: quantization_config: {key} is {settings.get(key)!r}; supported: "
                f"{', '.join(repr(value) for value in allowed if value is not None)}")


def _scale_of(name, index):
    module = name.removesuffix("weight")
    found = [module + scale for scale in _SCALES if module + scale in index]
    return found[0] if name.endswith(".weight") and len(found) == 1 else None


def matrix_scales(where, index):
    """Name of each matrix of 8 bits -> the name of its scale, of `index`: name -> (file, shape, dtype);
    and the names of scales of rows, which nobody needs. `where`: the folder, for messages."""
    scales, inputs = {}, set()
    for name, (_, shape, dtype) in index.items():
        if dtype not in FORMATS:
            continue
        scale = _scale_of(name, index)
        if scale is None:
            raise ImportFailure(f"{where}: the tensor {name} of {dtype} must be a .weight with one "
                                f"of {', '.join(_SCALES)} beside it")
        if len(shape) != 2:
            raise ImportFailure(f"{where}: the tensor {name} of {dtype} has the shape "
                                f"{list(shape)}; matrices are supported")
        blocks = tuple(-(-size // BLOCK) for size in shape)
        found = index[scale][1]
        if found not in ((), (1,), (1, 1), shape[:1], (shape[0], 1), blocks):
            raise ImportFailure(f"{where}: the tensor {scale} has the shape {list(found)}; a scale "
                                f"for {name}, {list(shape)}, for each of its rows or for each block "
                                f"of {BLOCK} x {BLOCK} is needed")
        scales[name] = scale
        module = name.removesuffix("weight")
        inputs |= {module + each for each in _INPUTS if module + each in index}
    return scales, inputs


def row_scales(scales, shape, rows):
    """The scales of a matrix of that shape, as f32 for some of its rows (a range): [rows, blocks of
    columns], or [rows, 1]."""
    scales = np.asarray(scales, dtype=np.float32)
    if scales.size == 1:
        return np.full((len(rows), 1), scales.reshape(()), dtype=np.float32)
    if scales.shape[0] == shape[0] and scales.size == shape[0]:
        return scales.reshape(-1, 1)[rows.start:rows.stop]
    return scales[np.asarray(rows) // BLOCK]


def values(matrix, scales, format_):
    """u8 [N, K] and scales of row_scales as f32."""
    columns = np.repeat(scales, BLOCK, axis=1)[:, :matrix.shape[1]] if scales.shape[1] > 1 else scales
    return VALUES[format_][matrix] * columns


def blocks(matrix, scales):
    """u8 [N, K] and scales of row_scales as blocks: of each 128 columns their scale, then their bytes.
    K is a multiple of 128."""
    rows, columns = matrix.shape
    count = columns // BLOCK
    scales = np.ascontiguousarray(np.broadcast_to(scales, (rows, count)), dtype=np.float32)
    parts = [scales.view(np.uint8).reshape(rows, count, 4), matrix.reshape(rows, count, BLOCK)]
    return np.concatenate(parts, axis=2).reshape(rows, -1)


def block_values(blocks_, format_):
    """Those blocks as f32 [N, K]."""
    by_block = blocks_.reshape(len(blocks_), -1, 4 + BLOCK)
    scales = np.ascontiguousarray(by_block[..., :4]).view(np.float32)
    return (VALUES[format_][by_block[..., 4:]] * scales).reshape(len(blocks_), -1)
