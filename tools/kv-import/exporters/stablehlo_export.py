"""StableHLO, as JAX writes it, to a graph of linalg.

    python stablehlo_export.py FILE.mlir -o DIR [--name NAME] [--max-seq N]

FILE is `jax.export.export(...)(...).mlir_module()` as text, its `mlir_module_serialized`, or
`jax.jit(...).lower(...).as_text()`. Writes DIR/graph.mlir; the names of JAX's arguments are those of
weights. Runs in an environment with jax.txt installed.

torch-mlir's wheel has StableHLO and its pass to linalg. That pass leaves what has a dynamic shape, so
it is written here in operations on tensors first: shapes become indices, and what JAX asserts of them
checks that kv-raise proves."""

import argparse
import re
import sys
from pathlib import Path

import graph_file
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo
from torch_mlir.dialects import arith, cf, tensor
from torch_mlir.passmanager import PassManager

ARITHMETIC = {"stablehlo.add": (lambda a, b: a + b, arith.addi),
              "stablehlo.subtract": (lambda a, b: a - b, arith.subi),
              "stablehlo.multiply": (lambda a, b: a * b, arith.muli),
              "stablehlo.maximum": (max, arith.maxsi), "stablehlo.minimum": (min, arith.minsi),
              "stablehlo.divide": (None, arith.divsi), "stablehlo.remainder": (None, arith.remsi)}
DIRECTIONS = {"EQ": "eq", "NE": "ne", "LT": "slt", "LE": "sle", "GT": "sgt", "GE": "sge"}


class NotKnown(Exception):
    """What is not written in linalg, and where."""


def refuse(op, reason):
    raise NotKnown(f"{op.location}: '{op.name}': {reason}")


def is_dynamic(size):
    return size == ir.ShapedType.get_dynamic_size()


class Shapes:
    """Integers of shapes as Python's where they are constant, else as values of type index."""

    def __init__(self):
        self.index = ir.IndexType.get()

    def value(self, number):
        if isinstance(number, ir.Value):
            return number
        return arith.constant(self.index, number)

    def element(self, operand, at=0):
        """Element `at` of a tensor of integers."""
        op = operand.owner
        if not isinstance(op, (ir.Operation, ir.OpView)):
            raise NotKnown("a shape is an argument")
        op = op.operation
        if op.name in ("stablehlo.constant", "arith.constant"):
            values = ir.DenseIntElementsAttr(op.attributes["value"])
            return int(values[0 if values.is_splat else at])
        if op.name == "stablehlo.get_dimension_size":
            dim = ir.IntegerAttr(op.attributes["dimension"]).value
            return tensor.dim(op.operands[0], self.value(dim))
        if op.name in ("stablehlo.reshape", "stablehlo.convert", "stablehlo.broadcast_in_dim"):
            return self.element(op.operands[0], at if op.name == "stablehlo.convert" else 0)
        if op.name == "stablehlo.concatenate":
            for part in op.operands:
                size = ir.RankedTensorType(part.type).shape[0]
                if at < size:
                    return self.element(part, at)
                at -= size
        if op.name in ARITHMETIC:
            fold, make = ARITHMETIC[op.name]
            a, b = (self.element(each, at) for each in op.operands)
            if fold and isinstance(a, int) and isinstance(b, int):
                return fold(a, b)
            return make(self.value(a), self.value(b))
        refuse(op, "a shape is computed by it")

    def elements(self, operand):
        return [self.element(operand, i) for i in range(ir.RankedTensorType(operand.type).shape[0])]

    def tensor_of(self, numbers):
        kind = ir.RankedTensorType.get([len(numbers)], self.index)
        return tensor.from_elements(kind, [self.value(each) for each in numbers])

    def truth(self, operand):
        """An i1 of numbers of shapes."""
        op = operand.owner.operation
        if op.name == "stablehlo.compare":
            word = re.search(r"([A-Z]+)>?$", str(op.attributes["comparison_direction"]))[1]
            predicate = getattr(arith.CmpIPredicate, DIRECTIONS[word])
            return arith.cmpi(predicate, *(self.value(self.element(each)) for each in op.operands))
        if op.name in ("stablehlo.and", "stablehlo.or"):
            make = arith.andi if op.name == "stablehlo.and" else arith.ori
            return make(*(self.truth(each) for each in op.operands))
        if op.name in ("stablehlo.constant", "arith.constant"):
            return arith.constant(ir.IntegerType.get_signless(1), self.element(operand))
        refuse(op, "an assertion about shapes is computed by it")


def check(op, shapes):
    if "shape_assertion" not in str(op.attributes["call_target_name"]):
        refuse(op, f"calls {op.attributes['call_target_name']}, whose meaning is not known")
    message = ir.StringAttr(op.attributes["error_message"]).value if "error_message" in op.attributes else ""
    found = re.search(r"(Expected value[^.]*|Expected[^.]*)\.", message)
    cf.assert_(shapes.truth(op.operands[0]), found[1] if found else "an assertion about shapes")


def size_as_tensor(op, shapes):
    """A size that is used as a number; kv-raise says where that is not allowed."""
    number = shapes.value(shapes.element(op.results[0]))
    kind = ir.RankedTensorType(op.results[0].type)
    return tensor.from_elements(kind, [arith.index_cast(kind.element_type, number)])


def broadcast(op, shapes):
    """Sizes that are not 1 are the result's: JAX broadcasts nothing whose size it does not know."""
    sizes = ir.RankedTensorType(op.operands[0].type).shape
    ones = [i for i, size in enumerate(sizes) if size == 1]
    others = [i for i, size in enumerate(sizes) if size != 1]
    op.attributes["known_expanding_dimensions"] = ir.DenseI64ArrayAttr.get(ones)
    op.attributes["known_nonexpanding_dimensions"] = ir.DenseI64ArrayAttr.get(others)
    op.operands[1] = shapes.tensor_of(shapes.elements(op.operands[1]))


def iota(op, shapes):
    op.operands[0] = shapes.tensor_of(shapes.elements(op.operands[0]))


def reshape(op, shapes):
    return tensor.reshape(op.results[0].type, op.operands[0],
                          shapes.tensor_of(shapes.elements(op.operands[1])))


def concatenate(op, shapes):
    """Parts without elements are left out: jax.numpy writes them."""
    dim = ir.IntegerAttr(op.attributes["dimension"]).value
    parts = [each for each in op.operands if ir.RankedTensorType(each.type).shape[dim] != 0]
    return tensor.concat(op.results[0].type, dim, parts) if len(parts) > 1 else parts[0]


def sliced(op, source, offsets, sizes):
    """source[offsets : offsets + sizes] with the type of the result of `op`."""
    kind = ir.RankedTensorType(op.results[0].type)
    dynamic = ir.ShapedType.get_dynamic_size()

    def split(numbers, sizes=None):
        # A size that the type has is a constant there, whatever computes it.
        numbers = [kind.shape[i] if sizes and not is_dynamic(kind.shape[i]) else each
                   for i, each in enumerate(numbers)]
        return ([each for each in numbers if isinstance(each, ir.Value)],
                [dynamic if isinstance(each, ir.Value) else each for each in numbers])

    (offset_values, offsets), (size_values, sizes) = split(offsets), split(sizes, True)
    return tensor.extract_slice(kind, source, offset_values, size_values, [], offsets, sizes,
                                [1] * kind.rank)


def slice_of(op, shapes):
    source, *numbers = op.operands
    starts, limits, strides = map(shapes.elements, numbers)
    if strides != [1] * len(strides):
        refuse(op, f"strides {strides}, 1 is needed where a size is dynamic")
    sizes = [limit if start == 0 else limit - start if isinstance(limit, int) and isinstance(start, int)
             else arith.subi(shapes.value(limit), shapes.value(start))
             for start, limit in zip(starts, limits)]
    return sliced(op, source, starts, sizes)


def gather(op, shapes):
    """JAX's slices with a constant start and a dynamic size; other gathers have static sizes."""
    source, indices, sizes = op.operands
    numbers = str(op.attributes["dimension_numbers"])
    mapped = re.search(r"start_index_map = \[([\d, ]*)\]", numbers)
    rank = ir.RankedTensorType(source.type).rank
    if ir.RankedTensorType(indices.type).rank != 1 or "collapsed_slice_dims" in numbers or \
            ir.RankedTensorType(op.results[0].type).rank != rank:
        refuse(op, "gathers rows of a dynamic size")
    offsets, sizes = [0] * rank, shapes.elements(sizes)
    for dim, start in zip(map(int, mapped[1].split(",")) if mapped else [], shapes.elements(indices)):
        whole = ir.RankedTensorType(source.type).shape[dim]
        if start == 0:
            continue
        if not isinstance(start, int) or not isinstance(sizes[dim], int) or is_dynamic(whole):
            refuse(op, "its start is not a constant")
        offsets[dim] = max(0, min(start, whole - sizes[dim]))  # as StableHLO clamps it
    return sliced(op, source, offsets, sizes)


REWRITES = {"stablehlo.custom_call": check, "stablehlo.dynamic_broadcast_in_dim": broadcast,
            "stablehlo.dynamic_iota": iota, "stablehlo.dynamic_reshape": reshape,
            "stablehlo.real_dynamic_slice": slice_of, "stablehlo.dynamic_gather": gather,
            "stablehlo.get_dimension_size": size_as_tensor, "stablehlo.concatenate": concatenate}


def make_static_in_form(function):
    """Writes what has a dynamic shape in operations that the pass to linalg takes."""
    shapes, done = Shapes(), []
    for op in list(function.regions[0].blocks[0].operations):
        rewrite = REWRITES.get(op.operation.name)
        if not rewrite:
            continue
        with ir.InsertionPoint(op), op.location:
            new = rewrite(op.operation, shapes)
        if new is not None:
            done.append((op.operation, new))
        elif op.operation.name == "stablehlo.custom_call":
            op.operation.erase()
    # Not before the end: shapes are read from operations that are replaced.
    for op, new in done:
        op.results[0].replace_all_uses_with(new)
        op.erase()


def name_of(location):
    """params['layers'][0].norm as params..layers.0.norm, the argument's own name before two dots;
    nothing for a place in a file."""
    found = re.fullmatch(r'loc\("((?:[^"\\]|\\.)*)"(?:\(.*\))?\)', str(location))
    if not found or "/" in found[1]:
        return None
    name = re.sub(r"\[['\"]?([^\]'\"]*)['\"]?\]", r".\1", found[1].replace('\\"', '"'))
    own, dot, path = name.strip(".").partition(".")
    return own + (".." + path if dot else "") or None


def argument_names(module, main):
    """The names that JAX's locations have, of the arguments themselves or of those they are passed
    on to."""
    arguments = list(main.regions[0].blocks[0].arguments)
    names = [name_of(each.location) for each in arguments]
    functions = {ir.StringAttr(each.operation.attributes["sym_name"]).value: each
                 for each in module.body.operations}
    for op in main.regions[0].blocks[0].operations:
        if op.operation.name != "func.call":
            continue
        callee = functions[ir.FlatSymbolRefAttr(op.operation.attributes["callee"]).value]
        for value, inner in zip(op.operation.operands, callee.regions[0].blocks[0].arguments):
            for i, argument in enumerate(arguments):
                if argument == value and not names[i]:
                    names[i] = name_of(inner.location)
    # Of one tree of parameters the tree's own name says nothing.
    paths = [name and name.split("..")[-1] for name in names]
    known = [each for each in paths if each]
    return paths if len(set(known)) == len(known) else [
        name and name.replace("..", ".") for name in names]


def parsed(path):
    data = Path(path).read_bytes()
    if data[:4] == b"ML\xefR":
        return ir.Module.parse(_stablehlo.deserialize_portable_artifact(ir.Context.current, data))
    return ir.Module.parse(data.decode())


def to_linalg(path):
    """(module, names of the arguments; None where JAX has none)."""
    module = parsed(path)
    public = [each for each in module.body.operations
              if "private" not in str(each.operation.attributes["sym_visibility"]
                                      if "sym_visibility" in each.operation.attributes else "")]
    if len(public) != 1:
        raise NotKnown(f"{len(public)} public functions; a graph is one")
    names = argument_names(module, public[0].operation)
    PassManager.parse("builtin.module(inline,symbol-dce,canonicalize,cse)").run(module.operation)
    [function] = module.body.operations
    make_static_in_form(function.operation)
    PassManager.parse("builtin.module(canonicalize,func.func(stablehlo-legalize-to-linalg),"
                      "canonicalize,cse)").run(module.operation)
    for op in function.operation.regions[0].blocks[0].operations:
        if op.operation.name.startswith(("stablehlo.", "chlo.")):
            refuse(op.operation, "is not lowered to linalg")
    return module, names


def main():
    parser = argparse.ArgumentParser(prog="stablehlo_export.py", description=__doc__)
    parser.add_argument("file")
    graph_file.add_options(parser)
    options = parser.parse_args()
    with ir.Context() as context, ir.Location.unknown():
        _stablehlo.register_dialect(context)
        _stablehlo.register_stablehlo_passes()
        try:
            module, names = to_linalg(options.file)
            graph_file.write(module, names, options, "jax")
        except (NotKnown, ir.MLIRError, graph_file.Refused) as error:
            print(f"error: {str(error).splitlines()[0]}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
