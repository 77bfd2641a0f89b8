"""What config.json of a hybrid model says of its recurrent layers."""

from .config import Mixture, Recurrent

# Of layers with a state, and of others.
DELTA, MAMBA = ("linear_attention", "full_attention"), ("mamba", "attention")


def recurrent_settings(kind, raw, integer, refuse):
    """Entries of a ModelConfig. `kind`: as Family.recurrent; `integer(key)`: a positive number of `raw`;
    `refuse(what, found, allowed)` raises."""
    delta = kind == "delta"
    kinds = DELTA if delta else MAMBA
    count = integer("num_hidden_layers")
    types = raw.get("layer_types")
    if types is None and delta:
        every = integer("full_attention_interval", 4)
        types = [kinds[(i + 1) % every == 0] for i in range(count)]
    if types is None and "attn_layer_indices" in raw:
        types = [kinds[i in raw["attn_layer_indices"]] for i in range(count)]
    if not isinstance(types, list) or len(types) != count:
        refuse("layer_types", types, f"a list of {count} kinds, one a layer")
    # transformers 5 has one name for each in all families.
    types = [dict(zip(DELTA, kinds)).get(one, one) for one in types]
    for one in types:
        if one not in kinds:
            refuse("layer_types", one, ", ".join(kinds))
    layers = tuple(i for i, one in enumerate(types) if one == kinds[0])
    if len(layers) in (0, count):
        refuse("layer_types", types[0], "layers of both kinds")
    read = _delta if delta else _mamba
    settings = read(raw, layers, count, integer, refuse)
    r = settings["recurrent"]
    if r.value_heads % r.key_heads:
        refuse("the number of value heads", r.value_heads,
               f"a multiple of that of key heads or groups, {r.key_heads}")
    return settings


def hybrid_mixture(kind, raw, integer, refuse):
    """Experts in all layers, and an MLP beside them, or None: all layers are dense."""
    # transformers 5 calls it num_local_experts everywhere.
    found = raw.get("num_local_experts")
    found = raw.get("num_experts") if found is None else found
    if not found:
        return None
    experts = integer("num_local_experts", found)
    choices = integer("num_experts_per_tok")
    if kind == "mamba":
        return Mixture(experts=experts, choices=choices, normalised=True,
                       shared=integer("shared_intermediate_size"))
    dense = raw.get("mlp_only_layers") or []
    if set(dense) == set(range(integer("num_hidden_layers"))):
        return None
    if dense:
        refuse("mlp_only_layers", dense, "[], or all layers")
    if raw.get("decoder_sparse_step", 1) != 1:
        refuse("decoder_sparse_step", raw["decoder_sparse_step"], "1")
    return Mixture(experts=experts, choices=choices, gated=True,
                   normalised=raw.get("norm_topk_prob") is not False,
                   shared=integer("shared_expert_intermediate_size"))


def _delta(raw, layers, count, integer, refuse):
    return {"recurrent": Recurrent(
        delta=True, layers=layers, kernel=integer("linear_conv_kernel_dim", 4),
        key_heads=integer("linear_num_key_heads"), key_dim=integer("linear_key_head_dim"),
        value_heads=integer("linear_num_value_heads"),
        value_dim=integer("linear_value_head_dim"))}


def _mamba(raw, layers, count, integer, refuse):
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
    return {"recurrent": Recurrent(
        delta=False, layers=layers, kernel=integer("mamba_d_conv", 4),
        key_heads=integer("mamba_n_groups", 1), key_dim=integer("mamba_d_state", 256),
        value_heads=heads, value_dim=dim)}
