"""SmolLM2 through PyTorch and kv-raise beside kv-import's own module: the same weights, equal tokens, and the
speed of decoding.

Run by scripts/bench.sh raised. The two run one after the other in every round, on one thread and on all cores;
ratios are medians of the ratios within a round. On one thread the aim is of the processor's time that a decoded
token takes (of a run with many less that of one with few), which others on the machine disturb less than the clock."""

import json
import os
import resource
import statistics
import sys

import smollm2_hf
from smollm2 import BIN, MODEL, ROOT, VOCAB, compiled, imported, output
from table import Table

FOLDER = ROOT / "build/bench/raised"
ROUNDS = 5
PROMPTS, NEW, FEW = (24, 200), 64, 4
AIM = 0.95


def run(folder, threads, new=NEW):
    """(Tokens of every request, statistics, seconds of user time); one request a step, so that decoding is one row
    a step."""
    requests = "".join(json.dumps({
        "id": str(i), "tokens": [(k * 7919 + 13 + 101 * i) % VOCAB for k in range(length)],
        "max_new_tokens": new}) + "\n" for i, length in enumerate(PROMPTS))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    text = output(BIN / "kv-run", folder / "model.so", "--weights", folder / "weights.safetensors",
                  "--threads", threads, "--pages", 64, "--max-batch", 1, input=requests)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    *lines, last = map(json.loads, text.splitlines())
    return [(each["id"], each["token"]) for each in lines if "token" in each], last["statistics"], seconds


def milliseconds_a_token(folder):
    many, few = run(folder, 1)[2], run(folder, 1, FEW)[2]
    return (many - few) * 1000 / (len(PROMPTS) * (NEW - FEW))


def main():
    source = FOLDER / "SmolLM2-135M-Instruct"
    if not (source / "model.safetensors").exists():
        smollm2_hf.write(MODEL, source)
    folders = {"kv-import": imported(FOLDER / "own", source=source),
               "raised": imported(FOLDER / "torch", "--from", "torch", source=source)}
    for folder in folders.values():
        compiled(folder)
    table, tokens = Table(), {}
    for threads in dict.fromkeys((1, os.cpu_count())):
        rounds = []
        for _ in range(ROUNDS):
            figures = {}
            for name, folder in folders.items():
                tokens[name], figures[name], _ = run(folder, threads)
            rounds.append(figures)
        case = f"{threads} thread{'s' * (threads > 1)}"
        for metric in ("decode", "prefill"):
            key = f"{metric}_tokens_per_second"
            middle = {name: statistics.median(each[name][key] for each in rounds) for name in folders}
            table.row(case, f"{metric}, kv-import", middle["kv-import"], "tokens/s")
            table.at_least(case, f"{metric}, raised", middle["raised"], "tokens/s", "kv-import's",
                           statistics.median(each["raised"][key] / each["kv-import"][key]
                                             for each in rounds))
    rounds = [{name: milliseconds_a_token(folder) for name, folder in folders.items()} for _ in range(ROUNDS)]
    for name in folders:
        table.row("1 thread", f"decode, user time, {name}", statistics.median(each[name] for each in rounds), "ms/token")
    speed = statistics.median(each["kv-import"] / each["raised"] for each in rounds)
    table.at_least("1 thread", "decode, speed of raised", speed, "x", "kv-import's", speed, AIM)
    same = sum(a == b for a, b in zip(*tokens.values()))
    table.at_least("greedy", "equal tokens", same, "tokens", "all", same / (len(PROMPTS) * NEW), 1.0)
    return table.write("raised", rounds=ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
