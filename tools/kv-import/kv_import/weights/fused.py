"""Weights that a file stores as one tensor, their rows one after the other."""

import re

import numpy as np

from ..model.errors import ImportFailure

PARTS = {"self_attn.qkv_proj": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
         "mlp.gate_up_proj": ("mlp.gate_proj", "mlp.up_proj")}
WHOLES = {part: whole for whole, parts in PARTS.items() for part in parts}


def stored_name(name, wholes):
    """The tensor that holds the weight `name`: itself where it is part of none of `wholes`."""
    match = re.fullmatch(r"(model\.layers\.\d+\.)(\w+\.\w+)\.weight", name)
    if match and WHOLES.get(match[2]) in wholes:
        return f"{match[1]}{WHOLES[match[2]]}.weight"
    return name


def part_rows(config, part):
    """The rows of a weight in the tensor that holds it: a slice."""
    sizes = {"self_attn.q_proj": config.heads * config.head_dim,
             "self_attn.k_proj": config.kv_heads * config.head_dim,
             "self_attn.v_proj": config.kv_heads * config.head_dim,
             "mlp.gate_proj": config.intermediate, "mlp.up_proj": config.intermediate}
    parts = PARTS[WHOLES[part]]
    begin = sum(sizes[other] for other in parts[:parts.index(part)])
    return slice(begin, begin + sizes[part])


def rows_of(config, name, wholes):
    """The rows of the weight `name` in the tensor `stored_name(name)`."""
    if stored_name(name, wholes) == name:
        return slice(None)
    return part_rows(config, re.sub(r"model\.layers\.\d+\.|\.weight$", "", name))


def grouped_rows(config, name):
    """The same where the rows of queries, keys and values are those of one KV head after the other: numbers."""
    of = config.heads // config.kv_heads
    grid = np.arange((config.heads + 2 * config.kv_heads) * config.head_dim).reshape(
        config.kv_heads, of + 2, config.head_dim)
    places = {"q_proj": grid[:, :of], "k_proj": grid[:, of], "v_proj": grid[:, of + 1]}
    return places[name.split(".")[-2]].reshape(-1)


def split_shapes(config, shapes, where, wholes):
    """`shapes` of a file's tensors as those of the weights; `where(name)` says for a message
    which tensor of which file it is."""
    out = {}
    for name, shape in shapes.items():
        match = re.fullmatch(r"(model\.layers\.\d+\.)(\w+\.\w+)\.weight", name)
        if not match or match[2] not in wholes:
            out[name] = shape
            continue
        rows = {part: part_rows(config, part) for part in PARTS[match[2]]}
        wanted = [max(r.stop for r in rows.values()), config.hidden]
        if list(shape) != wanted:
            raise ImportFailure(f"{where(name)} has the shape {list(shape)}, its configuration "
                                f"calls for {wanted}")
        for part, r in rows.items():
            out[f"{match[1]}{part}.weight"] = (r.stop - r.start, config.hidden)
    return out
