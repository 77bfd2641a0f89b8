"""SmolLM2 on 1, 2 and 4 ranks: the same bits, what a rank holds, how fast it is, and what an exchange takes.

Run by scripts/bench.sh ranks."""

import json
import shutil
import sys

from smollm2 import BIN, ROOT, imported, output
from table import Table

FOLDER = ROOT / "build/bench/ranks"
DATA = ROOT / "test/data/smollm2/teacher.jsonl"
RANKS = (1, 2, 4)
WEIGHTS = {"dense": "bf16", "q8_0": "8 bits", "q4_0": "4 bits", "keep": "Q4_1 as the file has it"}
NEW = 24


def launcher(ranks):
    return (shutil.which("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", ranks)


def requests():
    lines = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()][:4]
    return "".join(json.dumps({"id": str(i), "tokens": line["tokens"][:300], "max_new_tokens": NEW,
                               "logits": "digest"}) + "\n" for i, line in enumerate(lines))


def served(folder, ranks):
    """(tokens and the digests of their logits, statistics)"""
    artifact = folder / f"{ranks}.so"
    output(BIN / "kv-compile", folder / "model.mlir", "-o", artifact, f"--ranks={ranks}")
    text = output(*(launcher(ranks) if ranks > 1 else ()), BIN / "kv-run", artifact, "--weights",
                  folder / "weights.safetensors", "--threads", 1, "--rank-timeout", 60,
                  input=requests())
    lines = [json.loads(line) for line in text.splitlines()]
    tokens = sorted((line["id"], line["index"], line["token"], line["logits_digest"])
                    for line in lines if "index" in line)
    assert len(tokens) == 4 * NEW
    return tokens, lines[-1]["statistics"]


def main():
    table = Table()
    for weights, name in WEIGHTS.items():
        folder = imported(FOLDER / weights, "--weights", weights, "--max-seq", "2048")
        wanted, alone = served(folder, 1)
        for ranks in RANKS:
            tokens, found = (wanted, alone) if ranks == 1 else served(folder, ranks)
            assert tokens == wanted, f"{name}, {ranks} ranks: other bits than one rank's"
            case = f"{name}, {ranks} rank{'s' if ranks > 1 else ''}"
            table.row(case, "weights a rank", found["weights_bytes"] / 1e6, "MB",
                      baseline="one rank", ratio=found["weights_bytes"] / alone["weights_bytes"])
            table.row(case, "cache a rank", found["pool_bytes"] / 1e6, "MB", baseline="one rank",
                      ratio=found["pool_bytes"] / alone["pool_bytes"])
            for rate in ("prefill", "decode"):
                speed = f"{rate}_tokens_per_second"
                table.row(case, rate, found[speed], "tokens/s", baseline="one rank, one thread",
                          ratio=found[speed] / alone[speed])
    for ranks in RANKS[1:]:
        for line in output(*launcher(ranks), BIN / "rank-exchange").splitlines():
            size, least, middle = map(float, line.split("\t"))
            table.row(f"gather of {int(size)} bytes a rank, {ranks} ranks", "least", least * 1e6, "us")
            table.row(f"gather of {int(size)} bytes a rank, {ranks} ranks", "median", middle * 1e6, "us")
    return table.write("ranks")


if __name__ == "__main__":
    sys.exit(main())
