"""kv-serve and OpenAI's client: every answer is the model's own, whoever else asks, comes or goes; what is wrong is one
sentence with its status; no page is left behind."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
import threading
from concurrent import futures

import openai
import pytest

import kvmlir
import peers
from redis_server import RedisServer
from serve_process import KV_SERVE, PAGE, Alone, Serve, chat, make_model

SMALL = ("--pages", 64, "--max-batch", 8, "--max-batch-tokens", 64)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_model(tmp_path_factory.mktemp("serve"))


@pytest.fixture(scope="module")
def alone(folder):
    return Alone(folder)


@pytest.fixture(scope="module")
def server(folder):
    with Serve(folder, *SMALL) as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    return server.client()


def joined(stream):
    """(text, reasons, usage) of a stream's chunks."""
    text, reasons, usage = "", [], None
    for chunk in stream:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += (choice.delta.content if hasattr(choice, "delta") else choice.text) or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
    return text, reasons, usage


# ---- Answers --------------------------------------------------------------------------------------------


def test_models(client):
    assert [one.id for one in client.models.list()] == ["tiny"]
    assert client.models.retrieve("tiny").id == "tiny"


def test_chat(client, alone):
    asked = chat("What is a page?", max_tokens=40)
    prompt = alone.chat_tokens(asked["messages"])
    text, count = alone.answer(prompt, 40)
    whole = client.chat.completions.create(**asked)
    assert whole.choices[0].message.content == text and whole.choices[0].message.role == "assistant"
    reason = "length" if count == 40 else "stop"
    assert whole.choices[0].finish_reason == reason
    assert (whole.usage.prompt_tokens, whole.usage.completion_tokens) == (len(prompt), count)
    streamed = client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    have, reasons, usage = joined(streamed)
    assert (have, reasons) == (text, [reason]) and usage.completion_tokens == count
    assert usage.prompt_tokens_details.cached_tokens == (len(prompt) - 1) // PAGE * PAGE
    parts = [{"type": "text", "text": "What is "}, {"type": "text", "text": "a page?"}]
    assert client.chat.completions.create(**chat(parts, max_completion_tokens=40)).choices[0].message.content == text


def test_completion(client, alone):
    tokens = alone.text_tokens("Once upon a time")
    text, count = alone.answer(tokens, 16)
    for prompt in ("Once upon a time", tokens):  # 16 tokens are the default
        whole = client.completions.create(model="tiny", prompt=prompt, temperature=0)
        assert whole.choices[0].text == text and whole.usage.completion_tokens == count
    both = client.completions.create(model="tiny", prompt=["Once upon a time", "!"], temperature=0)
    assert [one.text for one in both.choices] == [text, alone.answer(alone.text_tokens("!"), 16)[0]]
    assert both.usage.prompt_tokens == len(tokens) + 1
    streamed = client.completions.create(model="tiny", prompt=tokens, temperature=0, stream=True)
    assert joined(streamed)[0] == text


def test_integers_with_a_point(server):
    """JSON has one kind of numbers."""
    asked = {"prompt": [5, 6, 7], "max_tokens": 4, "temperature": 0, "logprobs": 2, "stop_token_ids": [3], "n": 2}
    whole = server.post("/v1/completions", asked)
    pointed = {name: [float(one) for one in value] if isinstance(value, list) else float(value)
               for name, value in asked.items()}
    assert whole[0] == 200
    assert server.post("/v1/completions", pointed)[1]["choices"] == whole[1]["choices"]


def test_sampling(client, alone):
    draw = lambda **more: client.completions.create(
        model="tiny", prompt="abc", max_tokens=30, extra_body={"min_p": 0.001},
        **{"temperature": 2, "top_p": 0.99, **more}).choices[0].text
    want, _ = alone.answer(alone.text_tokens("abc"), 30, temperature=2, top_p=0.99, min_p=0.001,
                           seed=7)
    assert draw(seed=7) == want != draw(seed=8)
    assert draw(seed=-1) == draw(seed=-1)
    assert draw() != draw()  # no seed: another one each time


def test_stop(client, alone):
    """By a token, and by a string that begins in one token and ends in a later one."""
    tokens = alone.text_tokens("stop here")
    text, count = alone.answer(tokens, 60)
    stop = next(text[i:i + 2] for i in range(4, 50) if "\ufffd" not in text[i:i + 2]
                and text.index(text[i:i + 2]) == i)
    asked = dict(model="tiny", prompt=tokens, temperature=0, max_tokens=60)
    for given in (stop, ["never in it", stop]):
        whole = client.completions.create(**asked, stop=given)
        assert whole.choices[0].text == text[:text.index(stop)] and whole.choices[0].finish_reason == "stop"
        assert whole.usage.prompt_tokens == len(tokens) and whole.usage.completion_tokens < count
        have, reasons, _ = joined(client.completions.create(**asked, stop=given, stream=True))
        assert (have, reasons) == (text[:text.index(stop)], ["stop"])
    [token] = alone.text_tokens(stop[0])
    whole = client.completions.create(**asked, extra_body={"stop_token_ids": [token]})
    assert whole.choices[0].text == alone.answer(tokens, 60, (256, 258, token))[0]
    # What is held back as a beginning comes when it is none.
    assert client.completions.create(**asked, stop=text[-2:] + "never").choices[0].text == text


def test_characters_are_whole(server, alone):
    """No chunk ends in the middle of a character, which the model's bytes often make."""
    asked = chat("Ünïcode 東京", max_tokens=200, stream=True)
    text, _ = alone.answer(alone.chat_tokens(asked["messages"]), 200)
    have = b""
    for chunk in server.client().chat.completions.create(**asked):
        if chunk.choices:
            have += (chunk.choices[0].delta.content or "").encode()
    assert have.decode() == text


# ---- Caching --------------------------------------------------------------------------------------------


def cached(client, asked, **more):
    return client.chat.completions.create(**asked, **more).usage.prompt_tokens_details.cached_tokens


def test_a_second_turn_is_cached(server, client):
    first = chat("A question that is long enough for two pages.", max_tokens=20)
    answer = client.chat.completions.create(**first)
    second = chat(first["messages"][0]["content"], "an answer", "And why?", max_tokens=4)
    assert cached(client, second) >= (answer.usage.prompt_tokens - 1) // PAGE * PAGE > 0
    for salt, wanted in (("a", False), ("a", True), ("b", False)):
        assert (cached(client, second, extra_body={"cache_salt": salt}) > 0) == wanted
    stopped = client.chat.completions.create(**{**second, "max_tokens": 60}, extra_body={"ignore_eos": True},
                                             stop=[chr(i) for i in range(97, 113)])
    assert stopped.usage.prompt_tokens_details.cached_tokens > 0
    assert server.post("/reset_prefix_cache", b"") == (200, None)
    assert cached(client, second) == 0


def test_a_restart_keeps_the_cache(folder, alone, tmp_path):
    options = ("--disk-dir", tmp_path / "disk", "--disk-bytes", 64 << 20, "--host-pages", 100)
    asked = chat("A question that is long enough for two pages.", max_tokens=20)
    text, _ = alone.answer(alone.chat_tokens(asked["messages"]), 20)
    for before in (True, False):
        with Serve(folder, *options) as server:
            whole = server.client().chat.completions.create(**asked)
            assert whole.choices[0].message.content == text
            found = whole.usage.prompt_tokens_details.cached_tokens
            assert found == (0 if before else (whole.usage.prompt_tokens - 1) // PAGE * PAGE)
            assert server.is_idle() and server.end() == (0, "")


def test_machines_share_a_store(folder, alone, tmp_path):
    asked = chat("A question that is long enough for two pages.", max_tokens=20)
    text, _ = alone.answer(alone.chat_tokens(asked["messages"]), 20)
    with RedisServer(tmp_path) as store:
        for machine in range(2):
            with Serve(folder, "--store", store.address, "--disk-dir", tmp_path / str(machine),
                       "--disk-bytes", 64 << 20) as server:
                whole = server.client().chat.completions.create(**asked)
                assert whole.choices[0].message.content == text
                found = whole.usage.prompt_tokens_details.cached_tokens
                assert found == ((whole.usage.prompt_tokens - 1) // PAGE * PAGE if machine else 0)
                assert server.is_idle() and server.end() == (0, "")


def asks(server, text, asked):
    """(cached tokens, prompt's tokens) of an answer that is this text."""
    whole = server.client().chat.completions.create(**asked)
    assert whole.choices[0].message.content == text
    return whole.usage.prompt_tokens_details.cached_tokens, whole.usage.prompt_tokens


def test_prefill_and_decode_apart(folder, alone, tmp_path):
    """Two of them, and a kv-run, which names models and pages in the same way. The prefilling one answers, too, and
    may end before the other one."""
    prompts = [chat(f"A question that is long enough for {pages} pages.", max_tokens=8) for pages in (2, "two", "three")]
    texts = [alone.answer(alone.chat_tokens(one["messages"]), 8)[0] for one in prompts]
    endpoint = f"ipc://{tmp_path}/peer"
    with Serve(folder, *SMALL, "--role", "prefill", "--peer", endpoint, env=peers.environment()) as there, \
            Serve(folder, *SMALL, "--role", "decode", "--peer", endpoint, env=peers.environment()) as here:
        cached, tokens = asks(here, texts[0], prompts[0])
        assert cached == (tokens - 1) // PAGE * PAGE > 0
        assert here.figure("kv_peer_pages_total", outcome="read") == cached // PAGE
        assert there.figure("kv_peer_prompts_total") == 1
        assert there.figure("kv_peer_leases_total") == there.figure("kv_peer_leases_ended_total", how="returned") > 0
        assert asks(there, texts[1], prompts[1])[0] > 0  # what all of them begin with
        with peers.Decode(folder, endpoint) as program:
            tokens = alone.chat_tokens(prompts[1]["messages"])
            have, line = program.answer({"id": "a", "tokens": tokens, "max_new_tokens": 8, "logits": "digest"})
            assert line["cached_tokens"] == (len(tokens) - 1) // PAGE * PAGE
            assert [token for token, _ in have] == list(
                kvmlir.generate(alone.model, tokens, max_new_tokens=8))[:len(have)] != []
            assert program.end()["peer"]["pages_read"] == line["cached_tokens"] // PAGE
        assert there.is_idle() and there.end() == (0, "")
        assert asks(here, texts[2], prompts[2])[0] > 0  # what it has got before
        status, notes = here.end()
        assert status == 0 and notes in ("", f"kv-serve: note: the peer at {endpoint} does not answer: prompts are "
                                             "computed here\n"), notes


def test_kv_run_finds_its_pages(folder, alone, tmp_path):
    """On a disk that the two use in turn."""
    asked = chat("A question that is long enough for two pages.", max_tokens=8)
    options = ("--disk-dir", tmp_path / "disk", "--disk-bytes", 64 << 20, "--host-pages", 100)
    with Serve(folder, *options) as server:
        asks(server, alone.answer(alone.chat_tokens(asked["messages"]), 8)[0], asked)
        assert server.is_idle() and server.end() == (0, "")
    request = {"id": "a", "tokens": alone.chat_tokens(asked["messages"]), "max_new_tokens": 1}
    done = subprocess.run(peers.command(folder, *options), input=json.dumps(request) + "\n", capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    statistics = json.loads(done.stdout.splitlines()[-1])["statistics"]
    assert statistics["disk_pages_read"] == (len(request["tokens"]) - 1) // PAGE > 0


# ---- Many -----------------------------------------------------------------------------------------------


def requests(count):
    """Different prompts, of 20 to 200 tokens, some of which begin alike."""
    return [chat(f"{'Together we begin. ' * (i % 3)}{i}: " + "word " * (i % 23), max_tokens=8 + i % 30)
            for i in range(count)]


async def ask(client, asked, stream):
    answer = await client.chat.completions.create(**asked, stream=stream)
    if not stream:
        return answer.choices[0].message.content
    return "".join([chunk.choices[0].delta.content or "" async for chunk in answer])


def test_64_clients(server, alone):
    """With room for a few: they queue, take each other's pages, and get what each would alone."""
    asked = requests(64)

    async def all_of_them():
        async with server.client(openai.AsyncOpenAI) as client:
            return await asyncio.gather(*(ask(client, one, i % 2 == 0) for i, one in enumerate(asked)))

    have = asyncio.run(all_of_them())
    assert have == [alone.answer(alone.chat_tokens(one["messages"]), one["max_tokens"])[0] for one in asked]
    assert len(set(have)) > 50
    assert server.is_idle()


def test_aborts_in_the_middle(server, alone):
    """Streams that are left after some chunks, answers that nobody waits for, requests that still queue."""
    asked = requests(64)
    endless = {"max_tokens": 400, "extra_body": {"ignore_eos": True}}
    aborted = server.figure("kv_requests_finished_total", reason="abort")

    async def leave(client, one, chunks):
        stream = await client.chat.completions.create(**{**one, **endless}, stream=True)
        async for _ in stream:
            chunks -= 1
            if chunks <= 0:
                break
        await stream.close()

    async def hang_up(client, one, seconds):
        with pytest.raises(openai.APITimeoutError):
            await client.chat.completions.create(**{**one, **endless}, timeout=seconds)

    async def all_of_them():
        async with server.client(openai.AsyncOpenAI) as client:
            work = [leave(client, one, i % 7) if i % 4 == 0 else hang_up(client, one, 0.1 + i / 400)
                    if i % 4 == 1 else ask(client, one, i % 4 == 2) for i, one in enumerate(asked)]
            return await asyncio.gather(*work)

    have = asyncio.run(all_of_them())
    for answer, one in zip(have, asked):
        if answer is not None:
            assert answer == alone.answer(alone.chat_tokens(one["messages"]), one["max_tokens"])[0]
    assert sum(answer is not None for answer in have) == 32
    assert server.is_idle()
    # Who hangs up before the request has been read is never counted.
    assert server.figure("kv_requests_finished_total", reason="abort") - aborted >= 8


# ---- What is refused ------------------------------------------------------------------------------------

PLAIN = {"model": "tiny", "prompt": "a"}
REFUSED = [
    ({"model": "tiny", "prompt": "x" * 600}, 400, "600 prompt tokens, the model takes at most 512"),
    ({**PLAIN, "n": 33}, 400, "n is 33, allowed: an integer from 1 to 32"),
    ({**PLAIN, "n": 3, "best_of": 2}, 400, "best_of is 2, allowed: n, which is 3, or more"),
    ({**PLAIN, "best_of": 2, "stream": True}, 400, "best_of is given with stream, allowed: one of them"),
    ({**PLAIN, "prompt": ["a"] * 65, "n": 2}, 400, "2 answers to 65 prompts, allowed: 128 answers"),
    ({**PLAIN, "max_tokens": -1}, 400, "max_tokens is -1, allowed: an integer, 0 or more"),
    ({**PLAIN, "suffix": "b"}, 400, 'suffix is \'b\', allowed: ""; kv-serve has nothing else'),
    ({**PLAIN, "logit_bias": {"a": 1}}, 400, "logit_bias is {'a': 1}, allowed: an object of at most 1024 numbers"),
    ({**PLAIN, "logit_bias": {"272": 1}}, 400, "a logit bias is of token 272, the vocabulary is 0 to 271"),
    ({**PLAIN, "structured_outputs": {}}, 400, "structured_outputs has 0 forms, allowed: one of json, regex, choice "),
    ({**PLAIN, "structured_outputs": {"json": 5}}, 400, "structured_outputs.json is 5, allowed: a JSON schema"),
    ({**PLAIN, "structured_outputs": {"choice": ["x" * 70_000]}}, 400, "the answer's form cannot be used: it has 70"),
    ({**PLAIN, "structured_outputs": {"regex": "(a"}}, 400, "the answer's form cannot be used: "),
    ({**PLAIN, "structured_outputs": {"json": {"type": "strin"}}}, 400, "cannot be used: Invalid type: strin"),
    ({**PLAIN, "structured_outputs": {"json": False}}, 400, "the answer's form cannot be used: "),
    ({**PLAIN, "max_tokens": "many"}, 400, "max_tokens is 'many', allowed: an integer"),
    ({**PLAIN, "max_tokens": True}, 400, "max_tokens is True"),
    ({**PLAIN, "temperature": -1}, 400, "temperature is -1, allowed: a number from 0 to 2"),
    ({**PLAIN, "temperature": "hot"}, 400, "temperature is 'hot'"),
    ({**PLAIN, "top_p": 0}, 400, "top_p is 0, allowed: a number above 0, at most 1"),
    ({**PLAIN, "min_p": 1.5}, 400, "min_p is 1.5, allowed: a number from 0 to 1"),
    ({**PLAIN, "seed": 1.5}, 400, "seed is 1.5, allowed: an integer from -9223372036854775808"),
    ({**PLAIN, "seed": 2**64}, 400, "seed is 18446744073709551616, allowed: an integer from -9223372036854775808 to "
                                    "18446744073709551615"),
    ({**PLAIN, "top_k": -2}, 400, "top_k is -2, allowed: an integer, -1 or more"),
    ({**PLAIN, "stop": [""]}, 400, "stop is [''], allowed: a string, or at most 16"),
    ({**PLAIN, "stop": ["a"] * 17}, 400, "stop is "),
    ({**PLAIN, "stop_token_ids": ["a"]}, 400, "stop_token_ids is ['a'], allowed: a list of token ids"),
    ({**PLAIN, "stream": 1}, 400, "stream is 1, allowed: true or false"),
    ({**PLAIN, "stream_options": {}}, 400, "stream_options is given, allowed: with stream true"),
    ({**PLAIN, "cache_salt": "a\0b"}, 400, "cache_salt is 'a\\x00b'"),
    ({**PLAIN, "cache_salt": "ä" * 121}, 400, "a salt of 242 bytes, allowed: 240"),
    ({**PLAIN, "logprobs": 21}, 400, "logprobs is 21, allowed: true or false; of a completion an integer from 0 to 20"),
    ({**PLAIN, "frequency_penalty": 2.5}, 400, "frequency_penalty is 2.5, allowed: a number from -2 to 2"),
    ({**PLAIN, "tempratur": 1}, 400, "tempratur is no field that kv-serve knows"),
    ({"model": 3, "prompt": "a"}, 400, "model is 3, allowed: a string"),
    ({"model": "large", "prompt": "a"}, 404, "the model 'large' is not there, only 'tiny'"),
    ({"model": "tiny"}, 400, "prompt is None, allowed: a string, a list of token ids"),
    ({"model": "tiny", "prompt": ""}, 400, "no prompt tokens, at least one is needed"),
    ({"model": "tiny", "prompt": [1, 272]}, 400, "tokens[1] is 272, the vocabulary is 0 to 271"),
    ({"model": "tiny", "prompt": [1, "a"]}, 400, "prompt is [1, 'a']"),
    ({"model": "tiny", "prompt": [[1]] * 129}, 400, "129 prompts, allowed: at most 128"),
    ({"model": "tiny", "prompt": ["fine", "x" * 600]}, 400, "600 prompt tokens"),
    (b'{"model": "tiny"', 400, "the body is no JSON: Expecting"),
    (b"\xff\xfe", 400, "the body is no JSON: "),
    (b"[1]", 400, "the body is a JSON list, allowed: an object"),
    (b"[" * 100_000, 400, "nested too deeply"),
    (b'{"model": "tiny", "prompt": "a", "temperature": NaN}', 400, "NaN is no number of JSON"),
    (b'{"model": "tiny", "prompt": "a", "seed": 1, "seed": 2}', 400, "seed is given twice"),
    (b'{"model": "tiny", "prompt": "a", "seed": 1%s}' % (b"0" * 5000), 400,
     "(4300 digits) for integer string conversion: value has 5001 digits"),
    (b'{"model": "tiny", "prompt": "\\ud800"}', 400, "prompt has half of a surrogate pair"),
    (b" " * (17 << 20), 413, "the body has more than 16777216 bytes"),
]
REFUSED_CHATS = [
    ([], "messages is [], allowed: a list of at least one message"),
    ("hello", "messages is 'hello'"),
    (["hello"], "messages[0] is 'hello', allowed: an object with role and content"),
    ([{"content": "a"}], "messages[0].role is None, allowed: a string"),
    ([{"role": "user"}], "messages[0].content is None, allowed: a string, or a list"),
    ([{"role": "user", "content": [{"type": "image_url"}]}], "messages[0].content is [{'type': 'image_url'}]"),
    ([{"role": "assistant", "content": "", "tool_calls": [{}]}],
     "messages[0].tool_calls[0].function is None, allowed: an object with a name"),
    ([{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}],
     "messages[0].tool_calls.function.arguments is '{', allowed: JSON"),
]


@pytest.mark.parametrize("body, status, sentence", REFUSED, ids=lambda one: str(one)[:40])
def test_refused(server, body, status, sentence):
    have, answer = server.post("/v1/completions", body)
    assert have == status and sentence in answer["error"]["message"], answer
    assert answer["error"]["type"] == "invalid_request_error" and "\n" not in answer["error"]["message"]


@pytest.mark.parametrize("messages, sentence", REFUSED_CHATS, ids=lambda one: str(one)[:40])
def test_refused_chats(server, messages, sentence):
    have, answer = server.post("/v1/chat/completions", {"model": "tiny", "messages": messages})
    assert have == 400 and sentence in answer["error"]["message"], answer


def test_the_clients_own_errors(server, client):
    with pytest.raises(openai.NotFoundError, match="the model 'large' is not there") as raised:
        client.chat.completions.create(**{**chat("a"), "model": "large"})
    assert raised.value.code == "model_not_found" and raised.value.param == "model"
    with pytest.raises(openai.BadRequestError, match="600 prompt tokens") as raised:
        client.completions.create(model="tiny", prompt="x" * 600, stream=True)
    assert raised.value.code == "context_length_exceeded"
    status, said = server.post("/v1/embeddings", {"input": "a"})
    assert status == 400 and said["error"]["message"] == \
        "its model gives no hidden states, allowed: one that kv-import has written with --embeddings"
    assert server.is_idle()


def test_as_much_as_there_is(client):
    """More tokens than the model takes are as many as it takes."""
    for limit in (10**30, None):
        whole = client.chat.completions.create(**chat("a", max_tokens=limit), extra_body={"ignore_eos": True})
        assert whole.usage.total_tokens == 512 and whole.choices[0].finish_reason == "length"


def test_too_many_and_too_few_pages(folder):
    """--max-requests is the queue's end; a cache that is smaller than the model's length is the length."""
    with Serve(folder, "--max-requests", 4, "--pages", 20, "--max-batch", 1) as server:
        client = server.client()
        endless = chat("a", stream=True, max_tokens=None, extra_body={"ignore_eos": True})
        streams = [client.chat.completions.create(**endless) for _ in range(4)]
        with pytest.raises(openai.RateLimitError, match="4 requests run and wait already"):
            client.chat.completions.create(**endless)
        assert joined(streams[0])[1] == ["length"]
        for stream in streams[1:]:
            stream.close()
        assert server.is_idle()
        assert server.figure("kv_requests_finished_total", reason="abort") >= 2
        # 20 pages, and a token that is never stored.
        with pytest.raises(openai.BadRequestError, match="takes at most 32[01]"):
            client.completions.create(model="tiny", prompt="x" * 400)


def test_replicas(folder, alone):
    """Each has requests, and a second turn goes to the one that has its prefix."""
    with Serve(folder, "--replicas", 2, "--pages", 100, "--max-batch", 8) as server:
        assert "each of 2 replicas of the cache has 100 pages" in "".join(server.before)
        asked = [chat(chr(97 + i) * 60, max_tokens=8) for i in range(8)]
        with futures.ThreadPoolExecutor(len(asked)) as pool:
            texts = list(pool.map(lambda one: server.client().chat.completions.create(**one).choices[0].message.content,
                                  asked))
        for one, text in zip(asked, texts):
            assert text == alone.answer(alone.chat_tokens(one["messages"]), 8)[0]
            assert cached(server.client(), one) > 3 * PAGE
        assert all(server.figure("kv_pages_cached", replica=str(i)) > 10 for i in range(2))


# ---- The end --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", (20, 0))
def test_the_end(folder, seconds):
    """SIGTERM: what runs has its time, then it is told; nobody else comes in; the status is 0."""
    with Serve(folder, "--shutdown-seconds", seconds, "--max-batch", 1) as server:
        client = server.client()
        asked = chat("a", stream=True, max_tokens=200, extra_body={"ignore_eos": True})
        streams = [client.chat.completions.create(**asked) for _ in range(3)]
        ended = []
        ender = threading.Thread(target=lambda: ended.append(server.end()))
        ender.start()
        if seconds:
            assert [joined(stream)[1] for stream in streams] == [["length"]] * 3
        else:
            with pytest.raises(openai.APIError, match="the server is shutting down"):
                joined(streams[-1])
            client.close()
        ender.join()
        assert ended == [(0, "")]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))


@pytest.mark.parametrize("given, sentence", (
    (("--port", 65536), "--port: '65536' is given, allowed: an integer from 0 to 65535"),
    (("--port", "http"), "--port: 'http' is given, allowed: an integer from 0 to 65535"),
    (("--threads", 0), "--threads: '0' is given, allowed: an integer from 1 to 4096"),
    (("--max-batch", 2**20), "--max-batch: '1048576' is given, allowed: an integer from 1 to 1048575"),
    (("--max-batch-tokens", 2**24 + 1),
     "--max-batch-tokens: '16777217' is given, allowed: an integer from 1 to 16777216"),
    (("--max-requests", 2**31), "--max-requests: '2147483648' is given, allowed: an integer from 1 to 2147483647"),
    (("--pages", 2**31 - 1), "--pages: '2147483647' is given, allowed: an integer from 1 to 1073741823"),
    (("--host-pages", -1), "--host-pages: '-1' is given, allowed: an integer from 1 to 2147483646"),
    (("--cache-bytes", 2**63),
     "--cache-bytes: '9223372036854775808' is given, allowed: an integer from 1 to 9223372036854775807"),
    (("--disk-dir", "d", "--disk-bytes", "8G"),
     "--disk-bytes: '8G' is given, allowed: an integer from 1 to 9223372036854775807"),
    (("--shutdown-seconds", "nan"), "--shutdown-seconds: 'nan' is given, allowed: an integer from 0 to 86400"),
    (("--disk-dir", ""), "--disk-dir: '' is given, allowed: a text that is not empty"),
    (("--disk-bytes", 5), "--disk-bytes is given, and no --disk-dir"),
    (("--events-replay", "ipc://r"), "--events-replay is given, and no --events"),
    (("--events-tiers",), "--events-tiers is given, and no --events"),
    (("--role", "decode"), "--role is given, and no --peer"),
    (("--peer", "ipc://p"), "--peer is given, and no --role"),
    (("--pages", 1, "--cache-bytes", 1), "--cache-bytes: not allowed with argument --pages"),
    (("--colour", "red"), "unrecognized arguments: --colour red")))
def test_bad_options(folder, given, sentence):
    done = subprocess.run([sys.executable, KV_SERVE, *map(str, (folder, *given))], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 2 and done.stderr == f"kv-serve: {sentence}\n", done.stderr


def test_what_cannot_be_served(folder, server, tmp_path):
    def sentence(*given):
        done = subprocess.run([sys.executable, KV_SERVE, *map(str, given)], capture_output=True, text=True,
                              timeout=60)
        assert done.returncode == 1 and len(done.stderr.splitlines()) == 1, done.stderr
        return done.stderr

    assert "no such folder" in sentence(tmp_path / "none")
    assert "lacks weights.safetensors" in sentence(tmp_path)
    assert f"127.0.0.1:{server.port}: Address already in use" in sentence(folder, "--port", server.port)
    assert "available_cache_memory is 10 bytes" in sentence(folder, "--cache-bytes", 10)
    assert "--replicas is 9, --max-batch is 8: each replica needs a request" in sentence(
        folder, "--replicas", 9, "--max-batch", 8)
    assert "disk tier: 10 bytes hold no record" in sentence(folder, "--disk-dir", tmp_path / "disk", "--disk-bytes", 10)
