"""Ids of HTTP requests, and a line of the log for each: without texts of prompts and answers."""

import contextvars
import datetime
import itertools
import json
import logging
import re
import time
import uuid

LOG = logging.getLogger("uvicorn.error")
_ID = re.compile(r"[!-~]{1,128}")
_CURRENT = contextvars.ContextVar("request")
_PROCESS, _COUNT = uuid.uuid4().hex[:20], itertools.count()


def new_id():
    """That no other one is, of whatever process; but who knows one can guess the next."""
    return f"{_PROCESS}{next(_COUNT):012x}"


def header(scope, name):
    """What the first one of this name says; None: there is none."""
    return next((value.decode("latin-1") for given, value in scope["headers"] if given == name), None)


class _Record:
    """Of one HTTP request. reason: why it is refused. generation: Generation, if it has one."""

    def __init__(self, given):
        self.id = given if _ID.fullmatch(given) else new_id()
        self.began, self.status, self.reason, self.generation = time.monotonic(), 0, None, None

    def line(self, method, path):
        seconds = lambda end: f"{end - self.began:.4f}"
        found = {"time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds"),
                 "id": self.id, "method": method, "path": path, "status": self.status}
        if self.generation is not None:
            usage = self.generation.usage()
            found.update(prompt=usage["prompt_tokens"], cached=usage["prompt_tokens_details"]["cached_tokens"],
                         new=usage["completion_tokens"])
            if self.generation.first_token is not None:
                found["first"] = seconds(self.generation.first_token)
        found["total"] = seconds(time.monotonic())
        if self.reason is not None:
            found["reason"] = json.dumps(self.reason)
        return "request " + " ".join(f"{name}={value}" for name, value in found.items())


def note_generation(generation):
    _CURRENT.get().generation = generation


def note_refusal(error):
    """Of a RequestError."""
    _CURRENT.get().reason = error.logged


class Logged:
    """An application whose answers have X-Request-Id: the request's own, or a new one."""

    def __init__(self, application):
        self._application = application

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        record = _Record(header(scope, b"x-request-id") or "")
        _CURRENT.set(record)

        async def answer(message):
            if message["type"] == "http.response.start":
                record.status = message["status"]
                message["headers"] = [*message["headers"], (b"x-request-id", record.id.encode())]
            await send(message)

        try:
            await self._application(scope, receive, answer)
        finally:
            if LOG.isEnabledFor(logging.INFO):
                # As it was sent: a path that is decoded may have lines.
                LOG.info("%s", record.line(scope["method"], scope["raw_path"].decode("ascii", "backslashreplace")))
            record.generation = None  # timers of the connection keep the record for seconds
