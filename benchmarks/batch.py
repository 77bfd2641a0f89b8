"""SmolLM2-135M-Instruct on the CPU: how the time of a decode step grows with the requests side by side, beside
llama.cpp.

Run by scripts/bench.sh batch, after generate, whose folders it uses. Requests of 64 tokens and 24 more, on all
cores; every program runs once a round, one after the other, and figures are medians over the rounds."""

import os
import statistics
import sys

from generate import FOLDER, llama_cpp
from level import record
from smollm2 import gguf, tokens_a_second
from table import Table

ROUNDS, PROMPT, NEW = 2, 64, 24
BATCHES = (1, 2, 4, 8, 16, 32, 64)
MOST_OF_PEER = 16  # with 64 sequences it takes minutes a run
KINDS = ("bf16", "q8_0", "q4_0")
# How many times llama.cpp's tokens eight requests are to decode.
AIMS = {8: 2.5}


def main():
    threads = os.cpu_count()
    missing = [kind for kind in KINDS if not (FOLDER / kind / "model.so").exists()]
    if missing:
        print(f"bench.sh batch: {FOLDER / missing[0]} is missing; run scripts/bench.sh generate first",
              file=sys.stderr)
        return 2
    samples = {(kind, batch): [] for kind in KINDS for batch in BATCHES}
    for _ in range(ROUNDS):
        for kind, batch in samples:
            numbers = (threads, PROMPT, NEW, batch)
            peer = None
            if batch <= MOST_OF_PEER:
                peer = llama_cpp(gguf(kind.upper()), *numbers)["decode"]
            samples[kind, batch].append((tokens_a_second(FOLDER / kind, *numbers)["decode"], peer))
    table = Table()
    for (kind, batch), pairs in samples.items():
        case = f"{kind}, {batch} requests"
        step = batch / statistics.median(own for own, _ in pairs) * 1e3
        if batch > MOST_OF_PEER:
            table.row(case, "decode step, kv-run", step, "ms")
            continue
        table.row(case, "decode step, llama.cpp", batch / statistics.median(peer for _, peer in pairs) * 1e3,
                  "ms")
        table.at_least(case, "decode step, kv-run", step, "ms", "as fast as llama.cpp",
                       statistics.median(own / peer for own, peer in pairs), AIMS.get(batch))
    return table.write(record("batch"), rounds=ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
