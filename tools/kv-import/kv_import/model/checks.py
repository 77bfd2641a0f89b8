"""The tensors of a file against those that its configuration calls for."""

import json
from pathlib import Path

from .errors import ImportFailure


def integer(where, key, value):
    """`value` as a positive int."""
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise ImportFailure(f"{where}: {key} is {value!r}; a positive integer is needed")
    return value


def regular_file(path):
    """A pipe or a device may give nothing for ever."""
    if not Path(path).is_file():
        raise ImportFailure(f"{path}: not a regular file")


def check_tensors(source, config):
    """Every weight is there with its shape, and nothing is left over: an unknown tensor
    means a model that this importer would get silently wrong."""
    shapes = source.shapes()
    if config.layers > len(shapes):
        raise ImportFailure(f"{source.path}: {config.layers} layers, but only {len(shapes)} "
                            "tensors; every layer has several")
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


# A longer rope table is more likely a damaged number than a model.
MAX_POSITIONS = 1 << 22


def json_object(text, where):
    """The object that a JSON text or its bytes hold."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ImportFailure(f"{where}: not valid JSON: it is nested too deeply")
    except ValueError as error:
        raise ImportFailure(f"{where}: not valid JSON: {error}")
    if not isinstance(value, dict):
        raise ImportFailure(f"{where}: holds a JSON {type(value).__name__}, an object is needed")
    return value


def check_length(path, config):
    if config.max_seq > MAX_POSITIONS:
        raise ImportFailure(f"{path}: made for {config.max_seq} tokens; at most {MAX_POSITIONS} "
                            "are supported, --max-seq N takes less")


# A weight of more rows is more likely a damaged number than a model. Lists of rows are made before the file's
# shapes are compared with the configuration.
MAX_ROWS = 1 << 24


def check_numbers(path, config):
    """Geometry that the module cannot express."""
    if config.heads % config.kv_heads:
        raise ImportFailure(f"{path}: {config.heads} query heads over {config.kv_heads} KV heads; "
                            "the first must be a multiple of the second")
    if config.head_dim % 2:
        raise ImportFailure(f"{path}: head dimension {config.head_dim}; the rotary embedding needs "
                            "an even one")
    if config.rotary and (config.rotary % 2 or config.rotary > config.head_dim):
        raise ImportFailure(f"{path}: {config.rotary} of the {config.head_dim} elements of a head "
                            "are rotated; it must be an even number of them")
    mixture = config.mixture
    if mixture and mixture.choices > mixture.experts:
        raise ImportFailure(f"{path}: {mixture.choices} experts a token, but only "
                            f"{mixture.experts} in a layer")
    if mixture and mixture.groups:
        groups = mixture.groups
        if groups.kept > groups.count or mixture.experts % groups.count or \
                mixture.experts // groups.count < groups.best or \
                mixture.choices > groups.kept * (mixture.experts // groups.count):
            raise ImportFailure(
                f"{path}: {mixture.choices} of {mixture.experts} experts in {groups.kept} of "
                f"{groups.count} groups; the groups must be equal, of at least {groups.best}, and "
                "those that are kept must hold the choices")
    if mixture and (config.hidden % 16 or config.intermediate % 16):
        raise ImportFailure(f"{path}: experts of {config.hidden} and {config.intermediate} rows; "
                            "both must be multiples of 16")
    for weight in config.weights():
        if weight.role != "table" and max(weight.shape) > MAX_ROWS:
            raise ImportFailure(f"{path}: its numbers call for {weight.name} of the shape {list(weight.shape)}; at most "
                                f"{MAX_ROWS} rows and columns are supported")
