"""Which cases of a product of parameters are run: in CI those of a covering array, by scripts/test-full.sh all."""

import itertools
import os

import numpy as np

WHOLE_PRODUCT = "KV_PRODUCT" in os.environ


def cases(parameters):
    """The values of each case: those that have every pair, or all."""
    if WHOLE_PRODUCT:
        return list(itertools.product(*parameters.values()))
    return [tuple(row.values()) for row in covering_array(parameters)]


def covering_array(parameters):
    """Few rows with every pair: each row is the one of some candidates that has the most new pairs."""
    rng = np.random.default_rng(0)
    names = list(parameters)
    sizes = [len(parameters[name]) for name in names]

    def pairs(row):
        return set(itertools.combinations(enumerate(row), 2))

    missing = {((i, a), (j, b)) for i, j in itertools.combinations(range(len(names)), 2)
               for a in range(sizes[i]) for b in range(sizes[j])}
    rows = []
    while missing:
        (i, a), (j, b) = min(missing)
        best = None
        for _ in range(40):
            row = [int(rng.integers(size)) for size in sizes]
            row[i], row[j] = a, b
            if best is None or len(pairs(row) & missing) > len(pairs(best) & missing):
                best = row
        missing -= pairs(best)
        rows.append({name: parameters[name][value] for name, value in zip(names, best)})
    return rows
