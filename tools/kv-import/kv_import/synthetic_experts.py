"""The experts of synthetic models, in the forms of files."""

import re

import numpy as np

_PROJECTION = re.compile(r"(.*\.mlp\.experts\.)(gate|up|down)_proj\.(weight|bias)")
_APART = re.compile(r"(.*\.mlp\.experts\.)(\d+)(\.\w+_proj\.weight)")


def _by_expert(config, values):
    """[E, N, K] of a module's [E * N, K]."""
    return values.reshape(config.mixture.experts, -1, values.shape[1])


def apart(config, weights):
    """Qwen 3: a tensor an expert."""
    out = {}
    for name, values in weights.items():
        if match := _PROJECTION.fullmatch(name):
            out |= {f"{match[1]}{i}.{match[2]}_proj.{match[3]}": one
                    for i, one in enumerate(_by_expert(config, values))}
        else:
            out[name.replace("mlp.router.", "mlp.gate.")] = values
    return out


def stacked(weights):
    """What `apart` made, as GGUF files have it: [E, N, K]."""
    out = {}
    for name, values in weights.items():
        if match := _APART.fullmatch(name):
            out.setdefault(match[1] + match[3][1:], []).append(values)
        else:
            out[name.replace("mlp.gate.", "mlp.router.")] = values
    return {name: np.stack(values) if isinstance(values, list) else values
            for name, values in out.items()}


def interleaved(config, weights):
    """gpt-oss: matrices [E, K, N], the columns of gate and up in turn."""
    out = {}
    for name, values in weights.items():
        match = _PROJECTION.fullmatch(name)
        if not match:
            out[name] = values
            continue
        suffix = "_bias" if match[3] == "bias" else ""
        if not suffix:
            values = _by_expert(config, values).swapaxes(1, 2)
        if match[2] == "up":
            gate = out[f"{match[1]}gate_up_proj{suffix}"]
            values = np.stack([gate, values], axis=-1).reshape(*values.shape[:-1], -1)
        whole = "down" if match[2] == "down" else "gate_up"
        out[f"{match[1]}{whole}_proj{suffix}"] = values
    return out


def gate_above_up(config, weights):
    """Granite 4: matrices [E, N, K], the rows of gate above those of up."""
    out = {}
    for name, values in weights.items():
        match = _PROJECTION.fullmatch(name)
        if not match:
            out[name.replace("mlp.router.", "block_sparse_moe.router.layer.")] = values
            continue
        whole = "output" if match[2] == "down" else "input"
        stored = match[1].replace("mlp.experts.", f"block_sparse_moe.{whole}_linear.") + match[3]
        values = _by_expert(config, values)
        out[stored] = np.concatenate([out[stored], values], axis=1) if match[2] == "up" else values
    return out


FORMS = {"apart": apart, "interleaved": interleaved, "stacked": gate_above_up}
