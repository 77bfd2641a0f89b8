"""model.mlir: the model as a module, meant to be read by people too (docs/reference/module.md)."""

from . import latent_writer
from .entry_writer import EntryWriter
from .helper_functions import HelperFunctions
from .layer_writer import LayerWriter
from .module_types import ModuleTypes, quoted
from .recurrent_functions import RecurrentFunctions
from .recurrent_writer import RecurrentLayerWriter


EXPERT_MAPS = """
// The experts' view (t: row, c: choice, n: column).
#tcn = affine_map<(t, c, n) -> (t, c, n)>
#tc = affine_map<(t, c, n) -> (t, c)>
#tn = affine_map<(t, n, c) -> (t, n)>
#tcn_of_tn = affine_map<(t, n, c) -> (t, c, n)>
#tc_of_tn = affine_map<(t, n, c) -> (t, c)>
"""


class ModuleWriter:
    """Takes what ModuleTypes takes. embeds: EntryWriter's."""

    def __init__(self, config, *arguments, embeds=False, **options):
        self.config, self.embeds = config, embeds
        self.types = ModuleTypes(config, *arguments, **options)

    def text(self):
        kinds = self.kinds()
        functions = {layer: kinds[self.kind(cache, layer)][0] for cache in self.types.all_caches()
                     for layer in cache.layers}
        parts = HelperFunctions(self.types).text()
        parts += [(RecurrentLayerWriter if kind[0] is self.types.states else LayerWriter)(
            self.types, name, *kind[:2], first).text() for kind, (name, first) in kinds.items()]
        parts.append(EntryWriter(self.types, functions, self.embeds).forward())
        return self.head() + "\n\n".join(parts) + "\n}\n"

    def head(self):
        c = self.config
        types = "\n".join(f"!{name} = {type_}"
                          for name, type_ in self.types.collections().items())
        return f"""\
// {c.name}: {c.architecture}, {c.layers} layers, width {c.hidden}, \
{self.heads()}.
// T: tokens of all sequences of the step; R: rows whose logits are wanted.

{types}

// A row-wise view (i: row, j: column).
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>
#j = affine_map<(i, j) -> (j)>
#row = affine_map<(i) -> (i)>
{EXPERT_MAPS if c.mixture else ""}{latent_writer.MAPS if c.latent else ""}\
{RecurrentFunctions(self.types).maps() if c.recurrent else ""}
// A product with a weight [N, K]: out[m, n] = sum over k of lhs[m, k] * rhs[n, k].
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (n, k)>
#out = affine_map<(m, n, k) -> (m, n)>

module attributes {{kv.model = {{architecture = {quoted(c.architecture)}, \
max_seq_len = {c.max_seq} : i64,
                               name = {quoted(c.name)}, vocab_size = {c.vocab} : i64}}\
{f", kv.activations = {self.types.activations}" if self.types.activations else ""}}} {{

"""

    def heads(self):
        c = self.config
        if c.latent:
            return (f"{c.heads} query heads of {c.head_dim} over latents of {c.latent.rank} with "
                    f"{c.latent.rotary} rotated elements")
        return f"{c.heads} query heads over {c.kv_heads} KV heads of {c.head_dim}"

    def layer_formats(self, layer):
        """The formats of a layer's weights, in the order of config.layer_weights."""
        return tuple(self.types.formats.get(w.name) for w in self.config.layer_weights(layer))

    def kind(self, cache, layer):
        """What layers of one function have in common."""
        config = self.config
        return cache, config.window(layer), self.layer_formats(layer), config.mixture_of(layer)

    def kinds(self):
        """Layers that are one function: {kind: (name, the first of them)}."""
        firsts = {}
        for cache in self.types.all_caches():
            for layer in cache.layers:
                firsts.setdefault(self.kind(cache, layer), layer)
        names, windows = {}, {window for _, window, *_ in firsts}
        for kind, layer in firsts.items():
            name = "layer_sliding" if kind[1] and len(windows) > 1 else "layer"
            if kind[0] is self.types.states:
                name = "layer_recurrent"
            taken = sum(other.rstrip("0123456789_") == name for other, _ in names.values())
            names[kind] = (f"{name}_{taken + 1}" if taken else name, layer)
        return names
