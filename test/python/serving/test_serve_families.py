"""What of an answer is reasoning, and what calls of tools, as families of models mark them; however its text is cut."""

import json
import random
import types

import pytest
import tokenizers

from kv_serve.engine import End, Token
from kv_serve.families import family_of
from kv_serve.generation import Answer
from kv_serve.requests import Asked
from canary import with_template
from serve_process import Serve, make_tiny

CHANNEL, MISTRAL, DEEPSEEK = "<|channel|>", "[TOOL_CALLS]", "<｜tool▁calls▁begin｜>"


def family(token=None):
    return family_of(types.SimpleNamespace(token_to_id=lambda text: 5 if text == token else None))


@pytest.mark.parametrize("text, rest, calls", (
    ("hello", "hello", []),
    ('sure <tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>', "sure", [("f", {"a": 1})]),
    ('<tool_call>{"name": "f"}</tool_call><tool_call>{"name": "g", "arguments": "{}"}</tool_call>', "",
     [("f", {}), ("g", {})]),
    ('{"name": "f", "parameters": {"a": [2]}}', "", [("f", {"a": [2]})]),
    ('[{"name": "f", "arguments": {}}, {"name": "g", "arguments": {}}]', "", [("f", {}), ("g", {})]),
    ("<tool_call>{</tool_call>", "<tool_call>{</tool_call>", []),
    ('{"answer": 5}', '{"answer": 5}', []),
))
def test_texts_of_calls(text, rest, calls):
    left, found = family().split(text)
    assert left == rest and [(call.name, json.loads(call.arguments)) for call in found] == calls
    # What is given out at once is never taken back: it is a part of what is left.
    given = 0
    for end in range(1, len(text) + 1):
        if not family().may_have_call(text[given:end]):
            given = end
    assert rest.startswith(text[:given].rstrip()) or not found


def pieces_of(text, seed):
    """Cut at random; 0: at every character."""
    draw, at = random.Random(seed), 0
    while at < len(text):
        count = draw.randrange(1, 9) if seed else 1
        yield text[at:at + count]
        at += count


CASES = (
    (None, False, "<think>\nit is\n</think>\n\nyes", "it is\n", "yes", []),
    (None, False, "  <think>a</think>b<think>c", "a", "b<think>c", []),
    (None, True, "\nit is</think>yes", "it is", "yes", []),
    (None, True, "no end </thi", "no end </thi", "", []),
    (None, False, "<thin", "", "<thin", []),
    (None, False, "a < b", "", "a < b", []),
    (None, False, "<think></think><tool_call>f\n<arg_key>a</arg_key>\n<arg_value>1</arg_value>\n<arg_key>b</arg_key>\n"
     "<arg_value>c d</arg_value></tool_call>", "", "", [("f", {"a": 1, "b": "c d"})]),
    (None, False, "well\n<tool_call>\n<function=f>\n<parameter=a>\n1\n2\n</parameter>\n</function>\n</tool_call>"
     "<tool_call>\n<function=g>\n</function></tool_call>", "", "well", [("f", {"a": "1\n2"}), ("g", {})]),
    (MISTRAL, False, "[THINK]a[/THINK]b[TOOL_CALLS]f[ARGS]{\"a\": 1}[TOOL_CALLS]g[CALL_ID]x1[ARGS]{}", "a", "b",
     [("f", {"a": 1}), ("g", {})]),
    (MISTRAL, False, '[TOOL_CALLS] [{"name": "f", "arguments": {"a": 1}}]', "", "", [("f", {"a": 1})]),
    (DEEPSEEK, True, "a</think>b<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": 1}\n```"
     "<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>g<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>", "a", "b",
     [("f", {"a": 1}), ("g", {})]),
    (CHANNEL, False, "<|channel|>analysis<|message|>it is<|end|><|start|>assistant<|channel|>final<|message|>yes"
     "<|return|>", "it is", "yes", []),
    (CHANNEL, False, "<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>commentary to=functions.f "
     "<|constrain|>json<|message|>{\"a\": 1}<|call|>", "a", "", [("f", {"a": 1})]),
    (CHANNEL, False, "<|channel|>commentary<|message|>I look<|end|><|start|>assistant to=functions.f<|channel|>"
     "commentary json<|message|>{}", "", "I look", [("f", {})]),
    (CHANNEL, False, "goes on as it began", "", "goes on as it began", []),
    (CHANNEL, False, "<", "", "<", []),
)


@pytest.mark.parametrize("token, reasons, text, reasoning, rest, calls", CASES)
def test_parts(token, reasons, text, reasoning, rest, calls):
    for seed in range(30):
        kind = family(token)
        parts = kind.parts(reasons)
        found = [*map(parts.push, pieces_of(text, seed)), parts.finish()]
        thought, said = map("".join, zip(*found))
        left, read = kind.split(said)
        assert (thought, left) == (reasoning, rest)
        assert [(call.name, json.loads(call.arguments)) for call in [*read, *parts.calls]] == calls


def letters(*special):
    """A token for each letter, and special ones."""
    vocabulary = {chr(32 + i): i for i in range(95)}
    found = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="?"))
    found.decoder = tokenizers.decoders.Fuse()
    found.add_special_tokens(list(special))
    return found


def test_marks_that_are_special_tokens():
    """Text does not show them, but whoever reads the answer sees them; without a chat they are not there."""
    tokenizer = letters("<|channel|>", "<|message|>", "<|end|>", "<|start|>", "<|call|>", "<|return|>", "<|other|>")
    kind = family_of(tokenizer)
    model = types.SimpleNamespace(tokenizer=tokenizer, family=kind, marks=kind.marks_of(tokenizer))
    text = ["<|channel|>", *"analysis", "<|message|>", *"a", "<|other|>", *"b", "<|end|>", "<|start|>", *"assistant",
            "<|channel|>", *"final", "<|message|>", *"c d"]
    for reasons, reasoning, said in ((False, "ab", "c d"), (None, "", "analysisabassistantfinalc d")):
        answer = Answer(0, Asked([[1]], {}, reasons=reasons), [1], model)
        pieces = [answer.take(Token(tokenizer.token_to_id(one))) for one in text]
        pieces = [*filter(None, pieces), answer.end(End("stop"))]
        assert "".join(piece.reasoning for piece in pieces) == reasoning
        assert "".join(piece.text for piece in pieces) == said
        assert answer.reasoning_tokens == (4 if reasoning else 0)  # the mark and what is between count


def test_a_template_that_begins_reasoning(tmp_path):
    """The answer is reasoning until its mark comes; a form has none."""
    folder = with_template(make_tiny(tmp_path), tmp_path / "reasons", "{{ messages[0]['content'] }}<think>")
    with Serve(folder) as server, server.client() as client:
        asked = {"model": "tiny", "max_tokens": 12, "temperature": 0}
        text = client.completions.create(prompt="hello<think>", **asked).choices[0].text
        chat = {**asked, "messages": [{"role": "user", "content": "hello"}]}
        answer = client.chat.completions.create(**chat)
        message = answer.choices[0].message
        assert answer.usage.completion_tokens_details.reasoning_tokens == answer.usage.completion_tokens
        assert text.lstrip() and (message.reasoning_content, message.content) == (text.lstrip(), "")
        deltas = [chunk.choices[0].delta for chunk in client.chat.completions.create(**chat, stream=True)]
        assert "".join(getattr(delta, "reasoning_content", "") for delta in deltas) == text.lstrip()
        assert not any(delta.content for delta in deltas)
        form = client.chat.completions.create(**{**chat, "max_tokens": 50}, response_format={"type": "json_object"})
        assert json.loads(form.choices[0].message.content) is not None
        assert not hasattr(form.choices[0].message, "reasoning_content")
