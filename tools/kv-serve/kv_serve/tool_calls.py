"""Calls of tools: which may be made, and what of an answer's text is one."""

import dataclasses
import json
import re
import uuid

from . import grammars
from .errors import RequestError, bad_field
from .stop_strings import overlap

# Texts around the JSON of a call. A model's other marks are special tokens, which are no text.
_OPEN, _CLOSE = "<tool_call>", "</tool_call>"


def read_choice(given, tools):
    """"none", "auto", "required", or a function's name after "=". tools: Function."""
    if not tools:
        if given not in (None, "none", "auto"):
            raise RequestError(400, "tool_choice is given, allowed: with tools", "tool_choice")
        return "none"
    if given is None:
        return "auto"
    if given in ("none", "auto", "required"):
        return given
    name = given.get("function", {}).get("name") if isinstance(given, dict) and isinstance(
        given.get("function"), dict) else None
    if name not in [tool.name for tool in tools]:
        raise bad_field("tool_choice", given, '"none", "auto", "required", or {"type": "function", "function": '
                                              '{"name": ...}} with the name of a tool')
    return f"={name}"


def schema_of(choice, tools, parallel):
    """The form of an answer that must be calls, or None. It is a list of them, whatever the model has learned."""
    if choice in ("none", "auto"):
        return None
    calls = [{"type": "object", "required": ["name", "arguments"], "additionalProperties": False,
              "properties": {"name": {"const": tool.name}, "arguments": tool.parameters or {"type": "object"}}}
             for tool in tools if choice in ("required", f"={tool.name}")]
    single = not parallel or choice != "required"
    return grammars.of_schema({"type": "array", "items": {"anyOf": calls}, "minItems": 1,
                                **({"maxItems": 1} if single else {"maxItems": 16})})


@dataclasses.dataclass
class Call:
    name: str
    arguments: str  # JSON

    def body(self, **more):
        return {**more, "id": f"call_{uuid.uuid4().hex[:24]}", "type": "function",
                "function": {"name": self.name, "arguments": self.arguments}}


def split(text):
    """(the text that is no call, calls) of an answer."""
    begin = text.find(_OPEN)
    if begin >= 0:
        calls = [call for part in re.findall(f"{_OPEN}(.*?)(?:{_CLOSE}|$)", text[begin:], re.S)
                 for call in _read(part)]
        return (text[:begin].rstrip(), calls) if calls else (text, [])
    calls = _read(text)
    return ("", calls) if calls else (text, [])


def has_begun(text):
    """Whether a text has something that only the end of the answer can show to be no call."""
    return text.lstrip()[:1] in ("[", "{") or _OPEN in text


def may_begin(text):
    """Whether a text may go on as a call: then it is held back."""
    return has_begun(text) or not text.strip() or overlap(text, _OPEN) > 0


def _read(text):
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
