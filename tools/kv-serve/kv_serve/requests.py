"""Bodies of chat and completion requests to what the engine is asked."""

import dataclasses
import secrets

from .errors import RequestError, bad_field
from .fields import Fields, check_text

MOST_PROMPTS, MOST_STOPS = 128, 16


@dataclasses.dataclass
class Asked:
    """sampling: arguments of kvmlir.Server.add. prompts: texts, token ids, or a chat's messages."""

    prompts: list
    sampling: dict
    stops: list
    stream: bool
    include_usage: bool


def read_chat(body, model):
    fields = Fields(body)
    model.check_name(fields.text("model"))
    messages = _read_messages(fields.take("messages"))
    newer, older = "max_completion_tokens", "max_tokens"
    limit = fields.integer(newer, 1)
    other = fields.integer(older, 1)
    return _finish(fields, model, [messages], limit if limit is not None else other)


def read_completion(body, model):
    fields = Fields(body)
    model.check_name(fields.text("model"))
    prompts = _read_prompts(fields.take("prompt"))
    # OpenAI's default for completions.
    return _finish(fields, model, prompts, fields.integer("max_tokens", 1, default=16))


def _finish(fields, model, prompts, limit):
    defaults = model.sampling
    sampling = {
        # More than the model takes is as much as it takes.
        "max_new_tokens": None if limit is None else min(limit, model.max_tokens),
        "temperature": fields.number("temperature", defaults.get("temperature", 1.0), "from 0 to 2",
                                     lambda x: 0 <= x <= 2),
        "top_p": fields.number("top_p", defaults.get("top_p", 1.0), "above 0, at most 1",
                               lambda x: 0 < x <= 1),
        "top_k": _read_top_k(fields, defaults),
        "min_p": fields.number("min_p", defaults.get("min_p", 0.0), "from 0 to 1",
                               lambda x: 0 <= x <= 1),
        # Without a seed no two answers are the same draw.
        "seed": fields.integer("seed", -2**63, 2**64 - 1, secrets.randbits(63)) % 2**64,
        "salt": _read_salt(fields)}
    ids = fields.take("stop_token_ids", [])
    if not isinstance(ids, list) or not all(_is_token(one) for one in ids):
        raise bad_field("stop_token_ids", ids, "a list of token ids")
    sampling["stop_tokens"] = ids if fields.flag("ignore_eos") else [*model.stops, *ids]
    stops = _read_stops(fields.take("stop", []))
    stream = fields.flag("stream")
    include_usage = _read_stream_options(fields, stream)
    fields.finish()
    return Asked(prompts, sampling, stops, stream, include_usage)


def _read_top_k(fields, defaults):
    """0 and vLLM's -1 are all."""
    top_k = fields.integer("top_k", -1, default=defaults.get("top_k", 0))
    return min(max(top_k, 0), 2**31 - 1)


def _read_salt(fields):
    salt = fields.text("cache_salt")
    if salt is not None and (not salt or "\0" in salt):
        raise bad_field("cache_salt", salt, "a string that is not empty, without NUL")
    return salt


def _read_stops(given):
    stops = [given] if isinstance(given, str) else given
    if (not isinstance(stops, list) or len(stops) > MOST_STOPS
            or not all(isinstance(one, str) and one for one in stops)):
        raise bad_field("stop", given, f"a string, or at most {MOST_STOPS}, none of them empty")
    return [check_text("stop", one) for one in stops]


def _read_stream_options(fields, stream):
    options = fields.take("stream_options")
    if options is None:
        return False
    if not stream:
        raise RequestError(400, "stream_options is given, allowed: with stream true", "stream_options")
    if not isinstance(options, dict):
        raise bad_field("stream_options", options, "an object")
    own = Fields(options)
    include_usage = own.flag("include_usage")
    own.flag("include_obfuscation")  # is of no use where all is plain text
    own.finish()
    return include_usage


def _is_token(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _read_prompts(given):
    if isinstance(given, str):
        return [check_text("prompt", given)]
    if isinstance(given, list) and given:
        if all(map(_is_token, given)):
            return [given]
        if len(given) > MOST_PROMPTS:
            raise RequestError(400, f"{len(given)} prompts, allowed: at most {MOST_PROMPTS}", "prompt")
        if all(isinstance(one, str) for one in given):
            return [check_text("prompt", one) for one in given]
        if all(isinstance(one, list) and one and all(map(_is_token, one)) for one in given):
            return given
    raise bad_field("prompt", given, "a string, a list of token ids, or a list of either")


def _read_messages(given):
    if not isinstance(given, list) or not given:
        raise bad_field("messages", given, "a list of at least one message")
    return [_read_message(f"messages[{i}]", one) for i, one in enumerate(given)]


def _read_message(name, given):
    if not isinstance(given, dict):
        raise bad_field(name, given, "an object with role and content")
    role = given.get("role")
    if not isinstance(role, str):
        raise bad_field(f"{name}.role", role, "a string")
    for other in ("tool_calls", "function_call", "audio"):
        if given.get(other):
            raise bad_field(f"{name}.{other}", given[other], "nothing; kv-serve calls no tools")
    return {**given, "role": check_text(f"{name}.role", role),
            "content": _read_content(f"{name}.content", given.get("content"))}


def _read_content(name, given):
    """A text, or parts that are texts."""
    if isinstance(given, str):
        return check_text(name, given)
    if isinstance(given, list) and all(
            isinstance(part, dict) and part.get("type") == "text" and isinstance(part.get("text"), str)
            for part in given):
        return check_text(name, "".join(part["text"] for part in given))
    raise bad_field(name, given, 'a string, or a list of {"type": "text", "text": ...}')
