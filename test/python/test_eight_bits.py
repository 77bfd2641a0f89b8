"""Attention whose products are of 8 bits (docs/reference/products.md): on the CPU against the definition in numpy,
rows whose bits depend on nothing around them, and what kv-import writes."""

import subprocess

import ml_dtypes
import numpy as np
import pytest

from caches import Cache, Geometry
from host import sees
from kv_import import synthetic
from kv_import.writers.module_writer import ModuleWriter
from test_attention import attend
from tools import KV_IMPORT, compiled, fails, find, of_pipeline

KV_OPT = find("kv-opt")
LEAF = 128  # keys that one maximum is for, at absolute positions
SCALE, CAP, HEADS = 0.11, 3.0, 4


def rounded(x):
    return x.astype(ml_dtypes.float8_e4m3fn).astype(np.float64)


def rounded_query(q):
    """By a power of two that takes the largest element to [128, 256)."""
    largest = np.abs(q).max()
    if largest == 0:
        return q * 0.0
    power = 2.0 ** (7 - np.floor(np.log2(largest)))
    return rounded(q.astype(np.float64) * power) / power


def one_row(q, keys, values, positions, softcap, sink):
    """(out, lse) of a row over what it sees."""
    if not len(positions):
        return np.zeros(len(q)), sink
    scores = SCALE * (keys @ rounded_query(q))
    if softcap:
        scores = softcap * np.tanh(scores / softcap)
    total, out = np.exp(sink), np.zeros(len(q))
    for leaf in np.unique(positions // LEAF):
        own = positions // LEAF == leaf
        largest = scores[own].max()
        weights = rounded(256 * np.exp(scores[own] - largest)) / 256 * np.exp(largest)
        total += weights.sum()
        out += weights @ values[own]
    return out / total, np.log(total)


def definition(cache, q, mask, softcap, sinks):
    g = cache.geometry
    out, lse = np.zeros(q.shape), np.zeros(q.shape[:2])
    for b, c in enumerate(cache.cached):
        for t in range(cache.rows[b], cache.rows[b + 1]):
            seen = np.array([s for s in range(cache.length(b)) if sees(mask, c + t - cache.rows[b], s)], int)
            for h in range(HEADS):
                rows = np.array([cache.values[b][s][:, 1, h * g.heads // HEADS] for s in seen])
                rows = rows.reshape(-1, 2, g.dim)
                out[t, h], lse[t, h] = one_row(q[t, h], rows[:, 0], rows[:, 1], seen, softcap,
                                               -np.inf if sinks is None else sinks[h])
    return out, lse


def module(g, mask, softcap=0, sinks=False, products="products f8E4M3FN"):
    q, lse = f"tensor<?x{HEADS}x{g.dim}xf32>", f"tensor<?x{HEADS}xf32>"
    return g.types() + f"""
        func.func @f(%q: {q}, %rows: tensor<?xi32>, %sinks: tensor<{HEADS}xf32>, %kv: !kv)
            -> ({q}, {lse}) attributes {{kv.entry}} {{
          %l = arith.constant 1 : index
          %o, %lse = kv.attention %q in %kv[%l] rows %rows {"sinks %sinks" if sinks else ""}
              mask <{mask}> scale {SCALE} {f"softcap {softcap}" if softcap else ""} {products}
              : {q} in !kv, tensor<?xi32> {f"sinks tensor<{HEADS}xf32>" if sinks else ""} -> {q}, {lse}
          return %o, %lse : {q}, {lse}
        }}"""


def geometry(dim=32, page=16, layout="nhd", strategy="paged"):
    return Geometry("f8E4M3FN", strategy, 2, 2, dim, page, layout=layout)


def filled(g, cached, new, keys):
    """A cache whose sequence b has the first rows of keys[b], [S, parts, H, D], in layer 1."""
    cache = Cache(g, np.random.default_rng(0), cached, new)
    for b, rows in enumerate(keys):
        for s in range(cached[b] + new[b]):
            cache.write(b, s, 1, rows[s])
    return cache


@pytest.mark.parametrize("pipeline,dim,page,mask,softcap,with_sinks", [
    ("kv-cpu", 64, 16, "causal", 0, False), ("kv-cpu", 32, 3, "sliding = 150", CAP, True),
    ("kv-reference", 32, 128, "causal", 0, True), ("kv-reference", 32, 16, "sliding = 37", 0, False)])
def test_definition(pipeline, dim, page, mask, softcap, with_sinks):
    """Prompts, chunks and single tokens in one batch. A score that stands at the edge between two numbers
    of 8 bits may fall to either side: few results may be off by such a step."""
    rng = np.random.default_rng(1)
    g = geometry(dim, page)
    cached, new = [0, 127, 130, 300, 0], [9, 1, 2, 1, 0]
    keys = [rng.standard_normal((c + n, 2, g.heads, dim)) * 2 for c, n in zip(cached, new)]
    cache = filled(g, cached, new, keys)
    q = rng.standard_normal((int(cache.rows[-1]), HEADS, dim)).astype(np.float32)
    # Rows of any size: each has a scale of its own. A row of zeros has one as well.
    q *= np.float32(10.0) ** rng.integers(-3, 2, (len(q), HEADS, 1))
    q[1, 2] = 0
    sinks = rng.standard_normal(HEADS).astype(np.float32)
    artifact = compiled(module(g, mask, softcap, with_sinks), *of_pipeline(pipeline))
    out, lse = attend(artifact, cache, q, sinks, threads=2)
    want, want_lse = definition(cache, q, mask, softcap, sinks if with_sinks else None)
    exact, _ = cache.attend(q, 1, mask, SCALE, softcap, sinks if with_sinks else None)
    error = np.abs(out - want)
    assert error.max() < 2e-2 and np.mean(error > 5e-5) < 0.01, (error.max(), np.mean(error > 5e-5))
    np.testing.assert_allclose(lse, want_lse, rtol=2e-3, atol=2e-3)
    # What the option costs is seen: this is not the attention without it.
    assert np.mean(np.abs(exact - want) > 5e-4) > 0.3


def test_query_that_is_no_number():
    """One infinity or NaN in a row of q makes no numbers of that row's result, and of no other."""
    g, rng = geometry(), np.random.default_rng(2)
    cache = filled(g, [0], [3], [rng.standard_normal((3, 2, g.heads, g.dim))])
    q = rng.standard_normal((3, HEADS, g.dim)).astype(np.float32)
    q[1, 0, 5], q[2, 3, 7] = np.inf, np.nan
    out, _ = attend(compiled(module(g, "causal"), *of_pipeline("kv-cpu")), cache, q, np.zeros(HEADS, np.float32))
    lost = np.isnan(out).all(-1)
    assert lost[1, 0] and lost[2, 3] and lost.sum() == 2
    assert np.isfinite(out[~lost]).all()


LONG = 275


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(4)
    return (rng.standard_normal((LONG, 2, 2, 32)) * 2,
            rng.standard_normal((LONG, HEADS, 32)).astype(np.float32))


def computed(rows, first, end, page=16, layout="nhd", strategy="paged", company=0, threads=1):
    """Rows first .. end of the sequence, behind `company` tokens of another one."""
    keys, q = rows
    rng = np.random.default_rng(company)
    other = rng.standard_normal((company + 40, 2, 2, 32)) * 5
    g = geometry(page=LONG + 50 if strategy == "continuous" else page, layout=layout, strategy=strategy)
    cache = filled(g, [40, first], [company, end - first], [other, keys])
    more = rng.standard_normal((company, HEADS, 32)).astype(np.float32)
    # Other pages are compared with the usual ones, for which it is compiled as users do.
    artifact = compiled(module(g, "causal"), *of_pipeline("kv-cpu", quick=g != geometry()))
    out, lse = attend(artifact, cache, np.concatenate([more, q[first:end]]), np.zeros(HEADS, np.float32), threads)
    return out[company:].tobytes(), lse[company:].tobytes()


@pytest.mark.parametrize("more", [
    {}, {"page": 1}, {"page": 128, "layout": "hnd"}, {"layout": "cpu"}, {"strategy": "continuous"},
    {"company": 3, "threads": 3}], ids=str)
def test_a_row_depends_on_nothing_around_it(rows, more):
    """The last rows of a prompt, as a decode in other pages and company gives them."""
    out, lse = computed(rows, LONG - 20, LONG)
    size, size_lse = len(out) // 20, len(lse) // 20
    for i in (0, 19):
        alone = computed(rows, LONG - 20 + i, LONG - 19 + i, **more)
        assert alone == (out[i * size:(i + 1) * size], lse[i * size_lse:(i + 1) * size_lse])


def test_what_kv_import_writes():
    config = synthetic.make_config("llama", head_dim=64)
    text = ModuleWriter(config, "bf16", 128, cache="f8E4M3FN", products="f8E4M3FN").text()
    assert "<paged, f8E4M3FN, " in text and text.count(" products f8E4M3FN\n") == text.count("kv.attention ")
    subprocess.run([KV_OPT, "-o", "/dev/null"], input=text, text=True, check=True)


@pytest.mark.parametrize("kind,options,message", [
    ("llama", ["--products", "f8E4M3FN"], "--products f8E4M3FN is for a cache of f8E4M3FN: give --cache f8E4M3FN"),
    ("llama", ["--products", "f8E4M3FN", "--cache", "bf16"],
     "--products f8E4M3FN is for a cache of f8E4M3FN: give --cache f8E4M3FN"),
    ("llama", ["--products", "f8E4M3FN", "--cache", "f8E4M3FN"],
     "--products f8E4M3FN is for heads of a multiple of 32 elements, those of"),
    ("deepseek_v2", ["--products", "f8E4M3FN", "--cache", "f8E4M3FN"], "has a latent cache, whose products are of 16 bits"),
    ("llama", ["--cache", "f8E4M3FN", "--from", "torch"],
     "--cache is for a model that kv-import writes itself, not with --from")])
def test_what_kv_import_refuses(tmp_path, kind, options, message):
    config = synthetic.make_config(kind)
    synthetic.write_hf(tmp_path / "hf", config, synthetic.make_weights(config))
    assert message in fails(KV_IMPORT, tmp_path / "hf", "-o", tmp_path / "out", *options)
