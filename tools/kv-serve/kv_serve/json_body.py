"""The JSON of a request's body."""

import json
import re

from .errors import RequestError, cut

# May be half of a character in two halves: an escape of JSON names UTF-16's units.
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


def parse(data):
    """The object of a body. Takes time in proportion to its length."""
    try:
        body = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse, object_pairs_hook=_once)
    except UnicodeDecodeError as error:
        raise RequestError(400, f"the body is no JSON: byte {error.start} is not UTF-8")
    except RecursionError:
        raise RequestError(400, "the body is no JSON: it is nested too deeply")
    except ValueError as error:
        # Without Python's advice to Python's users.
        raise RequestError(400, f"the body is no JSON: {str(error).partition(';')[0]}")
    if not isinstance(body, dict):
        raise RequestError(400, f"the body is a JSON {type(body).__name__}, allowed: an object")
    if _HALF.search(data):
        _check_text(body)
    return body


def _refuse(name):
    raise ValueError(f"{name} is no number of JSON")


def _once(pairs):
    body = dict(pairs)
    if len(body) < len(pairs):
        seen = set()
        for name, _ in pairs:
            if name in seen:
                raise RequestError(400, f"{cut(name)} is given twice", cut(name))
            seen.add(name)
    return body


def _check_text(body):
    """JSON can say half a character, which no tokenizer takes and no answer can show."""
    left = [("", body)]
    while left:
        place, value = left.pop()
        if isinstance(value, str):
            _check_string(place, value)
        elif isinstance(value, list):
            left += [(f"{place}[{i}]", one) for i, one in enumerate(value) if isinstance(one, (str, list, dict))]
        elif isinstance(value, dict):
            for name, one in value.items():
                _check_string("the name of a field", name)
                left.append((f"{place}.{name}" if place else name, one))


def _check_string(place, text):
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RequestError(400, f"{cut(place)} has half of a surrogate pair, allowed: Unicode text", cut(place))
