"""How families of models mark what is no text of an answer: their reasoning, and calls of tools."""

import dataclasses
import json
import re
import uuid
from typing import Callable

from kv_generate.detokenize import special_tokens

from .stop_strings import overlap


@dataclasses.dataclass
class Call:
    name: str
    arguments: str  # JSON

    def body(self, **more):
        return {**more, "id": f"call_{uuid.uuid4().hex[:24]}", "type": "function",
                "function": {"name": self.name, "arguments": self.arguments}}


def _read_json(text):
    """Calls of a text that is JSON: one object, or a list of them."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return []
    calls = []
    for one in found if isinstance(found, list) else [found]:
        if not isinstance(one, dict) or not isinstance(name := one.get("name"), str):
            return []
        arguments = one.get("arguments", one.get("parameters", {}))
        calls.append(Call(name, arguments if isinstance(arguments, str) else json.dumps(arguments)))
    return calls


def _call(name, pairs):
    """Of names and values, which are JSON, or else texts."""
    arguments = {}
    for key, value in pairs:
        try:
            arguments[key] = json.loads(value)
        except (ValueError, RecursionError):
            arguments[key] = value
    return Call(name, json.dumps(arguments))


def _between(text, opening, closing):
    return text.partition(opening)[2].partition(closing)[0]


def _read_tagged(text):
    """JSON; or as Qwen's coders write a call; or as GLM does. In time in proportion to the length: the event loop
    waits."""
    if calls := _read_json(text):
        return calls
    if name := _between(text, "<function=", ">"):
        return [_call(name, [(part.partition(">")[0], _between(part, ">", "</parameter>").strip("\n"))
                             for part in text.split("<parameter=")[1:]])]
    name, *parts = text.split("<arg_key>")
    if not re.fullmatch(r"[\w.-]+", name.strip()):
        return []
    return [_call(name.strip(), [(part.partition("</arg_key>")[0], _between(part, "<arg_value>", "</arg_value>"))
                                 for part in parts])]


def _read_deepseek(text):
    calls = []
    for part in text.split("<｜tool▁call▁begin｜>")[1:]:
        first, mark, rest = part.partition("<｜tool▁call▁end｜>")[0].partition("<｜tool▁sep｜>")
        name, fence, arguments = rest.partition("\n```json\n")
        if fence:
            calls.append(Call(name, arguments.strip().removesuffix("```").strip()))
        elif mark:
            calls.append(Call(first.strip(), rest))
    return calls


def _read_mistral(text):
    name, mark, arguments = text.partition("[ARGS]")
    return [Call(name.partition("[CALL_ID]")[0].strip(), arguments)] if mark else _read_json(text)


class _Reasoning:
    """Splits an answer that may begin with reasoning, piece by piece."""

    calls = ()

    def __init__(self, opening, closing, reasons):
        self._opening, self._closing = opening, closing
        self._stage, self._held = "reasoning" if reasons else "begin", ""
        self._strips = reasons  # white space, up to the first character of reasoning, or of the text behind it

    def push(self, text):
        """(reasoning, text)"""
        self._held += text
        if self._strips:
            self._enter(self._stage, self._held)
        if self._stage == "begin":
            begin = self._held.lstrip()
            if begin.startswith(self._opening):
                self._enter("reasoning", begin[len(self._opening):])
            elif not self._opening.startswith(begin):
                self._stage = "text"
        reasoning = text = ""
        if self._stage == "reasoning":
            reasoning, mark, rest = self._held.partition(self._closing)
            if mark:
                self._enter("text", rest)
            else:
                kept = len(reasoning) - overlap(reasoning, self._closing)
                reasoning, self._held = reasoning[:kept], reasoning[kept:]
        if self._stage == "text":
            text, self._held = self._held, ""
        return reasoning, text

    @property
    def reasons(self):
        return self._stage == "reasoning"

    def finish(self):
        """(reasoning, text) of what is held back."""
        return (self._held, "") if self._stage == "reasoning" else ("", self._held)

    def _enter(self, stage, rest):
        self._stage, self._held = stage, rest.lstrip()
        self._strips = not self._held


_MESSAGE_ENDS = ("<|end|>", "<|call|>", "<|return|>", "<|start|>")
_MESSAGE_END, _HEAD_END = re.compile("|".join(map(re.escape, _MESSAGE_ENDS))), re.compile(re.escape("<|message|>"))


class _Messages:
    """Splits an answer of such messages, piece by piece. One that begins without a mark goes on with a text."""

    def __init__(self):
        self.calls = []
        self._kind, self._held = None, ""  # of the message that has begun; None: within its head
        self._has_begun = False
        self._found = {"analysis": "", "final": ""}

    def push(self, text):
        """(reasoning, text)"""
        self._held += text
        if not self._has_begun and not "<|".startswith(self._held):
            self._has_begun = True
            self._kind = None if self._held.startswith("<|") else "final"
        while mark := (_HEAD_END if self._kind is None else _MESSAGE_END).search(self._held):
            part, self._held = self._held[:mark.start()], self._held[mark.end():]
            if self._kind is None:
                self._begin(part)
            else:
                self._take(part)
                self._kind = None
        if self._kind is not None:
            kept = len(self._held) - max(overlap(self._held, mark) for mark in _MESSAGE_ENDS)
            self._take(self._held[:kept])
            self._held = self._held[kept:]
        return self._give()

    @property
    def reasons(self):
        return self._kind == "analysis"

    def finish(self):
        """(reasoning, text) of what is held back."""
        if not self._has_begun:
            self._kind = "final"
        if self._kind is not None:
            self._take(self._held)
        return self._give()

    def _give(self):
        found, self._found = self._found, {"analysis": "", "final": ""}
        return found["analysis"], found["final"]

    def _begin(self, head):
        if to := re.search(r"to=(?:functions\.)?([\w.-]+)", head):
            self._kind = "call"
            self.calls.append(Call(to[1], ""))
        else:
            self._kind = "analysis" if "<|channel|>analysis" in head else "final"

    def _take(self, text):
        if self._kind == "call":
            self.calls[-1].arguments += text
        else:
            self._found[self._kind] += text


@dataclasses.dataclass(frozen=True)
class Family:
    """reasoning, calls: the texts before and after such a part; None: it goes on to the end. read: the calls of a
    part's text, none if it is none. marks: of the texts those that are special tokens, which text does not show."""

    reasoning: tuple = ("<think>", "</think>")
    calls: tuple = ("<tool_call>", "</tool_call>")
    read: Callable = _read_tagged
    marks: tuple = ()

    def marks_of(self, tokenizer):
        """Texts by token ids."""
        special, ids = special_tokens(tokenizer), {mark: tokenizer.token_to_id(mark) for mark in (
            *self.marks, *self.reasoning, *filter(None, self.calls))}
        return {token: mark for mark, token in ids.items() if token in special}

    def begins_with_reasoning(self, prompt):
        """Whether the chat template has written the mark."""
        return prompt.rstrip().endswith(self.reasoning[0])

    def split(self, text):
        """(the text that is no call, calls) of an answer."""
        opening, closing = self.calls
        before, mark, after = text.partition(opening)
        if not mark:
            calls = _read_json(text)
            return ("", calls) if calls else (text, [])
        parts = after.split(opening)
        calls = [call for part in parts for call in self.read(part.partition(closing)[0] if closing else part)]
        return (before.rstrip(), calls) if calls else (text, [])

    def has_call(self, text):
        """Whether a text has something that only the end of the answer can show to be no call."""
        return text.lstrip()[:1] in ("[", "{") or self.calls[0] in text

    def may_have_call(self, text):
        """Whether a text may go on as a call: then it is held back."""
        return self.has_call(text) or not text.strip() or overlap(text, self.calls[0]) > 0

    def parts(self, reasons):
        return _Reasoning(*self.reasoning, reasons)


class _Harmony(Family):
    """gpt-oss: an answer is messages, each of a channel, of which one may be to a tool."""

    def parts(self, reasons):
        return _Messages()


# By a token that only they have; the last one is everybody else's.
_FAMILIES = {
    "<|channel|>": _Harmony(marks=("<|channel|>", "<|message|>", *_MESSAGE_ENDS)),
    "[TOOL_CALLS]": Family(("[THINK]", "[/THINK]"), ("[TOOL_CALLS]", None), _read_mistral, ("[ARGS]", "[CALL_ID]")),
    "<｜tool▁calls▁begin｜>": Family(
        calls=("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>"), read=_read_deepseek,
        marks=("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>")),
    None: Family()}


def family_of(tokenizer):
    return next(family for token, family in _FAMILIES.items()
                if token is None or tokenizer.token_to_id(token) is not None)
