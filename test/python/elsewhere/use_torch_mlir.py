"""use_torch_mlir.py MODULE STEPS.npz OUT.npz: lowers MODULE by torch-mlir's passes, its tm_tensor operations among them, and
runs its entry by MLIR's execution engine, once for each step. STEPS and OUT are those of use_iree.py."""

import ctypes
import subprocess
import sys
from pathlib import Path

import ml_dtypes  # noqa: F401  numpy's bfloat16
import numpy as np
import torch_mlir
from torch_mlir import execution_engine, ir, passmanager, runtime

# The dialect tm_tensor is registered in this program alone.
OPT = Path(torch_mlir.ir.__file__).parent / "_mlir_libs/torch-mlir-opt"
PASSES = (
    "one-shot-bufferize{copy-before-write bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map}",
    "func.func(convert-linalg-to-loops)", "expand-strided-metadata", "lower-affine", "func.func(llvm-request-c-wrappers)",
    "convert-scf-to-cf", "arith-expand{include-bf16}", "convert-math-to-llvm",
    "convert-math-to-libm", "convert-arith-to-llvm", "finalize-memref-to-llvm", "convert-func-to-llvm",
    "convert-cf-to-llvm", "convert-index-to-llvm", "reconcile-unrealized-casts")


def compiled(path):
    """(An engine, the ranks of the results)."""
    text = subprocess.run([OPT, path, "--allow-unregistered-dialect", "--tm-tensor-bufferize", "--tm-tensor-to-loops"],
                          check=True, text=True, capture_output=True).stdout
    context = ir.Context()
    context.allow_unregistered_dialects = True
    with context:
        module = ir.Module.parse(text)
        [entry] = [one for one in module.body.operations if "kv.entry" in one.attributes]
        ranks = [ir.ShapedType(kind).rank for kind in entry.type.results]
        for name in ("arg_attrs", "res_attrs"):
            if name in entry.attributes:
                del entry.attributes[name]
        passmanager.PassManager.parse(f"builtin.module({','.join(PASSES)})").run(module.operation)
        return execution_engine.ExecutionEngine(module, 2), ranks


def descriptor(array):
    """Of bf16 as of integers: a descriptor does not name the type, and results need no conversion."""
    return runtime.get_ranked_memref_descriptor(array.view(np.int16) if array.dtype.itemsize == 2 else array)


def main(module, steps, out):
    engine, ranks = compiled(module)
    given = np.load(steps, allow_pickle=True)["given"].item()
    logits, blocks = {}, []
    for step in range(given["steps"]):
        kept, arguments = iter(blocks), []
        for name in given["names"]:
            value = given.get(f"{step}:{name}", given.get(name))
            arguments.append(next(kept) if value is None else np.ascontiguousarray(value))
        kinds = [ctypes.c_float, *(np.ctypeslib.as_ctypes_type(f"i{one.itemsize}") for name, one in zip(given["names"], arguments)
                                   if name.endswith(".blocks"))]
        fields = [(f"result{i}", runtime.make_nd_memref_descriptor(rank, kind))
                  for i, (rank, kind) in enumerate(zip(ranks, kinds, strict=True))]
        results = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        pointers = [ctypes.pointer(ctypes.pointer(one)) for one in (results, *map(descriptor, arguments))]
        engine.invoke("forward", *pointers)
        first, *blocks = (runtime.ranked_memref_to_numpy([getattr(results, name)]).copy() for name, _ in fields)
        logits[str(step)] = first
    np.savez(out, **logits)


main(*sys.argv[1:])
