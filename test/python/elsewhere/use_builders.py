"""use_builders.py PACKAGE: prints the example of README.md, built with the bindings of PACKAGE."""

import importlib
import sys

from kvmlir import dialect


def main(package):
    ir = importlib.import_module(f"{package}.ir")
    func = importlib.import_module(f"{package}.dialects.func")
    kv = dialect.builders(package)
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        parse = ir.Type.parse
        collection = parse("!kv.collection<paged, bf16, layers = 30, heads = 3, dim = 64, page = 128>")
        queries, keys = parse("tensor<?x9x64xf32>"), parse("tensor<?x3x64xf32>")
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            types = [queries, keys, keys, collection, parse("index"), parse("tensor<?xi32>")]
            attend = func.FuncOp("attend", ir.FunctionType.get(types, [queries]))
        with ir.InsertionPoint(attend.add_entry_block()):
            q, k, v, cache, layer, row_offsets = attend.arguments
            kv.store(k, [cache], layer, row_offsets, v=v)
            out = kv.attention(queries, None, q, [cache], layer, row_offsets,
                               ir.Attribute.parse("#kv.mask<causal>"), 0.125)
            func.ReturnOp([out])
        assert module.operation.verify()
        print(module)


main(*sys.argv[1:])
