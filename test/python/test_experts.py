"""kv.route and kv.expert_matmul through both pipelines: against numpy in double precision, and the
bits of kv.matmul with each expert's matrix alone, whatever else a step holds."""

import numpy as np
import pytest

from host import call, call_runtime, rounded
from kv_import.weights import quant_blocks
from kv_import.weights.weights_writer import pack_n16k
from test_quantized import compiled, dequantized, packed, random_blocks, rounded_rows

PIPELINES = ("kv-reference", "kv-cpu")
EXPERTS, CHOICES = 6, 3


def route(choices, count, normalised):
    types = f"tensor<?x{choices}xi32>, tensor<?x{choices}xf32>"
    return f"""
      func.func @f(%logits: tensor<?x{count}xf32>) -> ({types}) attributes {{kv.entry}} {{
        %e, %s = kv.route %logits {"normalised" if normalised else ""}
            : tensor<?x{count}xf32> -> {types}
        return %e, %s : {types}
      }}"""


@pytest.mark.parametrize("normalised", (False, True))
@pytest.mark.parametrize("choices,count", [(1, 1), (1, 5), (2, 8), (8, 128), (7, 7)])
def test_route(choices, count, normalised):
    rng = np.random.default_rng(1)
    logits = (rng.standard_normal((9, count)) * 3).astype(np.float32)
    logits[1] = 2.5  # all equal: the lowest numbers
    logits[2] = np.round(logits[2])  # some equal
    if count > 1:
        logits[3, 0] = -np.inf
    logits[4] += 300  # exponentials that do not fit into a float
    logits[5, count - 1] = 1e30
    # Stable, so that of equal ones the lower number is first.
    order = np.argsort(-logits.astype(np.float64), axis=1, kind="stable")[:, :choices]
    chosen = np.take_along_axis(logits, order, 1).astype(np.float64)
    parts = np.exp(chosen - chosen[:, :1])
    total = parts if normalised else np.exp(logits.astype(np.float64) - chosen[:, :1])
    want = parts / total.sum(axis=1, keepdims=True)
    text = route(choices, count, normalised)
    for pipeline in PIPELINES:
        artifact = compiled(text, pipeline)
        experts = np.full((9, choices), -1, np.int32)
        shares = np.full((9, choices), np.nan, np.float32)
        call(artifact, [logits, experts, shares])
        assert np.array_equal(experts, order)
        np.testing.assert_allclose(shares, want, rtol=1e-6, atol=1e-30)
        part = [np.full((2, choices), -1, np.int32), np.full((2, choices), np.nan, np.float32)]
        call(artifact, [logits[6:8].copy(), *part])
        assert part[0].tobytes() == experts[6:8].tobytes()
        assert part[1].tobytes() == shares[6:8].tobytes()


def corrected(groups, keep, best):
    """Experts of the groups that are kept by logistic functions plus a correction; shares without
    it: DeepSeek-V3."""
    kinds = "tensor<?x24xf32>"
    types = "tensor<?x4xi32>, tensor<?x4xf32>"
    return f"""
      func.func @f(%logits: {kinds}, %keys: {kinds}) -> ({types}, {kinds}) attributes {{kv.entry}} {{
        %kept = kv.keep_groups %keys groups {groups} keep {keep} best {best} : {kinds} -> {kinds}
        %e, %s = kv.route %logits by %kept sigmoid normalised
            : {kinds} by {kinds} -> {types}
        return %e, %s, %kept : {types}, {kinds}
      }}"""


@pytest.mark.parametrize("groups,keep,best", [(1, 1, 1), (4, 2, 2), (6, 3, 1), (24, 5, 1), (3, 3, 8)])
def test_kept_groups(groups, keep, best):
    rng = np.random.default_rng(2)
    logits = (rng.standard_normal((9, 24)) * 3).astype(np.float32)
    logits[7] = -200  # logistic functions of 0
    keys = np.round(rng.standard_normal((9, 24)) * 2).astype(np.float32) / 2  # many are equal
    keys[1] = 1
    keys[2, 0], keys[3, 23], keys[4] = np.nan, np.inf, -np.inf
    ordered = np.where(np.isnan(keys), -np.inf, keys)
    inside = -np.sort(-ordered.reshape(9, groups, -1), axis=2)
    scores = inside[:, :, :best].sum(axis=2)
    first = np.argsort(-np.where(np.isnan(scores), -np.inf, scores), axis=1, kind="stable")[:, :keep]
    kept = np.full((9, 24), -np.inf, np.float32).reshape(9, groups, -1)
    for row, of in enumerate(first):
        kept[row, of] = keys.reshape(9, groups, -1)[row, of]
    kept = kept.reshape(9, 24)
    order = np.argsort(-np.where(np.isnan(kept), -np.inf, kept), axis=1, kind="stable")[:, :4]
    parts = 1 / (1 + np.exp(-np.take_along_axis(logits, order, 1).astype(np.float64)))
    want = parts / (parts.sum(axis=1, keepdims=True) + 1e-20)
    for pipeline in PIPELINES:
        experts, shares = np.full((9, 4), -1, np.int32), np.full((9, 4), np.nan, np.float32)
        found = np.zeros((9, 24), np.float32)
        call(compiled(corrected(groups, keep, best), pipeline),
             [logits, keys, experts, shares, found])
        np.testing.assert_array_equal(found, kept)
        assert np.array_equal(experts, order)
        # What is below the least normal float may be 0.
        np.testing.assert_allclose(shares, want, rtol=1e-6, atol=1e-30)


def test_route_of_what_is_no_number():
    """Whatever the logits, experts are numbers of experts, all different."""
    logits = np.array([[np.nan] * 4, [1, np.nan, 2, 0], [-np.inf] * 4, [np.inf, 0, np.inf, np.nan]],
                      np.float32)
    for pipeline in PIPELINES:
        experts, shares = np.full((4, 3), -1, np.int32), np.zeros((4, 3), np.float32)
        call(compiled(route(3, 4, True), pipeline), [logits, experts, shares])
        assert experts.tolist() == [[0, 1, 2], [2, 0, 3], [0, 1, 2], [0, 2, 1]]
        assert np.isnan(shares[0]).all() and np.isfinite(shares[1]).all()


class Product:
    """A kv.expert_matmul of one weight a format ("f32", "bf16" or one of blocks), whose experts
    have as many rows as `widths` says. `stored`: as a weights file has them, packed or, without
    kv.weight, row by row."""

    def __init__(self, formats, widths, columns, own_rows=False, named=True, seed=5):
        self.formats, self.widths, self.columns = formats, widths, columns
        self.own_rows, self.named = own_rows, named
        rng = np.random.default_rng(seed)
        self.stored, self.exact = [], []
        for format_, width in zip(formats, widths):
            rows = EXPERTS * width
            if format_ in quant_blocks.FORMATS:
                blocks = random_blocks(format_, rng, rows, columns)
                self.stored.append(packed(blocks, format_))
                self.exact.append(dequantized(blocks, format_))
                continue
            values = rng.standard_normal((rows, columns)).astype(np.float32)
            bits, values = rounded(values, format_)
            self.stored.append(pack_n16k(bits) if named else bits)
            self.exact.append(values)

    def blocks(self):
        return [f in quant_blocks.FORMATS for f in self.formats]

    def text(self):
        elements = [f"!kv.quant<{f}>" if q else f for f, q in zip(self.formats, self.blocks())]
        types = [f"tensor<{EXPERTS * n}x{self.columns}x{e}>"
                 for n, e in zip(self.widths, elements)]
        products = ", ".join(f"tensor<?x{CHOICES}x{n}xf32>" for n in self.widths)
        x = f"tensor<?x{f'{CHOICES}x' if self.own_rows else ''}{self.columns}xf32>"
        name = '{{kv.weight = "w{0}"}}' if self.named else ""
        arguments = ", ".join(f"%w{i}: {t} {name.format(i)}" for i, t in enumerate(types))
        weights = ", ".join(f"%w{i}" for i in range(len(types)))
        results = ", ".join(f"%y#{i}" for i in range(len(types))) if len(types) > 1 else "%y"
        return f"""
          module attributes {{kv.activations = {"i8" if any(self.blocks()) else "f32"}}} {{
          func.func @f(%x: {x}, %experts: tensor<?x{CHOICES}xi32>, {arguments}) -> ({products})
              attributes {{kv.entry}} {{
            %y{f":{len(types)}" if len(types) > 1 else ""} = kv.expert_matmul %x, {weights}
                experts(%experts) : {x}, {", ".join(types)} experts tensor<?x{CHOICES}xi32>
                -> {products}
            return {results} : {products}
          }}
          }}"""

    def outputs(self, tokens):
        return [np.full((tokens, CHOICES, n), np.nan, np.float32) for n in self.widths]

    def answer(self, artifact, x, experts):
        out = self.outputs(len(experts))
        call(artifact, [x, experts, *self.stored, *out])
        return out

    def x(self, tokens, seed=7):
        shape = (tokens, CHOICES, self.columns) if self.own_rows else (tokens, self.columns)
        return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)

    def check(self, x, experts, got):
        """Against the definition in double precision."""
        rows = np.broadcast_to(x if self.own_rows else x[:, None], (*experts.shape, self.columns))
        for exact, width, quantised, y in zip(self.exact, self.widths, self.blocks(), got):
            matrices = exact.reshape(EXPERTS, width, -1)[np.clip(experts, 0, EXPERTS - 1)]
            matrices = matrices.astype(np.float64)
            own = rows.astype(np.float64)
            if quantised:
                own = rounded_rows(np.ascontiguousarray(rows).reshape(-1, self.columns)).reshape(
                    rows.shape)
            want = np.einsum("tck,tcnk->tcn", own, matrices)
            size = np.einsum("tck,tcnk->tcn", np.abs(own), np.abs(matrices))
            np.testing.assert_array_less(np.abs(y - want), 2e-6 * size + 1e-30)


def choose(tokens, seed=8):
    """Random ones, two of each row different; expert 4 is nobody's; two numbers are outside."""
    rng = np.random.default_rng(seed)
    experts = np.array([rng.permutation([0, 1, 2, 3, 5])[:CHOICES] for _ in range(tokens)],
                       np.int32)
    if tokens > 3:
        experts[1, 0], experts[3, 2] = -9, EXPERTS + 3
        experts[2] = 1  # one expert for all choices
    return experts


CASES = [(["f32"], [32], 24, False), (["bf16"], [48], 20, True), (["f32"], [16], 7, True),
         (["bf16", "bf16"], [64, 64], 32, False), (["f32", "bf16", "f32"], [32, 16, 32], 12, False),
         *(([f], [32], 512, i % 2 == 0) for i, f in enumerate(sorted(quant_blocks.FORMATS))),
         (["q4_k", "q6_k", "bf16"], [32, 32, 16], 256, False)]


@pytest.mark.parametrize("formats,widths,columns,own_rows", CASES)
def test_products(formats, widths, columns, own_rows):
    product = Product(formats, widths, columns, own_rows)
    x, experts = product.x(41), choose(41)
    text, answers = product.text(), []
    for pipeline, mcpu in (("kv-reference", "native"), ("kv-cpu", "native"),
                           ("kv-cpu", "x86-64-v3")):
        artifact = compiled(text, pipeline, mcpu)
        answers.append(product.answer(artifact, x, experts))
        # Rows alone, and in other company.
        for begin, end in ((0, 1), (1, 4), (2, 19), (5, 5)):
            part = product.answer(artifact, x[begin:end].copy(), experts[begin:end].copy())
            assert [p.tobytes() for p in part] == [a[begin:end].tobytes() for a in answers[-1]]
    product.check(x, experts, answers[0])
    for other in answers[1:]:
        assert [a.tobytes() for a in other] == [a.tobytes() for a in answers[0]]


def test_weights_that_stay_row_major():
    """No weight of a file: the plain meaning, with the same bits."""
    plain, named = (Product(["f32", "bf16"], [32, 16], 24, named=n) for n in (False, True))
    x, experts = plain.x(9), choose(9)
    want = named.answer(compiled(named.text()), x, experts)
    for pipeline in PIPELINES:
        got = plain.answer(compiled(plain.text(), pipeline), x, experts)
        assert [a.tobytes() for a in got] == [a.tobytes() for a in want]


def test_threads():
    product = Product(["bf16", "q8_0"], [64, 48], 256)
    x, experts = product.x(33), choose(33)
    artifact = compiled(product.text())
    want = product.answer(artifact, x, experts)
    for threads in (1, 2, 3, 8):
        out = product.outputs(33)
        assert call_runtime(artifact, [x, experts, *product.stored, *out], threads) == (0, "")
        assert [o.tobytes() for o in out] == [w.tobytes() for w in want]


@pytest.mark.parametrize("format_", ("bf16", "q4_0"))
def test_the_bits_of_one_matrix_alone(format_):
    """What kv.matmul gives with the matrix of one expert."""
    product = Product([format_], [32], 64)
    x, experts = product.x(13), choose(13)
    got = product.answer(compiled(product.text()), x, experts)[0]
    blocks = product.stored[0].reshape(EXPERTS, 2, *product.stored[0].shape[1:])
    weight = f"tensor<{'x'.join(map(str, blocks.shape[1:]))}x{'i8' if format_ == 'q4_0' else format_}>"
    formats = "{formats = [#kv.quant<q4_0>]}" if format_ == "q4_0" else ""
    artifact = compiled(f"""
      func.func @f(%x: tensor<?x64xf32>, %w: {weight}) -> tensor<?x32xf32>
          attributes {{kv.entry}} {{
        %y = kv.matmul %x, %w {formats} : tensor<?x64xf32>, {weight} -> tensor<?x32xf32>
        return %y : tensor<?x32xf32>
      }}""")
    for expert in range(EXPERTS):
        alone = np.full((13, 32), np.nan, np.float32)
        call(artifact, [x, blocks[expert].copy(), alone])
        for t, c in zip(*np.nonzero(np.clip(experts, 0, EXPERTS - 1) == expert)):
            assert got[t, c].tobytes() == alone[t].tobytes()
