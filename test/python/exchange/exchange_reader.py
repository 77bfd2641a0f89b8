"""Reads descriptors of docs/reference/exchange.md, from that page alone: the second reader, next to kv/ABI/Exchange.h."""

from math import prod

BYTES = {0: 4, 1: 2, 2: 2, 3: 1, 4: 1, 6: 1}
SCALE_BYTES = {0: 4, 1: 2, 2: 2, 5: 1}
WORDS = ("layers", "first_layer", "heads", "first_head", "all_heads", "dim", "value_dim", "scale_group", "page", "window")


def number(data, offset, count):
    return int.from_bytes(data[offset:offset + count], "little")


def total(it):
    """Bytes of rows and scales."""
    row = it["dim"] * BYTES[it["dtype"]]
    if it["scale_group"]:
        row += it["dim"] // it["scale_group"] * SCALE_BYTES[it["scale_dtype"]]
    return row * prod(extents(it))


def extents(it):
    return [it["pages"], it["planes"], it["layers"], it["page"], it["heads"]]


def read(data):
    """The fields by their names, or None."""
    if len(data) < 128 or data[:4] != b"KVX1" or number(data, 4, 4) != 128 or any(data[16:24]):
        return None
    it = {"dtype": data[8], "planes": data[9], "scale_dtype": data[10], "order": list(data[11:16])}
    it |= {name: number(data, 24 + 4 * i, 4) for i, name in enumerate(WORDS)}
    it |= {"pages": number(data, 64, 8), "first": number(data, 72, 8), "tokens": number(data, 80, 8),
           "model": data[96:112], "prefix": data[112:128]}
    latent = it["planes"] == 1
    scales = it["scale_dtype"] == 255 if it["scale_group"] == 0 else \
        it["scale_dtype"] in SCALE_BYTES and it["dim"] % it["scale_group"] == 0
    allowed = (
        it["dtype"] in BYTES, it["planes"] in (1, 2), sorted(it["order"]) == [0, 1, 2, 3, 4], scales,
        it["layers"] >= 1, it["first_layer"] + it["layers"] < 1 << 32,
        it["heads"] >= 1, it["first_head"] + it["heads"] <= it["all_heads"], not latent or it["all_heads"] == 1,
        it["dim"] >= 1, 1 <= it["value_dim"] <= it["dim"] if latent else it["value_dim"] == it["dim"],
        it["page"] >= 1, 1 <= it["pages"] <= (1 << 32) - 1,
        it["page"] and it["first"] % it["page"] == 0,
        (it["pages"] - 1) * it["page"] < it["tokens"] <= it["pages"] * it["page"],
        it["first"] + it["tokens"] < 1 << 63, any(it["model"]))
    if not all(allowed) or number(data, 88, 8) != total(it) or total(it) > 1 << 62:
        return None
    return it


def offset(it, of_scales, index):
    """Byte of the row's first element, or scale; index: page, plane, layer, token, head."""
    sizes, place = extents(it), 0
    for dim in it["order"]:
        place = place * sizes[dim] + index[dim]
    row = it["dim"] * BYTES[it["dtype"]]
    if not of_scales:
        return place * row
    return prod(sizes) * row + place * (it["dim"] // it["scale_group"]) * SCALE_BYTES[it["scale_dtype"]]
