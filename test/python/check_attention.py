"""check_attention.py N: every N-th case of the products that test_attention.py's covering arrays stand for
(368 640, and 13 440 of a matrix unit), against numpy in double precision. Run by scripts/check-attention.sh."""

import itertools
import multiprocessing
import os
import random
import sys
import tempfile
from pathlib import Path

from host import has_matrix_unit
from test_attention import MATRIX_PARAMETERS, PARAMETERS, check_variant, name_of


def failure_of(case):
    """What is wrong with a case; None if nothing is."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            check_variant(Path(folder), case)
        except Exception as error:  # of one case: the others are still looked at
            return f"{name_of(case)}: {error}"
    return None


def main(part):
    products = [PARAMETERS]
    if has_matrix_unit():
        products.append(MATRIX_PARAMETERS)
    else:
        print("skipped: this machine does not multiply matrices of bf16 (AMX)")
    cases = [dict(zip(each, values)) for each in products for values in itertools.product(*each.values())]
    random.Random(0).shuffle(cases)  # every N-th would leave out values: those of a parameter repeat
    cases = cases[::part]
    failures = 0
    # A process keeps every artifact that it has loaded.
    with multiprocessing.Pool(os.cpu_count(), maxtasksperchild=500) as pool:
        for done, failure in enumerate(pool.imap_unordered(failure_of, cases), 1):
            if failure:
                failures += 1
                print(failure, flush=True)
            if done % 10000 == 0:
                print(f"{done} of {len(cases)} cases, {failures} failed", flush=True)
    print(f"{len(cases) - failures} passed, {failures} failed")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
