"""Operations beyond store and plain attention, through both pipelines, against their definitions
in double precision. kv-cpu's runtime functions are those of host.py."""

import numpy as np
import pytest

from host import call, call_runtime, printed, rounded, sees, softmax
from tools import compiled, of_pipeline

LAYERS, HEADS, DIM, PAGE = 2, 2, 8, 4
TYPES = """
    !kv = !kv.collection<paged, {0}, layers = 2, heads = 2, dim = 8, page = 4>
    !cache = !kv.cache<paged, {0}, layers = 2, heads = 2, dim = 8, page = 4>
"""
PIPELINES = ("kv-reference", "kv-cpu")


@pytest.fixture(params=PIPELINES)
def run(request):
    """run(module, arrays): @f of the module, compiled by each pipeline."""

    def called(module, arrays, dtype="f32"):
        call(compiled(TYPES.format(dtype) + module, *of_pipeline(request.param)), arrays)

    called.pipeline = request.param
    return called


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
        """(out, lse) of ragged rows."""
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
    q = rng.standard_normal((cache.rows[-1], heads, DIM), np.float32) * 3
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


@pytest.mark.parametrize("size", ("?", "9"))
def test_load(run, size):
    """Keys and values of a layer, dense, through a function that takes the cache; also right after
    a store, which it must not pass."""
    text = """
        func.func private @dense(%c: !cache, %rows: tensor<?xi32>)
            -> (tensor<?xSx2x8xf32>, tensor<?xi32>) {
          %d, %n = kv.load %c rows %rows : !cache, tensor<?xi32> -> tensor<?xSx2x8xf32>, tensor<?xi32>
          return %d, %n : tensor<?xSx2x8xf32>, tensor<?xi32>
        }
        func.func @f(%rows: tensor<?xi32>, %k: tensor<?x2x8xf32>, %kv: !kv)
            -> (tensor<?xSx2x8xf32>, tensor<?xSx2x8xf32>, tensor<?xSx2x8xf32>, tensor<?xi32>)
            attributes {kv.entry} {
          %layer = arith.constant 1 : index
          %keys = kv.key_cache %kv[%layer] : !kv
          %values = kv.value_cache %kv[%layer] : !kv
          %before, %n0 = func.call @dense(%values, %rows)
              : (!cache, tensor<?xi32>) -> (tensor<?xSx2x8xf32>, tensor<?xi32>)
          kv.store %k, %k into %kv[%layer] rows %rows
              : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
          %a, %n1 = func.call @dense(%keys, %rows)
              : (!cache, tensor<?xi32>) -> (tensor<?xSx2x8xf32>, tensor<?xi32>)
          %b, %n2 = func.call @dense(%values, %rows)
              : (!cache, tensor<?xi32>) -> (tensor<?xSx2x8xf32>, tensor<?xi32>)
          return %before, %a, %b, %n2
              : tensor<?xSx2x8xf32>, tensor<?xSx2x8xf32>, tensor<?xSx2x8xf32>, tensor<?xi32>
        }""".replace("xSx", f"x{size}x")
    rng = np.random.default_rng(6)
    cache = fill(Cache(rng, [0, 7, 4, 9], [5, 1, 4, 0]), rng)
    k = rng.standard_normal((cache.rows[-1], HEADS, DIM), np.float32)
    batch, most = len(cache.cached), int(cache.lengths[0, 1])
    room = most if size == "?" else int(size)
    lengths = np.full(batch, -1, np.int32)
    dense = np.full((3, batch, room, HEADS, DIM), np.nan, np.float32)
    want = np.zeros_like(dense)
    for b, (c, n) in enumerate(zip(cache.cached, cache.new)):
        for s in range(min(c + n, room)):
            want[0, b, s] = cache.at(b, s)[1, 1]
            new = k[cache.rows[b] + s - c] if s >= c else None
            for part in (0, 1):
                want[1 + part, b, s] = cache.at(b, s)[part, 1] if new is None else new
    run(text, [cache.rows, k, *cache.arrays(), *dense, lengths])
    np.testing.assert_array_equal(dense, want)
    assert (lengths == cache.cached + cache.new).all()


def test_small_tensors(run):
    module = """
        func.func @f(%rows: tensor<?xi32>, %kv: !kv)
            -> (tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>)
            attributes {kv.entry} {
          %l = kv.cache_lengths %kv : !kv -> tensor<?xi32>
          %m = kv.max_lengths %kv : !kv -> tensor<?x2xi32>
          %o = kv.row_offsets %kv, %rows : !kv, tensor<?xi32> -> tensor<?xi32>
          %next = kv.advance %kv rows %rows : !kv, tensor<?xi32>
          %l2 = kv.cache_lengths %next : !kv -> tensor<?xi32>
          %m2 = kv.max_lengths %next : !kv -> tensor<?x2xi32>
          return %l, %m, %o, %l2, %m2
              : tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>, tensor<?x2xi32>
        }"""
    rng = np.random.default_rng(7)
    cache = Cache(rng, [0, 7, 4, 3], [5, 1, 0, 2], steps=3, pages=20)
    lengths, offsets, next_lengths = (np.full(n, -1, np.int32) for n in (4, 5, 4))
    most, next_most = np.full((3, 2), -1, np.int32), np.full((2, 2), -1, np.int32)
    arrays = cache.arrays()
    kept = [a.copy() for a in arrays]
    run(module, [cache.rows, *arrays, lengths, most, offsets, next_lengths, next_most])
    assert (lengths == cache.cached).all() and (most == cache.lengths).all()
    assert (offsets == np.cumsum([0, *(cache.cached + cache.new)])).all()
    assert (next_lengths == cache.cached + cache.new).all()
    assert (next_most == cache.lengths[1:]).all()
    assert all(a.tobytes() == b.tobytes() for a, b in zip(arrays, kept))


LOOP = """
    func.func @f(%q: tensor<?x3x4x8xf32>, %k: tensor<?x3x2x8xf32>, %rows: tensor<4xi32>, %kv: !kv)
        -> tensor<?x3x4x8xf32> attributes {kv.entry} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %layer = arith.constant 1 : index
      %ro = tensor.cast %rows : tensor<4xi32> to tensor<?xi32>
      %steps = tensor.dim %q, %c0 : tensor<?x3x4x8xf32>
      %empty = tensor.empty(%steps) : tensor<?x3x4x8xf32>
      %out, %last = scf.for %i = %c0 to %steps step %c1 iter_args(%done = %empty, %now = %kv)
          -> (tensor<?x3x4x8xf32>, !kv) {
        %x = tensor.extract_slice %q[%i, 0, 0, 0] [1, 3, 4, 8] [1, 1, 1, 1]
            : tensor<?x3x4x8xf32> to tensor<3x4x8xf32>
        %y = tensor.extract_slice %k[%i, 0, 0, 0] [1, 3, 2, 8] [1, 1, 1, 1]
            : tensor<?x3x2x8xf32> to tensor<3x2x8xf32>
        kv.store %y, %y into %now[%layer] rows %ro
            : tensor<3x2x8xf32>, tensor<3x2x8xf32> into !kv, tensor<?xi32>
        %o = kv.attention %x in %now[%layer] rows %ro mask <causal> scale 0.37
            : tensor<3x4x8xf32> in !kv, tensor<?xi32> -> tensor<3x4x8xf32>
        %more = tensor.insert_slice %o into %done[%i, 0, 0, 0] [1, 3, 4, 8] [1, 1, 1, 1]
            : tensor<3x4x8xf32> into tensor<?x3x4x8xf32>
        %next = kv.advance %now rows %ro : !kv, tensor<?xi32>
        scf.yield %more, %next : tensor<?x3x4x8xf32>, !kv
      }
      return %out : tensor<?x3x4x8xf32>
    }"""


def test_steps_in_a_loop_are_single_steps(run):
    rng = np.random.default_rng(8)
    steps, new = 6, [1, 1, 1]
    cache = Cache(rng, [0, 7, 3], new, steps=steps)
    q = rng.standard_normal((steps, 3, 4, DIM), np.float32) * 2
    k = rng.standard_normal((steps, 3, HEADS, DIM), np.float32)
    given = [a.copy() for a in cache.arrays()]
    out = np.full(q.shape, np.nan, np.float32)
    run(LOOP, [q, k, cache.rows, *given, out])

    # One step a call, of the same module.
    single = np.full(q.shape, np.nan, np.float32)
    own = [a.copy() for a in cache.arrays()]
    for i in range(steps):
        own[1], own[3] = cache.cached + i * cache.new.astype(np.int32), cache.lengths[i:]
        run(LOOP, [q[i:i + 1], k[i:i + 1], cache.rows, own[0], own[1], own[2],
                   np.ascontiguousarray(own[3]), single[i:i + 1]])
    assert out.tobytes() == single.tobytes()
    assert given[0].tobytes() == own[0].tobytes()

    # And by the definition.
    for i in range(steps):
        for b in range(3):
            cache.at(b, cache.cached[b])[:, 1] = k[i, b]
        want, _ = cache.attend(q[i], 1, "causal", 0.37)
        np.testing.assert_allclose(out[i], want, rtol=3e-5, atol=3e-5)
        cache.cached = cache.cached + 1
    assert (given[1] == cache.cached - steps).all()


@pytest.mark.parametrize("layer", (None, 0, 1))
def test_copy_pages(run, layer):
    module = f"""
        func.func @f(%source: tensor<?xi32>, %destination: tensor<?xi32>, %kv: !kv) -> tensor<?xi32>
            attributes {{kv.entry}} {{
          %layer = arith.constant {layer or 0} : index
          %b, %l, %t, %m = kv.unpack %kv : !kv -> memref<?x2x2x4x2x8xf32>, tensor<?xi32>,
              tensor<?x?xi32>, tensor<?x2xi32>
          kv.copy_pages %b from %source to %destination {"" if layer is None else "layer %layer"}
              : memref<?x2x2x4x2x8xf32>, tensor<?xi32>, tensor<?xi32>
          return %l : tensor<?xi32>
        }}"""
    rng = np.random.default_rng(9)
    cache = Cache(rng, [3], [1])
    cache.blocks[:] = rng.standard_normal(cache.blocks.shape)
    # A chain of copies; the null page and what is no page are left alone.
    source = np.array([3, 5, 7, 1, 13, 2, -1], np.int32)
    destination = np.array([5, 6, 3, 0, 4, 13, 8], np.int32)
    want = cache.blocks.copy()
    layers = slice(None) if layer is None else layer
    for a, b in ((3, 5), (5, 6), (7, 3)):
        want[b, :, layers] = want[a, :, layers]
    lengths = np.zeros(1, np.int32)
    run(module, [source, destination, *cache.arrays(), lengths])
    assert cache.blocks.tobytes() == want.tobytes()


def test_load_widens(run):
    module = """
        func.func @f(%rows: tensor<?xi32>, %kv: !kv) -> (tensor<?x?x2x8xf32>, tensor<?x?x2x8xbf16>)
            attributes {kv.entry} {
          %layer = arith.constant 0 : index
          %c = kv.key_cache %kv[%layer] : !kv
          %d, %n = kv.load %c rows %rows : !cache, tensor<?xi32> -> tensor<?x?x2x8xf32>, tensor<?xi32>
          %e, %m = kv.load %c rows %rows : !cache, tensor<?xi32> -> tensor<?x?x2x8xbf16>, tensor<?xi32>
          return %d, %e : tensor<?x?x2x8xf32>, tensor<?x?x2x8xbf16>
        }"""
    rng = np.random.default_rng(10)
    cache = fill(Cache(rng, [2, 5], [1, 1]), rng)
    bits, exact = rounded(cache.blocks, "bf16")
    cache.blocks = exact
    most = int(cache.lengths[0, 1])
    dense = np.full((2, most, HEADS, DIM), np.nan, np.float32)
    same = np.full(dense.shape, 0x7FC0, np.uint16)
    run(module, [cache.rows, bits, *cache.arrays()[1:], dense, same], dtype="bf16")
    want = np.zeros_like(dense)
    for b, c in enumerate(cache.cached):
        for s in range(c + 1):
            want[b, s] = cache.at(b, s)[0, 0]
    np.testing.assert_array_equal(dense, want)
    assert (same == rounded(want, "bf16")[0]).all()


def test_print_stands_between_the_stores(run):
    module = """
        func.func @f(%rows: tensor<?xi32>, %k: tensor<?x2x8xf32>, %kv: !kv) -> tensor<?xi32>
            attributes {kv.entry} {
          %layer = arith.constant 1 : index
          kv.print %kv[%layer] : !kv
          kv.store %k, %k into %kv[%layer] rows %rows
              : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
          kv.print %kv[%layer] rows %rows : !kv, tensor<?xi32>
          %l = kv.cache_lengths %kv : !kv -> tensor<?xi32>
          return %l : tensor<?xi32>
        }"""
    rng = np.random.default_rng(12)
    cache = Cache(rng, [3, 0], [1, 2])
    k = rng.standard_normal((3, HEADS, DIM), np.float32)
    before = cache.blocks.copy()
    printed.clear()
    run(module, [cache.rows, k, *cache.arrays(), np.zeros(2, np.int32)])
    (first, _, _, no_rows, _), (second, lengths, table, rows, layer) = printed
    assert first.tobytes() == before.tobytes() and no_rows is None
    assert second.tobytes() == cache.blocks.tobytes() != before.tobytes()
    assert (lengths == [3, 0]).all() and (table == cache.table).all() and layer == 1
    assert (rows == cache.rows).all()


def test_dimensions_of_zero(run):
    """A sum of nothing is 0: products and sums over a dimension without elements."""
    module = """
        #lhs = affine_map<(m, n, k) -> (m, k)>
        #rhs = affine_map<(m, n, k) -> (n, k)>
        #out = affine_map<(m, n, k) -> (m, n)>
        #row = affine_map<(m, n) -> (m, n)>
        #sum = affine_map<(m, n) -> (m)>
        func.func @f(%x: tensor<?x0xf32> {kv.dims = ["T"]}, %w: tensor<32x0xf32> {kv.weight = "w"},
                     %v: tensor<0x5xf32>)
            -> (tensor<?x32xf32> {kv.dims = ["T"]}, tensor<?x5xf32> {kv.dims = ["T"]},
                tensor<?xf32> {kv.dims = ["T"]}, tensor<?x0xf32> {kv.dims = ["T"]})
            attributes {kv.entry} {
          %c0 = arith.constant 0 : index
          %zero = arith.constant 0.0 : f32
          %one = arith.constant 1.0 : f32
          %t = tensor.dim %x, %c0 : tensor<?x0xf32>
          %e0 = tensor.empty(%t) : tensor<?x32xf32>
          %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<?x32xf32>) -> tensor<?x32xf32>
          %a = linalg.matmul indexing_maps = [#lhs, #rhs, #out]
              ins(%x, %w : tensor<?x0xf32>, tensor<32x0xf32>)
              outs(%f0 : tensor<?x32xf32>) -> tensor<?x32xf32>
          %e1 = tensor.empty(%t) : tensor<?x5xf32>
          %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<?x5xf32>) -> tensor<?x5xf32>
          %b = linalg.matmul ins(%x, %v : tensor<?x0xf32>, tensor<0x5xf32>)
              outs(%f1 : tensor<?x5xf32>) -> tensor<?x5xf32>
          %e2 = tensor.empty(%t) : tensor<?xf32>
          %f2 = linalg.fill ins(%one : f32) outs(%e2 : tensor<?xf32>) -> tensor<?xf32>
          %c = linalg.generic {indexing_maps = [#row, #sum], iterator_types = ["parallel", "reduction"]}
              ins(%x : tensor<?x0xf32>) outs(%f2 : tensor<?xf32>) {
          ^bb0(%in: f32, %sum: f32):
            %next = arith.addf %in, %sum : f32
            linalg.yield %next : f32
          } -> tensor<?xf32>
          %e3 = tensor.empty(%t) : tensor<?x0xf32>
          %d = linalg.generic {indexing_maps = [#row, #row], iterator_types = ["parallel", "parallel"]}
              ins(%x : tensor<?x0xf32>) outs(%e3 : tensor<?x0xf32>) {
          ^bb0(%in: f32, %was: f32):
            %next = arith.addf %in, %in : f32
            linalg.yield %next : f32
          } -> tensor<?x0xf32>
          return %a, %b, %c, %d
              : tensor<?x32xf32>, tensor<?x5xf32>, tensor<?xf32>, tensor<?x0xf32>
        }"""
    x, w, v = (np.zeros(s, np.float32) for s in ((3, 0), (2, 0, 16), (0, 5)))
    a, b, c, d = (np.full(s, np.nan, np.float32) for s in ((3, 32), (3, 5), 3, (3, 0)))
    run(module, [x, w, v, a, b, c, d])
    assert (a == 0).all() and (b == 0).all() and (c == 1).all()


@pytest.mark.parametrize("shape", ((5, 40), (3, 2, 24), (0, 8)))
@pytest.mark.parametrize("dtype", ("f32", "f16"))
def test_rms_norm(run, shape, dtype):
    """Rows of a tensor, or of its heads, against the definition; every row by itself."""
    *rows, width = shape
    of = "x".join(["?", *map(str, rows[1:]), str(width)])
    module = f"""
        func.func @f(%x: tensor<{of}x{dtype}> {{kv.dims = ["T"]}}, %w: tensor<{width}xf32>)
            -> (tensor<{of}x{dtype}> {{kv.dims = ["T"]}}, tensor<{of}x{dtype}> {{kv.dims = ["T"]}})
            attributes {{kv.entry}} {{
          %y = kv.rms_norm %x, %w eps 1.0e-5
              : tensor<{of}x{dtype}>, tensor<{width}xf32> -> tensor<{of}x{dtype}>
          %z = kv.rms_norm %x, %w eps 0.25 offset 1.0
              : tensor<{of}x{dtype}>, tensor<{width}xf32> -> tensor<{of}x{dtype}>
          return %y, %z : tensor<{of}x{dtype}>, tensor<{of}x{dtype}>
        }}"""
    rng = np.random.default_rng(9)
    numpy = {"f32": np.float32, "f16": np.float16}[dtype]
    x = (rng.standard_normal(shape) * 3).astype(numpy)
    x[:1] = 0  # eps alone keeps this row from 0 / 0
    w = rng.standard_normal(width).astype(np.float32)
    y, z = (np.full(shape, np.nan, numpy) for _ in "yz")
    run(module, [x, w, y, z])
    exact = x.astype(np.float64)
    mean = (exact * exact).mean(-1, keepdims=True)
    tolerance = {"f32": 2e-6, "f16": 1e-3}[dtype]
    for got, eps, weight in ((y, 1e-5, w), (z, 0.25, w + 1.0)):
        np.testing.assert_allclose(got, exact / np.sqrt(mean + eps) * weight, rtol=tolerance,
                                   atol=tolerance)


@pytest.mark.parametrize("pipeline", PIPELINES)
def test_sample(pipeline):
    """Greedy rows, rows that keep one token, shares of many draws, and rows without a token."""
    draws, width = 4000, 6
    row = np.log(np.array([0.1, 0.45, 0.05, 0.3, 0.1, 1e-30], np.float32))
    logits = np.tile(row, (draws, 1))
    logits[1, 4], logits[2] = np.nan, -np.inf
    temperature = np.ones(draws, np.float32)
    temperature[0] = 0
    k, p, m = np.zeros(draws, np.int32), np.ones(draws, np.float32), np.zeros(draws, np.float32)
    k[3], p[4], m[5] = 1, 0.2, 0.9
    half = draws // 2
    p[half:] = 0.8  # keeps the tokens 1, 3 and 0, the first of two that are equal
    tokens = np.full(draws, 77, np.int32)
    artifact = compiled("""
    func.func @f(%l: tensor<?x6xf32>, %t: tensor<?xf32>, %k: tensor<?xi32>, %p: tensor<?xf32>,
        %m: tensor<?xf32>, %s: tensor<?xi64>, %i: tensor<?xi32>)
        -> (tensor<?xi32> {kv.name = "tokens", kv.dims = ["R"]}) attributes {kv.entry} {
      %0 = kv.sample %l temperature %t top_k %k top_p %p min_p %m seed %s index %i
          : tensor<?x6xf32>, tensor<?xf32>, tensor<?xi32>, tensor<?xf32>, tensor<?xf32>,
            tensor<?xi64>, tensor<?xi32> -> tensor<?xi32>
      return %0 : tensor<?xi32>
    }""", *of_pipeline(pipeline))
    status = call_runtime(artifact, [
        logits, temperature, k, p, m, np.full(draws, 9, np.int64),
        np.arange(draws, dtype=np.int32), tokens], threads=2)
    assert status == (0, "")
    assert tokens[:6].tolist() == [1, -2 - 4, -1, 1, 1, 1]
    shares = np.bincount(tokens[6:half], minlength=width) / (half - 6)
    assert np.abs(shares - np.exp(row)).max() < 0.05
    kept = np.bincount(tokens[half:], minlength=width) / half
    assert np.abs(kept - np.array([0.1, 0.45, 0, 0.3, 0, 0]) / 0.85).max() < 0.05
    assert kept[[2, 4, 5]].max() == 0
