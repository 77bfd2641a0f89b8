"""Compiles the kernels below with Triton, without a GPU: needs `pip install triton==3.9.0`.

Writes the PTX of each kernel and chip (Triton's text without comments), launches.json: what a launch needs, and
constants.inc: the descriptors of the first product of six shapes.

A kernel's last two parameters point to scratch of the launch and of the profiler, which these do not use. A tensor
descriptor is a tensor map of 128 bytes by value, then its sizes and strides.
"""

import json
import os
import re
from pathlib import Path

os.environ.update(TRITON_DISABLE_LINE_INFO="1", TRITON_DEFAULT_FP_FUSION="1")
import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def gemm(a, b, c, k_end, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr):
    """c = a b by tensor maps; of b^T where it is TRANSPOSED."""
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, k_end, BK):
        right = b.load([column, k]).T if TRANSPOSED else b.load([k, column])
        sums = tl.dot(a.load([row, k]), right, sums)
    c.store([row, column], sums.to(c.dtype))


@triton.jit
def gemm_pointers(a, b, c, m, n, k_end, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    ks = tl.arange(0, BK)
    sums = tl.zeros((BM, BN), tl.float32)
    for k in range(0, k_end, BK):
        left = tl.load(a + rows[:, None] * k_end + k + ks, (rows < m)[:, None] & (k + ks < k_end), 0)
        right = tl.load(b + (k + ks)[:, None] * n + columns, (k + ks < k_end)[:, None] & (columns < n), 0)
        sums = tl.dot(left, right, sums)
    tl.store(c + rows[:, None] * n + columns, sums.to(c.dtype.element_ty), (rows < m)[:, None] & (columns < n))


@triton.jit
def fold(scores, values, sums, most, total, column, n, scale, COLUMNS: tl.constexpr):
    """One step of a softmax that sees n columns."""
    scores = tl.where(column + tl.arange(0, COLUMNS) < n, scores * scale, float("-inf"))
    new = tl.maximum(most, tl.max(scores, 1))
    weights, keep = tl.exp2(scores - new[:, None]), tl.exp2(most - new)
    return tl.dot(weights.to(values.dtype), values, sums * keep[:, None]), new, total * keep + tl.sum(weights, 1)


@triton.jit
def attention(q, k, v, out, n, scale, BM: tl.constexpr, BN: tl.constexpr, DIM: tl.constexpr):
    row = tl.program_id(0) * BM
    queries = q.load([row, 0])
    most, total = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, DIM), tl.float32)
    for column in range(0, n, BN):
        scores = tl.dot(queries, k.load([column, 0]).T)
        sums, most, total = fold(scores, v.load([column, 0]), sums, most, total, column, n, scale, BN)
    out.store([row, 0], (sums / total[:, None]).to(out.dtype))


@triton.jit
def attention_pointers(q, k, v, out, m, n, scale, BM: tl.constexpr, BN: tl.constexpr, DIM: tl.constexpr):
    rows, dims = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, DIM)
    queries = tl.load(q + rows[:, None] * DIM + dims, (rows < m)[:, None], 0)
    most, total = tl.full((BM,), float("-inf"), tl.float32), tl.zeros((BM,), tl.float32)
    sums = tl.zeros((BM, DIM), tl.float32)
    for column in range(0, n, BN):
        columns = column + tl.arange(0, BN)
        keys = tl.load(k + columns[None, :] * DIM + dims[:, None], (columns < n)[None, :], 0)
        values = tl.load(v + columns[:, None] * DIM + dims, (columns < n)[:, None], 0)
        sums, most, total = fold(tl.dot(queries, keys), values, sums, most, total, column, n, scale, BN)
    tl.store(out + rows[:, None] * DIM + dims, (sums / total[:, None]).to(out.dtype.element_ty), (rows < m)[:, None])


def compile_one(function, chip, signature, constants, stages=3):
    # A pointer is a multiple of 16, and so are lengths of rows in memory.
    aligned = {(i,): [["tt.divisibility", 16]] for i, (name, kind) in enumerate(signature.items())
               if kind[0] == "*" or (function is gemm_pointers and name in ("n", "k_end"))}
    signature = dict(signature, **{name: "constexpr" for name in constants})
    return triton.compile(ASTSource(function, signature, constants, aligned), target=GPUTarget("cuda", chip, 32),
                          options={"num_warps": 4, "num_stages": stages})


def tiles(kind, rows, columns):
    return f"tensordesc<{kind}[{rows},{columns}]>"


def compile_gemm(chip, kind, bm, bn, bk):
    if chip < 90:
        signature = {"a": "*bf16", "b": "*bf16", "c": "*bf16", "m": "i32", "n": "i32", "k_end": "i32"}
        return compile_one(gemm_pointers, chip, signature, {"BM": bm, "BN": bn, "BK": bk})
    transposed = kind != "bf16"
    signature = {"a": tiles(kind, bm, bk), "b": tiles(kind, *((bn, bk) if transposed else (bk, bn))),
                 "c": tiles("bf16", bm, bn), "k_end": "i32"}
    return compile_one(gemm, chip, signature, {"BM": bm, "BN": bn, "BK": bk, "TRANSPOSED": transposed})


def compile_attention(chip, bm, bn, dim):
    constants = {"BM": bm, "BN": bn, "DIM": dim}
    if chip < 90:
        signature = {name: "*bf16" for name in ("q", "k", "v", "out")} | {"m": "i32", "n": "i32", "scale": "fp32"}
        return compile_one(attention_pointers, chip, signature, constants, stages=2)
    signature = {"q": tiles("bf16", bm, dim), "k": tiles("bf16", bn, dim), "v": tiles("bf16", bn, dim),
                 "out": tiles("bf16", bm, dim), "n": "i32", "scale": "fp32"}
    return compile_one(attention, chip, signature, constants, stages=2)


def plain(text):
    """Without comments and blank lines."""
    lines = (re.sub(r"\s*//.*", "", line).rstrip() for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip()) + "\n"


def value(text, operand):
    """What the last of the definitions in a text makes of a register, of a shared address of 0."""
    if operand[0] != "%":
        return int(operand, 0)
    found = re.findall(rf"^\s*(\S+)\s+{operand}, (.*);$", text, re.M)[-1]
    opcode, sources = found[0].split(".")[0], re.findall(r"[%\w$-]+", found[1])
    if opcode == "bfe":  # of an address
        return 0
    values = [value(text, source) for source in sources]
    if opcode == "mov" and found[1][0] == "{":
        return values[0] | values[1] << 32
    return {"mov": values[0], "cvt": values[0], "or": values[0] | values[-1], "add": values[0] + values[-1]}[opcode]


def constants_of(chip, kind, bm, bn, bk):
    """A row of constants.inc: chip, kind, rows, columns, depth, descriptors of A and B, and of the instruction."""
    text = plain(compile_gemm(chip, kind, bm, bn, bk).asm["ptx"])
    first = re.search(r"^.*(?:tcgen05\.mma|wgmma\.mma_async)\S* (?:\[.*?\]|\{.*?\}), (.*);$", text, re.M)
    a, b, third = first[1].split(", ")[:3]
    words = [value(text[:first.start()], operand) for operand in (a, b, third if chip >= 100 else "0")]
    return f'KV_TRITON({chip}, {kind}, {bm}, {bn}, {bk}, {words[0]:#x}, {words[1]:#x}, {words[2]:#x})\n'


SHAPES = [(90, "bf16", 64, 64, 64), (90, "bf16", 128, 128, 64), (90, "fp8e4nv", 64, 256, 128),
          (100, "bf16", 128, 64, 64), (100, "bf16", 64, 128, 64), (100, "fp8e4nv", 128, 256, 128)]


def main():
    folder, launches = Path(__file__).parent, {}
    for chip, name in ((80, "80"), (90, "90a"), (100, "100a")):
        bm = 128 if chip == 100 else 64
        made = {"gemm_bf16": (compile_gemm(chip, "bf16", bm, 64, 64 if chip > 80 else 32), (bm, 64)),
                "attention": (compile_attention(chip, bm, 32, 64), (bm, 32))}
        if chip >= 90:  # Triton's dot takes no e4m3 on 8.0
            made["gemm_e4m3"] = (compile_gemm(chip, "fp8e4nv", bm, 64, 128), (bm, 64))
        for kernel, (compiled, tile) in made.items():
            meta, file = compiled.metadata, f"{kernel}.sm_{name}.ptx"
            (folder / file).write_text(plain(compiled.asm["ptx"]))
            launches[file] = {"tile": tile, "threads": 32 * meta.num_warps, "shared": meta.shared,
                              "scratch": meta.global_scratch_size, "profile": meta.profile_scratch_size,
                              "boxes": [each["block_size"] for each in meta.tensordesc_meta]}
    (folder / "launches.json").write_text(json.dumps(launches, indent=1) + "\n")
    (folder / "constants.inc").write_text("// made: compile.py\n" + "".join(constants_of(*shape) for shape in SHAPES))


if __name__ == "__main__":
    main()
