"""kv.update and kv.plan, through both pipelines, against their definitions in double precision.
Whatever no sequence owns is NaN; the null page and all other rows keep their bits."""

import numpy as np
import pytest

from caches import Cache as AnyCache
from caches import Geometry, quantised
from host import rounded, sees
from test_caches import GEOMETRIES, run as run_any  # noqa: F401 (a fixture)
from test_operations import DIM, HEADS, PAGE, Cache, fill, run  # noqa: F401 (a fixture)

LAYERS = 2


def module(kind, argument, layer, part):
    """@f updates one part of a layer, in a function that takes the cache."""
    what, _, more = kind.partition(" ")
    view = "key_cache" if part == 0 else "value_cache"
    return f"""
        func.func private @change(%c: !cache, %rows: tensor<?xi32>, %x: {argument}) {{
          kv.update %c rows %rows {what}(%x) {more} : !cache, tensor<?xi32>, {argument}
          return
        }}
        func.func @f(%rows: tensor<?xi32>, %x: {argument}, %kv: !kv) -> tensor<?xi32>
            attributes {{kv.entry}} {{
          %layer = arith.constant {layer} : index
          %c = kv.{view} %kv[%layer] : !kv
          func.call @change(%c, %rows, %x) : (!cache, tensor<?xi32>, {argument}) -> ()
          %l = kv.cache_lengths %kv : !kv -> tensor<?xi32>
          return %l : tensor<?xi32>
        }}"""


def rotated(x, angles, interleaved):
    """x [D] in double, by (cos, sin) pairs [W / 2, 2]."""
    result = x.copy()
    half = len(angles)
    for i, (cos, sin) in enumerate(angles):
        a, b = (2 * i, 2 * i + 1) if interleaved else (i, i + half)
        result[a], result[b] = x[a] * cos - x[b] * sin, x[b] * cos + x[a] * sin
    return result


def normalised(x, weight, eps):
    width = len(weight)
    result = x.copy()
    result[:width] *= weight / np.sqrt(np.mean(x[:width] ** 2) + eps)
    return result


class Given:
    """A cache of a type: this step's rows stand in it already; NaN where nobody owns it."""

    def __init__(self, dtype, seed):
        self.rng = np.random.default_rng(seed)
        self.cache = fill(Cache(self.rng, [0, 7, 4, 3, 2], [5, 1, 4, 0, 2], pages=14), self.rng)
        # The last sequence's rows were sent to the null page, which holds numbers.
        self.cache.blocks[0] = 7
        self.null = len(self.cache.cached) - 1
        self.cache.table[self.null, : 1] = 0
        self.bits, self.exact = rounded(self.cache.blocks, dtype)
        if dtype == "bf16":
            self.bits[np.isnan(self.cache.blocks)] = 0x7FC0

    def rows(self):
        """(row, sequence, position, page, slot) of every row that an update changes."""
        c = self.cache
        for b, cached in enumerate(c.cached):
            for t in range(c.new[b]):
                position = cached + t
                page = c.table[b, position // PAGE]
                if page > 0:
                    yield c.rows[b] + t, b, position, page, position % PAGE

    def check(self, after, dtype, layer, part, expected):
        """That of `after` just the rows changed, and became expected(x, row, position, head)."""
        untouched = np.ones(self.bits.shape, bool)
        count = 0
        for row, _, position, page, slot in self.rows():
            for head in range(HEADS):
                at = (page, part, layer, slot, head)
                untouched[at] = False
                want = expected(self.exact[at].astype(np.float64), row, position, head)
                got = after[at]
                if dtype == "bf16":
                    got = (got.astype(np.uint32) << 16).view(np.float32)
                # A half of the last place of the type, and what f32 loses before.
                place = {"f32": 2e-6, "f16": 2.0 ** -11, "bf16": 2.0 ** -8}[dtype]
                np.testing.assert_allclose(got.astype(np.float64), want, rtol=place * 1.01, atol=3e-6)
                count += 1
        assert count == 10 * HEADS
        assert after[untouched].tobytes() == self.bits[untouched].tobytes()


def update(run, given, dtype, text, operand):
    after = given.bits.copy()
    c = given.cache
    lengths = np.full(len(c.cached), -1, np.int32)
    run(text, [c.rows, operand, after, c.cached, c.table, c.lengths, lengths], dtype)
    assert (lengths == c.cached).all()
    return after


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16"))
@pytest.mark.parametrize("width,interleaved", ((8, False), (8, True), (4, False), (6, True)))
def test_rope(run, dtype, width, interleaved):  # noqa: F811
    given = Given(dtype, 21)
    angles = given.rng.uniform(0, 7, (11, width // 2))
    freqs = np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32)
    text = module("rope interleaved" if interleaved else "rope", f"tensor<?x{width}xf32>", 1, 0)
    after = update(run, given, dtype, text, freqs.reshape(11, width))
    given.check(after, dtype, 1, 0, lambda x, row, position, head:
                rotated(x, freqs[position].astype(np.float64), interleaved))


def test_rope_stays_inside_the_table(run):  # noqa: F811
    """A position that freqs has no row for takes the last one; nothing else is read."""
    given = Given("f32", 22)
    freqs = given.rng.standard_normal((3, 8), np.float32)
    after = update(run, given, "f32", module("rope", "tensor<?x8xf32>", 0, 1), freqs)
    given.check(after, "f32", 0, 1, lambda x, row, position, head: rotated(
        x, freqs[min(position, 2)].reshape(4, 2).astype(np.float64), False))


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16"))
@pytest.mark.parametrize("width,eps", ((8, 1e-6), (5, 0.25), (1, 1e-3)))
def test_rms_norm(run, dtype, width, eps):  # noqa: F811
    given = Given(dtype, 23)
    weight = given.rng.standard_normal(width).astype(np.float32)
    after = update(run, given, dtype,
                   module(f"rms_norm eps {eps:e}", f"tensor<{width}xf32>", 0, 0), weight)
    given.check(after, dtype, 0, 0,
                lambda x, row, position, head: normalised(x, weight.astype(np.float64), eps))


@pytest.mark.parametrize("dtype", ("f32", "f16", "bf16"))
def test_add(run, dtype):  # noqa: F811
    given = Given(dtype, 24)
    rows = given.rng.standard_normal((given.cache.rows[-1], HEADS, DIM)).astype(np.float32)
    after = update(run, given, dtype, module("add", "tensor<?x2x8xf32>", 1, 1), rows)
    given.check(after, dtype, 1, 1, lambda x, row, position, head: x + rows[row, head])


def test_tables_that_name_no_page(run):  # noqa: F811
    """Entries beyond the pool, and positions beyond the table's row, change nothing."""
    given = Given("f32", 25)
    c = given.cache
    c.table[0, 1] = 15  # the pool has 0 to 14
    c.table[2, 1] = -1
    c.table = np.ascontiguousarray(c.table[:, :2])
    kept = []  # Given.rows() would leave the table
    for b, cached in enumerate(c.cached):
        for t in range(c.new[b]):
            entry, slot = divmod(cached + t, PAGE)
            if entry < 2 and 0 < c.table[b, entry] < len(c.blocks):
                kept.append((c.rows[b] + t, c.table[b, entry], slot))
    rows = given.rng.standard_normal((c.rows[-1], HEADS, DIM)).astype(np.float32)
    after = update(run, given, "f32", module("add", "tensor<?x2x8xf32>", 0, 0), rows)
    want = given.bits.copy()
    for row, page, slot in kept:
        want[page, 0, 0, slot] += rows[row]
    assert len(kept) == 5 and after.tobytes() == want.tobytes()


def in_runtime(run_any, g, kind, argument, operand, cache, part):
    """Runs an update of layer 1 in the runtime; the components as they are after it."""
    arrays, lengths = cache.arrays(), np.full(len(cache.cached), -1, np.int32)
    text = g.types() + module(kind, argument, 1, part)
    status, message = run_any(text, [cache.rows, operand, *arrays, lengths])
    assert status == 0, message
    return arrays


def change(cache, part, new_row):
    """What an update leaves: new_row(x, row, position, head) of f32 for every row of this step."""
    g = cache.geometry
    for b, c in enumerate(cache.cached):
        for t in range(cache.new[b]):
            s = int(c) + t
            old = cache.values[b][s][part, 1].astype(np.float32)
            row = np.stack([new_row(old[h], cache.rows[b] + t, s, h) for h in range(g.heads)])
            codes, scales, values = quantised(row, g)
            page, layer, slot = cache.place(b, s, 1)
            cache.blocks[page, part, layer, slot] = codes
            if scales is not None:
                cache.scales[page, part, layer, slot] = scales
            cache.values[b][s][part, 1] = values


def full_cache(g, seed):
    """A cache in which this step's rows stand already."""
    rng = np.random.default_rng(seed)
    cache = AnyCache(g, rng, [0, 7, 4, 3], [5, 1, 4, 0])
    for b, c in enumerate(cache.cached):
        for s in range(c, c + cache.new[b]):
            for layer in range(g.layers):
                cache.write(b, s, layer, rng.standard_normal((g.parts, g.heads, g.dim)) * 3)
    return cache, rng


@pytest.mark.parametrize("g", GEOMETRIES, ids=str)
def test_every_geometry(run_any, g):  # noqa: F811
    """`add` is one sum in f32: every bit of blocks and scales, those of other rows too."""
    cache, rng = full_cache(g, 29)
    part = g.parts - 1
    rows = rng.standard_normal((cache.rows[-1], g.heads, g.dim)).astype(np.float32)
    after = in_runtime(run_any, g, "add", f"tensor<?x{g.heads}x{g.dim}xf32>", rows, cache, part)
    change(cache, part, lambda x, row, position, head: x + rows[row, head])
    for have, want in zip(after, cache.arrays()):
        assert have.tobytes() == want.tobytes()


@pytest.mark.parametrize("kind", ("rope", "rope interleaved", "rms_norm eps 1.0e-5"))
@pytest.mark.parametrize("scale", ("f32", "f8E8M0FNU"))
def test_scaled(run_any, kind, scale):  # noqa: F811
    """Rows with scales get new ones: what is read back is a step of 8 bits from the definition."""
    g = Geometry("i8", scale=(scale, 4), layout="hnd")
    cache, rng = full_cache(g, 30)
    if kind.startswith("rope"):
        angles = rng.uniform(0, 7, (11, 3))
        freqs = np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32)
        operand, argument = freqs.reshape(11, 6), "tensor<?x6xf32>"
        def row(x, r, position, head):
            return rotated(x.astype(np.float64), freqs[position], "inter" in kind)
    else:
        operand, argument = rng.standard_normal(6).astype(np.float32), "tensor<6xf32>"
        def row(x, r, position, head):
            return normalised(x.astype(np.float64), operand.astype(np.float64), 1e-5)
    after = in_runtime(run_any, g, kind, argument, operand, cache, 0)
    change(cache, 0, row)
    wanted = cache.arrays()
    np.testing.assert_allclose(after[0].astype(int), wanted[0].astype(int), atol=1)
    if scale == "f32":
        np.testing.assert_allclose(after[4], wanted[4], rtol=1e-5)
    else:
        assert after[4].tobytes() == wanted[4].tobytes()


def test_between_store_and_attention(run):  # noqa: F811
    """The order of the text holds: store, norm, rotate, attend."""
    text = """
        func.func @f(%k: tensor<?x2x8xf32>, %rows: tensor<?xi32>, %w: tensor<8xf32>,
                     %freqs: tensor<?x8xf32>, %kv: !kv) -> tensor<?x2x8xf32>
            attributes {kv.entry} {
          %layer = arith.constant 1 : index
          kv.store %k, %k into %kv[%layer] rows %rows
              : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
          %keys = kv.key_cache %kv[%layer] : !kv
          kv.update %keys rows %rows rms_norm(%w) eps 1.0e-5 : !cache, tensor<?xi32>, tensor<8xf32>
          kv.update %keys rows %rows rope(%freqs) : !cache, tensor<?xi32>, tensor<?x8xf32>
          %o = kv.attention %k in %kv[%layer] rows %rows mask <causal> scale 0.37
              : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>
          return %o : tensor<?x2x8xf32>
        }"""
    rng = np.random.default_rng(26)
    cache = fill(Cache(rng, [0, 7, 4], [5, 1, 4]), rng)
    k = rng.standard_normal((cache.rows[-1], HEADS, DIM), np.float32)
    weight = rng.standard_normal(8).astype(np.float32)
    angles = rng.uniform(0, 7, (16, 4))
    freqs = np.stack([np.cos(angles), np.sin(angles)], -1).astype(np.float32)
    expected = Cache.__new__(Cache)
    expected.__dict__ = {**cache.__dict__, "blocks": cache.blocks.copy()}
    out = np.full(k.shape, np.nan, np.float32)
    run(text, [k, cache.rows, weight, freqs.reshape(16, 8), *cache.arrays(), out])
    for b, c in enumerate(cache.cached):
        for t in range(cache.new[b]):
            for head in range(HEADS):
                row = k[cache.rows[b] + t, head].astype(np.float64)
                key = rotated(normalised(row, weight, 1e-5), freqs[c + t], False)
                expected.at(b, c + t)[0, 1, head], expected.at(b, c + t)[1, 1, head] = key, row
    want, _ = expected.attend(k, 1, "causal", 0.37)
    np.testing.assert_allclose(out, want, rtol=3e-5, atol=3e-5)


MASKS = ("none", "causal", "sliding = 3", "sliding = 1", "sliding = 9223372036854775807",
         "chunked = 4", "chunked = 9223372036854775807", "sliding_noncausal = 2",
         "sliding_noncausal = 9223372036854775807",
         "chunked_causal = 4", "chunked_causal = 9223372036854775807")


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("size", ("?", "14"))
def test_plan(run, mask, size):  # noqa: F811
    """Sequence, position, and the keys that the mask's definition shows, for every row."""
    text = f"""
        func.func @f(%rows: tensor<?xi32>, %kv: !kv) -> tensor<{size}x4xi32> attributes {{kv.entry}} {{
          %p = kv.plan %kv rows %rows mask <{mask}> : !kv, tensor<?xi32> -> tensor<{size}x4xi32>
          return %p : tensor<{size}x4xi32>
        }}"""
    rng = np.random.default_rng(27)
    cache = Cache(rng, [0, 7, 4, 3, 6], [5, 1, 4, 0, 2], pages=14)
    tokens = int(cache.rows[-1])
    plan = np.full((tokens if size == "?" else int(size), 4), -1, np.int32)
    run(text, [cache.rows, *cache.arrays(), plan])
    for b, (c, n) in enumerate(zip(cache.cached, cache.new)):
        for t in range(n):
            sequence, position, first, end = plan[cache.rows[b] + t]
            assert (sequence, position) == (b, c + t)
            assert list(range(first, end)) == [s for s in range(c + n) if sees(mask, c + t, s)]
    # Rows of no sequence.
    assert (plan[tokens:] == 0).all()


@pytest.mark.parametrize("mask", MASKS)
def test_attention_by_plan(run, mask):  # noqa: F811
    """With a plan, and with rows that the plan does not have: the bits of the attention whose
    decomposition finds out itself. kv-cpu gives this one a plan, too."""
    text = f"""
        func.func @f(%q: tensor<?x4x8xf32>, %rows: tensor<?xi32>, %kv: !kv)
            -> (tensor<?x4x8xf32>, tensor<?x4x8xf32>) attributes {{kv.entry}} {{
          %layer = arith.constant 1 : index
          %p = kv.plan %kv rows %rows mask <{mask}> : !kv, tensor<?xi32> -> tensor<?x4xi32>
          %a = kv.attention %q in %kv[%layer] rows %rows plan %p mask <{mask}> scale 0.37
              {{kv.kernel = #kv.kernel<decomposition>}}
              : tensor<?x4x8xf32> in !kv, tensor<?xi32> plan tensor<?x4xi32> -> tensor<?x4x8xf32>
          %b = kv.attention %q in %kv[%layer] rows %rows mask <{mask}> scale 0.37
              {{kv.kernel = #kv.kernel<decomposition>}}
              : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>
          return %a, %b : tensor<?x4x8xf32>, tensor<?x4x8xf32>
        }}"""
    rng = np.random.default_rng(28)
    cache = fill(Cache(rng, [0, 7, 4, 3], [5, 1, 4, 0]), rng)
    q = rng.standard_normal((cache.rows[-1] + 2, 4, DIM), np.float32) * 3
    by_plan, without = (np.full(q.shape, np.nan, np.float32) for _ in "ab")
    run(text, [q, cache.rows, *cache.arrays(), by_plan, without])
    assert by_plan.tobytes() == without.tobytes()
    want, _ = cache.attend(q, 1, mask, 0.37)
    np.testing.assert_allclose(by_plan, want, rtol=3e-5, atol=3e-5)
