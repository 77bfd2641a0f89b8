"""What exporters write beside a graph: its marks for kv-raise, and its weights."""

from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from torch_mlir import ir

# A constant with this many numbers is a weight that the exporter has put into the text.
FEWEST = 256


class Refused(Exception):
    """What is wrong with a graph or with its weights, in one sentence."""


def add_options(parser):
    parser.add_argument("-o", "--output", required=True, type=Path)
    parser.add_argument("--name", required=True, help="the model's name")
    parser.add_argument("--max-seq", required=True, type=int, help="the longest sequence")
    parser.add_argument("--tensors", help="a safetensors file with the arguments' values")


def is_tokens(kind):
    """Integers with one dynamic size, as kv-raise wants them."""
    kind = ir.RankedTensorType(kind)
    return isinstance(kind.element_type, ir.IntegerType) and sum(
        size == ir.ShapedType.get_dynamic_size() for size in kind.shape) == 1


def lift_constants(function):
    """Large constants become arguments: name -> values, in the order of the arguments."""
    block, found = function.regions[0].blocks[0], {}
    for op in list(block.operations):
        op = op.operation
        if op.name != "arith.constant" or not isinstance(op.results[0].type, ir.RankedTensorType):
            continue
        kind = ir.RankedTensorType(op.results[0].type)
        attribute = op.attributes["value"]
        if int(np.prod(kind.shape)) < FEWEST or not isinstance(kind.element_type, ir.FloatType) or \
                not isinstance(attribute, ir.DenseFPElementsAttr):
            continue
        attribute = ir.DenseFPElementsAttr(attribute)
        if attribute.is_splat:
            continue
        found[f"constant{len(found)}"] = np.array(attribute)
        argument = block.add_argument(kind, op.location)
        op.results[0].replace_all_uses_with(argument)
        op.erase()
    return found


def write(module, names, options, architecture, known=None):
    """DIR/graph.mlir and, where the values are known, DIR/weights.safetensors. `names`: of the
    arguments; `known`: values by them."""
    function = module.body.operations[0].operation
    block = function.regions[0].blocks[0]
    constants = lift_constants(function)
    kinds = [each.type for each in block.arguments]
    names = [name or f"arg{i}" for i, name in enumerate(names)] + list(constants)
    if len(set(names)) != len(names):
        raise Refused(f"two arguments have the name {max(names, key=names.count)!r}")
    result = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value).results
    if len(result) != 1 or not isinstance(result[0], ir.RankedTensorType):
        raise Refused(f"{len(result)} results; the logits alone are needed")
    vocabulary = ir.RankedTensorType(result[0]).shape[-1]
    marks = [ir.DictAttr.get({"kv.name" if is_tokens(kind) else "kv.weight":
                              ir.StringAttr.get("tokens" if is_tokens(kind) else name)})
             for kind, name in zip(kinds, names)]
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kinds, result))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(marks)
    function.attributes["sym_name"] = ir.StringAttr.get("forward")
    for attribute in list(module.operation.attributes):
        del module.operation.attributes[attribute]
    i64 = ir.IntegerType.get_signless(64)
    module.operation.attributes["kv.model"] = ir.DictAttr.get({
        "name": ir.StringAttr.get(options.name), "architecture": ir.StringAttr.get(architecture),
        "max_seq_len": ir.IntegerAttr.get(i64, options.max_seq),
        "vocab_size": ir.IntegerAttr.get(i64, vocabulary)})
    options.output.mkdir(parents=True, exist_ok=True)
    (options.output / "graph.mlir").write_text(
        module.operation.get_asm(print_generic_op_form=True), encoding="utf-8")
    wanted = {name: ir.RankedTensorType(kind).shape for kind, name in zip(kinds, names)
              if not is_tokens(kind)}
    write_weights(wanted, {**(known or {}), **constants}, options)


def write_weights(wanted, constants, options):
    values = dict(constants)
    if options.tensors:
        values.update(load_file(options.tensors))
    missing = [name for name in wanted if name not in values]
    if missing and (options.tensors or constants):
        raise Refused(f"{options.tensors or 'the graph'}: has no tensor {missing[0]!r}, one of the "
                      f"{len(wanted)} weights of the graph")
    if missing:
        return
    for name, shape in wanted.items():
        if list(values[name].shape) != list(shape):
            raise Refused(f"{options.tensors}: {name!r} is {list(values[name].shape)}, the graph has "
                          f"{list(shape)}")
    save_file({name: np.ascontiguousarray(values[name]) for name in wanted},
              options.output / "weights.safetensors")
