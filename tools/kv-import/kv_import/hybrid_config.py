"""What config.json of a hybrid model says of its recurrent layers."""

import math

from .config import Recurrent
from .rope import Rope

# Of layers with a state, and of others.
KINDS = {"qwen3_next": ("linear_attention", "full_attention"),
         "granitemoehybrid": ("mamba", "attention")}


def recurrent_settings(kind, raw, integer, refuse):
    """Entries of a ModelConfig. `integer(key)`: a positive number of `raw`; `refuse(what, found,
    allowed)` raises."""
    count = integer("num_hidden_layers")
    types = raw.get("layer_types")
    if types is None and kind == "qwen3_next":
        every = integer("full_attention_interval", 4)
        types = [KINDS[kind][(i + 1) % every == 0] for i in range(count)]
    if not isinstance(types, list) or len(types) != count:
        refuse("layer_types", types, f"a list of {count} kinds, one a layer")
    # transformers 5 has one name for each in all families.
    types = [dict(zip(KINDS["qwen3_next"], KINDS[kind])).get(one, one) if isinstance(one, str)
             else one for one in types]
    for one in types:
        if one not in KINDS[kind]:
            refuse("layer_types", one, ", ".join(KINDS[kind]))
    layers = tuple(i for i, one in enumerate(types) if one == KINDS[kind][0])
    if len(layers) in (0, count):
        refuse("layer_types", types[0], "layers of both kinds")
    read = _delta if kind == "qwen3_next" else _mamba
    settings = read(raw, layers, count, integer, refuse)
    r = settings["recurrent"]
    if r.value_heads % r.key_heads:
        refuse("the number of value heads", r.value_heads,
               f"a multiple of that of key heads or groups, {r.key_heads}")
    return settings


def _delta(raw, layers, count, integer, refuse):
    sparse = raw.get("num_experts") and raw.get("decoder_sparse_step", 1)
    dense = raw.get("mlp_only_layers") or []
    if sparse and set(dense) != set(range(count)):
        refuse("num_experts", raw["num_experts"], "0, or every layer in mlp_only_layers")
    return {"recurrent": Recurrent(
        delta=True, layers=layers, kernel=integer("linear_conv_kernel_dim", 4),
        key_heads=integer("linear_num_key_heads"), key_dim=integer("linear_key_head_dim"),
        value_heads=integer("linear_num_value_heads"),
        value_dim=integer("linear_value_head_dim"))}


def _mamba(raw, layers, count, integer, refuse):
    if raw.get("num_local_experts"):
        refuse("num_local_experts", raw["num_local_experts"], "0")
    if raw.get("mamba_proj_bias"):
        refuse("mamba_proj_bias", True, "false")
    if raw.get("mamba_conv_bias") is False:
        refuse("mamba_conv_bias", False, "true")
    heads = integer("mamba_n_heads")
    inner = integer("mamba_expand", 2) * integer("hidden_size")
    dim = raw.get("mamba_d_head")
    dim = inner // heads if dim in (None, "auto") else integer("mamba_d_head")
    if heads * dim != inner:
        refuse("mamba_d_head", dim, f"{inner // heads}, so that {heads} heads have {inner} elements")
    settings = {"recurrent": Recurrent(
        delta=False, layers=layers, kernel=integer("mamba_d_conv", 4),
        key_heads=integer("mamba_n_groups", 1), key_dim=integer("mamba_d_state", 256),
        value_heads=heads, value_dim=dim)}
    if raw.get("position_embedding_type") != "rope":
        # No position embedding: every position is the first one, which turns nothing.
        settings["rope"] = Rope(theta=10000.0, linear=math.inf)
    return settings
