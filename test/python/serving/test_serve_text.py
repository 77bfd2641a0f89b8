"""Stop strings of kv-serve, whatever pieces a text comes in; bodies, whatever they hold."""

import json
import random
import time

import pytest

from kv_serve.bodies import ChatRequest, CompletionRequest, read
from kv_serve.errors import RequestError
from kv_serve.json_body import parse
from kv_serve.stop_strings import StopStrings


def given_out(pieces, stops):
    """(text, whether it was stopped), and never more than is certain."""
    own, out = StopStrings(stops), ""
    for piece in pieces:
        text, stopped = own.push(piece)
        out += text
        if stopped:
            return out, True
    return out + own.finish(), False


def test_random_texts():
    """As if the text were there at once: it ends where the first stop string begins."""
    draw = random.Random(3)
    stopped = 0
    for _ in range(3000):
        text = "".join(draw.choices("ab東", k=draw.randrange(30)))
        stops = ["".join(draw.choices("ab東", k=draw.randrange(1, 5))) for _ in range(draw.randrange(4))]
        cuts = sorted(draw.choices(range(len(text) + 1), k=draw.randrange(12)))
        pieces = [text[i:j] for i, j in zip([0, *cuts], [*cuts, len(text)])]
        # Where two stop strings are there, the one that is complete first ends the text.
        ends = [text.index(stop) + len(stop) for stop in stops if stop in text]
        seen = text[:next(end for end in [*cuts, len(text)] if end >= min(ends))] if ends else text
        want = seen[:min(seen.index(stop) for stop in stops if stop in seen)] if ends else text
        assert given_out(pieces, stops) == (want, bool(ends)), (pieces, stops)
        stopped += bool(ends)
    assert 500 < stopped < 2500


def test_text_is_held_no_longer_than_needed():
    own = StopStrings(["END"])
    assert [own.push(piece)[0] for piece in ("abE", "N", "x", "E", "ND", "more")][:4] == ["ab", "", "ENx", ""]
    own = StopStrings([])
    assert own.push("abc") == ("abc", False)


BIG = 300_000


@pytest.mark.parametrize("kind, body, sentence", (
    (CompletionRequest, "{" + ",".join(f'"k{i}":0' for i in range(BIG)) + f',"k{BIG - 1}":0}}',
     f"k{BIG - 1} is given twice"),
    (CompletionRequest, "{" + ",".join(f'"k{i}":0' for i in range(BIG)) + "}", "k0 is no field that kv-serve knows"),
    (CompletionRequest, '{"prompt":[' + "[]," * BIG + "1]}", f"{BIG + 1} prompts, allowed: at most 128"),
    (CompletionRequest, '{"prompt":"a","stop_token_ids":[' + "1," * BIG + '1]}', "a list of token ids, at most 256"),
    (CompletionRequest, '{"prompt":"a","stop":[' + '"b",' * BIG + '1]}', "a string, or at most 16"),
    (ChatRequest, '{"messages":[' + "{}," * BIG + "1]}", "messages[0].role is None, allowed: a string"),
    (ChatRequest, '{"messages":[{"role":"user","content":[' + "1," * BIG + "1]}]}",
     "messages[0].content is [1, 1, 1, 1"),
    (ChatRequest, '{"messages":[{"role":"user","content":"a","more":[' + '"\\ud83d\\ude00",' * BIG + '"\\ud83d"]}]}',
     f"messages[0].more[{BIG}] has half of a surrogate pair")), ids=lambda one: str(one)[:20])
def test_a_body_costs_its_length(kind, body, sentence):
    begin = time.process_time()
    with pytest.raises(RequestError) as raised:
        read(kind, parse(body.encode()))
    assert sentence in raised.value.message and len(raised.value.message) < 300
    assert time.process_time() - begin < 10


@pytest.mark.parametrize("value", (10**100, -10**100, 1e300, "a" * 1000, [[[[]]]] * 100, {"a": None}, True, "\ud800",
                                   json.loads("[" * 900 + "]" * 900)), ids=lambda one: str(one)[:20])
def test_every_field_takes_or_refuses_every_value(value):
    """In one sentence that names the field."""
    for kind, least in ((CompletionRequest, {"prompt": "a"}), (ChatRequest, {"messages": [
            {"role": "user", "content": "a"}]})):
        for name in kind.model_fields:
            try:
                read(kind, {**least, "stream": True, name: value})
            except RequestError as error:
                assert error.status == 400 and len(error.message) < 300
                assert error.message.startswith(name) or name in ("stream_options", "stream"), error.message
                error.message.encode()
        for name in ("role", "content", "tool_calls", "name"):
            try:
                read(ChatRequest, {"messages": [{"role": "user", "content": "a", name: value}]})
            except RequestError as error:
                assert error.message.startswith(f"messages[0].{name}") and len(error.message) < 300
