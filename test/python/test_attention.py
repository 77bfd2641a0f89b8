"""Generated attention on the CPU: every variant against numpy in double precision, and rows whose bits
depend on nothing around them."""

import subprocess

import numpy as np
import pytest

from caches import Cache, Geometry
from covering import covering_array
from host import call_runtime, has_matrix_unit
from tools import QUICK, find

KV_COMPILE = find("kv-compile")

# What decides which code is generated. A covering array holds every pair of values of two of them.
DTYPES = [("f32", ()), ("f16", ()), ("bf16", ()), ("f8E4M3FN", ()), ("f8E5M2", ("f32", 16)),
          ("i8", ("f32", 0)), ("i8", ("f8E8M0FNU", 8)), ("f8E4M3FN", ("f8E8M0FNU", 4))]
PARAMETERS = {
    "dtype": DTYPES,
    "dim": [64, 80, 96, 112, 128, 192, 256, 8, 20],
    "group": [1, 2, 3, 4, 7, 8, 16, 40],
    "page": [1, 3, 16, 128],
    "place": ["nhd", "hnd", "cpu", "continuous"],
    "mask": ["causal", "none", "sliding = 37", "chunked = 100", "sliding_noncausal = 300",
             "chunked_causal = 100"],
    "more": ["", "softcap", "sinks", "latent"],
    "mcpu": ["native", "x86-64-v3"],
}
# Of few rows only: half of them as users compile them.
LEVELS = {"level": ["-O3", QUICK]}
# The same of what a matrix unit multiplies: rows of bf16 and a cache of it.
MATRIX_LEVEL = "x86-64-v4-amx"
MATRIX_PARAMETERS = PARAMETERS | {"dtype": [("bf16", ())], "dim": [32, 64, 96, 128, 160, 192, 256],
                                  "more": ["", "softcap", "sinks"], "mcpu": [MATRIX_LEVEL]}
needs_matrix_unit = pytest.mark.machine(has_matrix_unit(), "AMX")


def geometry(dtype, dim, page, place, latent=False, heads=2, layers=2, **more):
    kind, scale = dtype
    if scale:
        scale = (scale[0], dim if scale[1] == 0 or dim % scale[1] else scale[1])
    v_dim = dim // 2 + 3 if latent else 0
    strategy, layout = ("continuous", "nhd") if place == "continuous" else ("paged", place)
    return Geometry(kind, strategy, layers, 1 if latent else heads, dim,
                    more.pop("room", 700) if strategy == "continuous" else page, v_dim, scale, layout)


def attention_module(g, heads, mask, softcap, sinks):
    q, out, lse = (f"tensor<?x{heads}x{g.dim}xf32>", f"tensor<?x{heads}x{g.value_dim}xf32>",
                   f"tensor<?x{heads}xf32>")
    return g.types() + f"""
        func.func @f(%q: {q}, %rows: tensor<?xi32>, %sinks: tensor<{heads}xf32>, %kv: !kv)
            -> ({out}, {lse}) attributes {{kv.entry}} {{
          %l = arith.constant 1 : index
          %o, %lse = kv.attention %q in %kv[%l] rows %rows {"sinks %sinks" if sinks else ""}
              mask <{mask}> scale 0.11 {"softcap 3.0" if softcap else ""}
              {{kv.kernel = #kv.kernel<vector>}} : {q} in !kv, tensor<?xi32> {f"sinks tensor<{heads}xf32>" if sinks else ""}
                -> {out}, {lse}
          return %o, %lse : {out}, {lse}
        }}"""


def compile_module(folder, text, mcpu="native", level="-O3"):
    """Of the CPU with a matrix unit with rows of bf16, for which it is used."""
    source, artifact = folder / "m.mlir", folder / f"m-{mcpu}.so"
    if mcpu == MATRIX_LEVEL:
        types, function = text.split("func.func")
        text = f"{types} module attributes {{kv.activations = bf16}} {{ func.func{function} }}"
    source.write_text(text)
    subprocess.run([KV_COMPILE, source, "-o", artifact, f"--mcpu={mcpu}", level], check=True)
    return artifact


def filled(g, cached, new, seed=0):
    """A cache that holds this step's keys too."""
    rng = np.random.default_rng(seed)
    cache = Cache(g, rng, cached, new)
    for b, (c, n) in enumerate(zip(cached, new)):
        for s in range(c, c + n):
            cache.write(b, s, 1, rng.standard_normal((g.parts, g.heads, g.dim)) * 2)
    return cache


def attend(artifact, cache, q, sinks, threads=1):
    g, (tokens, heads, _) = cache.geometry, q.shape
    out = np.full((tokens, heads, g.value_dim), np.nan, np.float32)
    lse = np.full((tokens, heads), np.nan, np.float32)
    status, message = call_runtime(artifact, [q, cache.rows, sinks, *cache.arrays(), out, lse], threads)
    assert status == 0, message
    return out, lse


def name_of(case):
    return "-".join(str(v).replace(" ", "").replace("'", "") for v in case.values())


def check_variant(folder, case):
    """Prompts, chunks and single tokens in one batch, of lengths around the edges of pages and leaves."""
    g = geometry(case["dtype"], case["dim"], case["page"], case["place"], case["more"] == "latent")
    heads = g.heads * case["group"]
    softcap, with_sinks = case["more"] == "softcap", case["more"] == "sinks"
    cached = [case["page"] - 1, 0, 255, 257, 0, 530]
    new = [1, 19, 1, 2, 0, 3]
    cache = filled(g, cached, new)
    rng = np.random.default_rng(7)
    q = rng.standard_normal((int(cache.rows[-1]), heads, g.dim), np.float32)
    sinks = rng.standard_normal(heads).astype(np.float32)
    sinks[0] = -np.inf
    artifact = compile_module(folder, attention_module(g, heads, case["mask"], softcap, with_sinks),
                              case["mcpu"], case.get("level", "-O3"))
    out, lse = attend(artifact, cache, q, sinks, threads=2)
    want, want_lse = cache.attend(q, 1, case["mask"], 0.11, 3.0 if softcap else 0,
                                  sinks if with_sinks else None)
    # A matrix unit takes queries and weights as two numbers of bf16 each.
    limit = 2e-4 if case["mcpu"] == MATRIX_LEVEL else 2e-5
    np.testing.assert_allclose(out, want, rtol=limit, atol=limit)
    np.testing.assert_allclose(lse, want_lse, rtol=limit / 2, atol=limit / 2)


@pytest.mark.parametrize("case", covering_array(PARAMETERS | LEVELS), ids=name_of)
def test_variants(tmp_path, case):
    check_variant(tmp_path, case)


@needs_matrix_unit
@pytest.mark.parametrize("case", covering_array(MATRIX_PARAMETERS | LEVELS), ids=name_of)
def test_matrix_variants(tmp_path, case):
    check_variant(tmp_path, case)


LONG = 2600  # more than a leaf group
BITS = [("bf16", (), "native"), ("i8", ("f32", 16), "native"),
        pytest.param(("bf16", (), MATRIX_LEVEL), marks=needs_matrix_unit)]


class Rows:
    """The rows of one sequence of LONG tokens, computed in whatever steps and company."""

    def __init__(self, folder, dtype, mask="causal", group=3, dim=64, mcpu="native"):
        self.folder, self.dtype, self.mask, self.group, self.dim = folder, dtype, mask, group, dim
        self.mcpu = mcpu
        self.artifacts = {}
        self.caches = {}
        self.queries = np.random.default_rng(3).standard_normal((LONG, group, dim), np.float32)

    def run(self, steps, threads=1, page=16, place="nhd", mcpu=None, before=(), after=()):
        """Rows of the positions in `steps`, pairs of first and end; `before` and `after` are other
        sequences, (cached, new), of the same step."""
        mcpu = mcpu or self.mcpu
        g = geometry(self.dtype, self.dim, page, place, heads=1, room=LONG + 8)
        if (page, place, mcpu) not in self.artifacts:
            folder = self.folder / f"{page}-{place}"
            folder.mkdir(exist_ok=True)
            text = attention_module(g, self.group, self.mask, False, True)
            # Other pages are compared with the first, which is compiled as users do.
            level = "-O3" if (page, place) == (16, "nhd") else QUICK
            self.artifacts[page, place, mcpu] = compile_module(folder, text, mcpu, level)
        results = []
        for first, end in steps:
            companions = [*before, (0, end), *after]
            key = (page, place, end, *companions)
            if key not in self.caches:
                # The sequence itself gets the same keys wherever it stands in the batch.
                self.caches[key] = self.fill(g, companions, len(before), end)
            cache = self.caches[key]
            cached = [c for c, _ in companions]
            new = [n for _, n in companions]
            cached[len(before)], new[len(before)] = first, end - first
            cache.cached, cache.new = np.array(cached, np.int32), np.array(new, np.int32)
            cache.rows = np.concatenate([[0], np.cumsum(new)]).astype(np.int32)
            cache.max_lengths = np.array([[cache.new.max(), (cache.cached + cache.new).max()]], np.int32)
            others = np.random.default_rng(5)
            q = np.concatenate([self.queries[first:end] if b == len(before) else
                                others.standard_normal((n, self.group, self.dim), np.float32)
                                for b, n in enumerate(new)])
            sinks = np.full(self.group, 0.5, np.float32)
            out, lse = attend(self.artifacts[page, place, mcpu], cache, q, sinks, threads)
            mine = slice(cache.rows[len(before)], cache.rows[len(before) + 1])
            results.append(np.concatenate([out[mine], lse[mine, :, None]], axis=2))
        return np.concatenate(results)

    @staticmethod
    def fill(g, companions, index, end):
        cache = Cache(g, np.random.default_rng(0), [0] * len(companions), [c + n for c, n in companions])
        for b, (c, n) in enumerate(companions):
            rng = np.random.default_rng(1 if b == index else 2 + b)
            for s in range(end if b == index else c + n):
                cache.write(b, s, 1, rng.standard_normal((g.parts, g.heads, g.dim)) * 2)
        return cache


@pytest.fixture(scope="module", params=BITS, ids=lambda p: f"{p[0]}-{p[2]}")
def rows(request, tmp_path_factory):
    *dtype, mcpu = request.param
    return Rows(tmp_path_factory.mktemp("rows"), dtype, mcpu=mcpu)


@pytest.fixture(scope="module")
def whole(rows):
    """The whole prompt at once, by one thread."""
    result = rows.run([(0, LONG)])
    assert len(np.unique(result[:, 0, 0])) > LONG - 5
    return result


def same(have, want):
    assert have.tobytes() == want.tobytes(), np.argwhere(have != want)[:5]


@pytest.mark.parametrize("threads", (2, 3, 8))
def test_bits_of_threads(rows, whole, threads):
    same(rows.run([(0, LONG)], threads), whole)
    same(rows.run([(LONG - 1, LONG)], threads), whole[-1:])


def test_bits_of_decode(rows, whole):
    """Single tokens, whose leaves are shared out, at the edges of leaves and of their groups."""
    for position in (0, 1, 15, 16, 254, 255, 256, 257, 300, 511, 2046, 2047, 2048, 2049, LONG - 1):
        same(rows.run([(position, position + 1)], threads=2), whole[position:position + 1])


@pytest.mark.parametrize("chunk", (7, 100, 1111))
def test_bits_of_chunks(rows, whole, chunk):
    steps = [(first, min(first + chunk, LONG)) for first in range(0, LONG, chunk)]
    steps = steps if chunk > 7 else steps[:3] + steps[35:39] + steps[290:295]
    same(rows.run(steps, threads=2), np.concatenate([whole[first:end] for first, end in steps]))


@pytest.mark.parametrize("page, place", [(1, "nhd"), (7, "hnd"), (128, "cpu"), (16, "cpu"),
                                         (16, "continuous")])
def test_bits_of_pages_and_layouts(rows, whole, page, place):
    steps = [(2040, 2060), (LONG - 1, LONG)]
    same(rows.run(steps, page=page, place=place), np.concatenate([whole[a:b] for a, b in steps]))


@pytest.mark.parametrize("before, after", [([(0, 3)], []), ([(300, 1), (0, 5)], [(2300, 1), (0, 0)]),
                                           ([(17, 1)] * 20, [(600, 40)])])
def test_bits_of_company(rows, whole, before, after):
    """Other sequences change how the leaves are shared out."""
    same(rows.run([(LONG - 3, LONG)], threads=2, before=before, after=after), whole[-3:])


def test_bits_of_levels(rows, whole):
    """AVX2 has half the lanes in a register, and other register tiles. A matrix unit sums in an order of
    its own."""
    other = rows.run([(0, LONG)], mcpu="x86-64-v3")
    if rows.mcpu == MATRIX_LEVEL:
        assert other.tobytes() != whole.tobytes()
        np.testing.assert_allclose(whole, other, rtol=1e-4, atol=1e-4)
        return
    same(other, whole)
    same(rows.run([(LONG - 1, LONG)], mcpu="x86-64-v3"), whole[-1:])


# Rows of chunks and of `none` see what comes after them: the step's end must be that of what they see.
@pytest.mark.parametrize("dtype, dim, mcpu", [
    ("f32", 16, "native"), pytest.param("bf16", 32, MATRIX_LEVEL, marks=needs_matrix_unit)])
@pytest.mark.parametrize("mask, steps", [
    ("sliding = 700", [(698, 703), (990, 1020), (2040, 2060), (LONG - 1, LONG)]),
    ("chunked = 500", [(690, 1000), (1999, 2000), (2499, LONG)]),
    ("none", [(LONG - 300, LONG), (LONG - 1, LONG)])])
def test_bits_of_masks(tmp_path, mask, steps, dtype, dim, mcpu):
    """Rows of a tile that see different keys, and leaves that no row sees from the beginning on."""
    rows = Rows(tmp_path, (dtype, ()), mask, group=2, dim=dim, mcpu=mcpu)
    want = rows.run([(0, LONG)])
    same(rows.run(steps, threads=2), np.concatenate([want[first:end] for first, end in steps]))


@pytest.mark.parametrize("dtype, mcpu", [("f32", "native"),
                                         pytest.param("bf16", MATRIX_LEVEL, marks=needs_matrix_unit)])
@pytest.mark.parametrize("group", (1, 2, 3))
def test_what_a_row_does_not_see(tmp_path, group, dtype, mcpu):
    """Keys that are NaN are nobody's but theirs who see them, in one tile and one vector."""
    g = geometry((dtype, ()), 64, 16, "nhd", heads=1)
    artifact = compile_module(tmp_path, attention_module(g, group, "causal", False, False), mcpu,
                              "-O3" if group == 3 else QUICK)
    q = np.random.default_rng(1).standard_normal((40, group, 64), np.float32)
    sinks = np.zeros(group, np.float32)
    want, _ = attend(artifact, filled(g, [0], [40]), q, sinks)
    # Register tiles begin at every place among the tokens.
    for key in range(30, 37):
        cache = filled(g, [0], [40])
        nothing = np.nan if dtype == "f32" else 0x7FC0
        cache.blocks[cache.table[0, key // 16], :, 1, key % 16] = nothing
        have, _ = attend(artifact, cache, q, sinks)
        same(have[:key], want[:key])
        assert np.isnan(have[key:]).all()


@needs_matrix_unit
def test_infinite_values(tmp_path):
    """They make a row's results infinite or no numbers, the same ones whatever other rows are there."""
    g = geometry(("bf16", ()), 64, 16, "nhd", heads=1)
    artifact = compile_module(tmp_path, attention_module(g, 2, "causal", False, False), MATRIX_LEVEL)
    q, sinks = np.random.default_rng(1).standard_normal((40, 2, 64), np.float32), np.zeros(2, np.float32)
    cache = filled(g, [0], [40])
    cache.blocks[cache.table[0, 0], 1, 1, 0] = 0x7F80
    whole, _ = attend(artifact, cache, q, sinks)
    assert not np.isfinite(whole).any()
    for position in (3, 31, 32, 35):
        cache.cached, cache.new = np.array([position], np.int32), np.array([1], np.int32)
        cache.rows = np.array([0, 1], np.int32)
        cache.max_lengths = np.array([[1, position + 1]], np.int32)
        same(attend(artifact, cache, q[position:position + 1], sinks)[0], whole[position:position + 1])


def test_pages_that_do_not_exist(tmp_path):
    g = geometry(("f32", ()), 64, 16, "nhd")
    artifact = compile_module(tmp_path, attention_module(g, 4, "causal", False, False))
    cache = filled(g, [20, 60], [1, 0])
    q, sinks = np.zeros((1, 4, 64), np.float32), np.zeros(4, np.float32)
    attend(artifact, cache, q, sinks)
    cache.table[0, 2] = 9999  # behind the sequence: nobody looks
    attend(artifact, cache, q, sinks)
    for page in (-1, len(cache.blocks)):
        cache.table[0, 1] = page
        out = [np.zeros((1, 4, 64), np.float32), np.zeros((1, 4), np.float32)]
        status, message = call_runtime(artifact, [q, cache.rows, sinks, *cache.arrays(), *out], 2)
        assert status != 0
        assert message == "attention: lookup_table names a page that the cache does not have"
