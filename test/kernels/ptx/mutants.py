"""mutants.py PROGRAM [SEEDS [KERNEL...]]: mistakes in the PTX of kernels (Mutation.h, Mutants.h), by KVPtxKernelTests.

Prints how many of those that change what the machine does a case or the machine saw, and which were not. Not counted are
mistakes that no thread came to, and equivalent ones. Equivalent is a mistake in arithmetic after which all that is no
arithmetic (accesses, branches, what lanes and blocks do together) had the same operands, in all cases: shifts of what is
never negative, bits that are cut off later, clamps before a rounding, an address of which only the sign is read. The
others are in RULES, each with its reason.

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
# Inputs of which more depends than of those of other cases.
PTX = "PtxAttention.*"
BYTES = "ByteTiles.QueriesThatAreNoNumbers:ByteTiles.QueriesOfAnySize"
# A chip, a kernel, cases that launch it, and more cases for what these do not see.
KERNELS = [
    ("80", "kv_expert_matmul", "Mover.ExpertMatmul", "Mover.ExpertMatmul*"),
    ("80", "kv_store_scaled", "Mover.StoreWithScales", "Mover.Store*"),
    ("80", "kv_attention_decode_bf16_64", "Attention.TwoKernelsShareABatch", PTX, ATTENTION),
    ("80", "kv_attention_prefill_e5s_128", "Attention.ScalesThatAreNone", PTX, ATTENTION),
    ("90a", "kv_attention_tiles_f8p_128", BYTES, PTX, ATTENTION),
    ("90a", "kv_test_ring_shared", "Instruction.*Ring*", "Instruction.*"),
    ("90a", "kv_test_multicast", "Instruction.MulticastCopies", "Instruction.*"),
    ("100a", "kv_attention_tensor_f8p_128", BYTES, PTX, ATTENTION),
    ("100a", "kv_attention_tensor_f8p_64", BYTES, PTX, ATTENTION),
    ("120", "kv_attention_decode_f8p_64", "*AttentionBytes.QueriesOfAnySize*", PTX, ATTENTION),
]
# What changes registers alone.
ARITHMETIC = re.compile(r"\w+ (abs|add|and|bfe|bfi|clz|cvt|div|ex2|fma|lg2|lop3|mad|max|min|mov|mul|neg|not|or|popc|prmt|"
                        r"rcp|rem|selp|setp|shf|shl|shr|sub|xor)\.")
# What chooses how to divide.
DIVISION = re.compile(r"or\.b64 .*\n\s*and\.b64 .*, -4294967296;\n\s*setp\.(?:eq|ne)\.s64 .*, 0;\n\s*@%p\d+ bra .*")
# The inverse of a row's sum of weights, and zero for a row that has none.
INVERSE = re.compile(r"setp\.eq\.f32 \t?(%p\d+), (%f\d+), 0f00000000;\n\s*rcp\.rn\.f32 \t?(%f\d+), \2;\n"
                     r"\s*selp\.f32 .*, 0f00000000, \3, \1;")


@functools.cache
def lines_of(file):
    with open(file) as stream:
        return [line.strip() for line in stream]


def stands_in(pattern, lines, at):
    """Whether the line is of a match of the pattern."""
    first = max(0, at - 4)
    near = "\n".join(lines[first:at + 5])
    return any(near.count("\n", 0, found.start()) <= at - first <= near.count("\n", 0, found.end())
               for found in pattern.finditer(near))


def around(lines, at):
    """The lines of a line's kernel before it, and behind it."""
    entries = [i for i, line in enumerate(lines) if ".entry" in line] + [len(lines)]
    last = max(i for i in range(len(entries)) if entries[i] < at)
    return lines[entries[last]:at], lines[at:entries[last + 1]]


def comes_to_another_fence(lines, at):
    """Whether all ways from a line come to a fence of wgmma before they come to a product."""
    open_lines, known = [at + 1], set()
    while open_lines:
        i = open_lines.pop()
        if i in known or lines[i].startswith(("wgmma.fence", "ret")):
            continue
        known.add(i)
        if lines[i].startswith("wgmma.mma"):
            return False
        if branch := re.match(r"(@.* )?bra(?:\.uni)?\s+(\$\w+);", lines[i]):
            open_lines.append(lines.index(branch[2] + ":"))
            if not branch[1]:
                continue
        open_lines.append(i + 1)
    return True


# The change, whether a line is one of these, and why nothing can be seen there.
RULES = [
    (r"", lambda lines, at: stands_in(DIVISION, lines, at),
     "nvcc divides numbers of 64 bits that fit in 32 in 32 bits, and both ways give one quotient"),
    (r"(in|de)crement setp\.gt\.u32", lambda lines, at: re.search(r", (1197473791|1138753535);", lines[at]),
     "the number at the bound becomes the largest of e5m2, or of e4m3, by rounding as well"),
    (r"increment selp\.f32", lambda lines, at: stands_in(INVERSE, lines, at),
     "values that have no weights are zero, which a small factor leaves zero"),
    (r"remove wgmma\.fence", comes_to_another_fence,
     "the next fence orders registers before the first product, too"),
    (r"remove fence\.proxy\.async", lambda lines, at: lines[at - 1].startswith("fence.mbarrier_init.release") and
     not any(re.match(r"st\.|\$.*:", line) for line in around(lines, at)[0]),
     "nothing but mbarriers was written, which the fence of their initialisation orders"),
    (r"(in|de)crement bar\.sync", lambda lines, at: re.fullmatch(r"bar\.sync\s+\d+;", lines[at]) and
     not any(re.match(r"bar(rier)?(\.cta)?\.arrive", line) for part in around(lines, at) for line in part),
     "where all threads of a block wait, none waits at the other barrier; and none waits here elsewhere, or it waited "
     "forever"),
]


def is_equivalent(text, changes):
    file, line = text.split(" at ")[-1].rsplit(":", 1)
    lines, at = lines_of(file), int(line) - 1
    return (not changes and bool(ARITHMETIC.match(text))) or any(
        re.match(change, text) and applies(lines, at) for change, applies, _ in RULES)


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
