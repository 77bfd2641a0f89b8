"""The types and literals of a module: activations, weights, caches."""

import numpy as np

from ..model.config import MATRICES, Cache
from ..weights.weights_writer import stored_dtype


def number(value):
    """A float literal with the fewest digits that give the same f32."""
    text = repr(float(str(np.float32(value))))
    if "." in text:
        return text
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}.0e{exponent}" if exponent else f"{mantissa}.0"


def quoted(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class ModuleTypes:
    """`dtype`: of dense matrices, and of the cache without `cache`. `keep_all`: one cache for all
    layers, which keeps every token; their masks stay. `formats`: the quantised weights with their
    formats. `activations`: what rows are rounded to before a product; None: they are not.
    `products`: what attentions round queries and weights to; None: they do not."""

    def __init__(self, config, dtype, page, keep_all=False, formats=None, activations=None,
                 cache=None, products=None):
        self.config = config
        self.dtype = dtype
        self.cache = cache or dtype
        self.products = products
        self.formats = formats or {}
        self.activations = activations
        self.page = page
        c = config
        self.caches = [Cache(None, c.attention_layers())] if keep_all else c.caches()
        # The layers that have states instead.
        self.states = Cache(None, tuple(c.recurrent.layers)) if c.recurrent else None
        self.q_width, self.kv_width = c.heads * c.head_dim, c.kv_heads * c.head_dim

    def rows(self, *sizes):
        """A tensor of f32 activations with a dynamic number of rows."""
        return "tensor<" + "x".join(["?", *map(str, sizes)]) + "xf32>"

    def weight_type(self, weight):
        if weight.role in MATRICES:
            return self.matrix(*weight.shape, self.formats.get(weight.name))
        sizes = "x".join(map(str, weight.shape))
        return f"tensor<{sizes}x{stored_dtype(weight, self.dtype)}>"

    @property
    def mlp_sizes(self):
        """Of the rows that the MLP's activation takes: with experts one for each choice."""
        mixture = self.config.mixture
        return (*((mixture.choices,) if mixture else ()), self.config.intermediate)

    @property
    def other_widths(self):
        """Of MLPs beside experts: those that all rows go through, and those of other layers."""
        mixture = self.config.mixture
        widths = (mixture.shared, mixture.dense_width if mixture.dense else None) if mixture else ()
        return tuple(dict.fromkeys(width for width in widths if width))

    def matrix(self, rows, columns, format_):
        element = f"!kv.quant<{format_}>" if format_ else self.dtype
        return f"tensor<{rows}x{columns}x{element}>"

    # Caches: a model with one calls it kv, one with two windows kv and kv_sliding.

    def cache_name(self, cache):
        return "kv" if cache is self.caches[0] else "kv_sliding"

    def cache_type(self, cache):
        c = self.config
        window = f", window = {cache.window}" if cache.window else ""
        rows = f"heads = {c.kv_heads}, dim = {c.head_dim}"
        if c.latent:
            rows = f"latent, dim = {c.latent.row}, v_dim = {c.latent.rank}"
        return (f"!kv.collection<paged, {self.cache}, layers = {len(cache.layers)}, {rows}, "
                f"page = {self.page}{window}>")

    def all_caches(self):
        return self.caches + ([self.states] if self.states else [])

    def collections(self):
        """Name -> type, in the order of the entry's arguments."""
        out = {self.cache_name(cache): self.cache_type(cache) for cache in self.caches}
        if self.states:
            r, layers = self.config.recurrent, len(self.states.layers)
            out |= {name: f"!kv.collection<recurrent, f32, layers = {layers}, heads = {heads}, "
                          f"dim = {dim}, page = {self.page}>"
                    for name, heads, dim in (("conv", r.kernel - 1, r.channels),
                                             ("state", r.value_heads, r.key_dim * r.value_dim))}
        return out

    def linear_name(self, rows, columns, format_):
        return f"@linear_{rows}x{columns}" + (f"_{format_}" if format_ else "")

    def widened(self, weight, matrix, rows, columns):
        """For a product: what stands before it, the operand, its type."""
        if "!kv.quant" not in matrix:
            return "", weight, matrix
        wide = f"tensor<{rows}x{columns}xf32>"
        return (f"    %{weight}_f32 = kv.dequantize %{weight} : {matrix} -> {wide}\n",
                f"{weight}_f32", wide)
