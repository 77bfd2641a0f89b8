"""The level of processors that a benchmark is about: the variable KV_BENCH_LEVEL, which scripts/bench.sh sets."""

import os
import sys

NATIVE, AVX2 = "native", "x86-64-v3"


def level():
    """All that this processor has, or AVX2, FMA and F16C alone."""
    name = os.environ.get("KV_BENCH_LEVEL", NATIVE)
    if name not in (NATIVE, AVX2):
        sys.exit(f"bench.sh: a level {name}, allowed: {NATIVE}, {AVX2}")
    return name


def record(name):
    """What the record of the benchmark is called at this level."""
    return name if level() == NATIVE else f"{name}-{level()}"
