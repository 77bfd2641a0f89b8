"""Tensors of hybrid models: where a folder has the weights of the module, and in which order."""

import re

import numpy as np

from ..model.errors import ImportFailure
from ..model.families import FAMILIES


class HybridTensors:
    """Some weights of the module are rows of a tensor of the file, in another order; a
    convolution is turned. `load(name)`: a tensor of the file, as f32."""

    # Of families whose delta nets are `apart`: the weight that two tensors are, one below the other.
    GATES, OF_GATES = "in_gates.weight", ("in_proj_b.weight", "in_proj_a.weight")

    def __init__(self, config, load=None):
        self.config, self.load, self.family = config, load, FAMILIES[config.architecture]
        self.apart = self.family.apart
        self.loaded = None, None  # the last tensor: the parts of one follow each other

    def place(self, name):
        """(tensor of the file, the weight's rows in it, or None: as it is)."""
        match = re.fullmatch(r"(model\.layers\.\d+\.)(.+)", name)
        found = match and self._places().get(match[2])
        return (f"{match[1]}{found[0]}", found[1]) if found else (name, None)

    def found_as(self, name):
        return self.place(name)[0]

    def tensor(self, name, rows):
        """Some rows of a weight."""
        stored, of = self.place(name)
        if self.apart and name.endswith(self.GATES):
            return np.concatenate([self.load(name.replace(self.GATES, part)) for part in self.OF_GATES])[rows]
        if self.loaded[0] != stored:
            self.loaded = stored, self.load(stored)
        values = self.loaded[1]
        if stored.endswith("conv1d.weight"):
            values = np.ascontiguousarray(values[:, 0, :].T)
        return (values if of is None else values[of])[rows]

    def shapes(self, shapes, where):
        """`shapes` of a file's tensors as those of the weights."""
        out = dict(shapes)
        if self.apart:
            self._join_gates(out)
        whole = {}
        for weight in self.config.weights():
            stored, rows = self.place(weight.name)
            if rows is None and stored == weight.name:
                if stored.endswith("conv1d.weight") and stored in out:
                    channels, _, taps = (*out[stored], 0, 0, 0)[:3]
                    out[stored] = (taps, channels)
                continue
            whole.setdefault(stored, []).append((weight, rows))
        for stored, parts in whole.items():
            if stored not in shapes:
                continue
            if len(parts) == 1 and parts[0][1] is None:
                out[parts[0][0].name] = out.pop(stored)
                continue
            wanted = [sum(len(rows) for _, rows in parts), parts[0][0].shape[1]]
            if list(shapes[stored]) != wanted:
                raise ImportFailure(f"{where(stored)} has the shape {list(shapes[stored])}, its "
                                    f"configuration calls for {wanted}")
            del out[stored]
            for weight, rows in parts:
                out[weight.name] = (len(rows), wanted[1])
        return out

    def _join_gates(self, shapes):
        for layer in self.config.recurrent.layers:
            name = f"model.layers.{layer}.linear_attn.{self.GATES}"
            parts = [name.replace(self.GATES, part) for part in self.OF_GATES]
            if all(len(shapes.get(part, ())) == 2 for part in parts):
                found = [shapes.pop(part) for part in parts]
                shapes[name] = (sum(rows for rows, _ in found), found[0][1] if found[0] == found[1] else 0)

    def stored(self, weights):
        """The other way: the weights of a module as a folder has them."""
        out = {}
        for name, values in weights.items():
            stored, rows = self.place(name)
            if name.endswith("conv1d.weight"):
                values = np.ascontiguousarray(values.T)[:, None, :]
            if rows is None:
                out[stored] = values
                continue
            parts = [r for _, r in self._places().values() if r is not None
                     and self._is_part(stored, r)]
            count = sum(len(r) for r in parts)
            out.setdefault(stored, np.zeros((count, values.shape[1]), np.float32))[rows] = values
        return out

    def _is_part(self, stored, rows):
        return any(r is rows and stored.endswith(name) for name, r in self._places().values())

    def _places(self):
        """Of the weights of a layer; made once."""
        if not hasattr(self, "places"):
            r = self.config.recurrent
            self.places = self._delta() if r.delta else self._mamba()
        return self.places

    def _delta(self):
        c, r = self.config, self.config.recurrent
        of = r.value_heads // r.key_heads
        # In the file one key head after the other: its q, k, v of its value heads, z of them.
        sizes = {"q": r.key_dim, "k": r.key_dim, "v": of * r.value_dim, "z": of * r.value_dim}
        grid = np.arange(r.key_heads * sum(sizes.values())).reshape(r.key_heads, -1)
        ends = np.cumsum(list(sizes.values()))
        rows = {name: grid[:, end - size:end].reshape(-1)
                for (name, size), end in zip(sizes.items(), ends)}
        gates = np.arange(2 * r.value_heads).reshape(r.key_heads, 2, of)
        heads = np.arange(2 * c.heads * c.head_dim).reshape(c.heads, 2, c.head_dim)
        whole = "linear_attn.in_proj_qkvz.weight"
        projections = {
            "linear_attn.in_mixed.weight": ("linear_attn.in_proj_qkv.weight", None),
            "linear_attn.in_z.weight": ("linear_attn.in_proj_z.weight", None)} if self.apart else {
            "linear_attn.in_mixed.weight": (whole, np.concatenate([rows[n] for n in "qkv"])),
            "linear_attn.in_z.weight": (whole, rows["z"]),
            "linear_attn.in_gates.weight": (
                "linear_attn.in_proj_ba.weight", gates.transpose(1, 0, 2).reshape(-1))}
        return projections | {
            "self_attn.q_proj.weight": ("self_attn.q_proj.weight", heads[:, 0].reshape(-1)),
            "self_attn.q_gate.weight": ("self_attn.q_proj.weight", heads[:, 1].reshape(-1)),
            **{f"mlp.shared_experts.{name}_proj.weight": (
                f"mlp.shared_expert.{name}_proj.weight", None)
               for name in ("gate", "up", "down") if c.mixture}}

    def _mamba(self):
        c, r = self.config, self.config.recurrent
        # z, x, B, C, dt; the convolution is over x, B and C.
        mixed, gates = r.inner + r.channels, r.inner + r.channels + r.value_heads
        whole, mlp = "mamba.in_proj.weight", "shared_mlp.input_linear.weight"
        ours = "mlp.shared_experts" if c.mixture else "mlp"
        width = c.mixture.shared if c.mixture else c.intermediate
        places = {
            "mamba.in_z.weight": (whole, np.arange(r.inner)),
            "mamba.in_mixed.weight": (whole, np.arange(r.inner, mixed)),
            "mamba.in_gates.weight": (whole, np.arange(mixed, gates))}
        if self.family.experts != "stacked":
            return places
        return places | {
            f"{ours}.gate_proj.weight": (mlp, np.arange(width)),
            f"{ours}.up_proj.weight": (mlp, np.arange(width, 2 * width)),
            f"{ours}.down_proj.weight": ("shared_mlp.output_linear.weight", None)}
