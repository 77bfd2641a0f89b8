"""Caches of every geometry, through both pipelines and the runtime's kernels, against numpy."""

import numpy as np
import pytest

from caches import ORDERS, Cache, Geometry, quantised
from host import call_runtime, softmax
from tools import compiled, of_pipeline

MASKS = ("none", "causal", "sliding = 3", "chunked = 4", "sliding_noncausal = 3",
         "chunked_causal = 4")
PIPELINES = ("kv-reference", "kv-cpu")
G = Geometry
# Every value of every parameter, and every pair of values that meet in one piece of code.
GEOMETRIES = [
    G("f32"), G("bf16", layout="hnd"), G("f16", layout="cpu", page=1, heads=3),
    G("f32", "continuous", page=16), G("bf16", "continuous", page=16, layout="hnd", heads=1),
    G("i8", "continuous", page=16, scale=("f32", 4), layout="cpu"),
    G("f8E4M3FN"), G("f8E5M2", layout="hnd", page=3), G("f8E4M3FN", scale=("f32", 8), layout="cpu"),
    G("f8E5M2", scale=("f8E8M0FNU", 2)), G("i8", scale=("f32", 8)),
    G("i8", scale=("f8E8M0FNU", 4), layout="hnd", page=16),
    G("f8E4M3FN", "continuous", page=16, scale=("f8E8M0FNU", 8)),
    G("f32", heads=1, dim=12, v_dim=8), G("bf16", heads=1, dim=12, v_dim=12, layout="hnd"),
    G("f8E4M3FN", heads=1, dim=12, v_dim=8, scale=("f32", 4), layout="cpu"),
    G("f16", "continuous", heads=1, dim=12, v_dim=5, page=16),
    G("i8", "continuous", heads=1, dim=12, v_dim=7, page=16, scale=("f8E8M0FNU", 6)),
    G("f32", layers=5, page_layers=2, window=6), G("bf16", page_layers=1, layout="hnd", page=2),
    G("i8", layers=4, page_layers=3, scale=("f32", 4), layout="cpu", window=5, page=3),
    G("f16", heads=1, dim=12, v_dim=5, page_layers=1, window=4, page=1),
    G("f32", "continuous", page=16, window=7),
]
# Of many variants, the first of an element type is compiled as users do, the others quickly.
AS_USERS = {g.dtype: g for g in reversed(GEOMETRIES)}.values()


@pytest.fixture(params=PIPELINES)
def run(request):
    """run(module, arrays): @f of the module in the runtime; (status, message)."""

    def called(module, arrays, threads=1, quick=False):
        return call_runtime(compiled(module, *of_pipeline(request.param, quick)), arrays, threads)

    called.pipeline = request.param
    return called


def attentions(g, heads, variants):
    """@f: a store, then attentions; variants are (mask, softcap, with sinks)."""
    rows, out = f"tensor<?x{g.heads}x{g.dim}xf32>", f"tensor<?x{heads}x{g.value_dim}xf32>"
    q, lse = f"tensor<?x{heads}x{g.dim}xf32>", f"tensor<?x{heads}xf32>"
    k_and_v, types = ("%k", rows) if g.v_dim else ("%k, %v", f"{rows}, {rows}")
    text = g.types() + f"""
        func.func @f(%q: {q}, %k: {rows}, %v: {rows}, %rows: tensor<?xi32>,
                     %sinks: tensor<{heads}xf32>, %kv: !kv)
            -> ({", ".join([out, lse] * len(variants))}) attributes {{kv.entry}} {{
          %l = arith.constant 1 : index
          kv.store {k_and_v} into %kv[%l] rows %rows : {types} into !kv, tensor<?xi32>"""
    for i, (mask, softcap, sinks) in enumerate(variants):
        text += f"""
          %o{i}, %lse{i} = kv.attention %q in %kv[%l] rows %rows {"sinks %sinks" if sinks else ""}
              mask <{mask}> scale 0.37 {f"softcap {softcap}" if softcap else ""}
              : {q} in !kv, tensor<?xi32> {f"sinks tensor<{heads}xf32>" if sinks else ""}
                -> {out}, {lse}"""
    names = ", ".join(f"%o{i}, %lse{i}" for i in range(len(variants)))
    return text + f"\n          return {names} : {', '.join([out, lse] * len(variants))}\n        }}"


def check_attentions(run, g, heads, cached, new, variants, threads=1):
    rng = np.random.default_rng(len(cached) * 100 + heads)
    cache = Cache(g, rng, cached, new)
    tokens = int(cache.rows[-1])
    q = rng.standard_normal((tokens, heads, g.dim), np.float32) * 2
    k, v = (rng.standard_normal((tokens, g.heads, g.dim), np.float32) * 3 for _ in "kv")
    k[tokens // 2] = 0  # a row whose groups have nothing to scale
    sinks = np.array([1, -np.inf, 3, -2, 0.5, 2, 0, 1][:heads], np.float32)
    arrays = cache.arrays()
    results = []
    for _ in variants:
        results += [np.full((tokens, heads, g.value_dim), np.nan, np.float32),
                    np.full((tokens, heads), np.nan, np.float32)]
    status, message = run(attentions(g, heads, variants),
                          [q, k, v, cache.rows, sinks, *arrays, *results], threads, g not in AS_USERS)
    assert status == 0, message
    for b in range(len(cached)):
        for t in range(cache.rows[b], cache.rows[b + 1]):
            rows = [k[t]] if g.v_dim else [k[t], v[t]]
            cache.write(b, int(cache.cached[b] + t - cache.rows[b]), 1, np.stack(rows))
    # The store wrote its rows, to the bit, and nothing else.
    for have, want in zip(arrays, cache.arrays()):
        assert have.tobytes() == want.tobytes()
    for (mask, softcap, with_sinks), out, lse in zip(variants, results[::2], results[1::2]):
        want, want_lse = cache.attend(q, 1, mask, 0.37, softcap, sinks if with_sinks else None)
        np.testing.assert_allclose(out, want, rtol=4e-5, atol=4e-5)
        np.testing.assert_allclose(lse, want_lse, rtol=4e-5, atol=4e-5)
    return arrays, results


@pytest.mark.parametrize("g", GEOMETRIES, ids=str)
def test_store_and_attention(run, g):
    group = 4 if g.v_dim else 2
    variants = [("causal", 0, False), ("sliding = 3", 7.0, True)]
    if g.window:
        variants = [(f"sliding = {g.window}", 0, False), ("sliding = 3", 7.0, True),
                    (f"chunked = {g.window}", 0, False),
                    (f"sliding_noncausal = {g.window}", 0, False),
                    (f"chunked_causal = {g.window}", 0, False)]
    check_attentions(run, g, g.heads * group, [0, 7, 4, 3], [5, 1, 4, 0], variants)


@pytest.mark.parametrize("group", (1, 3, 4, 8))
def test_masks_and_groups(run, group):
    """Lengths around page edges, every mask; pages of 4."""
    variants = [(mask, 0, False) for mask in MASKS] + [("none", 5.0, True), ("chunked = 5", 0, True)]
    check_attentions(run, G("f32", heads=1), group, [0, 3, 4, 5, 8, 0, 7, 2],
                     [1, 1, 1, 3, 4, 4, 2, 0], variants)


def test_latent_with_many_heads(run):
    check_attentions(run, G("bf16", heads=1, dim=40, v_dim=32), 8, [3, 0, 9], [1, 6, 2],
                     [(mask, 0, False) for mask in MASKS], threads=2)


@pytest.mark.parametrize("strategy", ("paged", "continuous"))
def test_layouts_and_strategies_change_no_bit(run, strategy):
    """The same rows in another order of memory, in slots or pages: the same bits of results."""
    results = []
    for layout in ("nhd", "hnd", "cpu"):
        g = G("bf16", strategy, layout=layout, page=4 if strategy == "paged" else 16)
        results.append(check_attentions(run, g, 4, [0, 7, 4], [5, 1, 4],
                                        [("causal", 0, False)])[1])
    plain = check_attentions(run, G("bf16"), 4, [0, 7, 4], [5, 1, 4], [("causal", 0, False)])[1]
    for other in results:
        assert [r.tobytes() for r in other] == [r.tobytes() for r in plain]


LOOP = """
    func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %rows: tensor<?xi32>, %kv: !kv)
        -> tensor<?x4x8xf32> attributes {kv.entry} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %layers = arith.constant LAYERS : index
      %o = scf.for %l = %c0 to %layers step %c1 iter_args(%x = %q) -> tensor<?x4x8xf32> {
        %y = func.call @layer(%x, %k, %rows, %kv, %l)
            : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>, !kv, index) -> tensor<?x4x8xf32>
        scf.yield %y : tensor<?x4x8xf32>
      }
      return %o : tensor<?x4x8xf32>
    }"""
UNROLLED = """
    func.func @f(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %rows: tensor<?xi32>, %kv: !kv)
        -> tensor<?x4x8xf32> attributes {kv.entry} {
      BODY
      return %xLAYERS : tensor<?x4x8xf32>
    }"""
LAYER = """
    func.func private @layer(%q: tensor<?x4x8xf32>, %k: tensor<?x2x8xf32>, %rows: tensor<?xi32>,
                             %kv: !kv, %l: index) -> tensor<?x4x8xf32> {
      kv.store %k, %k into %kv[%l] rows %rows
          : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
      %keys = kv.key_cache %kv[%l] : !kv
      %weight = arith.constant dense<1.25> : tensor<8xf32>
      kv.update %keys rows %rows rms_norm(%weight) eps 1.0e-6
          : !cache, tensor<?xi32>, tensor<8xf32>
      %o = kv.attention %q in %kv[%l] rows %rows mask <causal> scale 0.37
          : tensor<?x4x8xf32> in !kv, tensor<?xi32> -> tensor<?x4x8xf32>
      return %o : tensor<?x4x8xf32>
    }"""


@pytest.mark.parametrize("layout", ("nhd", "cpu"))
def test_bands_change_no_bit(run, layout):
    """Layers in a loop and as constants, whatever a page holds of them: the same bits of results
    and of every row in the cache."""
    layers, results = 5, []
    unrolled = "".join(f"""
      %l{i} = arith.constant {i} : index
      %x{i + 1} = call @layer(%{f"x{i}" if i else "q"}, %k, %rows, %kv, %l{i})
          : (tensor<?x4x8xf32>, tensor<?x2x8xf32>, tensor<?xi32>, !kv, index)
            -> tensor<?x4x8xf32>""" for i in range(layers))
    for page_layers in (0, 1, 2, 3, 5):
        for entry in (LOOP, UNROLLED.replace("BODY", unrolled)):
            g = G("f32", layers=layers, layout=layout, page_layers=page_layers)
            rng = np.random.default_rng(9)
            cache = Cache(g, rng, [0, 7, 4, 3], [5, 1, 4, 0])
            q = rng.standard_normal((10, 4, 8), np.float32)
            k = rng.standard_normal((10, 2, 8), np.float32)
            arrays, out = cache.arrays(), np.full((10, 4, 8), np.nan, np.float32)
            module = g.types() + LAYER + entry.replace("LAYERS", str(layers))
            status, message = run(module, [q, k, cache.rows, *arrays, out], quick=page_layers > 0)
            assert status == 0, message
            blocks = np.empty_like(cache.blocks)
            blocks[:] = arrays[0].transpose(np.argsort(ORDERS[layout]))
            rows = []
            for b in range(4):
                for s in range(cache.length(b)):
                    for layer in range(layers):
                        page, inside, slot = cache.place(b, s, layer)
                        rows.append(blocks[page, :, inside, slot].tobytes())
            results.append((out.tobytes(), rows))
    assert not np.isnan(np.frombuffer(results[0][0], np.float32)).any()
    assert all(r == results[0] for r in results)


@pytest.mark.parametrize("g", GEOMETRIES, ids=str)
def test_load(run, g):
    dense = f"tensor<?x?x{g.heads}x{g.dim}xf32>"
    module = g.types() + f"""
        func.func @f(%rows: tensor<?xi32>, %kv: !kv) -> ({dense}, {dense}, tensor<?xi32>)
            attributes {{kv.entry}} {{
          %l = arith.constant 1 : index
          %keys = kv.key_cache %kv[%l] : !kv
          %values = kv.{"key" if g.v_dim else "value"}_cache %kv[%l] : !kv
          %a, %n = kv.load %keys rows %rows : !cache, tensor<?xi32> -> {dense}, tensor<?xi32>
          %b, %m = kv.load %values rows %rows : !cache, tensor<?xi32> -> {dense}, tensor<?xi32>
          return %a, %b, %n : {dense}, {dense}, tensor<?xi32>
        }}"""
    cache = Cache(g, np.random.default_rng(2), [6, 0, 9, 4], [0, 0, 0, 0])
    most = int(cache.max_lengths[0, 1])
    got = np.full((2, 4, most, g.heads, g.dim), np.nan, np.float32)
    lengths = np.full(4, -1, np.int32)
    status, message = run(module, [np.zeros(5, np.int32), *cache.arrays(), *got, lengths],
                          quick=g not in AS_USERS)
    assert status == 0, message
    want = np.zeros_like(got)
    for b in range(4):
        for s in range(cache.length(b)):
            if not g.window or s > cache.cached[b] - g.window:
                want[:, b, s] = cache.values[b][s][:, 1]
    np.testing.assert_array_equal(got, want)
    assert (lengths == cache.cached).all()


def test_cross_attention(run):
    """Queries over keys that another tensor's rows brought: prefill, and after it."""
    g = G("f32", heads=1)
    module = g.types() + """
        func.func @f(%q: tensor<?x2x8xf32>, %k: tensor<?x1x8xf32>, %rows: tensor<?xi32>,
                     %keys: tensor<?xi32>, %kv: !kv) -> tensor<?x2x8xf32> attributes {kv.entry} {
          %l = arith.constant 1 : index
          kv.store %k, %k into %kv[%l] rows %keys
              : tensor<?x1x8xf32>, tensor<?x1x8xf32> into !kv, tensor<?xi32>
          %o = kv.attention %q in %kv[%l] rows %rows keys %keys mask <none> scale 0.37
              : tensor<?x2x8xf32> in !kv, tensor<?xi32> keys tensor<?xi32> -> tensor<?x2x8xf32>
          return %o : tensor<?x2x8xf32>
        }"""
    rng = np.random.default_rng(6)
    cache = Cache(g, rng, [0, 3, 5], [7, 2, 0])  # keys: new ones, some more, only old ones
    rows = np.array([0, 1, 5, 8], np.int32)
    q = rng.standard_normal((8, 2, 8), np.float32)
    k = rng.standard_normal((9, 1, 8), np.float32)
    arrays, out = cache.arrays(), np.full((8, 2, 8), np.nan, np.float32)
    status, message = run(module, [q, k, rows, cache.rows, *arrays, out])
    assert status == 0, message
    for b in range(3):
        for t in range(cache.rows[b], cache.rows[b + 1]):
            cache.write(b, int(cache.cached[b] + t - cache.rows[b]), 1, np.stack([k[t], k[t]]))
    for b in range(3):
        stored = np.array([cache.values[b][s][:, 1, 0] for s in range(cache.length(b))], np.float64)
        for t in range(rows[b], rows[b + 1]):
            for h in range(2):
                want, _ = softmax(q[t, h], stored[:, 0], stored[:, 1], 0.37)
                np.testing.assert_allclose(out[t, h], want, rtol=4e-5, atol=4e-5)


SPECIAL = [0.0, -0.0, 1e-45, -1e-40, 448, 449, 464, 465, 480, 57344, 61439, 61440, 1e38, -1e38,
           np.inf, -np.inf, 2**-9, 2**-10, 1.5 * 2**-10, 2**-16, 2**-17, 0.4375, 126.5, 127.5, -128]


@pytest.mark.parametrize("dtype", ("f8E4M3FN", "f8E5M2"))
def test_numbers_of_8_bits(run, dtype):
    """Rounding, clamping and subnormals, one number at a time; NaN stays NaN."""
    g = G(dtype, heads=1, dim=1, page=64, layers=1)
    rng = np.random.default_rng(3)
    x = np.concatenate([np.array(SPECIAL, np.float32),
                        (rng.standard_normal(25) * 10.0**rng.integers(-6, 6, 25)).astype(np.float32)])
    tokens = len(x)
    module = g.types() + """
        func.func @f(%k: tensor<?x1x1xf32>, %rows: tensor<?xi32>, %kv: !kv) -> tensor<?xi32>
            attributes {kv.entry} {
          %l = arith.constant 0 : index
          kv.store %k, %k into %kv[%l] rows %rows
              : tensor<?x1x1xf32>, tensor<?x1x1xf32> into !kv, tensor<?xi32>
          %n = kv.cache_lengths %kv : !kv -> tensor<?xi32>
          return %n : tensor<?xi32>
        }"""
    cache = Cache(g, rng, [0], [tokens])
    cache.max_lengths += 1  # for the NaN, which has no value in `cache`
    arrays = cache.arrays()
    k = np.concatenate([x, [np.float32(np.nan)]])[:, None, None].astype(np.float32)
    cache.rows[1] += 1
    status, message = run(module, [k, cache.rows, *arrays, np.zeros(1, np.int32)])
    assert status == 0, message
    stored = arrays[0][cache.table[0, 0], 0, 0, :tokens + 1, 0, 0]
    assert np.isnan(stored[-1].astype(np.float32))
    assert stored[:-1].tobytes() == quantised(x[:, None], g)[0].tobytes()


@pytest.mark.parametrize("g", [G("i8", scale=("f32", 8)), G("f8E4M3FN", scale=("f8E8M0FNU", 8))],
                         ids=str)
def test_a_group_with_nan_is_nan(run, g):
    dense = "tensor<?x?x2x8xf32>"
    module = g.types() + f"""
        func.func @f(%k: tensor<?x2x8xf32>, %rows: tensor<?xi32>, %kv: !kv)
            -> ({dense}, tensor<?xi32>) attributes {{kv.entry}} {{
          %l = arith.constant 0 : index
          kv.store %k, %k into %kv[%l] rows %rows
              : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
          %keys = kv.key_cache %kv[%l] : !kv
          %a, %n = kv.load %keys rows %rows : !cache, tensor<?xi32> -> {dense}, tensor<?xi32>
          return %a, %n : {dense}, tensor<?xi32>
        }}"""
    cache = Cache(g, np.random.default_rng(4), [0], [3])
    k = np.ones((3, 2, 8), np.float32)
    k[0, 1, 5], k[2, 0, 0] = np.nan, np.inf
    got = np.zeros((1, 3, 2, 8), np.float32)
    status, message = run(module, [k, cache.rows, *cache.arrays(), got, np.zeros(1, np.int32)])
    assert status == 0, message
    bad = np.zeros((3, 2), bool)
    bad[0, 1] = bad[2, 0] = True
    assert np.isnan(got[0][bad]).all() and np.isfinite(got[0][~bad]).all()


DYNAMIC_LAYER = """
    func.func @f(%k: tensor<?x2x8xf32>, %rows: tensor<?xi32>, %which: tensor<1xi32>, %kv: !kv)
        -> tensor<?x2x8xf32> attributes {kv.entry} {
      %c0 = arith.constant 0 : index
      %i = tensor.extract %which[%c0] : tensor<1xi32>
      %l = arith.index_cast %i : i32 to index
      OPERATION
      return %o : tensor<?x2x8xf32>
    }"""
ATTENTION = """%o = kv.attention %k in %kv[%l] rows %rows mask <causal> scale 1.0
          : tensor<?x2x8xf32> in !kv, tensor<?xi32> -> tensor<?x2x8xf32>"""
STORE = """kv.store %k, %k into %kv[%l] rows %rows
          : tensor<?x2x8xf32>, tensor<?x2x8xf32> into !kv, tensor<?xi32>
      %o = tensor.empty(%c0) : tensor<?x2x8xf32>"""
LOAD = """%c = kv.key_cache %kv[%l] : !kv
      %d, %n = kv.load %c rows %rows : !cache, tensor<?xi32> -> tensor<1x3x2x8xf32>, tensor<1xi32>
      %s = tensor.collapse_shape %d [[0, 1], [2], [3]] : tensor<1x3x2x8xf32> into tensor<3x2x8xf32>
      %o = tensor.cast %s : tensor<3x2x8xf32> to tensor<?x2x8xf32>"""


@pytest.mark.parametrize("operation", (ATTENTION, STORE, LOAD), ids=("attention", "store", "load"))
@pytest.mark.parametrize("spoil", ("layer", "length", "nothing"))
@pytest.mark.parametrize("page_layers", (0, 2))
def test_run_time_verification(run, operation, spoil, page_layers):
    """What only a run can know goes to the error slot, and touches nothing that is not there."""
    g = G("f32", layers=3, page_layers=page_layers)
    cache = Cache(g, np.random.default_rng(5), [2], [3], pitch=2)
    arrays = cache.arrays()
    # The last layer, and the first that is none: its band has a place for it.
    which = np.array([3 if spoil == "layer" else 2], np.int32)
    if spoil == "length":
        arrays[1][0] = 6  # 9 tokens, two pages of 4
        arrays[3][0, 1] = 9
    k = np.ones((3, 2, 8), np.float32)
    out = np.zeros((0 if operation == STORE else 3, 2, 8), np.float32)
    module = g.types() + DYNAMIC_LAYER.replace("OPERATION", operation)
    status, message = run(module, [k, cache.rows, which, *arrays, out])
    if spoil == "nothing":
        assert status == 0, message
        return
    assert status == 2, (status, message)
    assert ("layer" if spoil == "layer" else "tokens") in message


def test_rope_beyond_its_table(run):
    module = """
        func.func @f(%x: tensor<?x1x4xf32>, %p: tensor<?xi32>, %freqs: tensor<5x4xf32>)
            -> tensor<?x1x4xf32> attributes {kv.entry} {
          %r = kv.rope %x, %p, %freqs : tensor<?x1x4xf32>, tensor<?xi32>, tensor<5x4xf32>
          return %r : tensor<?x1x4xf32>
        }"""
    x, freqs, out = (np.ones(s, np.float32) for s in ((3, 1, 4), (5, 4), (3, 1, 4)))
    for positions, failing in (([0, 4, 2], False), ([0, 5, 2], True)):
        status, message = run(module, [x, np.array(positions, np.int32), freqs, out])
        assert (status, message) == ((2, "kv.rope: a position is outside freqs") if failing
                                     else (0, ""))


@pytest.mark.parametrize("pairing", ("", "interleaved"))
def test_rope_with_a_position_for_each_angle(run, pairing):
    """Multi-section rotation: angles of one head follow different positions."""
    module = f"""
        func.func @f(%x: tensor<?x2x8xf32>, %p: tensor<3x?xi32>, %freqs: tensor<9x6xf32>)
            -> tensor<?x2x8xf32> attributes {{kv.entry}} {{
          %r = kv.rope %x, %p, %freqs {pairing} : tensor<?x2x8xf32>, tensor<3x?xi32>, tensor<9x6xf32>
          return %r : tensor<?x2x8xf32>
        }}"""
    rng = np.random.default_rng(7)
    x, out = rng.standard_normal((5, 2, 8), np.float32), np.full((5, 2, 8), np.nan, np.float32)
    positions = rng.integers(0, 9, (3, 5)).astype(np.int32)
    angles = rng.standard_normal((9, 3))
    freqs = np.stack([np.cos(angles), np.sin(angles)], -1).reshape(9, 6).astype(np.float32)
    status, message = run(module, [x, positions, freqs, out])
    assert status == 0, message
    want = x.astype(np.float64)
    for t in range(5):
        for i in range(3):
            a, b = (2 * i, 2 * i + 1) if pairing else (i, i + 3)
            turn = np.exp(1j * angles[positions[i, t], i])
            turned = (x[t, :, a] + 1j * x[t, :, b].astype(np.float64)) * turn
            want[t, :, a], want[t, :, b] = turned.real, turned.imag
    np.testing.assert_allclose(out, want, rtol=1e-5, atol=1e-5)
