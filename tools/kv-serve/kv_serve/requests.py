"""Bodies of chat and completion requests to what the engine is asked."""

import dataclasses
import secrets

from . import bodies
from .errors import RequestError
from .json_body import parse


@dataclasses.dataclass
class Asked:
    """sampling: arguments of kvmlir.Server.add. prompts: texts, token ids, or a chat's messages; once they are
    encoded, arrays of token ids."""

    prompts: list
    sampling: dict
    stops: list
    stream: bool
    include_usage: bool


def read_chat(data, model):
    body = parse(data)
    asked = bodies.read(bodies.ChatRequest, body)
    messages = [{**given, "content": message.content}
                for given, message in zip(body["messages"], asked.messages)]
    limit = asked.max_completion_tokens
    return _finish(asked, model, [messages], limit if limit is not None else asked.max_tokens)


def read_completion(data, model):
    asked = bodies.read(bodies.CompletionRequest, parse(data))
    # OpenAI's default for completions.
    return _finish(asked, model, asked.prompt, 16 if asked.max_tokens is None else asked.max_tokens)


READERS = {"chat": read_chat, "text": read_completion}


def _finish(asked, model, prompts, limit):
    if asked.model is None:
        raise RequestError(400, "model is missing, allowed: the name of a model", "model")
    model.check_name(asked.model)

    def choose(name, default):
        value = getattr(asked, name)
        return model.sampling.get(name, default) if value is None else value

    sampling = {
        # More than the model takes is as much as it takes.
        "max_new_tokens": None if limit is None else min(limit, model.max_tokens),
        "temperature": float(choose("temperature", 1.0)), "top_p": float(choose("top_p", 1.0)),
        "top_k": min(max(choose("top_k", 0), 0), 2**31 - 1), "min_p": float(choose("min_p", 0.0)),
        # Without a seed no two answers are the same draw.
        "seed": (secrets.randbits(63) if asked.seed is None else asked.seed) % 2**64,
        "salt": asked.cache_salt,
        "stop_tokens": asked.stop_token_ids if asked.ignore_eos else [*model.stops, *asked.stop_token_ids]}
    options = asked.stream_options
    return Asked(prompts, sampling, asked.stop, bool(asked.stream), bool(options and options.include_usage))
