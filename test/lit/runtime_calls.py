"""Prints, for every row of Symbols.def, a function with one kv.rt.call and
the lines that FileCheck wants of its lowering."""

import re
import sys

text = re.sub(r"//[^\n]*|/\*.*?\*/", "", open(sys.argv[1]).read(), flags=re.S)
rows = re.findall(r"KV_FUNCTION\(([^()]*)\)", text)
rows = [[part.strip() for part in row.split(",")] for row in rows]
rows = [row for row in rows if row[0] != "name"]
assert len(rows) >= 8, rows

# The kinds that say what a function does with a view.
VIEWS = dict.fromkeys(("Pool", "PoolOut", "Out", "OutAny", "OutAsWeight", "OutAsInput"), "View")
rows = [[VIEWS.get(part, part) for part in row] for row in rows]
MLIR = {"I32": "i32", "I64": "i64", "F32": "f32", "Ctx": "!llvm.ptr", "Ptr": "!llvm.ptr",
        "View": "memref<?x4xf32>", "Void": "()"}
LLVM = {"I32": "i32", "I64": "i64", "F32": "f32", "Ctx": "!llvm.ptr", "Ptr": "!llvm.ptr",
        "View": "!llvm.ptr", "Void": "()"}

for index, (name, result, where, *parameters) in enumerate(rows):
    assert where in ("Host", "Cpu", "Device", "CpuAndDevice"), name
    assert parameters[0] == "Ctx", name
    rest = parameters[1:]
    arguments = "".join(f", %a{i}: {MLIR[p]}" for i, p in enumerate(rest))
    print(f"// CHECK-LABEL: llvm.func @{name}(")
    # The context's first field is the table; the row's number is its place.
    print("// CHECK: %[[TABLE:.*]] = llvm.load")
    offset = "" if index == 0 else f"[{8 * index}]"
    if index:
        print(f"// CHECK: %[[SLOT:.*]] = llvm.getelementptr %[[TABLE]]{offset} : (!llvm.ptr) -> !llvm.ptr, i8")
        print("// CHECK: %[[F:.*]] = llvm.load %[[SLOT]]")
    else:
        print("// CHECK: %[[F:.*]] = llvm.load")
    types = ", ".join(LLVM[p] for p in parameters)
    print(f"// CHECK: llvm.call %[[F]]({{{{.*}}}}) : !llvm.ptr, ({types}) -> {LLVM[result]}")
    values = "".join(f", %a{i}" for i in range(len(rest)))
    signature = f"({', '.join(MLIR[p] for p in rest)}) -> {MLIR[result]}"
    bind = "" if result == "Void" else "%r = "
    print(f"func.func @{name}(%ctx: !llvm.ptr{arguments}) {{\n"
          f"  {bind}kv.rt.call \"{name}\"(%ctx{values}) : {signature}\n"
          f"  return\n}}\n")
