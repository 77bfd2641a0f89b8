"""products.py: what attention's products of 8 bits (docs/reference/products.md) cost beside a cache of f8E4M3FN whose
products are of 16 bits. By the definition in numpy, for random rows; errors are the root of the mean square,
of that of the results. Errors are in thousandths."""

import sys

import ml_dtypes
import numpy as np

from table import Table

LEAF, DEPTH, ROWS = 128, 32, 16


def rounded(x):
    return x.astype(ml_dtypes.float8_e4m3fn).astype(np.float64)


def rounded_rows(q):
    power = 2.0 ** (7 - np.floor(np.log2(np.abs(q).max(-1, keepdims=True))))
    return rounded(q * power) / power


def weights_of(power):
    return lambda w: rounded(power * w) / power


def polynomials_of_last_keys(w):
    """As sm_90a's kernel computes the weights of a leaf's last quarter (PolynomialPower.h)."""
    exponents = np.log2(np.maximum(w, 2.0 ** -24)) + 8
    whole = np.round(exponents)
    rest = exponents - whole
    powers = np.exp2(whole) * (1 + 0.702942 * rest + 0.239864 * rest ** 2)
    last = np.arange(w.shape[1]) >= w.shape[1] * 3 // 4
    return rounded(np.where(last, powers, 256 * w)) / 256


def exact(a, b):
    return a @ b


def narrow_sums(bits):
    """Of DEPTH products at a time, each cut off below `bits` bits of the largest, the sum before among them."""
    def product(a, b):
        total = np.zeros((len(a), b.shape[1]))
        for k in range(0, a.shape[1], DEPTH):
            terms = a[:, k:k + DEPTH, None] * b[None, k:k + DEPTH, :]
            largest = np.maximum(np.abs(terms).max(1), np.abs(total))
            unit = 2.0 ** (np.floor(np.log2(np.maximum(largest, 1e-300))) - (bits - 1))
            total = np.trunc(total / unit) * unit + (np.trunc(terms / unit[:, None]) * unit[:, None]).sum(1)
        return total
    return product


def attention(q, k, v, queries=lambda q: q, weights=lambda w: w, leaf=LEAF, product=exact, sums_rounded=True):
    scores = product(queries(q), k.T) / np.sqrt(q.shape[1])
    maximum, total, out = np.full(len(q), -np.inf), np.zeros(len(q)), np.zeros((len(q), v.shape[1]))
    for first in range(0, len(k), leaf):
        own = scores[:, first:first + leaf]
        largest = own.max(1)
        powers = np.exp(own - largest[:, None])
        narrow = weights(powers)
        both = np.maximum(maximum, largest)
        before, now = np.exp(maximum - both), np.exp(largest - both)
        out = out * before[:, None] + product(narrow, v[first:first + leaf]) * now[:, None]
        total = total * before + (narrow if sums_rounded else powers).sum(1) * now
        maximum = both
    return out / total[:, None]


def main():
    table = Table()
    for dim, keys, size in ((64, 512, 1), (64, 4096, 1), (128, 4096, 1), (128, 32768, 1), (128, 4096, 4)):
        rng = np.random.default_rng(0)
        q = rng.standard_normal((ROWS, dim)) * size
        k, v = rng.standard_normal((keys, dim)), rng.standard_normal((keys, dim)) + 0.5
        k8, v8 = rounded(k), rounded(v)
        wanted, stored = attention(q, k, v), attention(q, k8, v8)

        def error(result, against):
            return 1000 * np.sqrt(((result - against) ** 2).mean() / (against ** 2).mean())

        def beside(**more):
            return error(attention(q, k8, v8, **more), stored)

        case = f"{dim}, {keys} keys" + (f", queries of {size}" if size > 1 else "")
        base = error(stored, wanted)
        table.row(case, "cache, products of 16 bits", base, "‰")
        both = {"queries": rounded_rows, "weights": weights_of(256)}
        table.row(case, "cache, products of 8 bits", error(attention(q, k8, v8, **both), wanted), "‰", None,
                  "of 16 bits", error(attention(q, k8, v8, **both), wanted) / base)
        for name, value in (("queries", beside(queries=rounded_rows)), ("weights", beside(weights=weights_of(256))),
                            ("weights, of 448", beside(weights=weights_of(448))),
                            ("weights, sum of unrounded", beside(weights=weights_of(256), sums_rounded=False)),
                            ("weights, a quarter polynomials", beside(weights=polynomials_of_last_keys)),
                            ("weights, one leaf", beside(weights=weights_of(256), leaf=keys)),
                            ("both", beside(**both)),
                            ("both, sums of 14 bits", beside(**both, product=narrow_sums(14)))):
            table.row(case, f"beside the cache: {name}", value, "‰")
    return table.write("products", leaf=LEAF, rows_of_queries=ROWS)


if __name__ == "__main__":
    sys.exit(main())
