"""How Hugging Face folders store the experts of a mixture. A module takes each projection of all
experts as one matrix, theirs one below the other: [E * N, K]."""

import re

import numpy as np

from ..weights import mxfp4
from ..model.errors import ImportFailure

# A name of the module: gate_proj, up_proj or down_proj, weight or bias.
_OURS = re.compile(r"(model\.layers\.\d+\.mlp\.experts\.)(gate|up|down)_proj\.(weight|bias)")


class Apart:
    """Qwen 3: a tensor for each expert, mlp.experts.7.up_proj.weight."""

    NAME = re.compile(r"(model\.layers\.\d+\.mlp\.experts\.)(\d+)\.(\w+_proj\.weight)")
    ROUTER = "mlp.gate."

    def __init__(self, config):
        self.config = config

    def stored_name(self, name, expert=0):
        ours = _OURS.fullmatch(name)
        return f"{ours[1]}{expert}.{ours[2]}_proj.{ours[3]}" if ours else name

    def tensors(self, weight):
        """All that a weight is made from, as (name, shape)."""
        experts, (rows, columns) = self.config.mixture.experts, weight.shape
        return ((self.stored_name(weight.name, expert), (rows // experts, columns))
                for expert in range(experts))

    def format(self, weight, stored_format):
        """That of all tensors of a weight, where they have the same one."""
        formats = {stored_format(self.stored_name(weight, expert))
                   for expert in range(self.config.mixture.experts)}
        return formats.pop() if len(formats) == 1 else None

    def expert(self, read, name, expert):
        return read(self.stored_name(name, expert), slice(None))

    def expert_blocks(self, read, name, expert, _):
        return read(self.stored_name(name, expert), slice(None), as_blocks=True)


class Interleaved:
    """gpt-oss: mlp.experts.gate_up_proj [E, K, 2N], whose columns are gate 0, up 0, gate 1, ...;
    down_proj [E, K, N]."""

    NAME = re.compile(r"(model\.layers\.\d+\.mlp\.experts\.)(gate_up|down)_proj(_bias)?")
    ROUTER = "mlp.router."

    def __init__(self, config):
        self.config = config

    def stored_name(self, name, expert=0):
        ours = _OURS.fullmatch(name)
        if not ours:
            return name
        whole = "down" if ours[2] == "down" else "gate_up"
        return f"{ours[1]}{whole}_proj" + ("_bias" if ours[3] == "bias" else "")

    def tensors(self, weight):
        ours = _OURS.fullmatch(weight.name)
        parts, experts = (1 if ours[2] == "down" else 2), self.config.mixture.experts
        rows, columns = weight.shape
        shape = (experts, columns, parts * (rows // experts))
        return [(self.stored_name(weight.name),
                 (experts, parts * columns) if ours[3] == "bias" else shape)]

    def format(self, weight, stored_format):
        return None

    @staticmethod
    def own(name):
        """Of the columns of gate and up, or of their rows, those of the weight `name`."""
        part = _OURS.fullmatch(name)[2]
        return slice(None) if part == "down" else slice(("gate", "up").index(part), None, 2)

    def expert(self, read, name, expert):
        """[N, K] of one expert, or its bias."""
        values = read(self.stored_name(name), slice(expert, expert + 1))[0]
        return values[..., self.own(name)].T


class Stacked(Interleaved):
    """Granite 4: block_sparse_moe.input_linear [E, 2N, K], whose rows are those of gate, then of up;
    output_linear [E, N, K]."""

    NAME = re.compile(r"(model\.layers\.\d+\.)block_sparse_moe\.(input|output)_linear\.weight")
    ROUTER = "block_sparse_moe.router.layer."

    def stored_name(self, name, expert=0):
        ours = _OURS.fullmatch(name)
        if not ours:
            return name
        whole = "output" if ours[2] == "down" else "input"
        return ours[1].replace("mlp.experts.", f"block_sparse_moe.{whole}_linear.") + ours[3]

    def tensors(self, weight):
        parts, experts = (1 if "down" in weight.name else 2), self.config.mixture.experts
        rows, columns = weight.shape
        return [(self.stored_name(weight.name), (experts, parts * (rows // experts), columns))]

    def expert(self, read, name, expert):
        values = read(self.stored_name(name), slice(expert, expert + 1))[0]
        part = _OURS.fullmatch(name)[2]
        return values if part == "down" else np.split(values, 2)[("gate", "up").index(part)]


class Joined(Stacked):
    """Qwen 3.5: mlp.experts.gate_up_proj [E, 2N, K], the rows of gate, then those of up; down_proj [E, N, K]."""

    NAME = re.compile(r"(model\.layers\.\d+\.mlp\.experts\.)(gate_up|down)_proj")
    ROUTER = Apart.ROUTER

    def stored_name(self, name, expert=0):
        return Interleaved.stored_name(self, name, expert)


class Blocks(Interleaved):
    """gpt-oss as it is published: of each matrix [E, N, K / 32, 16] blocks of MXFP4 and [E, N, K /
    32] scales, the rows of gate and up in turn."""

    NAME = re.compile(Interleaved.NAME.pattern.replace("(_bias)?", "(_bias|_blocks|_scales)?"))

    def tensors(self, weight):
        whole = super().tensors(weight)
        if weight.name.endswith(".bias"):
            return whole
        [(name, (experts, columns, rows))] = whole
        shape = (experts, rows, columns // mxfp4.GROUP)
        return [(f"{name}_blocks", (*shape, mxfp4.GROUP // 2)), (f"{name}_scales", shape)]

    def format(self, weight, stored_format):
        return None if weight.endswith(".bias") else "q8_0"

    def _parts(self, read, name, expert):
        """Blocks and scales of one expert."""
        one = slice(expert, expert + 1)
        return (read(f"{self.stored_name(name)}_{part}", one)[0][self.own(name)]
                for part in ("blocks", "scales"))

    def expert(self, read, name, expert):
        if name.endswith(".bias"):
            return super().expert(read, name, expert)
        return mxfp4.values(*self._parts(read, name, expert))

    def expert_blocks(self, read, name, expert, where):
        return mxfp4.as_q8_0(*self._parts(read, name, expert), where)


FORMS = {"apart": Apart, "joined": Joined, "interleaved": Interleaved, "mxfp4": Blocks, "stacked": Stacked}


class ExpertTensors:
    """Of a folder, some rows of whose tensors `read(name, rows)` gives, and their format, or None,
    `stored_format(name)`."""

    def __init__(self, form, config, read, stored_format):
        self.form, self.config, self.read = FORMS[form](config), config, read
        self.stored_format = stored_format
        self.last = None, None  # the expert that was read last, of which rows are still wanted

    def found_as(self, name):
        return self.form.stored_name(name).replace("mlp.router.", self.form.ROUTER)

    def holds(self, name):
        return _OURS.fullmatch(name) is not None

    def shapes(self, shapes, where):
        """`shapes` of the files' tensors as those of the weights; `where(name)` says for a message
        which tensor of which file it is."""
        out = {name.replace(self.form.ROUTER, "mlp.router."): shape
               for name, shape in shapes.items() if not self.form.NAME.fullmatch(name)}
        taken = set()
        # No more layers than there are tensors: a damaged number ends here.
        weights = (weight for layer in range(min(self.config.layers, len(shapes)))
                   for weight in self.config.layer_weights(layer))
        for weight in filter(lambda weight: self.holds(weight.name), weights):
            for name, wanted in self.form.tensors(weight):
                if name not in shapes:
                    raise ImportFailure(f"{where(name)} is missing, which the configuration's "
                                        f"{self.config.mixture.experts} experts call for")
                if tuple(shapes[name]) != wanted:
                    raise ImportFailure(f"{where(name)} has the shape {list(shapes[name])}, its "
                                        f"configuration calls for {list(wanted)}")
                taken.add(name)
            out[weight.name] = weight.shape
        # What no weight is made from is left over, under its own name.
        return out | {name: shape for name, shape in shapes.items()
                      if self.form.NAME.fullmatch(name) and name not in taken}

    def format(self, name):
        """In which a weight of experts can be stored without rounding; None: as numbers."""
        return self.form.format(name, self.stored_format)

    def tensor(self, name, rows):
        """Some rows of a weight, or of the biases of all experts."""
        return self._rows(name, rows, self.form.expert)

    def blocks(self, name, rows, where):
        """Some rows of a weight as blocks of its format."""
        return self._rows(name, rows, lambda *of: self.form.expert_blocks(*of, where))

    def _rows(self, name, rows, expert_of):
        ours, config = _OURS.fullmatch(name), self.config
        each = config.hidden if ours[2] == "down" else config.intermediate
        if ours[3] == "bias":
            each = 1
        begin, end, _ = rows.indices(config.mixture.experts * each)
        return np.concatenate([
            self._expert(name, expert, expert_of).reshape(each, -1)[
                max(begin - expert * each, 0):end - expert * each]
            for expert in range(begin // each, -(-end // each))])

    def _expert(self, name, expert, expert_of):
        if self.last[0] != (name, expert):
            self.last = (name, expert), expert_of(self.read, name, expert)
        return self.last[1]
