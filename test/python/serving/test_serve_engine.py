"""kv-serve's engine when its server fails: everybody is told, and nobody waits for ever; and when the
event loop is late."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import time
import types

import pytest

from kv_serve.answer_forms import Completion
from kv_serve.connection import EventStream
from kv_serve.endpoints import _chunks
from kv_serve.engine import End, Engine, Ticket, Token
from kv_serve.errors import RequestError
from kv_serve.figures import Figures
from kv_serve.generation import Generation
from kv_serve.http_server import HttpServer, listen
from kv_serve.protocol import Limits
from kv_serve.request_log import Logged
from kv_serve.requests import Asked


class Stream(types.SimpleNamespace):
    __hash__ = object.__hash__


class Failing:
    """A server whose steps fail when they have a request."""

    prompt_descriptor = -1

    def __init__(self):
        self.num_requests = 0

    def add(self, tokens, listener, priority):
        self.num_requests += 1
        return Stream(prompt_tokens=0, cached_tokens=0, queue_seconds=None, prompt_logprobs=[], embedding=None)

    def step(self):
        if self.num_requests:
            raise RuntimeError("a contradiction")


def test_a_step_that_fails(capfd):
    server = Failing()

    async def serve():
        engine, events = Engine(server, None, 4, Figures("m")), []
        engine.start()
        await engine.add(Ticket(events.append), [1], {})
        while not events:
            await asyncio.sleep(0.001)
        assert events[0].reason == "error" and events[0].error.status == 500
        assert events[0].error.message == engine.failure == "the engine has ended: a contradiction"
        with pytest.raises(RequestError, match="a contradiction") as raised:
            await engine.add(Ticket(events.append), [1], {})
        assert raised.value.status == 503
        engine.put(Ticket(events.append), [1], {})
        engine.abort(Ticket(events.append))
        await engine.stop()
        assert [event.error.status for event in events] == [500, 503]

    asyncio.run(asyncio.wait_for(serve(), 20))
    assert "RuntimeError: a contradiction" in capfd.readouterr().err


class Letters:
    """A tokenizer whose ids are characters."""

    def get_added_tokens_decoder(self):
        return {}

    def id_to_token(self, token):
        return chr(token)

    def decode(self, tokens, skip_special_tokens):
        return "".join(map(chr, tokens))


@pytest.mark.parametrize("end", (End("length", 2), End("error", error=RequestError(500, "it failed"))))
def test_tokens_that_came_while_the_event_loop_was_late(end):
    """Go out at once, each an event with the usage of its own time; also before an error."""
    bodies = []

    async def send(message):
        bodies.append(message.get("body"))

    async def serve():
        engine = types.SimpleNamespace(
            most_tokens_ahead=9, abort=lambda ticket: None, put=lambda ticket, prompt, sampling: [
                ticket.receive(event) for event in (*map(Token, map(ord, "abc")), end)])
        asked = Asked([[5, 6]], {"seed": 0, "logit_bias": {}}, stream=True, include_usage=True, continuous_usage=True)
        generation = Generation(engine, types.SimpleNamespace(tokenizer=Letters()), asked)
        stream = EventStream(_chunks(generation, Completion("m", Letters(), asked)), generation.abort)
        scope = {"type": "http", "headers": [], "method": "POST", "raw_path": b"/"}
        await Logged(stream)(scope, asyncio.Event().wait, send)

    asyncio.run(asyncio.wait_for(serve(), 20))
    events = [json.loads(line.removeprefix(b"data: ")) for line in bodies[1].split(b"\n\n") if line]
    texts = [event["choices"][0]["text"] for event in events]
    counts = [event["usage"]["completion_tokens"] for event in events]
    if end.error is None:
        assert (texts, counts) == (["a", "b", "c", ""], [1, 2, 3, 3]) and b'"choices":[]' in bodies[2]
    else:
        assert (texts, counts) == (["a", "b", "c"], [1, 2, 3]) and b"it failed" in bodies[2]
    assert bodies[3:] == [b"data: [DONE]\n\n"]


class OneByOne(Failing):
    """A server whose steps give one request a token and its end, and say that it waited for a second."""

    def __init__(self):
        super().__init__()
        self.streams = []

    def add(self, tokens, listener, priority):
        stream = super().add(tokens, listener, priority)
        stream.__dict__.update(listener=listener, finish_reason="stop", logprobs=[],
                               abort=lambda: self.streams.remove(stream))
        self.streams.append(stream)
        return stream

    def step(self):
        first = self.streams.pop(0)
        self.num_requests -= 1
        first.listener(first, 7)
        first.queue_seconds = 1.0
        first.listener(first, None)
        return bool(self.streams)


def test_when_requests_begin():
    """As the server says; who leaves before never began, and counts as one that waited."""
    server, ends, figures = OneByOne(), [], Figures("m")

    async def serve():
        engine = Engine(server, None, 10, figures)
        tickets = [Ticket(lambda event, i=i: isinstance(event, End) and ends.append((i, event.reason)))
                   for i in range(5)]
        engine._loop = asyncio.get_running_loop()
        for ticket in tickets:
            engine._add(ticket, [1], {})
        engine._abort(tickets[4])
        server.num_requests -= 1
        engine.start()
        while len(ends) < 5:
            await asyncio.sleep(0.001)
        engine._command(engine._end)
        await asyncio.to_thread(engine._thread.join)
        return tickets

    tickets = asyncio.run(asyncio.wait_for(serve(), 20))
    assert ends == [(4, "abort"), *((i, "stop") for i in range(4))]
    assert tickets[4].admitted is None and all(one.admitted == one.added + 1 for one in tickets[:4])
    text = figures.text().decode()
    assert 'vllm:request_success_total{engine="0",finished_reason="stop",model_name="m"} 4.0' in text
    assert 'vllm:request_queue_time_seconds_count{engine="0",model_name="m"} 5.0' in text


def test_a_loop_that_has_ended():
    """Is told nothing, and the thread ends."""
    server = Failing()
    server.step = lambda: None

    async def start():
        engine = Engine(server, None, 4, Figures("m"))
        engine.start()
        return engine

    engine = asyncio.run(start())
    engine.abort_all()
    engine._command(lambda: engine._post(print))
    engine._command(engine._end)
    engine._thread.join(timeout=10)
    assert not engine._thread.is_alive() and engine.failure is None


def test_a_signal_while_the_loop_is_busy():
    """The engine's wakeups leave room in the event loop's pipe, of which each signal needs a byte."""
    server, seen, steps = Failing(), [], 0

    async def serve():
        loop, engine = asyncio.get_running_loop(), Engine(server, None, 4, Figures("m"))

        def step():
            nonlocal steps
            steps += 1
            engine._post(seen.copy)
            return True

        server.step = step
        loop.add_signal_handler(signal.SIGUSR1, seen.append, None)
        engine.start()
        engine._command(seen.copy)
        until = time.monotonic() + 20
        while steps < 10_000 and time.monotonic() < until:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGUSR1)
        await asyncio.sleep(0.1)
        loop.remove_signal_handler(signal.SIGUSR1)
        await engine.stop()

    asyncio.run(asyncio.wait_for(serve(), 60))
    assert seen == [None] and steps >= 10_000


def test_the_collector_leaves_what_stays_alone(monkeypatch):
    """To look at the modules' objects takes 40 ms, in which nobody is answered."""
    options = types.SimpleNamespace(log_level="warning", shutdown_seconds=0, tls_cert=None, tls_key=None)

    async def application(scope, receive, send):
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})

    async def serve():
        server = HttpServer(application, types.SimpleNamespace(failure="it ends", abort_all=lambda: None), Limits(),
                            options)
        with listen("127.0.0.1", 0) as listener:
            await server.serve(sockets=[listener])

    monkeypatch.setattr(HttpServer, "capture_signals", lambda server: contextlib.nullcontext())
    gc.unfreeze()
    try:
        asyncio.run(asyncio.wait_for(serve(), 20))
        assert gc.get_freeze_count() > 0.9 * (len(gc.get_objects()) + gc.get_freeze_count()) > 10_000
    finally:
        gc.unfreeze()
