"""SmolLM2-135M-Instruct behind kv-serve: 64 clients at once, beside kv-run with the same requests.

Run by scripts/bench.sh serve. OpenAI's client runs on the same cores. Each answer is compared with kv-run's."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time

from smollm2 import BIN, MODEL, compiled, imported
from table import ROOT, Table

sys.path[:0] = [str(ROOT / path) for path in ("tools/kv-generate", "tools/kv-import", "test/python",
                                              "test/python/serving",
                                              "build/release/python")]

import openai  # noqa: E402
from kv_generate.chat import ChatFormat  # noqa: E402
from kv_generate.model_folder import ModelFolder  # noqa: E402
from serve_process import Serve  # noqa: E402

ROUNDS, CLIENTS, NEW = 3, 64, 64
WORDS = "cache page token model layer head query key value batch step prompt answer".split()
MESSAGES = [[{"role": "user", "content": f"Question {i}: tell me about the {WORDS[i % 13]} and the "
                                         f"{WORDS[i * 7 % 13]} in some detail."}] for i in range(CLIENTS)]


def by_kv_run(model):
    """(seconds, texts, tokens)"""
    form = ChatFormat(model)
    lines = [json.dumps({"id": str(i), "tokens": form.tokens(messages), "max_new_tokens": NEW,
                         "stop_tokens": model.stops}) for i, messages in enumerate(MESSAGES)]
    done = subprocess.run([BIN / "kv-run", model.artifact, "--weights", model.weights, "--no-stream"],
                          input="\n".join(lines), text=True, capture_output=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    tokens = {one["id"]: one["tokens"] for one in answers if "tokens" in one}
    texts = [model.tokenizer.decode(tokens[str(i)], skip_special_tokens=True) for i in range(CLIENTS)]
    return answers[-1]["statistics"]["seconds"], texts, sum(map(len, tokens.values()))


def by_kv_serve(model, stream):
    """(seconds, texts)"""
    async def ask(client, messages):
        answer = await client.chat.completions.create(
            model=model.name, messages=messages, max_tokens=NEW, temperature=0, stream=stream)
        if not stream:
            return answer.choices[0].message.content
        return "".join([chunk.choices[0].delta.content or "" async for chunk in answer])

    async def all_of_them(server):
        async with server.client(openai.AsyncOpenAI) as client:
            start = time.monotonic()
            texts = await asyncio.gather(*(ask(client, messages) for messages in MESSAGES))
            return time.monotonic() - start, texts

    with Serve(model.folder, threads=os.cpu_count()) as server:
        seconds, texts = asyncio.run(all_of_them(server))
        assert server.is_idle()
        return seconds, texts


def main():
    folder = ROOT / "build/bench/serve"
    if not (folder / "model.so").exists():
        imported(folder, source=MODEL)
        compiled(folder)
    model = ModelFolder(folder)
    samples = {False: [], True: []}
    for _ in range(ROUNDS):
        own, wanted, count = by_kv_run(model)
        for stream, pairs in samples.items():
            seconds, texts = by_kv_serve(model, stream)
            assert texts == wanted
            pairs.append((count / seconds, own / seconds))
    table = Table()
    for stream, pairs in samples.items():
        table.at_least("streams" if stream else "whole answers", f"{CLIENTS} clients, {count} tokens",
                       statistics.median(rate for rate, _ in pairs), "tokens/s", "kv-run's",
                       statistics.median(ratio for _, ratio in pairs), None if stream else 0.95)
    return table.write("serve", rounds=ROUNDS)


if __name__ == "__main__":
    sys.exit(main())
