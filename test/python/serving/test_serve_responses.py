"""OpenAI's Responses: what a chat answers, in another form; and conversations that the server keeps."""

import json
import random
import types

import openai
import pytest

from kv_serve.errors import RequestError
from kv_serve.families import Call
from kv_serve.generation import Piece
from kv_serve.requests import Asked
from kv_serve.responses import Responses, StoredResponses, _messages
from serve_process import PAGE, Serve, chat, make_tiny

TOOL = {"type": "function", "name": "weather", "parameters": {
    "type": "object", "required": ["city"], "additionalProperties": False,
    "properties": {"city": {"enum": ["Paris", "Rome"]}}}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return make_tiny(tmp_path_factory.mktemp("responses"))


@pytest.fixture(scope="module")
def server(folder):
    with Serve(folder, "--pages", 256) as server:
        yield server


@pytest.fixture(scope="module")
def client(server):
    return server.client()


def create(client, input, **more):
    return client.responses.create(model="tiny", input=input, **{"max_output_tokens": 6, "temperature": 0, **more})


def test_responses(client):
    whole = create(client, "hello", metadata={"a": "b"})
    same = client.chat.completions.create(**chat("hello"), max_tokens=6)
    assert whole.output_text == same.choices[0].message.content and whole.metadata == {"a": "b"}
    assert whole.usage.input_tokens == same.usage.prompt_tokens
    events = list(create(client, [{"role": "user", "content": [{"type": "input_text", "text": "hello"}]}], stream=True))
    assert [event.sequence_number for event in events] == list(range(len(events)))
    assert "".join(event.delta for event in events if event.type == "response.output_text.delta") == whole.output_text
    assert events[0].type == "response.created" and events[-1].response.output_text == whole.output_text
    called = create(client, "go", tools=[TOOL], tool_choice="required", max_output_tokens=200)
    assert called.output[0].type == "function_call" and called.output[0].name == "weather"
    with client.responses.stream(model="tiny", input="go", tools=[TOOL], tool_choice="required", temperature=0) as made:
        assert [item.name for item in made.get_final_response().output][0] == "weather"


def test_conversations_that_are_stored(client):
    """Each turn answers as if it had the whole conversation, and finds its pages; tools' answers are turns, too."""
    first = create(client, "hello" * PAGE, instructions="be brief")
    again = create(client, "and more", previous_response_id=first.id)
    spoken = [{"role": "user", "content": "hello" * PAGE}, {"role": "assistant", "content": first.output_text},
              {"role": "user", "content": "and more"}]
    same = create(client, spoken, store=False)
    assert (again.output_text, again.usage.input_tokens) == (same.output_text, same.usage.input_tokens)
    assert again.previous_response_id == first.id and again.store and not same.store
    spoken += [{"role": "assistant", "content": again.output_text}, {"role": "user", "content": "go"}]
    asked = {"tools": [TOOL], "tool_choice": "required", "max_output_tokens": 200, "previous_response_id": again.id}
    *_, last = create(client, [{"role": "user", "content": "go"}], stream=True, **asked)
    called = last.response
    assert called.usage.input_tokens_details.cached_tokens >= 5 * PAGE
    results = [{"type": "function_call_output", "call_id": item.call_id, "output": "rain"} for item in called.output]
    after = create(client, results, previous_response_id=called.id)
    whole = create(client, [*spoken, *(item.model_dump() for item in called.output), *results], store=False)
    assert (after.output_text, after.usage.input_tokens) == (whole.output_text, whole.usage.input_tokens)

    assert client.responses.retrieve(again.id) == again
    with pytest.raises(openai.NotFoundError, match=f"the response {same.id} is not stored"):
        client.responses.retrieve(same.id)
    client.responses.delete(again.id)
    with pytest.raises(openai.NotFoundError, match=f"{again.id}, which {called.id} follows, is not stored") as raised:
        create(client, "x", previous_response_id=called.id)
    assert raised.value.code == "response_not_found"
    assert client.responses.retrieve(after.id) == after


def test_tenants_find_their_own(folder, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("one\ntwo\n")
    with Serve(folder, "--api-key-file", keys, "--stored-bytes", 3000) as server:
        one, two = (openai.OpenAI(base_url=server.url + "/v1", api_key=key, max_retries=0) for key in ("one", "two"))
        made = create(one, "hello")
        assert one.responses.retrieve(made.id) == made
        for work in (lambda: two.responses.retrieve(made.id), lambda: two.responses.delete(made.id),
                     lambda: create(two, "x", previous_response_id=made.id)):
            with pytest.raises(openai.NotFoundError, match="is not stored"):
                work()
        for _ in range(5):  # more than there is room for
            create(two, "hello")
        with pytest.raises(openai.NotFoundError):
            one.responses.retrieve(made.id)


def test_what_is_stored_has_a_bound():
    """Against a list of all: what was used last stays, with the turns before it."""
    random_, most = random.Random(7), 4000
    stored, kept = StoredResponses(most), []  # kept: (id, size, follows), the latest used last
    sizes = lambda: sum(size for _, size, _ in kept)

    def use(name):
        kept.append(kept.pop([one[0] for one in kept].index(name)))

    def chain(name):
        """Whether it is whole. All that is there of it was used."""
        while name is not None:
            if name not in [one[0] for one in kept]:
                return False
            use(name)
            name = kept[-1][2]
        return True

    for number in range(3000):
        number, names = str(number), [one[0] for one in kept]
        follows = random_.choice([None, *names])
        if follows is not None and not chain(follows):
            with pytest.raises(RequestError, match="is not stored"):
                stored.conversation("t", follows)
            continue
        before = b"" if follows is None else b"".join(stored.conversation("t", follows))
        assert before.count(b"\0") % 2 == 0 and (not before or f"answer {follows}".encode() in before)
        body, answer = b"b" * random_.randrange(900), f"answer {number}".encode()
        stored.put("t", number, [body], follows)
        with pytest.raises(RequestError, match="is not stored"):
            stored.get("t", number)  # it has no answer yet
        stored.complete("t", number, answer)
        kept.append((number, len(body) + len(answer), follows))
        while sizes() > most:
            kept.pop(0)
        if random_.randrange(4) == 0:
            gone, *_ = random_.choice(kept)
            stored.delete("t", gone)
            kept = [one for one in kept if one[0] != gone]
        assert stored._left == most - sizes()
    stored.put("t", "large", [b"b" * (most + 1)], None)
    stored.complete("t", "large", b"answer")
    assert stored._left == most and not stored._found


def test_items():
    """What the model reasoned, said and called is one message of a chat."""
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "a"}]}
    thought = {"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "t"}]}
    answered = {"type": "function_call_output", "call_id": "c", "output": "1"}
    calls = [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    content = [{"type": "text", "text": "a"}]
    assert _messages("s", [thought, said, call, call, answered, call, said, said]) == [
        {"role": "system", "content": "s"},
        {"role": "assistant", "reasoning_content": "t", "content": content, "tool_calls": [*calls, *calls]},
        {"role": "tool", "tool_call_id": "c", "content": "1"},
        {"role": "assistant", "tool_calls": calls}, {"role": "assistant", "content": content},
        {"role": "assistant", "content": content}]
    hidden = {"type": "reasoning", "summary": [], "encrypted_content": "x"}
    assert _messages(None, [hidden, said]) == [{"role": "assistant", "content": content}]


@pytest.mark.parametrize("pieces, kinds", (
    ([("", ""), ("", "")], ["message"]),
    ([("t", ""), ("u", "a"), ("", "b")], ["reasoning", "message"]),
    ([("", "a"), ("t", "b")], ["message", "reasoning", "message"]),
    ([("t", "")], ["reasoning"]),
))
@pytest.mark.parametrize("calls", ([], [Call("f", "{}"), Call("g", "{}")]))
def test_events_say_what_the_whole_has(pieces, kinds, calls):
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3, "prompt_tokens_details": {},
             "completion_tokens_details": {"reasoning_tokens": 1}}
    generation = types.SimpleNamespace(usage=lambda: usage)
    form, kept = Responses("m", None, Asked([], {})), []
    form.keep = kept.append
    events = form.begin(generation)
    for reasoning, text in pieces:
        events += form.go_on(generation, Piece(0, text, reasoning=reasoning))
    events += form.go_on(generation, Piece(0, "", "tool_calls" if calls else "stop", calls=calls)) + form.end(generation)
    body = events[-1]["response"]
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    assert events[-1]["type"] == "response.completed" and json.loads(kept[0]) == body
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    assert done == body["output"] and body["usage"]["output_tokens_details"] == {"reasoning_tokens": 1}
    want = ([] if calls and kinds == ["message"] else kinds) + ["function_call"] * len(calls)
    assert [item["type"] for item in done] == want
    for at, item in enumerate(done):
        own = [event for event in events if event.get("output_index") == at]
        assert own[0]["type"] == "response.output_item.added" and own[0]["item"]["status"] == "in_progress" or \
            item["type"] == "function_call"
        assert own[-1]["type"] == "response.output_item.done"
        if item["type"] != "function_call":
            text = "".join(event["delta"] for event in own if event["type"].endswith("_text.delta"))
            assert text == item["content"][0]["text"] and {event.get("item_id", item["id"]) for event in own} == {item["id"]}
    texts = lambda at: "".join(piece[at] for piece in pieces)
    for kind, at in (("reasoning", 0), ("message", 1)):
        assert "".join(item["content"][0]["text"] for item in done if item["type"] == kind) == texts(at)


@pytest.mark.parametrize("body, says", (
    ({"input": 5}, "input is 5, allowed: a string, or a list of items"),
    ({"input": "a", "previous_response_id": 5}, "previous_response_id is 5, allowed: the id of a response"),
    ({"input": [{"type": "image"}]}, "input.type is 'image', allowed: "),
    ({"input": [{"type": "reasoning", "content": [5]}]}, "input.content is [5], allowed: of reasoning a list of"),
    ({"input": "a", "nothing": 1}, "nothing is no field that kv-serve knows"),
    ({"input": "a", "text": {"format": {"type": "xml"}}}, "response_format is {'type': 'xml'}, allowed: "),
    ({"input": "a", "reasoning": 5}, "reasoning is 5, allowed: an object"),
    ({"input": "a", "text": "x"}, "text is 'x', allowed: an object"),
    ({"input": "a", "store": 1}, "store is 1, allowed: true or false"),
    ({"input": "a", "metadata": {"a": 5}}, "metadata is {'a': 5}, allowed: an object of at most 16 texts"),
    ({"input": "a", "instructions": 5}, "messages[0].content is 5, allowed: a string"),
))
def test_refused_responses(server, body, says):
    status, answer = server.post("/v1/responses", body)
    assert status == 400 and says in answer["error"]["message"], answer


def test_a_conversation_with_nobody(server):
    status, answer = server.post("/v1/responses", {"input": "a", "previous_response_id": "resp_x"})
    assert status == 404 and answer["error"]["message"].startswith("the response resp_x is not stored")
