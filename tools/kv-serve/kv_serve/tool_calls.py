"""Calls of tools: which may be made, and the form of those that must be."""

import dataclasses
import uuid

from . import grammars
from .errors import RequestError, bad_field


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
