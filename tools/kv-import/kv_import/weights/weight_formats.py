"""In which format each weight is stored: as the file has it, dense, or quantised here."""

import math

import gguf

from . import quant_blocks
from ..model.config import MATRICES

# Of --weights; "keep" is what the file has.
CHOICES = ("keep", "dense", *quant_blocks.MAKES)


def choose_formats(source, config, choice, dtype):
    """Weight name -> format, for those that are quantised; and sentences about those that
    cannot be what was asked for, and become `dtype`."""
    formats, left = {}, {}
    for weight in config.weights():
        if weight.role not in MATRICES or choice == "dense":
            continue
        found = source.format(weight.name)
        wanted = found if choice == "keep" else choice
        if wanted is None:
            continue
        if wanted not in quant_blocks.FORMATS:
            left.setdefault(f"of {wanted}, which has no kernels", []).append(weight)
        elif not quant_blocks.fits(wanted, weight.shape):
            unit = quant_blocks.FORMATS[wanted].unit
            left.setdefault(f"whose sizes are no multiples of {quant_blocks.ROWS} and {unit}",
                            []).append(weight)
        else:
            formats[weight.name] = wanted
    notes = []
    for why, weights in left.items():
        dense = sum(math.prod(weight.shape) for weight in weights) * (4 if dtype == "f32" else 2)
        stored = sum(_bytes(source.format(weight.name), weight.shape) for weight in weights)
        notes.append(f"{len(weights)} weights {why} (the first: {source.found_as(weights[0].name)}), are stored "
                     f"dense: {dense / 1e6:.1f} MB instead of {stored / 1e6:.1f}")
    return formats, [*notes, *_widened(source, config, formats, dtype)]


def _widened(source, config, formats, dtype):
    """What is said of packed integers that become numbers."""
    packed = getattr(source, "packed", None)
    shapes = [weight.shape for weight in config.weights()
              if packed and weight.name not in formats and source.packs(source.place_name(weight.name))]
    if not shapes:
        return []
    elements, bits = sum(map(math.prod, shapes)), packed.scheme.bits
    return [f"{len(shapes)} weights of {bits} bits ({packed.scheme.method}) become {dtype}: "
            f"{elements * (4 if dtype == 'f32' else 2) / 1e6:.1f} MB instead of {elements * bits / 8e6:.1f}; "
            "--weights q4_1 or q8_0 stores them smaller"]


def _bytes(format_, shape):
    """Of a weight in a file, in one of GGUF's types or with a byte an element; None: of 16 bits."""
    elements = math.prod(shape)
    if format_ is None:
        return 2 * elements
    kind = getattr(gguf.GGMLQuantizationType, format_.upper(), None)
    if kind is None:
        return elements
    group, size = gguf.GGML_QUANT_SIZES[kind]
    return elements // group * size


def blocks_of(source, weight, rows, format_):
    """The blocks of some rows of a weight, [N, bytes of a row]; bit by bit the file's where it has
    them."""
    if source.format(weight.name) == format_:
        return source.blocks(weight.name, rows)
    return quant_blocks.quantize(source.tensor(weight.name, rows), format_)
