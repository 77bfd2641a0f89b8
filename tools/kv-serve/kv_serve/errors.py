"""Errors as OpenAI's clients read them."""

_MOST_SHOWN = 80  # characters of what was given


class RequestError(Exception):
    """One sentence, and the HTTP status of the answer. param: the field that is meant. logged: what the log says
    instead, where the sentence may have a part of a prompt."""

    def __init__(self, status, message, param=None, code=None, logged=None):
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code
        self.logged = message if logged is None else logged

    def fields(self):
        """The arguments that make an equal one."""
        return [self.status, self.message, self.param, self.code, self.logged]

    def body(self):
        kind = {429: "rate_limit_error"}.get(
            self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param,
                          "code": self.code}}


def cut(text):
    """A name that was given, as a sentence shows it: never longer than a line, and always Unicode."""
    text = text.encode(errors="backslashreplace").decode()
    return text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN - 3] + "..."


def show(value):
    try:
        return cut(repr(value))
    except RecursionError:
        return f"a {type(value).__name__} that is nested deeply"


def bad_field(name, value, allowed):
    sentence = "{} is {}, allowed: {}".format
    kind = f"a {type(value).__name__}" if isinstance(value, (str, list, dict)) else show(value)
    return RequestError(400, sentence(cut(name), show(value), allowed), cut(name),
                        logged=sentence(cut(name), kind, allowed))
