"""Prints an entry whose arguments have so many different dynamic sizes."""

import sys

count = int(sys.argv[1])
RANK = 8
ranks = [RANK] * (count // RANK) + [count % RANK] * (count % RANK > 0)
arguments = ", ".join(f"%a{i}: tensor<{'?x' * rank}f32>" for i, rank in enumerate(ranks))
print(f"func.func @main({arguments}) attributes {{kv.entry}} {{\n  return\n}}")
