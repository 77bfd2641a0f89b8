"""Multi-head latent attention (DeepSeek): its numbers, the weights of its module, and where files have
them.

A token's keys and values of all heads are products of one short row, the latent, with kv_b_proj. The
module never makes them: queries go down to the latent's width (k_up, transposed) and attend over
latents, and what comes out goes up to values (v_up). This is absorbed attention."""

import re
from dataclasses import dataclass

import numpy as np

from .errors import ImportFailure

# Of the norms of latents, in transformers and in the published code, whatever rms_norm_eps is.
EPS = 1e-6
_PARTS = re.compile(r"(model\.layers\.\d+\.self_attn\.)(k_up|v_up)\.weight")
_STORED = re.compile(r"(model\.layers\.\d+\.self_attn\.)kv_b_proj\.weight")


@dataclass(frozen=True)
class Latent:
    rank: int  # elements of a latent
    rotary: int  # elements of a head that are rotated; all heads share those of the key
    plain: int  # elements of a head that are not
    value: int  # elements of a head's value
    query_rank: int | None = None  # queries come from a latent of their own
    interleaved: bool = True  # elements 2i and 2i + 1 turn together

    @property
    def row(self):
        """Elements of a row of the cache."""
        return self.rank + self.rotary


def latent_weights(config, add, projection):
    """Those of a layer's attention but o_proj, in their order."""
    latent, heads = config.latent, config.heads
    queries = heads * config.head_dim
    if latent.query_rank:
        projection("q_a_proj", latent.query_rank, config.hidden, "q_a")
        add("self_attn.q_a_layernorm.weight", (latent.query_rank,), "vector", "q_a_norm")
        projection("q_b_proj", queries, latent.query_rank, "q_b")
    else:
        projection("q_proj", queries, config.hidden, "q")
    projection("kv_a_proj_with_mqa", latent.row, config.hidden, "kv_a")
    add("self_attn.kv_a_layernorm.weight", (latent.rank,), "vector", "kv_a_norm")
    add("self_attn.k_up.weight", (heads, latent.rank, latent.plain), "heads", "k_up")
    add("self_attn.v_up.weight", (heads, latent.value, latent.rank), "heads", "v_up")


def is_part(name):
    return _PARTS.fullmatch(name) is not None


def stored_name(name):
    """The tensor of the file that holds the weight `name`."""
    part = _PARTS.fullmatch(name)
    return f"{part[1]}kv_b_proj.weight" if part else name


def part(config, name, stored):
    """The weight `name` of kv_b_proj: each head's rows of keys, then those of its values."""
    latent = config.latent
    heads = stored.reshape(config.heads, latent.plain + latent.value, latent.rank)
    if _PARTS.fullmatch(name)[2] == "k_up":
        return np.ascontiguousarray(heads[:, :latent.plain].transpose(0, 2, 1))
    return heads[:, latent.plain:]


def split_shapes(config, shapes, where):
    """`shapes` of a file's tensors as those of the weights; `where(name)` says for a message which
    tensor of which file it is."""
    latent, out = config.latent, {}
    for name, shape in shapes.items():
        stored = _STORED.fullmatch(name)
        if not stored:
            out[name] = shape
            continue
        wanted = [config.heads * (latent.plain + latent.value), latent.rank]
        if list(shape) != wanted:
            raise ImportFailure(f"{where(name)} has the shape {list(shape)}, its configuration "
                                f"calls for {wanted}")
        out[f"{stored[1]}k_up.weight"] = (config.heads, latent.rank, latent.plain)
        out[f"{stored[1]}v_up.weight"] = (config.heads, latent.value, latent.rank)
    return out


def join(config, weights_):
    """The inverse of part(), for a whole model: name -> array as a file has them."""
    latent, out = config.latent, {}
    for name, values in weights_.items():
        found = _PARTS.fullmatch(name)
        if not found:
            out[name] = values
        elif found[2] == "k_up":
            both = np.concatenate([values.transpose(0, 2, 1),
                                   weights_[f"{found[1]}v_up.weight"]], axis=1)
            out[stored_name(name)] = both.reshape(-1, latent.rank)
    return out
