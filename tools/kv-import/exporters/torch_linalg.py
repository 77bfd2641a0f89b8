"""A program of torch.export as linalg, and the files that kv-raise takes: for torch_export.py, and as kvmlir._torch_linalg for
torch.compile(backend="kvmlir")."""

import math

import sympy
import torch
from safetensors.torch import save_file
from torch.utils._sympy.value_ranges import bound_sympy
from torch_mlir import fx, ir
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

LEGAL = ["aten.scaled_dot_product_attention"]


def gelu(x, approximate="none"):
    """torch-mlir's own has 0.797724 where the root of 2 / pi belongs."""
    if approximate == "none":
        return 0.5 * x * (1 + torch.erf(x * math.sqrt(0.5)))
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def exported(graph, weights, max_seq, fixed=None):
    """(A program, the most tokens that it takes): 2 to max_seq, or one less where a model treats its
    greatest length as a case of its own; or for `fixed` [batch, length] alone."""
    if fixed:
        with torch.no_grad():
            return torch.export.export(graph, (torch.zeros(fixed, dtype=torch.int64), *weights.values()),
                                       strict=False), fixed[1]

    def at_most(longest):
        length = torch.export.Dim("T", min=2, max=longest)
        with torch.no_grad():
            return torch.export.export(
                graph, (torch.zeros((1, 8), dtype=torch.int64), *weights.values()), strict=False,
                dynamic_shapes=({1: length}, (None,) * len(weights))), longest

    try:
        return at_most(max_seq)
    except torch._dynamo.exc.UserError:
        return at_most(max_seq - 1)


def settle(program):
    """Replaces the larger, or smaller, of two sizes by the one that it is for every length."""
    def expression(argument):
        value = argument.meta["val"] if isinstance(argument, torch.fx.Node) else argument
        return value if isinstance(value, int) else value.node.expr

    for node in list(program.graph.nodes):
        if node.target not in (torch.sym_max, torch.sym_min):
            continue
        a, b = node.args if node.target is torch.sym_max else reversed(node.args)
        more = bound_sympy(sympy.sympify(expression(a) - expression(b)), program.range_constraints)
        if more.lower >= 0 or more.upper <= 0:
            node.replace_all_uses_with(a if more.lower >= 0 else b)
            program.graph.erase_node(node)


def lowered(program):
    """The program as an MLIR module of linalg."""
    settle(program)
    for node in program.graph.nodes:
        # Any order will do; torch-mlir has the sorted one.
        if node.target is torch.ops.aten.topk.default:
            node.args = (*node.args[:4], *(-1, True)[len(node.args) - 2:], True)
    table = get_decomposition_table()
    for op in [op for op in table if "scaled_dot" in str(op)]:
        table.pop(op)
    table[torch.ops.aten.gelu.default] = gelu
    return fx.export_and_import(program, output_type="linalg-on-tensors",
                                decomposition_table=table, backend_legal_ops=LEGAL)


def write(module, weights, architecture, vocab, name, max_seq, folder):
    """Writes folder/graph.mlir, whose arguments name the weights, and folder/weights.safetensors."""
    with module.context:
        function = module.body.operations[len(module.body.operations) - 1]
        marks = [ir.DictAttr.get({"kv.name": ir.StringAttr.get("tokens")})]
        marks += [ir.DictAttr.get({"kv.weight": ir.StringAttr.get(each)}) for each in weights]
        function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
        function.attributes["sym_name"] = ir.StringAttr.get("forward")
        i64 = ir.IntegerType.get_signless(64)
        module.operation.attributes["kv.model"] = ir.DictAttr.get({
            "name": ir.StringAttr.get(name),
            "architecture": ir.StringAttr.get(architecture),
            "max_seq_len": ir.IntegerAttr.get(i64, max_seq),
            "vocab_size": ir.IntegerAttr.get(i64, vocab)})
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "graph.mlir", "w", encoding="utf-8") as file:
        file.write(module.operation.get_asm(print_generic_op_form=True))
    save_file({each: tensor.contiguous().clone() for each, tensor in weights.items()},
              folder / "weights.safetensors")


