"""Caches of every geometry by their definitions in numpy: quantisation, layouts, pages and slots."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np

from host import rounded, sees, softmax

# Largest element, type of the codes; the codes' bytes that no one may read as a number.
EIGHT_BITS = {"f8E4M3FN": (448, np.dtype(ml_dtypes.float8_e4m3fn)),
              "f8E5M2": (57344, np.dtype(ml_dtypes.float8_e5m2)),
              "i8": (127, np.dtype(np.int8))}
ORDERS = {"nhd": (0, 1, 2, 3, 4, 5), "hnd": (0, 1, 2, 4, 3, 5), "cpu": (0, 2, 4, 1, 3, 5)}


@dataclass(frozen=True)
class Geometry:
    dtype: str = "f32"
    strategy: str = "paged"
    layers: int = 2
    heads: int = 2
    dim: int = 8
    page: int = 4  # or max_seq
    v_dim: int = 0  # latent when not 0
    scale: tuple = ()  # (dtype, group)
    layout: str = "nhd"
    window: int = 0
    page_layers: int = 0  # 0: all

    @property
    def layers_per_page(self):
        return self.page_layers or self.layers

    @property
    def bands(self):
        return -(-self.layers // self.layers_per_page)

    @property
    def parts(self):
        return 1 if self.v_dim else 2

    @property
    def value_dim(self):
        return self.v_dim or self.dim

    def parameters(self):
        text = f"{self.strategy}, {self.dtype}, layers = {self.layers}, "
        text += "latent, " if self.v_dim else f"heads = {self.heads}, "
        text += f"dim = {self.dim}, "
        text += f"v_dim = {self.v_dim}, " if self.v_dim else ""
        text += f"{'page' if self.strategy == 'paged' else 'max_seq'} = {self.page}"
        if self.scale:
            text += f", scale = #kv.scale<{self.scale[0]}, group = {self.scale[1]}>"
        text += f", layout = {self.layout}" if self.layout != "nhd" else ""
        text += f", window = {self.window}" if self.window else ""
        return text + (f", page_layers = {self.page_layers}" if self.page_layers else "")

    def types(self):
        return (f"!kv = !kv.collection<{self.parameters()}>\n"
                f"!cache = !kv.cache<{self.parameters()}>\n")

    def __str__(self):
        return self.parameters().replace(" ", "").replace("#kv.", "")


def quantised(x, geometry):
    """Rows [..., D] as the cache stores them: (codes, scales or None, what is read back)."""
    x = np.asarray(x, np.float32)
    if geometry.dtype not in EIGHT_BITS:
        codes, value = rounded(x, geometry.dtype)
        return codes, None, value
    most, code = EIGHT_BITS[geometry.dtype]
    if not geometry.scale:
        codes = np.clip(x, -most, most).astype(code)
        return codes, None, codes.astype(np.float32)
    kind, group = geometry.scale
    groups = x.reshape(*x.shape[:-1], -1, group)
    scales = np.abs(groups).max(-1) / np.float32(most)
    stored = scales
    if kind == "f8E8M0FNU":
        fraction, exponent = np.frexp(scales)
        exponent = np.clip(exponent - (fraction == 0.5) + 127, 0, 254)
        exponent[scales == 0] = 0
        stored = exponent.astype(np.uint8).view(ml_dtypes.float8_e8m0fnu)
        scales = np.exp2(exponent.astype(np.float64) - 127).astype(np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = np.where(scales[..., None] == 0, np.float32(0), groups / scales[..., None])
    ratio = np.clip(ratio, -most, most)
    codes = (np.rint(ratio) if geometry.dtype == "i8" else ratio).astype(code)
    value = codes.astype(np.float32) * scales[..., None]
    return codes.reshape(x.shape), stored, value.reshape(x.shape)


class Cache:
    """Sequences that hold `cached` random tokens each and have room for `new` more. What no
    sequence owns is NaN, or has NaN for a scale: with a window also what the next query of a
    sequence has passed, whose entries of the table are 0. `pitch` is that of one band."""

    def __init__(self, geometry, rng, cached, new, pitch=None):
        g = self.geometry = geometry
        paged = g.strategy == "paged"
        self.cached, self.new = np.array(cached, np.int32), np.array(new, np.int32)
        self.rows = np.concatenate([[0], np.cumsum(new)]).astype(np.int32)
        self.max_lengths = np.array([[self.new.max(), (self.cached + self.new).max()]], np.int32)
        needed = -(-(self.cached + self.new) // g.page)
        pages = int(needed.sum()) * g.bands + 2
        self.pitch = pitch or int(needed.max()) + 1
        blocks = pages + 1 if paged else len(cached) + 2
        shape = (blocks, g.parts, g.layers_per_page, g.page, g.heads, g.dim)
        code = EIGHT_BITS[g.dtype][1] if g.dtype in EIGHT_BITS else rounded(
            np.zeros(1, np.float32), g.dtype)[0].dtype
        self.blocks, self.scales = np.empty(shape, code), None
        # Bytes of ones are NaN in every float type here.
        self.blocks.view(np.uint8)[:] = 0xFF
        if g.scale:
            kind = np.float32 if g.scale[0] == "f32" else ml_dtypes.float8_e8m0fnu
            self.scales = np.empty((*shape[:5], g.dim // g.scale[1]), kind)
            self.scales.view(np.uint8)[:] = 0xFF
        places = np.random.default_rng(1)  # apart: equal numbers wherever they stand
        # What is read back, by sequence and position: [parts, L, H, D].
        self.values = [{} for _ in cached]
        if paged:
            self.table = np.full((len(cached), self.pitch * g.bands), -1, np.int32)
            free = list(places.permutation(np.arange(1, pages + 1)))
            for b, count in enumerate(needed):
                for band in range(g.bands):
                    for i in range(count):
                        self.table[b, band * self.pitch + i] = free.pop()
        else:
            # Slot 0 is an ordinary one.
            self.table = places.permutation(len(cached)).astype(np.int32)
        for b, c in enumerate(cached):
            for s in range(c):
                for layer in range(g.layers):
                    self.write(b, s, layer, rng.standard_normal((g.parts, g.heads, g.dim)) * 3)
        if g.window and paged:
            self.give_back()

    def give_back(self):
        """Pages that no later query sees are no longer the sequence's."""
        g = self.geometry
        for b, c in enumerate(self.cached):
            for i in range(max(0, (c + 1 - g.window) // g.page)):
                for entry in range(i, self.table.shape[1], self.pitch):
                    page = self.table[b, entry]
                    self.blocks[page].view(np.uint8)[:] = 0xFF
                    if self.scales is not None:
                        self.scales[page].view(np.uint8)[:] = 0xFF
                    self.table[b, entry] = 0

    def place(self, b, s, layer):
        """(page, layer of the page, slot) of a row."""
        g = self.geometry
        if g.strategy != "paged":
            return self.table[b], layer, s
        band, inside = divmod(layer, g.layers_per_page)
        return self.table[b, band * self.pitch + s // g.page], inside, s % g.page

    def write(self, b, s, layer, rows):
        """rows: [parts, H, D]"""
        g = self.geometry
        page, inside, slot = self.place(b, s, layer)
        codes, scales, values = quantised(rows, g)
        self.blocks[page, :, inside, slot] = codes
        if scales is not None:
            self.scales[page, :, inside, slot] = scales
        read = self.values[b].setdefault(s, np.zeros((g.parts, g.layers, g.heads, g.dim)))
        read[:, layer] = values

    def physical(self, array):
        return np.ascontiguousarray(array.transpose(ORDERS[self.geometry.layout]))

    def arrays(self):
        """The components, in memory's order; copies."""
        arrays = [self.physical(self.blocks), self.cached.copy(), self.table.copy(),
                  self.max_lengths.copy()]
        return arrays + ([self.physical(self.scales)] if self.scales is not None else [])

    def length(self, b):
        return int(self.cached[b] + self.new[b])

    def attend(self, q, layer, mask, scale, softcap=0, sinks=None):
        """(out, lse) of ragged rows, in double."""
        g, heads = self.geometry, q.shape[1]
        out = np.zeros((len(q), heads, g.value_dim))
        lse = np.full(q.shape[:2], -np.inf)
        for b, c in enumerate(self.cached):
            for t in range(self.rows[b], self.rows[b + 1]):
                position = c + t - self.rows[b]
                seen = [s for s in range(self.length(b)) if sees(mask, position, s)]
                for h in range(heads):
                    head = h * g.heads // heads
                    rows = [self.values[b][s][:, layer, head] for s in seen]
                    keys = np.array([r[0] for r in rows], np.float64).reshape(-1, g.dim)
                    values = np.array([r[-1][:g.value_dim] for r in rows],
                                      np.float64).reshape(-1, g.value_dim)
                    out[t, h], lse[t, h] = softmax(q[t, h], keys, values, scale, softcap,
                                                   -np.inf if sinks is None else sinks[h])
        return out, lse
