"""SmolLM2-135M-Instruct behind kv-serve: 64 clients at once, beside kv-run with the same requests. And with drafts that
steps verify, beside the same requests without. And what kv-serve costs beyond a tiny model's steps, beside a server
without a model.

Run by scripts/bench.sh serve, drafts and overhead. OpenAI's client runs on the same cores. Each answer is compared with
kv-run's, and with that without drafts."""

import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from smollm2 import BIN, MODEL, compiled, imported, output
from table import ROOT, Table

sys.path[:0] = [str(ROOT / path) for path in ("tools/kv-generate", "tools/kv-serve", "tools/kv-import", "tools/docs",
                                              "test/python", "test/python/serving", "build/release/python")]

import kvmlir  # noqa: E402
import openai  # noqa: E402
from kv_generate.chat import ChatFormat  # noqa: E402
from kv_generate.model_folder import ModelFolder  # noqa: E402
from kv_serve.grammars import Grammars, of_schema  # noqa: E402
from kv_serve.served_model import ServedModel  # noqa: E402
from serve_process import Serve, make_tiny  # noqa: E402

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


async def whole_answers(client, body):
    return (await client.chat.completions.create(**body)).choices[0].message.content


async def streams(client, body):
    answer = await client.chat.completions.create(**body, stream=True)
    return "".join([chunk.choices[0].delta.content or "" async for chunk in answer])


async def plain_streams(client, body):
    """Without OpenAI's client, which takes several times the server's own time for a token, of the same cores."""
    said = await ask_plainly(client.base_url.port, {**body, "stream": True}, path="chat/completions")
    chunks = [json.loads(line[6:]) for line in said.split(b"\n\n") if line.startswith(b"data: {")]
    return "".join(chunk["choices"][0]["delta"].get("content", "") for chunk in chunks)


def by_kv_serve(model, ask):
    """(seconds, texts)"""
    async def all_of_them(server):
        async with server.client(openai.AsyncOpenAI) as client:
            start = time.monotonic()
            texts = await asyncio.gather(*(ask(client, {
                "model": model.name, "messages": messages, "max_tokens": NEW, "temperature": 0})
                for messages in MESSAGES))
            return time.monotonic() - start, texts

    with Serve(model.folder, threads=os.cpu_count()) as server:
        seconds, texts = asyncio.run(all_of_them(server))
        assert server.is_idle()
        return seconds, texts


def prepared():
    folder = ROOT / "build/bench/serve"
    if not (folder / "model.so").exists():
        imported(folder, source=MODEL)
        compiled(folder)
    return folder


def serve():
    model = ModelFolder(prepared())
    samples = {whole_answers: [], streams: [], plain_streams: []}
    for _ in range(ROUNDS):
        own, wanted, count = by_kv_run(model)
        for ask, pairs in samples.items():
            seconds, texts = by_kv_serve(model, ask)
            assert texts == wanted
            pairs.append((count / seconds, own / seconds))
    table = Table()
    for ask, pairs in samples.items():
        table.at_least(ask.__name__.replace("_", " "), f"{CLIENTS} clients, {count} tokens",
                       statistics.median(rate for rate, _ in pairs), "tokens/s", "kv-run's",
                       statistics.median(ratio for _, ratio in pairs), 0.9)
    return table.write("serve", rounds=ROUNDS)


DRAFT_ROUNDS, LONG, NGRAM = 5, 192, 8
ROWS = "".join(f"record {name}: colour {colour}, weight {weight} kilograms, stored in the {place} warehouse\n"
               for name, colour, weight, place in (("alpha", "green", 41, "north"), ("beta", "red", 7, "old"),
                                                   ("gamma", "blue", 93, "east")))
LIST = "Here is a list of records.\n" + ROWS + "Here is the same list again.\n" + ROWS + "And once more.\n"
QUESTION = [{"role": "user", "content": "Tell me how a cache of keys and values works in a language model."}]
NAMES = ("customer_registration_identifier", "preferred_communication_language", "estimated_delivery_duration_days",
         "outstanding_balance_in_euros", "warehouse_location_description", "has_accepted_terms_and_conditions")
SCHEMA = {"type": "object", "required": list(NAMES), "additionalProperties": False,
          "properties": {name: {"type": "boolean"} if name.startswith("has") else {"type": "integer", "maximum": 9999}
                         for name in NAMES}}


def drafted_by_kv_run(model, tokens, ngram, **more):
    """(tokens, a second)"""
    request = json.dumps({"id": "a", "tokens": tokens, "max_new_tokens": LONG, **more})
    answer, last = map(json.loads, output(BIN / "kv-run", model.folder.artifact, "--weights", model.folder.weights,
                                          "--no-stream", "--ngram", ngram, input=request).splitlines())
    return answer["tokens"], last["statistics"]["decode_tokens_per_second"]


def by_grammar(loaded, make_mask, tokens, stops, drafts):
    """(tokens, a second) of a server that has computed the prompt before."""
    server = kvmlir.Server(loaded, loaded.create_manager(1, num_pages=16, warn=False))
    server.add(tokens, max_new_tokens=1)
    server.run()
    mask = make_mask()
    start = time.perf_counter()
    stream = server.add(tokens, max_new_tokens=LONG, stop_tokens=stops, mask=mask.allow,
                        drafts=mask.drafts if drafts else None)
    server.run()
    return stream.tokens, len(stream.tokens) / (time.perf_counter() - start)


def drafts():
    folder = prepared()
    model = ServedModel(folder)
    loaded = kvmlir.load(folder)
    model.vocab_size = loaded.manifest.model_vocab_size
    form = ChatFormat(model.folder)
    make_mask = Grammars(model).masks(of_schema(SCHEMA), LONG)
    asks = {"repeating text": lambda own: drafted_by_kv_run(model, model.tokenizer.encode(LIST).ids, own * NGRAM),
            "drawn text": lambda own: drafted_by_kv_run(model, form.tokens(QUESTION), own * NGRAM, temperature=1,
                                                        seed=4),
            "JSON schema": lambda own: by_grammar(loaded, make_mask, form.tokens(
                [{"role": "user", "content": "Give me an order of a customer as JSON."}]), model.stops, own)}
    table = Table()
    for case, ask in asks.items():
        rates = {False: [], True: []}
        for _ in range(DRAFT_ROUNDS):
            found = {own: ask(own) for own in (False, True)}
            assert found[False][0] == found[True][0], case
            for own, (_, rate) in found.items():
                rates[own].append(rate)
        plain, drafted = (statistics.median(rates[own]) for own in (False, True))
        table.at_least(case, f"{len(found[True][0])} tokens", drafted, "tokens/s", round(plain, 1), drafted / plain,
                       None if case == "drawn text" else 1.5)
    return table.write("drafts", rounds=DRAFT_ROUNDS, ngram=NGRAM)


OVERHEAD_ROUNDS, REQUESTS, STREAMS, STREAMED = 15, 200, 16, 400
PROMPT = list(range(20))


def process_seconds(of):
    """Of the processor, by this process and those that it has started."""
    seconds, parents = {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            each, parent = int(path.parent.name), int(path.read_text().rpartition(")")[2].split()[1])
            nanoseconds = [int(thread.read_text().split()[0]) for thread in path.parent.glob("task/*/schedstat")]
        except OSError:
            continue  # it has ended
        parents[each], seconds[each] = parent, sum(nanoseconds) / 1e9
    belongs = lambda each: each == of or each in parents and belongs(parents[each])
    return sum(used for each, used in seconds.items() if belongs(each))


async def ask_plainly(port, body, count=1, path="completions"):
    """The answers' bytes, one after the other on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    data, said = json.dumps(body).encode(), []
    for _ in range(count):
        writer.write(b"POST /v1/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n%s"
                     % (path.encode(), len(data), data))
        head = await reader.readuntil(b"\r\n\r\n")
        assert b" 200 " in head, head
        if b"chunked" not in head:
            said.append(await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split()[0])))
            continue
        while (length := int(await reader.readline(), 16)):
            said.append((await reader.readexactly(length + 2))[:-2])
        await reader.readline()
    writer.close()
    return b"".join(said)


def asked(port, process, requests, count, tokens, **more):
    """(of the processor, of a clock): seconds of a server; clients ask `requests` times, `count` at once."""
    async def all_of_them():
        body = {"prompt": PROMPT, "max_tokens": tokens, "ignore_eos": True, "temperature": 0, **more}
        await asyncio.gather(*(ask_plainly(port, body, requests) for _ in range(count)))

    before, start = process_seconds(process.pid), time.perf_counter()
    asyncio.run(all_of_them())
    clock = time.perf_counter() - start
    return process_seconds(process.pid) - before, clock


def computed(loaded, requests, count, tokens):
    """(of the processor, of a clock): seconds of the same steps in this process."""
    own = kvmlir.Server(loaded, loaded.create_manager(STREAMS, num_pages=1024, warn=False))
    before, start = time.process_time(), time.perf_counter()
    for _ in range(requests):
        for _ in range(count):
            own.add(PROMPT, max_new_tokens=tokens)
        own.run()
    return time.process_time() - before, time.perf_counter() - start


@contextlib.contextmanager
def bare_server():
    """(port, process)"""
    with subprocess.Popen([sys.executable, ROOT / "benchmarks/comparisons/bare_server.py"], stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            yield int(process.stdout.readline()), process
        finally:
            process.kill()


def overhead():
    """Of each case what kv-serve takes beyond the model's steps, and what a server without a model takes."""
    os.environ.setdefault("KV_COMPILE", str(BIN / "kv-compile"))  # which make_tiny() runs
    cases = ((REQUESTS, 1, 1, {}), (1, 1, STREAMED, {"stream": True}), (1, STREAMS, STREAMED, {"stream": True}))
    found, bare = [[] for _ in cases], [[] for _ in cases]
    with tempfile.TemporaryDirectory() as folder, bare_server() as (port, process):
        made = make_tiny(Path(folder))
        loaded = kvmlir.load(made, num_threads=1)
        with Serve(made, "--pages", 1024) as server:
            for i, (*counts, more) in list(enumerate(cases)) * OVERHEAD_ROUNDS:
                ours, steps = asked(server.port, server.process, *counts, **more), computed(loaded, *counts)
                found[i].append([all_of - own for all_of, own in zip(ours, steps)])
                bare[i].append(asked(port, process, *counts, **more))
    middle = lambda times, kind, each: statistics.median(one[kind] for one in times) / each * 1e6
    table = Table()
    for metric, i, kind, each, aim in (("one at a time, clock", 0, 1, REQUESTS, 1000),
                                       ("one at a time, processor", 0, 0, REQUESTS, None),
                                       ("one stream, processor", 1, 0, STREAMED, 60),
                                       (f"{STREAMS} streams, processor", 2, 0, STREAMED * STREAMS, 60)):
        own, other = middle(found[i], kind, each), middle(bare[i], kind, each)
        table.row("a token" if i else "a request", metric, own, "µs", aim, f"Starlette's {other:.0f}", own / other)
    return table.write("overhead", rounds=OVERHEAD_ROUNDS)


if __name__ == "__main__":
    sys.exit({"serve": serve, "drafts": drafts, "overhead": overhead}[sys.argv[1]]())
