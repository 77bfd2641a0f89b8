"""OpenAI's Responses: a chat in another form. The conversation comes with each request; nothing is stored."""

import dataclasses
import time
import uuid

from . import requests
from .errors import RequestError, bad_field
from .json_body import parse

# Fields that a chat has under the same name, and those that change no answer.
SAME = ("model", "temperature", "top_p", "stream", "user", "metadata", "store", "parallel_tool_calls", "seed",
         "cache_salt", "top_k", "min_p", "top_logprobs", "safety_identifier", "prompt_cache_key", "service_tier")
_OF_NO_USE = ("include", "truncation", "background", "stream_options", "max_tool_calls", "prompt_cache_retention")


def read_response(data, model):
    body = parse(data)
    known = {*SAME, *_OF_NO_USE, "input", "instructions", "max_output_tokens", "tools", "tool_choice", "text",
             "reasoning", "previous_response_id"}
    if body.get("previous_response_id") is not None:
        raise RequestError(400, "previous_response_id is given, allowed: the whole conversation as input; kv-serve "
                                "stores none", "previous_response_id")
    for name in ("reasoning", "text"):
        if not isinstance(body.get(name) or {}, dict):
            raise bad_field(name, body[name], "an object")
    if body.get("background"):
        raise bad_field("background", body["background"], "false")
    chat = {name: body[name] for name in body if name in SAME or name not in known}
    chat["messages"] = _messages(body)
    chat["max_completion_tokens"] = body.get("max_output_tokens")
    chat["tools"], chat["tool_choice"] = _tools(body)
    chat["response_format"] = _format(body)
    chat["logprobs"] = True if body.get("top_logprobs") else None
    if (effort := (body.get("reasoning") or {}).get("effort")) is not None:
        chat["reasoning_effort"] = effort
    return requests.chat_of(chat, model)


def _messages(body):
    given = body.get("input")
    messages = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    if isinstance(given, str):
        return [*messages, {"role": "user", "content": given}]
    if not isinstance(given, list) or not given or not all(isinstance(one, dict) for one in given):
        raise bad_field("input", given, "a string, or a list of items")
    return messages + [_message(one) for one in given]


def _message(item):
    kind = item.get("type", "message")
    if kind == "message":
        content = item.get("content")
        if isinstance(content, list):
            content = [{"type": "text", "text": part.get("text")} if isinstance(part, dict) and part.get("type") in
                       ("input_text", "output_text", "text") else part for part in content]
        return {"role": item.get("role"), "content": content}
    if kind == "function_call":
        return {"role": "assistant", "content": None, "tool_calls": [{
            "id": item.get("call_id"), "type": "function",
            "function": {"name": item.get("name"), "arguments": item.get("arguments")}}]}
    if kind == "function_call_output":
        return {"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")}
    raise bad_field("input.type", kind, '"message", "function_call" or "function_call_output"')


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
class Responses:
    """The object, and the events of a stream."""

    model_name: str
    tokenizer: object
    asked: object

    def __post_init__(self):
        self._id, self._item = f"resp_{uuid.uuid4().hex}", f"msg_{uuid.uuid4().hex}"
        self._created, self._number, self._text = int(time.time()), 0, ""
        self._calls, self._reason = [], None

    def whole(self, pieces, usage, known=None):
        self._take(pieces[0])
        return self._body(self._status(), usage)

    def begin(self, generation):
        started = self._body("in_progress", None)
        return [self._event("response.created", response=started),
                self._event("response.in_progress", response=started),
                self._event("response.output_item.added", output_index=0, item=self._message("in_progress")),
                self._event("response.content_part.added", **self._place(), part=self._part())]

    def go_on(self, generation, piece):
        self._take(piece)
        return [self._event("response.output_text.delta", **self._place(), delta=piece.text,
                            logprobs=[])] if piece.text else []

    def end(self, generation):
        status = self._status()
        events = [self._event("response.output_text.done", **self._place(), text=self._text, logprobs=[]),
                  self._event("response.content_part.done", **self._place(), part=self._part()),
                  self._event("response.output_item.done", output_index=0, item=self._message(status))]
        body = self._body(status, generation.usage())
        for at, item in enumerate(body["output"][1:], 1):
            events += [self._event("response.output_item.added", output_index=at, item={**item, "arguments": ""}),
                       self._event("response.function_call_arguments.done", output_index=at, item_id=item["id"],
                                   name=item["name"], arguments=item["arguments"]),
                       self._event("response.output_item.done", output_index=at, item=item)]
        kind = "response.completed" if status == "completed" else "response.incomplete"
        return [*events, self._event(kind, response=body)]

    def _take(self, piece):
        self._text += piece.text
        self._calls += [{"type": "function_call", "id": f"fc_{uuid.uuid4().hex}", "call_id": call.body()["id"],
                         "name": call.name, "arguments": call.arguments, "status": "completed"}
                        for call in piece.calls]
        self._reason = piece.finish_reason

    def _status(self):
        return "incomplete" if self._reason == "length" else "completed"

    def _place(self):
        return {"item_id": self._item, "output_index": 0, "content_index": 0}

    def _part(self):
        return {"type": "output_text", "text": self._text, "annotations": [], "logprobs": []}

    def _message(self, status):
        return {"type": "message", "id": self._item, "role": "assistant", "status": status,
                "content": [self._part()] if status != "in_progress" else []}

    def _event(self, kind, **more):
        self._number += 1
        return {"type": kind, "sequence_number": self._number - 1, **more}

    def _body(self, status, usage):
        incomplete = {"reason": "max_output_tokens"} if status == "incomplete" else None
        output = [] if status == "in_progress" else [self._message(status), *self._calls]
        own = usage and {"input_tokens": usage["prompt_tokens"], "output_tokens": usage["completion_tokens"],
                         "total_tokens": usage["total_tokens"],
                         "input_tokens_details": usage["prompt_tokens_details"],
                         "output_tokens_details": {"reasoning_tokens": 0}}
        return {"id": self._id, "object": "response", "created_at": self._created, "status": status,
                "model": self.model_name, "output": output, "usage": own, "error": None,
                "incomplete_details": incomplete, "instructions": None, "metadata": {}, "parallel_tool_calls": True,
                "temperature": None, "top_p": None, "tool_choice": "auto", "tools": []}
