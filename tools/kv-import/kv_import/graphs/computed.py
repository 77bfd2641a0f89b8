"""Weights that no exporter has written: a module says in kv.computed how they follow from others."""

import numpy as np

TYPES = {"f32": np.float32, "f64": np.float64, "i32": np.int64, "i64": np.int64, "index": np.int64}
# What raise/analysis/Angles.cpp takes. Those of the second line only change the type.
OPERATIONS = {
    **dict.fromkeys(("arith.extf", "arith.extsi", "arith.index_cast", "arith.sitofp", "arith.truncf",
                     "arith.uitofp"), lambda x: x),
    "arith.addf": np.add, "arith.addi": np.add, "arith.subf": np.subtract, "arith.subi": np.subtract,
    "arith.mulf": np.multiply, "arith.muli": np.multiply, "arith.divf": np.divide, "arith.negf": np.negative,
    "math.cos": np.cos, "math.exp": np.exp, "math.powf": np.power, "math.rsqrt": lambda x: 1 / np.sqrt(x),
    "math.sin": np.sin, "math.sqrt": np.sqrt}


def values(tree, rows, weight):
    """Those of an expression, [rows, 1], [1, columns] or [rows, columns]; `weight` gives a tensor by its name."""
    kind, *rest = tree
    if kind == "position":
        return np.arange(rows)[:, None]
    if kind == "number":
        return np.array(rest[1], TYPES[rest[0]])[None]
    operands = [values(each, rows, weight) for each in rest[1:]]
    if kind == "weight":
        return weight(rest[0])[tuple(operands)]
    return np.asarray(OPERATIONS[kind](*operands), TYPES[rest[0]])


def table(trees, shape, weight):
    """f32 [rows, columns], of columns from each of the expressions in turn."""
    rows, columns = shape
    each = [np.broadcast_to(values(tree, rows, weight), (rows, columns // len(trees))) for tree in trees]
    return np.ascontiguousarray(np.stack(each, axis=-1).reshape(shape), np.float32)
