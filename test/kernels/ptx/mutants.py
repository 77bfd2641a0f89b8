"""mutants.py PROGRAM [SEEDS [KERNEL...]]: mistakes in the PTX of kernels (Mutation.h), a run of KVPtxKernelTests each.

Prints how many of those that change what the machine does a case or the machine saw, and which were not. Not counted are
mistakes that no thread came to, and equivalent ones: a mistake in arithmetic after which all that is no arithmetic
(accesses, branches, what lanes and blocks do together) had the same operands, in all cases. Such are shifts of what is
never negative, bits that are cut off later, clamps before a rounding, and an address of which only the sign is read.
Equivalent is also the other way to divide: nvcc divides numbers of 64 bits that fit in 32 by an instruction of 32 bits,
and no case has so many rows that one does not fit.

Fails where a fence, a wait, a barrier or an arrival that was left out is not seen, a run crashes, or fewer than 95 % are
seen.
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


def execute(program, chip, kernel, cases, seed):
    """(what became of a mistake, its text, what registers held); of seed 0, which is none, too."""
    # Addresses are those of other runs.
    command = ["setarch", "-R", program, f"--gtest_filter={cases}", "--gtest_brief=1", "--gtest_fail_fast"]
    environment = dict(os.environ, KV_PTX_CHIP=chip, KV_PTX_MUTANT=f"{kernel},{seed}")
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "seen", "a run without an end", ""
    mutant = re.search(r"mutant: (.*:\d+), (executed|not executed), history (\w+)", done.stdout)
    if done.returncode < 0:
        return "crashed", "", ""
    if not mutant:
        return "unused", "", ""
    state = "seen" if done.returncode else "unseen" if mutant[2] == "executed" else "unexecuted"
    return state, *mutant.group(1, 3)


unchanged = functools.cache(functools.partial(execute, seed=0))


def run(program, chip, kernel, filters, seed):
    """What became of a mistake, and its text."""
    changes = executed = False
    for cases in filters:
        state, text, history = execute(program, chip, kernel, cases, seed)
        if state in ("seen", "crashed", "unused"):
            return state, text
        executed |= state == "unseen"
        changes |= history != unchanged(program, chip, kernel, cases)[2]
    if not executed:
        return "unexecuted", text
    return "equivalent" if is_equivalent(text, changes) else "unseen", text


def main():
    program, seeds, chosen = sys.argv[1], int((sys.argv + ["100"])[2]), sys.argv[3:]
    wrong, total = 0, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for chip, kernel, *filters in KERNELS:
            if chosen and kernel not in chosen:
                continue
            results = list(pool.map(lambda seed: run(program, chip, kernel, filters, seed), range(1, seeds + 1)))
            counts = collections.Counter(state for state, _ in results)
            print(f"{kernel} of sm_{chip}:", ", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
            for seed, (state, text) in enumerate(results, 1):
                if state in ("unseen", "equivalent", "crashed"):
                    print(f"  {state}: {seed}, {text}", flush=True)
            wrong += sum(state == "unseen" and text.startswith("remove") for state, text in results)
            total += counts
    seen = total["seen"] / max(1, total["seen"] + total["unseen"])
    print(f"{sum(total.values())} mistakes: {dict(total)}; {seen:.1%} of those that change something are seen")
    return wrong + total["crashed"] + total["unused"] > 0 or seen < AIM


if __name__ == "__main__":
    sys.exit(main())
