"""Pages of another process: what reading them costs beside NIXL alone, and what a prompt gains that somebody
else computes.

Run by scripts/bench.sh transport."""

import json
import sys
from pathlib import Path
from statistics import median

TESTS = Path(__file__).resolve().parents[1] / "test/python"
sys.path += [str(TESTS), str(TESTS / "serving")]
from peers import Decode, Prefill, environment
from smollm2 import BIN, ROOT, compiled, imported, output, prompts
from table import Table

PAGES = ((32, 2048), (256, 256), (1024, 64))  # KiB each, pages
PROMPTS, ROUNDS, NEW = (200, 1000), 3, 8


def moves(table):
    for kib, pages in PAGES:
        figures = {name: float(value) for name, value in
                   (line.split("\t") for line in
                    output(BIN / "page-transport", kib, pages, env=environment()).splitlines())}
        case = f"{pages} pages of {kib} KiB"
        nixl = f"NIXL alone, {figures['nixl']:.2f} GB/s"
        table.at_least(case, "lease, read, return", figures["transport"], "GB/s", f"{nixl}, medians",
                       figures["ratio"], 0.9)
        table.at_least(case, "the fastest round", figures["transport"], "GB/s", "NIXL's fastest", figures["best"])
        # The copies are in it; steadier than the clock where others use the machine.
        table.at_least(case, "processor time", figures["transport"], "GB/s", "NIXL's", figures["busy"])
        table.at_least(case, "pages of 16 nhd to 32 hnd", figures["converted"], "GB/s", nixl,
                       figures["converted"] / figures["nixl"])
        table.row(case, "question", figures["question"], "ms")


def elsewhere(table):
    """One process, and two: the same tokens and bits; the time that is spent here."""
    source = ROOT / "build/bench/first-light"
    folder = compiled(imported(source, "--weights", "dense"))
    small = compiled(imported(ROOT / "build/bench/transport", "--weights", "dense", "--page", 16))
    for there in (folder, small):
        for length in PROMPTS:
            spent, alone = [], []
            with Prefill(there) as prefill, Decode(folder, prefill.endpoint) as decode:
                for i in range(ROUNDS):
                    tokens = prompts(length, i + 1)[i]
                    request = {"id": str(i), "tokens": tokens, "max_new_tokens": NEW, "logits": "digest"}
                    have, counts = decode.answer(request)
                    lines = [json.loads(line) for line in
                             output(BIN / "kv-run", folder / "model.so", "--weights", folder / "weights.safetensors",
                                    "--threads", 1, input=json.dumps(request) + "\n").splitlines()]
                    want = [(line["token"], line["logits_digest"]) for line in lines if "index" in line]
                    assert have == want, "the logits have other bits"
                    spent.append(length - counts["cached_tokens"])
                    alone.append(lines[-1]["statistics"]["prefill_tokens"])
                statistics = decode.end()
                assert statistics["peer"]["pages_not_got"] == 0, statistics
                prefill.end()
            table.row(f"{length} tokens from pages of {16 if there == small else 128}", "prompt tokens computed here",
                      median(spent), "", None, "alone", median(spent) / median(alone))


def main():
    table = Table()
    moves(table)
    elsewhere(table)
    return table.write("transport", rounds=ROUNDS)


sys.exit(main())
