"""kv-reference: the decomposition of store and attention, run in its artifact, against their
definitions in double precision; that of matmul against kv-cpu, bit for bit."""

import itertools
import subprocess

import numpy as np
import pytest

from host import call, rounded, sees
from tools import find, of_pipeline

KV_COMPILE = find("kv-compile")
LAYERS, HEADS, DIM, PAGE = 2, 2, 8, 4

MODULE = """
!kv = !kv.collection<paged, {cache}, layers = 2, heads = 2, dim = 8, page = 4>
func.func @f(%q: tensor<?x{heads}x8xf32>, %k: tensor<?x2x8xf32>, %v: tensor<?x2x8xf32>,
             %rows: tensor<?xi32>, %kv: !kv) -> tensor<?x{heads}x8xf32> attributes {{kv.entry}} {{
  %layer = arith.constant 1 : index
  kv.store %k, %v into %kv[%layer] rows %rows
      : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
  %o = kv.attention %q in %kv[%layer] rows %rows mask <{mask}> scale 0.37 {softcap}
      : tensor<?x{heads}x8xf32> in !kv, tensor<?xi32> -> tensor<?x{heads}x8xf32>
  return %o : tensor<?x{heads}x8xf32>
}}
"""


def expected(q, k, v, cached, past, mask, softcap):
    """One sequence: past [cached, 2, H, D] and this step's rows."""
    keys = np.concatenate([past[:, 0], k]).astype(np.float64)
    values = np.concatenate([past[:, 1], v]).astype(np.float64)
    out = np.zeros(q.shape)
    group = q.shape[1] // HEADS
    for t, h in itertools.product(range(q.shape[0]), range(q.shape[1])):
        seen = [s for s in range(len(keys)) if sees(mask, cached + t, s)]
        if not seen:
            continue
        scores = 0.37 * keys[seen, h // group] @ q[t, h].astype(np.float64)
        if softcap:
            scores = softcap * np.tanh(scores / softcap)
        weights = np.exp(scores - scores.max())
        out[t, h] = weights @ values[seen, h // group] / weights.sum()
    return out


@pytest.mark.parametrize("cache,mask,heads,softcap", [
    ("f32", "causal", 4, None), ("bf16", "causal", 2, None), ("f16", "none", 6, None),
    ("f32", "sliding = 3", 2, 5.0), ("bf16", "sliding = 1", 4, None),
    ("f32", "chunked = 4", 2, None), ("f32", "sliding_noncausal = 2", 2, None),
    ("f32", "chunked_causal = 4", 2, None),
    ("f16", "causal", 2, 2.0)])
def test_store_and_attention(tmp_path, cache, mask, heads, softcap):
    source, artifact = tmp_path / "m.mlir", tmp_path / "m.so"
    source.write_text(MODULE.format(cache=cache, mask=mask, heads=heads,
                                    softcap=f"softcap {softcap}" if softcap else ""))
    subprocess.run([KV_COMPILE, *of_pipeline("kv-reference"), source, "-o", artifact], check=True)

    rng = np.random.default_rng(11)
    cached = np.array([0, 7, 4, 3], np.int32)
    new = np.array([5, 1, 4, 0])  # the last has nothing to do
    rows = np.concatenate([[0], np.cumsum(new)]).astype(np.int32)
    tokens = int(rows[-1])
    q = rng.standard_normal((tokens, heads, DIM), np.float32) * 3
    k, v = (rng.standard_normal((tokens, HEADS, DIM), np.float32) for _ in "kv")

    # Whatever is not owned is NaN; entries past the end name no page at all.
    pages, pitch = 9, 4
    blocks, _ = rounded(np.full((pages + 1, 2, LAYERS, PAGE, HEADS, DIM), np.nan, np.float32), cache)
    if cache == "bf16":
        blocks[:] = 0x7FC0
    table = np.full((len(cached), pitch), -1, np.int32)
    free = list(rng.permutation(np.arange(1, pages + 1)))
    past = []
    for b, (c, n) in enumerate(zip(cached, new)):
        for i in range(-(-(c + n) // PAGE)):
            table[b, i] = free.pop()
        stored, exact = rounded(rng.standard_normal((c, 2, HEADS, DIM), np.float32), cache)
        for s in range(c):
            blocks[table[b, s // PAGE], :, 1, s % PAGE] = stored[s]
        past.append(exact)
    lengths = np.array([[new.max(), (cached + new).max()]], np.int32)
    out = np.full(q.shape, 7, np.float32)
    before = blocks.copy()
    call(artifact, [q, k, v, rows, blocks, cached, table, lengths, out])

    # The store: exactly this step's rows of this layer.
    want = before.copy()
    bits = [rounded(np.ascontiguousarray(x), cache) for x in (k, v)]
    for b, (c, n) in enumerate(zip(cached, new)):
        for t in range(n):
            for part in (0, 1):
                want[table[b, (c + t) // PAGE], part, 1, (c + t) % PAGE] = bits[part][0][rows[b] + t]
    assert blocks.tobytes() == want.tobytes()

    # The attention: NaN nowhere.
    answer = np.zeros(q.shape)
    for b, c in enumerate(cached):
        own = slice(rows[b], rows[b + 1])
        answer[own] = expected(q[own], bits[0][1][own], bits[1][1][own], c, past[b], mask, softcap)
    assert np.isfinite(out).all()
    np.testing.assert_allclose(out, answer, rtol=3e-5, atol=3e-5)


@pytest.mark.parametrize("dtype", ("f32", "bf16"))
def test_matmul_has_the_same_bits(tmp_path, dtype):
    (tmp_path / "m.mlir").write_text(f"""
        func.func @f(%x: tensor<?x40xf32>, %w: tensor<3x40x16x{dtype}>) -> tensor<?x48xf32>
            attributes {{kv.entry}} {{
          %y = kv.matmul %x, %w : tensor<?x40xf32>, tensor<3x40x16x{dtype}> -> tensor<?x48xf32>
          return %y : tensor<?x48xf32>
        }}""")
    rng = np.random.default_rng(5)
    x = rng.standard_normal((13, 40), np.float32)
    w, exact = rounded(rng.standard_normal((3, 40, 16), np.float32), dtype)
    answers = []
    for pipeline in ("kv-reference", "kv-cpu"):
        artifact = tmp_path / f"{pipeline}.so"
        subprocess.run([KV_COMPILE, *of_pipeline(pipeline), tmp_path / "m.mlir", "-o", artifact],
                       check=True)
        answers.append(np.full((13, 48), np.nan, np.float32))
        call(artifact, [x, w, answers[-1]])
    assert answers[0].tobytes() == answers[1].tobytes()
    want = np.einsum("tk,bkl->tbl", x.astype(np.float64), exact).reshape(13, 48)
    np.testing.assert_allclose(answers[0], want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("fused", (True, False))
def test_several_weights_have_the_bits_of_single_ones(tmp_path, fused):
    """Weights of one input, as one kv.matmul or as several that kv-cpu makes one: the bits of each
    weight alone by the decomposition. Types and widths differ, and some are equal."""
    blocks, dtypes = (4, 1, 4, 6, 3), ("bf16", "f32", "bf16", "bf16", "f32")
    weights = [f"tensor<{n}x40x16x{d}>" for n, d in zip(blocks, dtypes)]
    products = [f"tensor<?x{16 * n}xf32>" for n in blocks]
    if fused:
        body = f"""
          %y:5 = kv.matmul %x, %w0, %w1, %w2, %w3, %w4 : tensor<?x40xf32>, {", ".join(weights)}
              -> {", ".join(products)}
          return %y#0, %y#1, %y#2, %y#3, %y#4 : {", ".join(products)}"""
    else:
        body = "\n".join(f"%y{i} = kv.matmul %x, %w{i} : tensor<?x40xf32>, {w} -> {p}"
                         for i, (w, p) in enumerate(zip(weights, products)))
        body += f"\nreturn %y0, %y1, %y2, %y3, %y4 : {', '.join(products)}"
    arguments = ", ".join(f"%w{i}: {w}" for i, w in enumerate(weights))
    (tmp_path / "m.mlir").write_text(
        f"func.func @f(%x: tensor<?x40xf32>, {arguments}) -> ({', '.join(products)}) "
        f"attributes {{kv.entry}} {{{body}\n}}")
    rng = np.random.default_rng(15)
    x = rng.standard_normal((13, 40), np.float32)
    given = [rounded(rng.standard_normal((n, 40, 16), np.float32), d)
             for n, d in zip(blocks, dtypes)]
    answers = {}
    for pipeline in ("kv-reference", "kv-cpu"):
        artifact = tmp_path / f"{pipeline}.so"
        subprocess.run([KV_COMPILE, *of_pipeline(pipeline), tmp_path / "m.mlir", "-o", artifact],
                       check=True)
        answers[pipeline] = [np.full((13, 16 * n), np.nan, np.float32) for n in blocks]
        call(artifact, [x, *(bits for bits, _ in given), *answers[pipeline]])
    for i, (_, exact) in enumerate(given):
        assert answers["kv-cpu"][i].tobytes() == answers["kv-reference"][i].tobytes()
        want = np.einsum("tk,bkl->tbl", x.astype(np.float64), exact).reshape(13, -1)
        np.testing.assert_allclose(answers["kv-cpu"][i], want, rtol=1e-4, atol=1e-4)
