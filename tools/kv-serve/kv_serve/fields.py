"""The fields of a request's body: each is read by its name and type, and none is ignored in silence."""

import json

from .errors import RequestError, bad_field

# Say who asks, or what is done with the answer elsewhere: they change no answer.
_NO_EFFECT = {"user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key",
              "parallel_tool_calls"}
# Known elsewhere, and allowed as far as they ask for nothing.
_NEUTRAL = {"n": (1,), "best_of": (1,), "presence_penalty": (0,), "frequency_penalty": (0,),
            "logit_bias": ({},), "logprobs": (False,), "top_logprobs": (0,), "echo": (False,),
            "suffix": ("",), "tools": ([],), "tool_choice": ("none", "auto"), "functions": ([],),
            "response_format": ({"type": "text"},), "modalities": (["text"],),
            "repetition_penalty": (1,)}


def parse(data):
    """The object of a body."""
    def refuse(name):
        raise ValueError(f"{name} is no number of JSON")

    def once(pairs):
        body = dict(pairs)
        if len(body) < len(pairs):
            twice = next(name for i, (name, _) in enumerate(pairs) if name in dict(pairs[:i]))
            raise RequestError(400, f"{twice} is given twice", twice)
        return body

    try:
        body = json.loads(data, parse_constant=refuse, object_pairs_hook=once)
    except RecursionError:
        raise RequestError(400, "the body is no JSON: it is nested too deeply")
    except ValueError as error:
        # Without Python's advice to Python's users.
        raise RequestError(400, f"the body is no JSON: {str(error).partition(';')[0]}")
    if not isinstance(body, dict):
        raise RequestError(400, f"the body is a JSON {type(body).__name__}, allowed: an object")
    return body


def check_text(name, text):
    """JSON can say half a character, which no tokenizer takes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestError(400, f"{name} has half of a surrogate pair, allowed: Unicode text", name)
    return text


class Fields:
    """What has not been read when all is done is refused by finish()."""

    def __init__(self, body):
        self.left = {name: value for name, value in body.items() if value is not None}

    def take(self, name, default=None):
        return self.left.pop(name, default)

    def text(self, name, default=None):
        value = self.take(name, default)
        if value is not default and not isinstance(value, str):
            raise bad_field(name, value, "a string")
        return value if value is None else check_text(name, value)

    def flag(self, name):
        value = self.take(name, False)
        if not isinstance(value, bool):
            raise bad_field(name, value, "true or false")
        return value

    def integer(self, name, least, most=None, default=None):
        value = self.take(name, default)
        if value is not default and (not isinstance(value, int) or isinstance(value, bool) or value < least
                                     or most is not None and value > most):
            raise bad_field(name, value, f"an integer, {least} or more" if most is None else
                            f"an integer from {least} to {most}")
        return value

    def number(self, name, default, allowed, fits):
        value = self.take(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not fits(value):
            raise bad_field(name, value, f"a number {allowed}")
        return float(value)

    def finish(self):
        for name, value in self.left.items():
            if name in _NO_EFFECT:
                continue
            if name not in _NEUTRAL:
                raise RequestError(400, f"{name} is no field that kv-serve knows", name)
            # True == 1 in Python.
            if not any(value == one and isinstance(value, bool) == isinstance(one, bool)
                       for one in _NEUTRAL[name]):
                allowed = " or ".join(json.dumps(one) for one in _NEUTRAL[name])
                raise bad_field(name, value, f"{allowed}; kv-serve has nothing else")
