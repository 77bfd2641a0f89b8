"""Errors as OpenAI's clients read them."""


class RequestError(Exception):
    """One sentence, and the HTTP status of the answer. param: the field that is meant."""

    def __init__(self, status, message, param=None, code=None):
        super().__init__(message)
        self.status, self.message, self.param, self.code = status, message, param, code

    def body(self):
        kind = {429: "rate_limit_error"}.get(
            self.status, "server_error" if self.status >= 500 else "invalid_request_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param,
                          "code": self.code}}


def bad_field(name, value, allowed):
    shown = repr(value)
    if len(shown) > 80:
        shown = shown[:77] + "..."
    return RequestError(400, f"{name} is {shown}, allowed: {allowed}", name)
