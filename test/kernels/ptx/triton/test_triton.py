"""Triton's PTX on the emulated machine, against numpy: compile.py has made it."""

import json
import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

FOLDER = Path(__file__).parent
LAUNCHES = json.loads((FOLDER / "launches.json").read_text())


def narrow(x):
    """As bf16."""
    bits = x.astype(np.float32).view(np.uint32)
    return (bits + 0x7fff + (bits >> 16 & 1) >> 16).astype(np.uint16)


def widen(x):
    """Of bf16, or of e4m3."""
    if x.dtype == np.uint16:
        return (x.astype(np.uint32) << 16).view(np.float32)
    exponent, digits = (x >> 3 & 15).astype(int), (x & 7).astype(np.float32)
    return np.where(x >> 7, -1, 1) * np.ldexp(digits + 8 * (exponent > 0), np.maximum(exponent, 1) - 10)


class Case:
    """A launch, whose matrices are files."""

    def __init__(self, file, folder):
        self.file, self.launch, self.folder = file, LAUNCHES[file], folder
        self.chip = file.split("sm_")[1].removesuffix(".ptx")
        self.arguments, self.boxes = [], iter(self.launch["boxes"])

    def matrix(self, name, shape, values=None):
        """An argument that the kernel reads, or writes where there are no values."""
        path, (rows, columns) = self.folder / name, shape
        memory = f"out:{rows * columns * 2}:{path}" if values is None else f"in:{path}"
        if values is not None:
            values.tofile(path)
        if not self.launch["boxes"]:
            return self.arguments.append(memory)
        box = next(self.boxes)
        # A tensor map, and its sizes and strides, which are for kernels without one.
        self.arguments += [f"tiles:{columns}x{rows}:{box[1]}x{box[0]}:{memory}", f"s32:{rows}", f"s32:{columns}",
                           f"u64:{columns}", "u64:1"]

    def run(self, rows, columns, *numbers, allowances=("--triton",)):
        assert self.launch["scratch"] == self.launch["profile"] == 0
        grid = (-(-size // tile) for size, tile in zip((rows, columns), self.launch["tile"]))
        command = [os.environ["KV_PTX"], FOLDER / self.file, "--grid", ",".join(map(str, grid)),
                   "--block", str(self.launch["threads"]), "--shared", str(self.launch["shared"]),
                   "--chip", self.chip.removesuffix("a"), *allowances]
        for argument in (*self.arguments, *numbers, "u64:0", "u64:0"):  # none of both kinds of scratch
            command += ["--arg", argument]
        return subprocess.run(command, capture_output=True, text=True)

    def result(self, done, name, shape):
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        return widen(np.fromfile(self.folder / name, np.uint16).reshape(shape))


def elements(random, kind, shape):
    if kind == "bf16":
        return narrow(random.standard_normal(shape))
    numbers = random.integers(0, 0x7f, shape) | random.integers(0, 2, shape) << 7  # all but NaNs
    return numbers.astype(np.uint8)


@pytest.mark.parametrize("file", [file for file in LAUNCHES if file.startswith("gemm")])
@pytest.mark.parametrize("m,n,k", [(160, 144, 272), (64, 64, 16)])
def test_gemm(file, m, n, k, tmp_path):
    random, case, kind = np.random.default_rng(m), Case(file, tmp_path), file[5:9]
    a, b = elements(random, kind, (m, k)), elements(random, kind, (k, n) if kind == "bf16" else (n, k))
    case.matrix("a", (m, k), a)
    case.matrix("b", b.shape, b)
    case.matrix("c", (m, n))
    done = case.run(m, n, *(() if case.launch["boxes"] else (f"s32:{m}", f"s32:{n}")), f"s32:{k}")
    left, right = widen(a), widen(b) if kind == "bf16" else widen(b).T
    # A sum's error, and that of its last rounding.
    allowed = 2.0**-20 * (np.abs(left) @ np.abs(right)) + 2.0**-8 * np.abs(left @ right)
    if kind == "e4m3":  # 9.0 adds products of 8 bits with 14 binary digits
        allowed += 2.0**-13 * np.abs(left).max() * np.abs(right).max() * k / 32
    assert (np.abs(case.result(done, "c", (m, n)) - left @ right) <= allowed).all()


@pytest.mark.parametrize("file", [file for file in LAUNCHES if file.startswith("attention")])
@pytest.mark.parametrize("m,n", [(160, 200), (64, 5)])
def test_attention(file, m, n, tmp_path):
    random, case, dim = np.random.default_rng(n), Case(file, tmp_path), 64
    q, k, v = (elements(random, "bf16", (rows, dim)) for rows in (m, n, n))
    for name, values in (("q", q), ("k", k), ("v", v)):
        case.matrix(name, values.shape, values)
    case.matrix("out", (m, dim))
    scale = float(np.float32(np.log2(np.e) / 8))
    done = case.run(m, 1, *(() if case.launch["boxes"] else (f"s32:{m}",)), f"s32:{n}", f"f32:{scale}")
    weights = np.exp2(widen(q) @ widen(k).T * scale)
    weights /= weights.sum(1, keepdims=True)
    # Weights and the result are rounded to bf16.
    allowed = 2.0**-8 * (weights @ np.abs(widen(v)) + np.abs(weights @ widen(v)))
    assert (np.abs(case.result(done, "out", (m, dim)) - weights @ widen(v)) <= allowed).all()


@pytest.mark.parametrize("tiles,wrong", [
    ("64x64:64:in:{}", "is given tiles:64x64:64:in:"),
    ("64x64:64x64:in:{}", "has 256 bytes for 4096 elements, allowed: 1 or 2 for each"),
    ("64x2:128x2:in:{}", "a tensor map that no driver takes: a box's row is not a multiple of 16 bytes up to 128"),
    ("64x2:4294967360x2:in:{}", "a tensor map that no driver takes: a box's size is not from 1 to 256"),
])
def test_bad_tensor_maps(tiles, wrong, tmp_path):
    np.zeros(128, np.uint16).tofile(tmp_path / "a")
    case = Case("gemm_bf16.sm_90a.ptx", tmp_path)
    case.arguments.append("tiles:" + tiles.format(tmp_path / "a"))
    done = case.run(64, 64)
    assert done.returncode == 2 and f"argument 1 {'is ' * wrong.startswith('a ')}{wrong}" in done.stderr


def test_what_triton_leaves_to_ptxas(tmp_path):
    """Without the allowance the machine says that no fence shows mbarriers to copies."""
    case = Case("gemm_bf16.sm_90a.ptx", tmp_path)
    for name in "ab":
        case.matrix(name, (64, 64), np.zeros((64, 64), np.uint16))
    case.matrix("c", (64, 64))
    done = case.run(64, 64, "s32:64", allowances=())
    assert done.returncode == 1 and "no fenceInit() showed to copies" in done.stdout
