"""The Python package: what a call costs over the same call in C, and a decode step of 256 sequences.

Run by scripts/bench.sh python."""

import random
import statistics
import subprocess
import sys
import tempfile
import time
import timeit
from pathlib import Path

from table import Table

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "build/release/python"))

import numpy as np  # noqa: E402
from safetensors.numpy import save_file  # noqa: E402

import kvmlir  # noqa: E402

# As in c-calls.c.
SEQUENCES, PROMPT, PAGE, STEPS, CALLS = 256, 512, 16, 400, 20000
CALL_AIM, STEP_AIM = 1000, 60  # nanoseconds over C; microseconds


def in_c():
    out = subprocess.run([ROOT / "build/release/bin/c-calls"], check=True, text=True, capture_output=True)
    return {name: float(value) for name, value in (line.split("\t") for line in out.stdout.splitlines())}


def prepare():
    params = kvmlir.KVCacheParams("f32", 1, 8, 1, page_size=PAGE, enable_prefix_caching=True)
    manager = kvmlir.PagedKVCacheManager(params, SEQUENCES + 1, 4096, 1, None, None, 0,
                                         num_pages=SEQUENCES * 80, warn=False)
    draw = random.Random(1)
    contexts = [kvmlir.TextGenerationContext([draw.randrange(50000) for _ in range(PROMPT)], i)
                for i in range(SEQUENCES)]
    for one in contexts:
        manager.claim(one.request_id)
    return manager, contexts


def steps(one_call_each):
    """Microseconds of a step, the median: with a call for the batch, or a call for each sequence."""
    manager, contexts = prepare()
    tokens = list(range(SEQUENCES)) if one_call_each else np.arange(SEQUENCES, dtype=np.int32)
    times = []
    for _ in range(STEPS + 1):
        start = time.perf_counter()
        if one_call_each:
            for one in contexts:
                manager.alloc(one)
        else:
            manager.alloc_batch(contexts)
        manager.get_runtime_inputs(contexts)
        if one_call_each:
            for one, token in zip(contexts, tokens):
                one.update(token)
        else:
            kvmlir.update_batch(contexts, tokens)
        manager.step(contexts)
        times.append(time.perf_counter() - start)
    return statistics.median(times[1:]) * 1e6, manager, contexts


def serve(folder):
    """Microseconds that a step of a server takes over its own, which schedules, runs and samples: a token
    for each of the sequences goes to its stream."""
    save_file({"bias": np.zeros(50, np.float32)}, folder + "/weights.safetensors")
    model = kvmlir.load(ROOT / "build/release/lib/KVHistoryArtifact.so", folder + "/weights.safetensors",
                        num_threads=1)
    manager = model.create_manager(SEQUENCES, num_pages=SEQUENCES * 16, warn=False)
    server = kvmlir.Server(model, manager, max_batch=SEQUENCES, max_batch_tokens=4096)
    for i in range(SEQUENCES):
        server.add([i % 50, 2, 3], max_new_tokens=50)
    server.step()
    times = []
    for _ in range(40):
        own, start = server.figures()["step_seconds"], time.perf_counter()
        server.step()
        end = time.perf_counter()
        times.append(end - start - (server.figures()["step_seconds"] - own))
    return statistics.median(times) * 1e6


def claim_and_release(manager):
    manager.claim(SEQUENCES)
    manager.release(SEQUENCES)


def main():
    rounds = [(in_c(), steps(False), steps(True)) for _ in range(3)]
    c, batched, each = min(rounds, key=lambda one: one[1][0])
    _, manager, contexts = batched
    table = Table()
    case = f"{SEQUENCES} sequences"
    table.row(case, "decode step in C", c["step"], "us")
    table.row(case, "decode step in Python", batched[0], "us", STEP_AIM, "C", batched[0] / c["step"])
    table.row(case, "... with a call a sequence", each[0], "us", STEP_AIM, "C", each[0] / c["step"])
    with tempfile.TemporaryDirectory() as folder:
        table.row(case, "a server's step, over its own", min(serve(folder) for _ in range(3)), "us", STEP_AIM)
    calls = {"contains": lambda: manager.contains(3),
             "num_free_blocks": lambda: manager.num_free_blocks,
             "get_replica": lambda: manager.get_replica(contexts[3]),
             "metrics": lambda: manager.metrics,
             "get_req_blocks": lambda: manager.get_req_blocks(3),
             "alloc": lambda: manager.alloc(contexts[3]),
             "claim, release": lambda: claim_and_release(manager),
             "active_length": lambda: contexts[0].active_length}
    for name, function in calls.items():
        nanoseconds = min(timeit.repeat(function, number=CALLS, repeat=7)) / CALLS * 1e9
        count = 2 if name == "claim, release" else 1
        table.row("a call, over C", name, (nanoseconds - c[name]) / count, "ns", CALL_AIM)
    return table.write("python")


if __name__ == "__main__":
    sys.exit(main())
