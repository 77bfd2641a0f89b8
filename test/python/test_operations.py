"""Operations beyond store and plain attention, through both pipelines, against their definitions
in double precision. kv-cpu's runtime functions are those of host.py."""

import subprocess

import numpy as np
import pytest

from host import call, sees, softmax
from tools import find

KV_COMPILE = find("kv-compile")
LAYERS, HEADS, DIM, PAGE = 2, 2, 8, 4
KV = "!kv = !kv.collection<paged, f32, layers = 2, heads = 2, dim = 8, page = 4>\n"
PIPELINES = ("kv-reference", "kv-cpu")


@pytest.fixture(params=PIPELINES)
def run(request, tmp_path):
    """run(module, arrays): @f of the module, compiled by each pipeline."""

    def compiled(module, arrays):
        source, artifact = tmp_path / "m.mlir", tmp_path / "m.so"
        source.write_text(KV + module)
        subprocess.run([KV_COMPILE, f"--pipeline={request.param}", source, "-o", artifact],
                       check=True)
        call(artifact, arrays)

    compiled.pipeline = request.param
    return compiled


class Cache:
    """A paged cache whose sequences hold `cached` random tokens each and have room for `new` more;
    whatever no sequence owns is NaN."""

    def __init__(self, rng, cached, new, steps=1, pages=12, pitch=5):
        self.cached, self.new = np.array(cached, np.int32), np.array(new)
        self.blocks = np.full((pages + 1, 2, LAYERS, PAGE, HEADS, DIM), np.nan, np.float32)
        self.table = np.full((len(cached), pitch), -1, np.int32)
        self.lengths = np.array([[self.new.max(), (self.cached + (i + 1) * self.new).max()]
                                 for i in range(steps)], np.int32)
        self.rows = np.concatenate([[0], np.cumsum(new)]).astype(np.int32)
        free = list(rng.permutation(np.arange(1, pages + 1)))
        for b, (c, n) in enumerate(zip(cached, new)):
            for i in range(-(-(c + steps * n) // PAGE)):
                self.table[b, i] = free.pop()
            for s in range(c):
                self.at(b, s)[:] = rng.standard_normal((2, LAYERS, HEADS, DIM))

    def at(self, b, s):
        """What stands at position s of sequence b: [2, L, H, D]."""
        return self.blocks[self.table[b, s // PAGE], :, :, s % PAGE]

    def of(self, b, part, layer, head, positions):
        rows = [self.at(b, s)[part, layer, head] for s in positions]
        return np.array(rows, np.float64).reshape(-1, DIM)

    def arrays(self):
        return [self.blocks, self.cached, self.table, self.lengths]

    def attend(self, q, layer, mask, scale, sinks=None):
        """(out, lse) of ragged rows; rows of no sequence see nothing."""
        heads = q.shape[1]
        out, lse = np.zeros(q.shape), np.full(q.shape[:2], -np.inf)
        if sinks is not None:
            lse[:] = sinks
        for b, c in enumerate(self.cached):
            for t in range(self.rows[b], self.rows[b + 1]):
                position = c + t - self.rows[b]
                seen = [s for s in range(c + self.new[b]) if sees(mask, position, s)]
                for h in range(heads):
                    keys, values = (self.of(b, part, layer, h * HEADS // heads, seen)
                                    for part in (0, 1))
                    out[t, h], lse[t, h] = softmax(q[t, h], keys, values, scale,
                                                   sink=-np.inf if sinks is None else sinks[h])
        return out, lse


def fill(cache, rng):
    """This step's rows as well."""
    for b, (c, n) in enumerate(zip(cache.cached, cache.new)):
        for s in range(c, c + n):
            cache.at(b, s)[:] = rng.standard_normal((2, LAYERS, HEADS, DIM))
    return cache


@pytest.mark.parametrize("mask,heads", [("causal", 4), ("none", 2), ("sliding = 3", 6)])
@pytest.mark.parametrize("with_sinks", (False, True))
def test_lse_and_sinks(run, mask, heads, with_sinks):
    module = f"""
        func.func @f(%q: tensor<?x{heads}x8xf32>, %rows: tensor<?xi32>, %sinks: tensor<{heads}xf32>,
                     %kv: !kv) -> (tensor<?x{heads}x8xf32>, tensor<?x{heads}xf32>)
            attributes {{kv.entry}} {{
          %layer = arith.constant 1 : index
          %o, %lse = kv.attention %q in %kv[%layer] rows %rows {"sinks %sinks" if with_sinks else ""}
              mask <{mask}> scale 0.37
              : tensor<?x{heads}x8xf32> in !kv, tensor<?xi32>
                {f"sinks tensor<{heads}xf32>" if with_sinks else ""}
                -> tensor<?x{heads}x8xf32>, tensor<?x{heads}xf32>
          return %o, %lse : tensor<?x{heads}x8xf32>, tensor<?x{heads}xf32>
        }}"""
    rng = np.random.default_rng(3)
    cache = fill(Cache(rng, [0, 7, 4, 3], [5, 1, 4, 0]), rng)
    # Two rows of no sequence, which the runtime function would refuse.
    extra = 2 if run.pipeline == "kv-reference" else 0
    q = rng.standard_normal((cache.rows[-1] + extra, heads, DIM), np.float32) * 3
    sinks = np.array([-np.inf, 1, 30, -2, 0.5, 2][:heads], np.float32)
    out, lse = np.full(q.shape, np.nan, np.float32), np.full(q.shape[:2], np.nan, np.float32)
    run(module, [q, cache.rows, sinks, *cache.arrays(), out, lse])
    want, want_lse = cache.attend(q, 1, mask, 0.37, sinks if with_sinks else None)
    np.testing.assert_allclose(out, want, rtol=3e-5, atol=3e-5)
    np.testing.assert_allclose(lse, want_lse, rtol=3e-5, atol=3e-5)


MERGE = """
    func.func @f(%a: tensor<?x3x8xf32>, %a_lse: tensor<?x3xf32>, %b: tensor<?x3x8xf32>,
                 %b_lse: tensor<?x3xf32>) -> (tensor<?x3x8xf32>, tensor<?x3xf32>)
        attributes {kv.entry} {
      %o, %lse = kv.merge (%a, %a_lse), (%b, %b_lse) : tensor<?x3x8xf32>, tensor<?x3xf32>
      return %o, %lse : tensor<?x3x8xf32>, tensor<?x3xf32>
    }"""


def test_merge(run):
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal((5, 3, DIM), np.float32) for _ in "ab")
    a_lse, b_lse = (rng.standard_normal((5, 3), np.float32) * 4 for _ in "ab")
    nothing = np.float32(-np.inf)
    # Sides without a key, whose rows hold anything; sums that do not fit into a float.
    a_lse[0], a[0] = nothing, np.nan
    b_lse[1], b[1] = nothing, np.nan
    a_lse[2], b_lse[2], a[2], b[2] = nothing, nothing, np.nan, np.inf
    a_lse[3, 0], b_lse[3, 0], a_lse[3, 1], b_lse[3, 1] = 300, 301, -300, -301
    out, lse = np.full(a.shape, np.nan, np.float32), np.full(a_lse.shape, np.nan, np.float32)
    run(MERGE, [a, a_lse, b, b_lse, out, lse])
    assert np.isfinite(out).all()
    assert (out[0] == b[0]).all() and (out[1] == a[1]).all() and (out[2] == 0).all()
    assert (lse[2] == nothing).all()
    for t, h in np.ndindex(5, 3):
        if t == 2:
            continue
        want = np.logaddexp(np.float64(a_lse[t, h]), np.float64(b_lse[t, h]))
        assert lse[t, h] == pytest.approx(want, rel=1e-5, abs=1e-5)
        if t > 2:
            weight = np.exp(np.float64(a_lse[t, h]) - want)
            np.testing.assert_allclose(out[t, h], weight * a[t, h] + (1 - weight) * b[t, h],
                                       rtol=1e-5, atol=1e-5)


def test_merged_halves_are_the_whole(run):
    """The keys of a sequence in two caches: the merged attentions are one over all keys."""
    module = """
        func.func @f(%q: tensor<?x4x8xf32>, %rows: tensor<?xi32>, %sinks: tensor<4xf32>,
                     %a: !kv, %b: !kv) -> (tensor<?x4x8xf32>, tensor<?x4xf32>)
            attributes {kv.entry} {
          %layer = arith.constant 0 : index
          %x, %x_lse = kv.attention %q in %a[%layer] rows %rows sinks %sinks mask <causal> scale 0.3
              : tensor<?x4x8xf32> in !kv, tensor<?xi32> sinks tensor<4xf32>
                -> tensor<?x4x8xf32>, tensor<?x4xf32>
          %y, %y_lse = kv.attention %q in %b[%layer] rows %rows mask <causal> scale 0.3
              : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>, tensor<?x4xf32>
          %o, %lse = kv.merge (%x, %x_lse), (%y, %y_lse) : tensor<?x4x8xf32>, tensor<?x4xf32>
          return %o, %lse : tensor<?x4x8xf32>, tensor<?x4xf32>
        }"""
    rng = np.random.default_rng(5)
    new = [3, 1, 2]
    a, b = fill(Cache(rng, [4, 0, 9], new), rng), fill(Cache(rng, [0, 6, 1], new), rng)
    q = rng.standard_normal((sum(new), 4, DIM), np.float32) * 2
    sinks = np.array([0.5, -1, 4, -np.inf], np.float32)
    out, lse = np.full(q.shape, np.nan, np.float32), np.full(q.shape[:2], np.nan, np.float32)
    run(module, [q, a.rows, sinks, *a.arrays(), *b.arrays(), out, lse])
    for i, n in enumerate(new):
        for t in range(n):
            row = a.rows[i] + t
            for h in range(4):
                keys, values = (np.concatenate([c.of(i, part, 0, h // 2, range(c.cached[i] + t + 1))
                                                for c in (a, b)]) for part in (0, 1))
                want, want_lse = softmax(q[row, h], keys, values, 0.3, sink=sinks[h])
                np.testing.assert_allclose(out[row, h], want, rtol=3e-5, atol=3e-5)
                assert lse[row, h] == pytest.approx(want_lse, rel=3e-5, abs=3e-5)
