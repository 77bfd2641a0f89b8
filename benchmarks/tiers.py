"""Pages in host memory, on a disk and in a store that machines share: what moving them costs beside plain
copies, and what a conversation gains that comes back after a restart or a kill.

Run by scripts/bench.sh tiers."""

import json
import shutil
import signal
import subprocess
import sys
from statistics import median

from smollm2 import BIN, ROOT, compiled, imported, output, prompts
from table import Table

sys.path.insert(0, str(ROOT / "test/python/serving"))
from redis_server import RedisServer  # noqa: E402

FOLDER = ROOT / "build/bench/tiers"
MEGABYTES, ROUNDS = 512, 5
PROMPTS = (1000, 4000)
ADDED, NEW = 100, 8  # tokens of the second turn, and of answers


def moves(table):
    for page in (16, 128):
        figures = {name: float(value) for name, value in
                   (line.split("\t") for line in
                    output(BIN / "page-tiers", FOLDER, page, MEGABYTES).splitlines())}
        case = f"pages of {page} tokens, {MEGABYTES} MB"
        for metric, plain, aim in (("load", "memcpy", 0.8), ("store", "memcpy", 0.8),
                                   ("disk read", "plain read", None), ("disk write", "plain write", None),
                                   ("disk write, synced", "plain write, synced", 0.8),
                                   ("disk read, cold", "plain read, cold", 0.8)):
            table.at_least(case, metric, figures[metric], "GB/s", f"{plain}, {figures[plain]:.2f} GB/s",
                           figures[metric] / figures[plain], aim)


def shared(table):
    """Beside plain commands to the same server, in turns."""
    with RedisServer(FOLDER) as server:
        for page in (16, 128):
            figures = {name: float(value) for name, value in
                       (line.split("\t") for line in
                        output(BIN / "page-store", server.address.removeprefix("unix://"), page,
                               MEGABYTES // 2).splitlines())}
            case = f"pages of {page} tokens, {MEGABYTES // 2} MB"
            for metric, plain in (("store read", "plain GET"), ("store write", "plain SET")):
                table.at_least(case, metric, figures[metric], "GB/s", f"{plain}, {figures[plain]:.2f} GB/s",
                               figures[metric] / figures[plain], 0.8)


def command(folder, disk=None):
    return [str(part) for part in
            (BIN / "kv-run", folder / "model.so", "--weights", folder / "weights.safetensors",
             *(("--disk-dir", disk, "--disk-bytes", 2 << 30) if disk else ()))]


def turn(name, tokens):
    return json.dumps({"id": name, "tokens": tokens, "max_new_tokens": NEW, "logits": "digest"}) + "\n"


def serve(command, line):
    """(digests, statistics)"""
    lines = [json.loads(each) for each in output(*command, input=line).splitlines()]
    return [each["logits_digest"] for each in lines if "index" in each], lines[-1]["statistics"]


def killed(command, line):
    """Serves a request, and is killed as soon as the answer is out."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdin.write(line)
        process.stdin.flush()
        while "finish_reason" not in process.stdout.readline():
            pass
        process.send_signal(signal.SIGKILL)


def conversations(table):
    folder = compiled(imported(ROOT / "build/bench/first-light", "--weights", "dense"))
    for length in PROMPTS:
        first, = prompts(length)
        second = first + prompts(ADDED, 2)[1]
        for end in ("restart", "kill -9"):
            ratios, seconds, cached = [], [], 0
            for _ in range(ROUNDS):
                disk = FOLDER / "disk"
                shutil.rmtree(disk, ignore_errors=True)
                (killed if end == "kill -9" else serve)(command(folder, disk), turn("first", first))
                want, computed = serve(command(folder), turn("second", second))
                have, loaded = serve(command(folder, disk), turn("second", second))
                assert have == want, "the logits have other bits"
                cached = loaded["cached_tokens"]
                # Until the first token: all but the decode.
                spent = [run["seconds"] - run["decode_seconds"] for run in (loaded, computed)]
                seconds.append(spent[0])
                ratios.append(spent[0] / spent[1])
            table.row(f"{length} tokens and {ADDED} more, after a {end}", "first token of the second turn",
                      median(seconds), "s", None, f"computed again; {cached} tokens loaded", median(ratios))
            table.rows[-1].update(aim="<= 0.25 x", met=median(ratios) <= 0.25)
    shutil.rmtree(FOLDER / "disk", ignore_errors=True)


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    table = Table()
    moves(table)
    shared(table)
    conversations(table)
    return table.write("tiers", rounds=ROUNDS)


sys.exit(main())
