"""What clients ask of answers beyond their text: several of them, log probabilities, forms and tools. The tokens are
the model's own under the same rules."""

import concurrent.futures
import json
import os
import random
import time

import pytest

import kvmlir
from serve_process import PAGE, Alone, Serve, chat, make_tiny

WEATHER = [{"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": False,
    "properties": {"city": {"enum": ["Paris", "Rome"]}}}}}]
PERSON = {"type": "object", "required": ["name", "age"], "additionalProperties": False,
          "properties": {"name": {"type": "string", "maxLength": 5}, "age": {"type": "integer", "minimum": 0}}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("answers"))


@pytest.fixture(scope="module")
def alone(folder):
    return Alone(folder)


@pytest.fixture(scope="module")
def server(folder):
    with Serve(folder, "--pages", 256, "--max-batch", 16, "--max-batch-tokens", 64) as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    return server.client()


def pages(model):
    return model.create_manager(4, num_pages=200, warn=False)


def test_several_answers_share_the_prompt(client):
    """Each is what its seed draws alone; the prompt's pages are computed once."""
    prompt = "x" * 40
    many = client.completions.create(model="tiny", prompt=prompt, n=8, max_tokens=6, temperature=1.5, seed=3,
                                     extra_body={"ignore_eos": True, "cache_salt": "many"})
    assert [choice.index for choice in many.choices] == list(range(8))
    assert len({choice.text for choice in many.choices}) >= 3
    for i, choice in enumerate(many.choices):
        [one] = client.completions.create(model="tiny", prompt=prompt, max_tokens=6, temperature=1.5, seed=3 + i,
                                          extra_body={"ignore_eos": True}).choices
        assert one.text == choice.text
    usage = many.usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.prompt_tokens_details.cached_tokens) == (40, 48, 0)


def test_many_prompts_let_others_in(client, server):
    """Those of one request do not all stand before the next one's."""
    prompts = [[i % 256] * 200 for i in range(128)]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        many = pool.submit(client.completions.create, model="tiny", prompt=prompts, max_tokens=40,
                           extra_body={"ignore_eos": True})
        while not server.figure("kv_requests_running"):
            assert not many.done()
        begin = time.monotonic()
        client.completions.create(model="tiny", prompt="a", max_tokens=1)
        single = time.monotonic() - begin
        answers = many.result()
        assert single < (time.monotonic() - begin) / 2
    assert [choice.index for choice in answers.choices] == list(range(128)) and answers.usage.prompt_tokens == 25600
    assert server.is_idle()


def test_best_of_gives_the_most_likely(client):
    options = {"model": "tiny", "prompt": "abc", "max_tokens": 5, "temperature": 1.5, "seed": 5, "logprobs": 0}
    all_of_them = client.completions.create(**options, n=6).choices
    mean = lambda choice: sum(choice.logprobs.token_logprobs) / len(choice.logprobs.token_logprobs)
    best = client.completions.create(**options, n=2, best_of=6).choices
    assert [one.text for one in best] == [one.text for one in sorted(all_of_them, key=mean, reverse=True)[:2]]


def test_log_probabilities(client, alone):
    server = kvmlir.Server(alone.model, pages(alone.model))
    stream = server.add(alone.text_tokens("abc"), max_new_tokens=6, logprobs=3, prompt_logprobs=0)
    server.run()
    [choice] = client.completions.create(model="tiny", prompt="abc", max_tokens=6, temperature=0, logprobs=3,
                                         echo=True, extra_body={"ignore_eos": True}).choices
    known = choice.logprobs
    assert known.token_logprobs == [None, *(one[0] for one in stream.prompt_logprobs), *(one[0] for one in stream.logprobs)]
    assert known.tokens[:3] == ["a", "b", "c"] and choice.text.startswith("abc")
    assert all(len(top) <= 3 for top in known.top_logprobs if top)
    answer = client.chat.completions.create(**chat("hello"), logprobs=True, top_logprobs=2, max_tokens=4,
                                            extra_body={"ignore_eos": True})
    content = answer.choices[0].logprobs.content
    assert len(content) == 4 and all(one.logprob == one.top_logprobs[0].logprob for one in content)
    pieces = client.chat.completions.create(**chat("hello"), logprobs=True, top_logprobs=2, max_tokens=4, stream=True,
                                            extra_body={"ignore_eos": True})
    streamed = [one for piece in pieces for choice in piece.choices if choice.logprobs
                for one in choice.logprobs.content]
    assert streamed == content


def test_log_probabilities_of_prompts_are_cached(folder, tmp_path):
    """Also on a disk, for the next process. A page that was computed without them is a miss, and is said to be one."""
    prompt, seen = "a prompt of one hundred and more characters, of which pages are kept with what the model says of them", {}

    def ask(server, kind, **more):
        answer = server.client().completions.create(model="tiny", prompt=prompt, max_tokens=1, temperature=0,
                                                    extra_body={"explain": True, "ignore_eos": True}, **more)
        assert seen.setdefault(kind, answer.choices) == answer.choices
        usage = answer.usage.model_dump()
        pages = usage["prompt_tokens_details"]["pages"]
        return usage["prompt_tokens_details"]["cached_tokens"], sorted(set(pages[:-1]))

    full = (len(prompt) - 1) // PAGE * PAGE
    options = ("--cached-logprobs", 3, "--disk-dir", tmp_path / "disk", "--disk-bytes", 1 << 26, "--pages", 64)
    with Serve(folder, *options) as server:
        assert ask(server, "plain") == (0, ["never_seen"])
        known = {"echo": True, "logprobs": 3}
        assert ask(server, "known", **known) == (0, ["without_logprobs"])
        assert ask(server, "known", **known) == (full - 1, ["hit"])
        assert ask(server, "fewer", echo=True, logprobs=1) == (full - 1, ["hit"])
        assert ask(server, "more", echo=True, logprobs=5) == (0, ["without_logprobs"])
        assert ask(server, "plain") == (full, ["hit"])
        assert server.is_idle()
    with Serve(folder, *options) as server:
        assert ask(server, "known", **known) == (full - 1, ["other_tier"])
        assert ask(server, "plain") == (full, ["hit"])


def test_a_prompt_alone(client):
    """What lm-eval asks: the prompt's log probabilities, and no token."""
    answer = client.completions.create(model="tiny", prompt="abcd", max_tokens=0, echo=True, logprobs=1)
    [choice] = answer.choices
    assert choice.text == "abcd" and len(choice.logprobs.token_logprobs) == 4 and answer.usage.completion_tokens == 0


def test_a_token_that_ends_the_answer_has_a_log_probability(client):
    """lm-eval asks for one token beyond the prompt, whatever it is, and passes over it."""
    answer = client.completions.create(model="tiny", prompt="abcd", max_tokens=1, echo=True, logprobs=1, temperature=0,
                                       logit_bias={"256": 100})
    [choice] = answer.choices
    assert choice.text == "abcd" and len(choice.logprobs.token_logprobs) == 5 and choice.finish_reason == "length"


def test_rules(client, alone):
    [forced] = client.completions.create(model="tiny", prompt="a", max_tokens=4, temperature=0,
                                         logit_bias={"120": 100}).choices
    assert forced.text == "xxxx"
    rules = {"frequency_penalty": 1.5, "presence_penalty": -0.5, "repetition_penalty": 3.0}
    plain, _ = alone.answer(alone.text_tokens("a"), 12, stop_tokens=())
    want, _ = alone.answer(alone.text_tokens("a"), 12, stop_tokens=(), **rules, logit_bias={90: 1.0})
    [ruled] = client.completions.create(model="tiny", prompt="a", max_tokens=12, temperature=0, logit_bias={"90": 1},
                                        extra_body={**rules, "ignore_eos": True}).choices
    assert ruled.text == want != plain
    usage = client.completions.create(model="tiny", prompt="a", max_tokens=9, temperature=0, logit_bias={"256": 100},
                                      extra_body={"min_tokens": 5}).usage
    assert usage.completion_tokens == 5


@pytest.mark.parametrize("form, holds", (
    ({"structured_outputs": {"choice": ["red", "green"]}}, lambda text: text in ("red", "green")),
    ({"structured_outputs": {"regex": "[0-9]{3}-[a-c]"}}, lambda text: len(text) == 5 and text[:3].isdigit()),
    ({"structured_outputs": {"grammar": 'start: "a" | "b" start'}}, lambda text: text.endswith("a")),
    ({"structured_outputs": {"json": PERSON}}, lambda text: set(json.loads(text)) == {"name", "age"}),
))
def test_forms(client, form, holds):
    for seed in range(5):
        [choice] = client.completions.create(model="tiny", prompt="abc", max_tokens=60, temperature=1, seed=seed,
                                             extra_body=form).choices
        assert choice.finish_reason == "stop" and holds(choice.text), choice


@pytest.mark.parametrize("more", ({"min_tokens": 20}, {"ignore_eos": True}))
def test_nothing_follows_a_form(client, more):
    form = {"structured_outputs": {"choice": ["red", "green"]}}
    [choice] = client.completions.create(model="tiny", prompt="a", max_tokens=30, extra_body={**form, **more}).choices
    assert choice.text in ("red", "green") and choice.finish_reason == "stop"


@pytest.mark.parametrize("form, tokens", (
    ({"regex": "[^\\s\\S]"}, 0), ({"grammar": 'start: start "a"'}, 0), ({"grammar": 'start: "ab" x\nx: x "c"'}, 2)))
def test_a_form_that_no_answer_has(server, form, tokens):
    status, said = server.post("/v1/completions", {"prompt": "a", "structured_outputs": form})
    assert status == 400 and said["error"]["message"].startswith(
        f"the answer's form cannot be used: after {tokens} tokens none may come"), said


def test_a_penalty_that_is_hardly_a_number(client):
    [choice] = client.completions.create(model="tiny", prompt="a", max_tokens=3,
                                         extra_body={"repetition_penalty": 5e-324}).choices
    assert choice.text == "aaa"


def test_random_schemas(client):
    """An answer that ends by itself is valid, and near the limit what can end does."""
    draw = random.Random(7)

    def schema(depth):
        kind = draw.choice(["string", "integer", "boolean", "null", "enum", *(["object", "array"] if depth else [])])
        if kind == "enum":
            return {"enum": ["a", 1, None]}
        if kind == "array":
            return {"type": "array", "items": schema(depth - 1), "maxItems": 3}
        if kind == "object":
            properties = {name: schema(depth - 1) for name in draw.sample(["p", "q", "r"], draw.randrange(3))}
            return {"type": "object", "properties": properties, "required": list(properties),
                    "additionalProperties": False}
        return {"type": kind, **({"maxLength": 8} if kind == "string" else {})}

    kinds = {"string": str, "integer": int, "boolean": bool, "null": type(None), "object": dict, "array": list}

    def valid(value, form):
        if "enum" in form:
            return value in form["enum"]
        if type(value) is not kinds[form["type"]]:
            return False
        if isinstance(value, list):
            return len(value) <= 3 and all(valid(one, form["items"]) for one in value)
        if isinstance(value, dict):
            return set(value) == set(form["properties"]) and all(
                valid(value[name], form["properties"][name]) for name in value)
        return True

    cut = 0
    for seed in range(40):
        form = schema(2)
        answer = client.chat.completions.create(
            **{**chat("go"), "temperature": 1}, seed=seed, max_tokens=200,
            response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": form}})
        [choice] = answer.choices
        if choice.finish_reason == "length":
            cut += 1
            continue
        assert valid(json.loads(choice.message.content), form), (form, choice.message.content)
    assert cut <= 4
    any_object = client.chat.completions.create(**chat("go"), max_tokens=100, response_format={"type": "json_object"})
    json.loads(any_object.choices[0].message.content)


def test_tools(client):
    called = client.chat.completions.create(**chat("go"), tools=WEATHER, tool_choice="required", max_tokens=200)
    [choice] = called.choices
    assert choice.finish_reason == "tool_calls" and choice.message.content is None
    for call in choice.message.tool_calls:
        assert call.function.name == "weather" and json.loads(call.function.arguments)["city"] in ("Paris", "Rome")
    by_name = {"type": "function", "function": {"name": "weather"}}
    pieces = list(client.chat.completions.create(**chat("go"), tools=WEATHER, tool_choice=by_name, max_tokens=200,
                                                 stream=True))
    [call] = [call for piece in pieces for choice in piece.choices for call in choice.delta.tool_calls or []]
    assert json.loads(call.function.arguments)["city"] in ("Paris", "Rome") and call.index == 0
    history = [{"role": "user", "content": "go"},
               {"role": "assistant", "content": None, "tool_calls": [
                   {"id": "c", "type": "function", "function": {"name": "weather", "arguments": "{}"}}]},
               {"role": "tool", "tool_call_id": "c", "content": "rain"}]
    assert client.chat.completions.create(model="tiny", messages=history, tools=WEATHER, max_tokens=3).choices


@pytest.mark.parametrize("more, says", (
    ({"tools": [{"type": "function"}]}, "tools[0].function is None, allowed: an object with a name"),
    ({"tools": WEATHER, "tool_choice": {"type": "function", "function": {"name": "x"}}}, "tool_choice is {"),
    ({"tool_choice": "required"}, "tool_choice is given, allowed: with tools"),
    ({"tools": WEATHER, "tool_choice": "required", "response_format": {"type": "json_object"}}, "more than one form"),
    ({"top_logprobs": 2}, "top_logprobs is given, allowed: with logprobs true"),
    ({"logprobs": 2}, "logprobs is 2, allowed: true or false"),
    ({"continue_final_message": True}, "continue_final_message is given, allowed: with add_generation_prompt false"),
    ({"chat_template_kwargs": {"messages": []}}, "chat_template_kwargs has messages, which has a field of its own"),
    ({"response_format": {"type": "xml"}}, "response_format is {'type': 'xml'}, allowed: "),
))
def test_refused_chats(server, more, says):
    status, answer = server.post("/v1/chat/completions", {**chat("a"), **more})
    assert status == 400 and says in answer["error"]["message"], answer


def test_unknown_fields(folder):
    environment = {**os.environ, "KV_SERVE_UNKNOWN_FIELDS": "ignore"}
    with Serve(folder, "--pages", 64, env=environment) as server:
        for _ in range(2):
            status, answer = server.post("/v1/completions", {"prompt": "a", "max_tokens": 1, "beam_width": 4})
            assert status == 200 and answer["choices"]
        server.process.terminate()
        said = server.process.stderr.read()
    assert said.count("beam_width is no field that kv-serve knows: it is ignored") == 1


# ---- Token ids ------------------------------------------------------------------------------------------


def test_tokens_of_a_text(server, alone):
    """And back. Clients count tokens before they ask."""
    for text in ("what a cache keeps", "東 and <|im_end|>", ""):
        for special in (True, False, None):
            want = alone.folder.tokenizer.encode(text, add_special_tokens=special is not False).ids
            status, said = server.post("/tokenize", {"model": "tiny", "prompt": text, "add_special_tokens": special,
                                                     "return_token_strs": True})
            assert (status, said["tokens"], said["count"], said["max_model_len"]) == (200, want, len(want), 512)
            assert said["token_strs"] == [alone.folder.tokenizer.id_to_token(token) for token in want]
            assert server.post("/detokenize", {"tokens": want}) == (
                200, {"prompt": alone.folder.tokenizer.decode(want, skip_special_tokens=False)})


def test_tokens_of_a_chat(server, alone, client):
    asked = chat("Which tokens?", "These.", "All?", max_tokens=1)
    want = alone.chat_tokens(asked["messages"])
    status, said = server.post("/tokenize", {"messages": asked["messages"]})
    assert (status, said["tokens"], said["token_strs"]) == (200, want, None)
    assert client.chat.completions.create(**asked).usage.prompt_tokens == said["count"]
    [*_, last] = asked["messages"]
    status, said = server.post("/tokenize", {"messages": [last], "add_generation_prompt": False})
    assert status == 200 and len(said["tokens"]) < len(alone.chat_tokens([last]))


@pytest.mark.parametrize("path, body, sentence", (
    ("/tokenize", {}, "prompt and messages are both given or both missing, allowed: one of them"),
    ("/tokenize", {"prompt": "a", "messages": []},
     "prompt and messages are both given or both missing, allowed: one of them"),
    ("/tokenize", {"prompt": "a", "model": "b"}, "the model 'b' is not there, only 'tiny'"),
    ("/tokenize", {"messages": [{"role": "user"}]},
     'messages[0].content is None, allowed: a string, or a list of {"type": "text", "text": ...}'),
    ("/tokenize", {"messages": "a"}, "messages is 'a', allowed: a list of messages"),
    ("/tokenize", {"prompt": "x" * 600}, "600 prompt tokens, the model takes at most 512"),
    ("/detokenize", {"tokens": [1, 5000]}, "tokens[1] is 5000, allowed: a token of the model"),
    ("/detokenize", {"tokens": "a"}, "tokens is 'a', allowed: a list of token ids"),
    ("/detokenize", {}, "tokens is None, allowed: a list of token ids")))
def test_no_tokens(server, path, body, sentence):
    status, said = server.post(path, body)
    assert (status, said["error"]["message"]) == (404 if "model" in body else 400, sentence)
