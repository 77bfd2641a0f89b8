"""OpenAI's Responses: a chat in another form, which the server can keep for the next one to follow."""

import collections
import dataclasses
import time
import uuid

from pydantic_core import to_json

from . import requests
from .connection import MOST_BYTES
from .errors import RequestError, bad_field, cut
from .json_body import parse

# Fields that a chat has under the same name, and those that change no answer.
SAME = ("model", "temperature", "top_p", "stream", "user", "parallel_tool_calls", "seed",
        "cache_salt", "top_k", "min_p", "top_logprobs", "safety_identifier", "prompt_cache_key", "service_tier")
_OF_NO_USE = ("include", "truncation", "background", "stream_options", "max_tool_calls", "prompt_cache_retention")
_MOST_METADATA, _MOST_METADATA_LENGTH = 16, 512
_BETWEEN = b"\0"  # bodies and answers of a conversation: JSON never has it


def read_response(data, model):
    """Of a request that follows another one nothing but that one's id: its conversation is read then."""
    body = parse(data)
    if (follows := body.get("previous_response_id")) is None:
        return _read(body, _items(body), model)
    if not isinstance(follows, str):
        raise bad_field("previous_response_id", follows, "the id of a response")
    return requests.Asked([], {}, follows=follows)


def read_conversation(data, model):
    """StoredResponses.conversation(), and the body that follows it."""
    *before, body = map(parse, data.split(_BETWEEN))
    items = []
    for request, answer in zip(before[::2], before[1::2]):
        items += _items(request) + answer["output"]
    return _read(body, items + _items(body), model)


def _read(body, items, model):
    known = {*SAME, *_OF_NO_USE, "input", "instructions", "max_output_tokens", "tools", "tool_choice", "text",
             "reasoning", "previous_response_id", "metadata", "store"}
    for name in ("reasoning", "text"):
        if not isinstance(body.get(name) or {}, dict):
            raise bad_field(name, body[name], "an object")
    if body.get("background"):
        raise bad_field("background", body["background"], "false")
    chat = {name: body[name] for name in body if name in SAME or name not in known}
    chat["messages"] = _messages(body.get("instructions"), items)
    chat["max_completion_tokens"] = body.get("max_output_tokens")
    chat["tools"], chat["tool_choice"] = _tools(body)
    chat["response_format"] = _format(body)
    chat["logprobs"] = True if body.get("top_logprobs") else None
    if (effort := (body.get("reasoning") or {}).get("effort")) is not None:
        chat["reasoning_effort"] = effort
    asked = requests.chat_of(chat, model)
    asked.follows, asked.metadata, asked.keeps = body.get("previous_response_id"), _metadata(body), _keeps(body)
    return asked


def _metadata(body):
    given = body.get("metadata") or {}
    if not isinstance(given, dict) or len(given) > _MOST_METADATA or any(
            not isinstance(text, str) or len(text) > _MOST_METADATA_LENGTH for pair in given.items() for text in pair):
        raise bad_field("metadata", given, f"an object of at most {_MOST_METADATA} texts of at most "
                                           f"{_MOST_METADATA_LENGTH} characters, as their names are")
    return given


def _keeps(body):
    given = body.get("store")
    if given is not None and not isinstance(given, bool):
        raise bad_field("store", given, "true or false")
    return given is not False


def _items(body):
    given = body.get("input")
    if isinstance(given, str):
        return [{"role": "user", "content": given}]
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise bad_field("input", given, "a string, or a list of items")
    return given


def _messages(instructions, items):
    """What the model reasoned, said and called, item by item, is one message of a chat."""
    messages = [{"role": "system", "content": instructions}] if instructions else []
    for message in filter(None, map(_message, items)):
        last = messages[-1] if messages and messages[-1]["role"] == message["role"] == "assistant" else {}
        if "tool_calls" in message and last:
            last["tool_calls"] = last.get("tool_calls", []) + message["tool_calls"]
        elif "content" in message and last.keys() == {"role", "reasoning_content"}:
            last["content"] = message["content"]
        else:
            messages.append(message)
    return messages


def _message(item):
    """None: of reasoning that is not shown."""
    kind = item.get("type", "message")
    if kind == "message":
        return {"role": item.get("role"), "content": _content(item.get("content"))}
    if kind == "reasoning":
        parts = item.get("content") or item.get("summary") or []
        if not isinstance(parts, list) or not all(isinstance(part, dict) and isinstance(part.get("text"), str)
                                                  for part in parts):
            raise bad_field("input.content", parts, "of reasoning a list of objects with a text")
        text = "".join(part["text"] for part in parts)
        return {"role": "assistant", "reasoning_content": text} if text else None
    if kind == "function_call":
        return {"role": "assistant", "tool_calls": [{
            "id": item.get("call_id"), "type": "function",
            "function": {"name": item.get("name"), "arguments": item.get("arguments")}}]}
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": _content(item.get("output"))}
    raise bad_field("input.type", kind, '"message", "reasoning", "function_call" or "function_call_output"')


def _content(given):
    if not isinstance(given, list):
        return given
    return [{"type": "text", "text": part.get("text")} if isinstance(part, dict) and part.get("type") in
            ("input_text", "output_text", "text") else part for part in given]


def _tools(body):
    """Of a chat: their functions are objects of their own."""
    tools, choice = body.get("tools"), body.get("tool_choice")
    if isinstance(tools, list):
        tools = [{"type": one.get("type"), "function": {name: value for name, value in one.items() if name != "type"}}
                 if isinstance(one, dict) else one for one in tools]
    if isinstance(choice, dict):
        choice = {"type": "function", "function": {"name": choice.get("name")}}
    return tools, choice


def _format(body):
    given = (body.get("text") or {}).get("format")
    if isinstance(given, dict) and given.get("type") == "json_schema":
        return {"type": "json_schema", "json_schema": {name: value for name, value in given.items() if name != "type"}}
    return given


@dataclasses.dataclass
class _Stored:
    """pieces: of the request's body. answer: the response, in JSON; None: it is not whole. follows: another one's id, or
    None. size: bytes."""

    pieces: list
    follows: str
    size: int
    answer: bytes = None


class StoredResponses:
    """The latest ones, in memory. Each belongs to a tenant, guard.py's, and nobody else finds it."""

    def __init__(self, most_bytes):
        """most_bytes: of all bodies and answers. Beyond them those go that were not used for longest."""
        self._left = most_bytes
        self._found = collections.OrderedDict()  # by tenants and ids; the latest used last

    def put(self, tenant, id, pieces, follows):
        """Before the response is whole: so bodies count while their answers are made."""
        self._found[tenant, id] = added = _Stored(pieces, follows, sum(map(len, pieces)))
        self._take(added.size)

    def complete(self, tenant, id, answer):
        if (found := self._found.get((tenant, id))) is not None:
            found.answer = answer
            found.size += len(answer)
            self._take(len(answer))

    def _take(self, size):
        self._left -= size
        while self._left < 0:
            self._left += self._found.popitem(last=False)[1].size

    def get(self, tenant, id):
        """In JSON. Raises RequestError, as the others do."""
        return self._get(tenant, id).answer

    def delete(self, tenant, id):
        self._left += self._get(tenant, id).size
        del self._found[tenant, id]

    def conversation(self, tenant, id):
        """Bodies and answers, from the first ones on, as pieces of what read_conversation() reads."""
        found, size, at = [], 0, id
        while at is not None:
            one = self._get(tenant, at, "" if at == id else f", which {cut(id)} follows,")
            found.append(one)
            size += one.size
            if size > MOST_BYTES:
                raise RequestError(413, f"the conversation up to {cut(id)} has more than {MOST_BYTES} bytes")
            at = one.follows
        pieces = []
        for one in reversed(found):  # what a conversation begins with stays as long as its end
            pieces += [*one.pieces, _BETWEEN, one.answer, _BETWEEN]
        return pieces

    def _get(self, tenant, id, more=""):
        found = self._found.get((tenant, id))
        if found is None or found.answer is None:
            raise RequestError(404, f"the response {cut(id)}{more} is not stored: it never was, or is no longer", None,
                               "response_not_found")
        self._found.move_to_end((tenant, id))
        return found


# Kinds of items of an answer, to the names of their parts.
_PARTS = {"message": "output_text", "reasoning": "reasoning_text"}


@dataclasses.dataclass
class Responses:
    """The object, and the events of a stream."""

    model_name: str
    tokenizer: object
    asked: object

    def __post_init__(self):
        self.keep = None  # what takes the whole, in JSON
        self.id, self._created, self._number = f"resp_{uuid.uuid4().hex}", int(time.time()), 0
        self._output = []  # items that are whole
        self._kind, self._item, self._text = None, None, ""  # of the one that grows: its kind, id and text
        self._calls, self._reason = [], None

    def whole(self, pieces, usage, known=None):
        self.go_on(None, pieces[0])
        return self._finish(usage)[0]

    def begin(self, generation):
        started = self._body("in_progress", None)
        return [self._event("response.created", response=started),
                self._event("response.in_progress", response=started)]

    def go_on(self, generation, piece):
        self._calls += piece.calls
        self._reason = piece.finish_reason
        return [event for kind, text in (("reasoning", piece.reasoning), ("message", piece.text)) if text
                for event in self._grow(kind, text)]

    def end(self, generation):
        return self._finish(generation.usage())[1]

    def _finish(self, usage):
        """(the whole, the last events)"""
        status = "incomplete" if self._reason == "length" else "completed"
        is_empty = not self._output and not self._kind and not self._calls
        events = [*(self._grow("message", "") if is_empty else []), *self._close(status)]
        for call in self._calls:
            at, item = len(self._output), {
                "type": "function_call", "id": f"fc_{uuid.uuid4().hex}", "call_id": call.body()["id"],
                "name": call.name, "arguments": call.arguments, "status": "completed"}
            self._output.append(item)
            events += [self._event("response.output_item.added", output_index=at, item={**item, "arguments": ""}),
                       self._event("response.function_call_arguments.done", output_index=at, item_id=item["id"],
                                   name=item["name"], arguments=item["arguments"]),
                       self._event("response.output_item.done", output_index=at, item=item)]
        body = self._body(status, usage)
        if self.keep:
            self.keep(to_json(body))
        return body, [*events, self._event(f"response.{status}", response=body)]

    def _grow(self, kind, text):
        events = []
        if kind != self._kind:
            events += self._close("completed")
            self._kind, self._item, self._text = kind, f"{'msg' if kind == 'message' else 'rs'}_{uuid.uuid4().hex}", ""
            events += [self._event("response.output_item.added", output_index=len(self._output),
                                   item=self._make("in_progress")),
                       self._event("response.content_part.added", **self._place(), part=self._part())]
        self._text += text
        more = {"logprobs": []} if kind == "message" else {}
        return [*events, self._event(f"response.{_PARTS[kind]}.delta", **self._place(), delta=text, **more)]

    def _close(self, status):
        """The item that grows is whole, if there is one."""
        if self._kind is None:
            return []
        place, item, part = self._place(), self._make(status), self._part()
        more = {"logprobs": []} if self._kind == "message" else {}
        events = [self._event(f"response.{_PARTS[self._kind]}.done", **place, text=self._text, **more),
                  self._event("response.content_part.done", **place, part=part),
                  self._event("response.output_item.done", output_index=len(self._output), item=item)]
        self._output.append(item)
        self._kind = None
        return events

    def _place(self):
        return {"item_id": self._item, "output_index": len(self._output), "content_index": 0}

    def _part(self):
        more = {"annotations": [], "logprobs": []} if self._kind == "message" else {}
        return {"type": _PARTS[self._kind], "text": self._text, **more}

    def _make(self, status):
        more = {"role": "assistant"} if self._kind == "message" else {"summary": []}
        return {"type": self._kind, "id": self._item, "status": status, **more,
                "content": [self._part()] if status != "in_progress" else []}

    def _event(self, kind, **more):
        self._number += 1
        return {"type": kind, "sequence_number": self._number - 1, **more}

    def _body(self, status, usage):
        incomplete = {"reason": "max_output_tokens"} if status == "incomplete" else None
        own = usage and {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
                         "total_tokens": usage["total_tokens"],
                         "input_tokens_details": usage["prompt_tokens_details"],
                         "output_tokens_details": usage["completion_tokens_details"]}
        return {"id": self.id, "object": "response", "created_at": self._created, "status": status,
                "model": self.model_name, "output": list(self._output), "usage": own, "error": None,
                "incomplete_details": incomplete, "instructions": None, "metadata": self.asked.metadata,
                "previous_response_id": self.asked.follows, "store": self.keep is not None,
                "parallel_tool_calls": True, "temperature": None, "top_p": None, "tool_choice": "auto", "tools": []}
