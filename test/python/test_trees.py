"""Trees of drafts: a step whose rows are nodes of a tree gives what each path gives as a sequence of its
own. By every kernel of the CPU, over caches of every kind."""

import subprocess

import numpy as np
import pytest

from caches import Cache, Geometry
from host import call_runtime, sees, softmax
from tools import find, of_pipeline

KV_COMPILE = find("kv-compile")
G = Geometry
GEOMETRIES = [
    G("f32"), G("bf16", layout="hnd", page=3), G("f16", "continuous", page=16),
    G("i8", scale=("f32", 4), layout="cpu"), G("bf16", heads=1, dim=12, v_dim=8),
    G("f32", page_layers=1, window=5, page=2),
]
# (pipeline, kernel): generated code, the runtime's function, the definition.
KERNELS = [("kv-cpu", "vector"), ("kv-cpu", "reference"), ("kv-reference", "decomposition")]
SCALE = 0.37


def compiled(folder, g, heads, masks, pipeline="kv-cpu", kernel="vector", tree=True):
    """@f: positions, then an attention a mask."""
    q, out, lse = (f"tensor<?x{heads}x{g.dim}xf32>", f"tensor<?x{heads}x{g.value_dim}xf32>",
                   f"tensor<?x{heads}xf32>")
    of, type_of = ("tree %tree", "tree tensor<?xi64>") if tree else ("", "")
    text = g.types() + f"""
        func.func @f(%q: {q}, %rows: tensor<?xi32>, %tree: tensor<?xi64>, %kv: !kv)
            -> (tensor<?xi32>, {", ".join([out, lse] * len(masks))}) attributes {{kv.entry}} {{
          %l = arith.constant 1 : index
          %p = kv.positions %kv, %rows {of} : !kv, tensor<?xi32> {type_of} -> tensor<?xi32>"""
    for i, mask in enumerate(masks):
        text += f"""
          %o{i}, %lse{i} = kv.attention %q in %kv[%l] rows %rows {of} mask <{mask}> scale {SCALE}
              {{kv.kernel = #kv.kernel<{kernel}>}} : {q} in !kv, tensor<?xi32> {type_of} -> {out}, {lse}"""
    names = ", ".join(f"%o{i}, %lse{i}" for i in range(len(masks)))
    text += f"""
          return %p, {names} : tensor<?xi32>, {", ".join([out, lse] * len(masks))}
        }}"""
    source, artifact = folder / f"{kernel}-{tree}.mlir", folder / f"{kernel}-{tree}.so"
    source.write_text(text)
    # The runtime's function is compiled already.
    subprocess.run([KV_COMPILE, *of_pipeline(pipeline, kernel == "reference"), source, "-o", artifact], check=True)
    return artifact


def run(artifact, cache, q, words, masks=1):
    """(positions, [(out, lse) of each mask])"""
    g, (tokens, heads, _) = cache.geometry, q.shape
    results = [np.full(tokens, -77, np.int32)]
    for _ in range(masks):
        results += [np.full((tokens, heads, g.value_dim), np.nan, np.float32),
                    np.full((tokens, heads), np.nan, np.float32)]
    status, message = call_runtime(artifact, [q, cache.rows, words, *cache.arrays(), *results], threads=2)
    assert status == 0, message
    return results[0], list(zip(results[1::2], results[2::2]))


def fill(cache, rng):
    """This step's keys."""
    g = cache.geometry
    for b, (c, n) in enumerate(zip(cache.cached, cache.new)):
        for s in range(c, c + n):
            cache.write(b, s, 1, rng.standard_normal((g.parts, g.heads, g.dim)) * 2)
    return cache


def random_tree(rng, nodes):
    """Each node's ancestors, from the root on, and itself: chains, stars and what is between."""
    depth_first = rng.integers(3)
    paths = []
    for node in range(nodes):
        parent = -1
        if node:
            parent = node - 1 if rng.random() < (0, 0.5, 0.9)[depth_first] else int(rng.integers(-1, node))
        paths.append((paths[parent] if parent >= 0 else []) + [node])
    return paths


def words_of(rng, paths):
    """Bits of the ancestors; its own and those behind may be anything."""
    words = []
    for node, path in enumerate(paths):
        word = sum(1 << j for j in path[:-1]) | int(rng.integers(1 << 62)) << node
        words.append(word & (1 << 64) - 1)
    return words


class Step:
    """Sequences with trees of their last rows, in random company."""

    def __init__(self, g, rng, cached, new, heads):
        self.cache = fill(Cache(g, rng, cached, new), rng)
        self.q = rng.standard_normal((int(self.cache.rows[-1]), heads, g.dim), np.float32) * 2
        self.paths, words = [], []
        for n in new:
            before = max(n - 64, 0)
            tree = random_tree(rng, n - before)
            # Rows before the tree are no nodes: a path of all before, whatever their words are.
            self.paths += [list(range(i + 1)) for i in range(before)]
            self.paths += [list(range(before)) + [before + j for j in path] for path in tree]
            words += [int(rng.integers(1 << 62)) for _ in range(before)] + words_of(rng, tree)
        self.words = np.array(words, np.uint64).view(np.int64)

    def want(self, mask):
        """Each row by its definition: its path alone behind the tokens in the cache."""
        cache, g, heads = self.cache, self.cache.geometry, self.q.shape[1]
        out, lse = np.zeros((*self.q.shape[:2], g.value_dim)), np.zeros(self.q.shape[:2])
        positions = np.zeros(len(self.q), int)
        for b, c in enumerate(cache.cached):
            for t in range(cache.rows[b], cache.rows[b + 1]):
                keys = [*range(c), *(c + i for i in self.paths[t])]
                positions[t] = len(keys) - 1
                seen = [s for p, s in enumerate(keys) if sees(mask, positions[t], p)]
                for h in range(heads):
                    rows = np.array([cache.values[b][s][:, 1, h * g.heads // heads] for s in seen])
                    out[t, h], lse[t, h] = softmax(self.q[t, h], rows[:, 0],
                                                   rows[:, -1, :g.value_dim], SCALE)
        return positions, out, lse


@pytest.mark.parametrize("g", GEOMETRIES, ids=str)
def test_random_trees(tmp_path, g):
    masks = ["sliding = 3", "chunked_causal = 4"]
    masks += [f"sliding = {g.window}"] if g.window else ["causal"]
    heads = g.heads * 3
    new = [5, 1, 9, 0, 4] if g.strategy == "continuous" else [13, 1, 0, 70]
    steps = [Step(g, np.random.default_rng(seed), [0, 7, 4, 3, 6][:len(new)], new, heads) for seed in (0, 1)]
    wanted = [[step.want(mask) for mask in masks] for step in steps]
    # Generated code always, the runtime's function and the definition in turn.
    for pipeline, kernel in (KERNELS[0], KERNELS[1 + GEOMETRIES.index(g) % 2]):
        artifact = compiled(tmp_path, g, heads, masks, pipeline, kernel)
        for step, all_wanted in zip(steps, wanted):
            positions, results = run(artifact, step.cache, step.q, step.words, len(masks))
            for mask, (out, lse), (want_positions, want, want_lse) in zip(masks, results, all_wanted):
                assert (positions == want_positions).all()
                np.testing.assert_allclose(out, want, rtol=4e-5, atol=4e-5, err_msg=f"{kernel} {mask}")
                np.testing.assert_allclose(lse, want_lse, rtol=4e-5, atol=4e-5, err_msg=f"{kernel} {mask}")


def same(have, want):
    assert have.tobytes() == want.tobytes(), np.argwhere(have != want)[:5]


@pytest.mark.parametrize("g, group", [(G("bf16", dim=64, page=16), 3), (G("f32", dim=20, page=3), 30)], ids=str)
@pytest.mark.parametrize("kernel", ("vector", "reference"))
def test_bits(tmp_path, g, group, kernel):
    """No branches: the bits of an attention without a tree. Of any tree: those of a row depend on its path
    alone, and where that is the rows before it, they are the ones of the sequence without branches."""
    heads, mask = g.heads * group, ["causal"]
    plain = compiled(tmp_path, g, heads, mask, kernel=kernel, tree=False)
    artifact = compiled(tmp_path, g, heads, mask, kernel=kernel)
    rng = np.random.default_rng(1)
    cached, new = [250, 0, 515, 31], [50, 80, 20, 1]
    step = Step(g, rng, cached, new, heads)
    _, [(chain, chain_lse)] = run(plain, step.cache, step.q, step.words)
    _, [(out, lse)] = run(artifact, step.cache, step.q, np.full_like(step.words, -1))
    same(out, chain), same(lse, chain_lse)

    _, [(out, lse)] = run(artifact, step.cache, step.q, step.words)
    straight = [t for t, path in enumerate(step.paths) if path == list(range(len(path)))]
    assert len(straight) > 20 and not (out == chain).all()
    same(out[straight], chain[straight]), same(lse[straight], chain_lse[straight])
    # The last nodes left out, and nobody else in the step.
    for b, n in ((0, 40), (2, 11)):
        first = step.cache.rows[b]
        few = Cache(g, np.random.default_rng(0), [cached[b]], [n])
        for s, rows in step.cache.values[b].items():
            if s < cached[b] + n:
                few.write(0, s, 1, rows[:, 1])
        _, [(less, less_lse)] = run(artifact, few, step.q[first:first + n], step.words[first:first + n])
        same(less, out[first:first + n]), same(less_lse, lse[first:first + n])


@pytest.mark.parametrize("kernel", ("vector", "reference"))
def test_other_branches_do_not_matter(tmp_path, kernel):
    """Keys and values that are no numbers are those of their descendants only."""
    g, group = G("f32", dim=32, page=4), 2
    artifact = compiled(tmp_path, g, g.heads * group, ["causal"], kernel=kernel)
    step = Step(g, np.random.default_rng(2), [5], [30], g.heads * group)
    _, [(want, _)] = run(artifact, step.cache, step.q, step.words)
    for node in (0, 7, 29):
        page, layer, slot = step.cache.place(0, 5 + node, 1)
        kept = step.cache.blocks[page, :, layer, slot].copy()
        step.cache.blocks[page, :, layer, slot] = np.nan
        _, [(out, _)] = run(artifact, step.cache, step.q, step.words)
        hit = np.array([node in path for path in step.paths])
        assert np.isnan(out[hit]).all() and hit.sum() < 30
        same(out[~hit], want[~hit])
        step.cache.blocks[page, :, layer, slot] = kept


def test_too_few_words(tmp_path):
    g = G("f32")
    artifact = compiled(tmp_path, g, 2, ["causal"])
    step = Step(g, np.random.default_rng(0), [0], [6], 2)
    results = [np.zeros(6, np.int32), np.zeros((6, 2, 8), np.float32), np.zeros((6, 2), np.float32)]
    status, message = call_runtime(
        artifact, [step.q, step.cache.rows, step.words[:5], *step.cache.arrays(), *results])
    assert status != 0 and message == "row_offsets ends with 6, the step has 5 tokens"
