"""The tensors of a file against those that its configuration calls for."""

from .errors import ImportFailure


def check_tensors(source, config):
    """Every weight is there with its shape, and nothing is left over: an unknown tensor
    means a model that this importer would get silently wrong."""
    shapes = source.shapes()
    wanted = [w for w in config.weights() if w.role != "table"]
    missing = [w.name for w in wanted if w.name not in shapes]
    if missing:
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise ImportFailure(f"{source.path}: lacks the tensor "
                            f"{source.found_as(missing[0])}{more}, which a {config.architecture} "
                            f"model of {config.layers} layers must have")
    for weight in wanted:
        if tuple(shapes[weight.name]) != tuple(weight.shape):
            raise ImportFailure(f"{source.path}: the tensor {source.found_as(weight.name)} has the "
                                f"shape {list(shapes[weight.name])}, its configuration calls for "
                                f"{list(weight.shape)}")
    names = {w.name for w in wanted}
    for name in shapes:
        if name not in names and not (name == "lm_head.weight" and config.tied):
            raise ImportFailure(f"{source.path}: has the tensor {source.found_as(name)}, which no "
                                f"{config.architecture} model of the supported form has")


def check_numbers(path, config):
    """Geometry that the module cannot express."""
    for what in ("layers", "hidden", "intermediate", "heads", "kv_heads", "head_dim", "vocab",
                 "max_seq"):
        value = getattr(config, what)
        if not isinstance(value, int) or value <= 0:
            raise ImportFailure(f"{path}: {what} is {value!r}; a positive integer is needed")
    if config.heads % config.kv_heads:
        raise ImportFailure(f"{path}: {config.heads} query heads over {config.kv_heads} KV heads; "
                            "the first must be a multiple of the second")
    if config.head_dim % 2:
        raise ImportFailure(f"{path}: head dimension {config.head_dim}; the rotary embedding needs "
                            "an even one")
