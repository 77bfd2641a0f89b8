"""In which format each weight is stored: as the file has it, dense, or quantised here."""

from . import quant_blocks
from .config import MATRICES

# Of --weights; "keep" is what the file has.
CHOICES = ("keep", "dense", *quant_blocks.MAKES)


def choose_formats(source, config, choice):
    """Weight name -> format, for those that are quantised; and sentences about those that
    cannot be what was asked for."""
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
    notes = [f"{len(weights)} weights {why} (the first: {source.found_as(weights[0].name)}) are "
             "stored dense" for why, weights in left.items()]
    return formats, notes


def blocks_of(source, weight, rows, format_):
    """The blocks of some rows of a weight, [N, bytes of a row]; bit by bit the file's where it has
    them."""
    if source.format(weight.name) == format_:
        return source.blocks(weight.name, rows)
    return quant_blocks.quantize(source.tensor(weight.name, rows), format_)
