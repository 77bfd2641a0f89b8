"""mutants.py PROGRAM [SEEDS [KERNEL...]]: mistakes in the PTX of kernels (Mutation.h, Mutants.h), by KVPtxKernelTests.

Prints how many of those that change what the machine does a case or the machine saw, and which were not. Not counted are
mistakes that no thread came to, and equivalent ones: a mistake in arithmetic after which all that is no arithmetic
(accesses, branches, what lanes and blocks do together) had the same operands, in all cases. Such are shifts of what is
never negative, bits that are cut off later, clamps before a rounding, and an address of which only the sign is read.
Equivalent is also the other way to divide: nvcc divides numbers of 64 bits that fit in 32 by an instruction of 32 bits,
and no case has so many rows that one does not fit.

Fails where a fence, a wait, a barrier or an arrival that was left out is not seen, a launch crashes, or fewer than 95 %
are seen.
"""

import collections
import concurrent.futures
import functools
import os
import re
import subprocess
import sys

AIM = 0.95
ATTENTION = ":".join(("Attention.*", "AttentionTrees.*", "AttentionBits.*", "AttentionMatrix.EveryPair", "ByteTiles.*",
                      "AttentionTiles.EveryMask", "*AttentionBytes*")) + "-AttentionBits.AnyBatchAround"
BYTES = "ByteTiles.QueriesThatAreNoNumbers:ByteTiles.QueriesOfAnySize"
# A chip, a kernel, cases that launch it, and more cases for what these do not see.
KERNELS = [
    ("80", "kv_expert_matmul", "Mover.ExpertMatmul", "Mover.ExpertMatmul*"),
    ("80", "kv_store_scaled", "Mover.StoreWithScales", "Mover.Store*"),
    ("80", "kv_attention_decode_bf16_64", "Attention.TwoKernelsShareABatch", ATTENTION),
    ("80", "kv_attention_prefill_e5s_128", "Attention.ScalesThatAreNone", ATTENTION),
    ("90a", "kv_attention_tiles_f8p_128", BYTES, ATTENTION),
    ("90a", "kv_test_ring_shared", "Instruction.*Ring*", "Instruction.*"),
    ("90a", "kv_test_multicast", "Instruction.MulticastCopies", "Instruction.*"),
    ("100a", "kv_attention_tensor_f8p_128", BYTES, ATTENTION),
    ("100a", "kv_attention_tensor_f8p_64", BYTES, ATTENTION),
    ("120", "kv_attention_decode_f8p_64", "*AttentionBytes.QueriesOfAnySize*", ATTENTION),
]
# What changes registers alone.
ARITHMETIC = re.compile(r"\w+ (abs|add|and|bfe|bfi|clz|cvt|div|ex2|fma|lg2|lop3|mad|max|min|mov|mul|neg|not|or|popc|prmt|"
                        r"rcp|rem|selp|setp|shf|shl|shr|sub|xor)\.")
# What chooses how to divide.
DIVISION = re.compile(r"[ \t]*or\.b64 .*\n[ \t]*and\.b64 .*, -4294967296;\n[ \t]*setp\.eq\.s64 .*, 0;\n[ \t]*@%p\d+ bra .*")


@functools.cache
def divisions(file):
    """The lines that choose how to divide."""
    with open(file) as stream:
        text = stream.read()
    return {text.count("\n", 0, found.start()) + 1 + i for found in DIVISION.finditer(text) for i in range(4)}


def is_equivalent(text, changes):
    file, line = text.split(" at ")[-1].rsplit(":", 1)
    return int(line) in divisions(file) or (not changes and bool(ARITHMETIC.match(text)))


def execute(program, chip, kernel, cases, seeds):
    """What became of the mistakes of `seeds`: (state, whether what is no arithmetic had other operands, text), by seed."""
    # Addresses are those of other runs.
    command = ["setarch", "-R", program, f"--gtest_filter={cases}", "--gtest_brief=1"]
    environment = dict(os.environ, KV_PTX_CHIP=chip, KV_PTX_MUTANTS=",".join([kernel, *map(str, seeds)]))
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    lines = re.findall(r"mutant (\d+): (\w+), (\w+) operands, (.*:\d+); (.*)", done.stdout)
    if done.returncode or len(lines) != len(seeds) or any(text.endswith(" at :0") for *_, text, _ in lines):
        sys.exit(f"{kernel} of sm_{chip} fails without a mistake, or is not launched:\n{done.stdout}{done.stderr}")
    return {int(seed): (state, operands == "other", text) for seed, state, operands, text, _ in lines}


def run(program, seeds, chip, kernel, *filters):
    """What became of each mistake, and its text; cases run until one sees it."""
    results, acts = {}, set()
    for cases in filters:
        found = execute(program, chip, kernel, cases, seeds)
        acts |= {seed for seed in seeds if found[seed][1]}
        for seed in seeds:
            state, _, text = found[seed]
            if state != "unexecuted" or seed not in results:
                results[seed] = state, text
        seeds = [seed for seed in seeds if results[seed][0] in ("unseen", "unexecuted")]
    for seed in seeds:
        state, text = results[seed]
        if state == "unseen" and is_equivalent(text, seed in acts):
            results[seed] = "equivalent", text
    return results


def main():
    program, seeds, chosen = sys.argv[1], int((sys.argv + ["100"])[2]), sys.argv[3:]
    rows = [row for row in KERNELS if not chosen or row[1] in chosen]
    wrong, total = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        runs = pool.map(lambda row: run(program, list(range(1, seeds + 1)), *row), rows)
        for (chip, kernel, *_), results in zip(rows, runs):
            counts = collections.Counter(state for state, _ in results.values())
            print(f"{kernel} of sm_{chip}:", ", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
            for seed, (state, text) in results.items():
                if state in ("unseen", "equivalent", "crashed"):
                    print(f"  {state}: {seed}, {text}", flush=True)
            wrong += sum(state == "unseen" and text.startswith("remove") for state, text in results.values())
            total += counts
    seen = total["seen"] / max(1, total["seen"] + total["unseen"])
    print(f"{sum(total.values())} mistakes: {dict(total)}; {seen:.1%} of those that change something are seen")
    return wrong + total["crashed"] > 0 or seen < AIM


if __name__ == "__main__":
    sys.exit(main())
