"""mutants.py PROGRAM [SEEDS]: mistakes in the PTX of kernels (Mutation.h), a run of KVPtxKernelTests each.

Prints how many of those that were executed a case or the machine saw, and which were not. Fails where a fence, a wait, a
barrier or an arrival that was left out is not seen, or a run crashes.
"""

import collections
import concurrent.futures
import os
import re
import subprocess
import sys

BYTES = "ByteTiles.QueriesThatAreNoNumbers:ByteTiles.QueriesOfAnySize"
# A chip, a kernel, and cases that launch it.
KERNELS = [
    ("80", "kv_expert_matmul", "Mover.ExpertMatmul"),
    ("80", "kv_store_scaled", "Mover.StoreWithScales"),
    ("80", "kv_attention_decode_bf16_64", "Attention.TwoKernelsShareABatch"),
    ("80", "kv_attention_prefill_e5s_128", "Attention.ScalesThatAreNone"),
    ("90a", "kv_attention_tiles_f8p_128", BYTES),
    ("90a", "kv_test_ring_shared", "Instruction.*Ring*"),
    ("90a", "kv_test_multicast", "Instruction.*"),
    ("100a", "kv_attention_tensor_f8p_128", BYTES),
    ("100a", "kv_attention_tensor_f8p_64", BYTES),
    ("120", "kv_attention_decode_f8p_64", "*AttentionBytes.QueriesOfAnySize*"),
]


def run(program, chip, kernel, cases, seed):
    """What became of a mistake: seen, unseen, unexecuted, unused (no case launched the kernel) or crashed; and its text."""
    environment = dict(os.environ, KV_PTX_CHIP=chip, KV_PTX_MUTANT=f"{kernel},{seed}")
    command = [program, f"--gtest_filter={cases}", "--gtest_brief=1"]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        return "seen", "a run without an end"
    mutant = re.search(r"mutant: (.*), (executed|not executed)", done.stdout)
    if done.returncode < 0:
        return "crashed", ""
    if not mutant:
        return "unused", ""
    if mutant[2] == "not executed":
        return "unexecuted", mutant[1]
    return "seen" if done.returncode else "unseen", mutant[1]


def main():
    program, seeds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 100
    wrong = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for chip, kernel, cases in KERNELS:
            results = list(pool.map(lambda seed: run(program, chip, kernel, cases, seed), range(1, seeds + 1)))
            counts = collections.Counter(state for state, _ in results)
            unseen = collections.Counter(text for state, text in results if state == "unseen")
            print(f"{kernel} of sm_{chip}:", ", ".join(f"{count} {state}" for state, count in sorted(counts.items())))
            for text in sorted(unseen):
                print(f"  unseen: {text}")
            wrong += sum(text.startswith("remove") for text in unseen) + counts["crashed"] + counts["unused"]
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
