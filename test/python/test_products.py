"""Products with weights of 16 bits, beside their definitions to the bit: fused multiply-adds in the order of the
columns, and, on machines that multiply matrices of bf16 (AMX), what those do."""

import re
import subprocess

import numpy as np
import pytest

from host import call, call_runtime, rounded
from tools import find, of_pipeline

KV_COMPILE = find("kv-compile")
# Of x: more than what is interleaved at a time, and no multiple of a tile.
DEPTHS = (1120, 32, 40)
# Tiles of four, three, two and one block of 16.
WIDTHS = (128, 48, 32, 16)
ROWS = 70


def module(depth, activations):
    weights = ", ".join(f'%w{i}: tensor<{n}x{depth}xbf16> {{kv.weight = "w{i}"}}' for i, n in enumerate(WIDTHS))
    results = ", ".join(f"tensor<?x{n}xf32>" for n in WIDTHS)
    products = "".join(f"""
      %e{i} = tensor.empty(%rows) : tensor<?x{n}xf32>
      %z{i} = linalg.fill ins(%zero : f32) outs(%e{i} : tensor<?x{n}xf32>) -> tensor<?x{n}xf32>
      %y{i} = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
          ins(%x, %w{i} : tensor<?x{depth}xf32>, tensor<{n}x{depth}xbf16>)
          outs(%z{i} : tensor<?x{n}xf32>) -> tensor<?x{n}xf32>""" for i, n in enumerate(WIDTHS))
    return f"""
      #lhs = affine_map<(m, n, k) -> (m, k)>
      #rhs = affine_map<(m, n, k) -> (n, k)>
      #out = affine_map<(m, n, k) -> (m, n)>
      module attributes {{kv.activations = {activations}}} {{
      func.func @f(%x: tensor<?x{depth}xf32>, {weights}) -> ({results}) attributes {{kv.entry}} {{
        %c0 = arith.constant 0 : index
        %zero = arith.constant 0.0 : f32
        %rows = tensor.dim %x, %c0 : tensor<?x{depth}xf32>{products}
        return {", ".join(f"%y{i}" for i in range(len(WIDTHS)))} : {results}
      }}
      }}"""


def packed(bits):
    """[N, K] to [N / 16, K, 16]."""
    n, k = bits.shape
    return np.ascontiguousarray(bits.reshape(n // 16, 16, k).transpose(0, 2, 1))


def fma(a, b, c):
    """Exact before it is rounded to f32: a product has 32 bits at most, and the numbers here are of a size."""
    return (a.astype(np.float64) * b + c).astype(np.float32)


def chain(x, w):
    total = np.zeros((len(x), len(w)), np.float32)
    for k in range(x.shape[1]):
        total = fma(x[:, None, k], w[None, :, k], total)
    return total


def by_tiles(x, w):
    """Of every 32 columns the even ones and the odd ones in a chain each, then added up."""
    total = np.zeros((len(x), len(w)), np.float32)
    for first in range(0, x.shape[1], 32):
        even, odd = np.zeros_like(total), np.zeros_like(total)
        for k in range(first, first + 32, 2):
            even = fma(x[:, None, k], w[None, :, k], even)
            odd = fma(x[:, None, k + 1], w[None, :, k + 1], odd)
        total = total + (even + odd)
    return total


def compiled(folder, text, level="native", pipeline="kv-cpu"):
    source, artifact = folder / "m.mlir", folder / f"{pipeline}-{level}.so"
    source.write_text(text)
    subprocess.run([KV_COMPILE, source, "-o", artifact, f"--mcpu={level}", *of_pipeline(pipeline)],
                   check=True)
    return artifact


def level_of(artifact):
    """The processor that an artifact was made for, as its manifest says."""
    return re.search(rb'"cpu": ?"([^"]+)"', artifact.read_bytes())[1].decode()


def outputs(rows):
    return [np.full((rows, n), np.nan, np.float32) for n in WIDTHS]


def problem(depth, activations):
    rng = np.random.default_rng(depth)
    x = rng.standard_normal((ROWS, depth), np.float32)
    pairs = [rounded(rng.standard_normal((n, depth), np.float32), "bf16") for n in WIDTHS]
    seen = x if activations == "f32" else rounded(x, "bf16")[1]
    return x, seen, [packed(bits) for bits, _ in pairs], [values for _, values in pairs]


@pytest.mark.parametrize("activations", ("bf16", "f32"))
@pytest.mark.parametrize("depth", DEPTHS)
def test_bits_and_rows(tmp_path, depth, activations):
    """The definition, whatever the number of rows; kv-reference is as near as the order of a sum lets it be."""
    x, seen, weights, values = problem(depth, activations)
    artifact = compiled(tmp_path, module(depth, activations))
    tiles = level_of(artifact) == "x86-64-v4-amx" and activations == "bf16" and depth % 32 == 0
    whole = outputs(ROWS)
    call(artifact, [x, *weights, *whole])
    for w, got in zip(values, whole):
        want = by_tiles(seen, w) if tiles else chain(seen, w)
        assert got.tobytes() == want.tobytes()
        exact = seen.astype(np.float64) @ w.T.astype(np.float64)
        size = np.abs(seen) @ np.abs(w).T
        np.testing.assert_array_less(np.abs(got - exact), 2e-6 * size)
    for first, end in ((0, 1), (3, 5), (6, 6), (7, 23), (1, 18), (2, 34), (20, 53), (5, 70)):
        part = outputs(end - first)
        call(artifact, [x[first:end].copy(), *weights, *part])
        for few, all_ in zip(part, whole):
            assert few.tobytes() == all_[first:end].tobytes(), (first, end)
    plain = outputs(ROWS)
    call(compiled(tmp_path, module(depth, activations), pipeline="kv-reference"), [x, *weights, *plain])
    for got, want in zip(whole, plain):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_threads(tmp_path):
    x, _, weights, _ = problem(1120, "bf16")
    artifact = compiled(tmp_path, module(1120, "bf16"))
    first = None
    for threads in (1, 2, 3, 8):
        out = outputs(ROWS)
        assert call_runtime(artifact, [x, *weights, *out], threads) == (0, "")
        first = first or out
        assert [o.tobytes() for o in out] == [o.tobytes() for o in first]


def test_a_row_that_is_no_number_is_alone(tmp_path):
    x, _, weights, _ = problem(1120, "bf16")
    x[3, 77], x[40, 5] = np.nan, np.inf
    # A NaN whose upper half says infinity.
    x[17, 9] = np.array([0x7F800001], np.uint32).view(np.float32)[0]
    out = outputs(ROWS)
    call(compiled(tmp_path, module(1120, "bf16")), [x, *weights, *out])
    for product in out:
        spoilt = ~np.isfinite(product)
        assert spoilt[[3, 17, 40]].all() and spoilt.sum() == 3 * product.shape[1]
        assert np.isnan(product[[3, 17]]).all()
