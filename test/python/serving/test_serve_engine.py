"""kv-serve's engine when its server fails: everybody is told, and nobody waits for ever."""

import asyncio
import contextlib
import gc
import os
import signal
import time
import types

import pytest

from kv_serve.engine import Engine, Ticket
from kv_serve.errors import RequestError
from kv_serve.http_server import HttpServer, listen
from kv_serve.protocol import Limits


class Stream(types.SimpleNamespace):
    __hash__ = object.__hash__


class Failing:
    """A server whose steps fail when they have a request."""

    prompt_descriptor = -1

    def __init__(self):
        self.num_requests = 0

    def add(self, tokens, listener):
        self.num_requests += 1
        return Stream(prompt_tokens=0, cached_tokens=0, prompt_logprobs=[])

    def step(self):
        if self.num_requests:
            raise RuntimeError("a contradiction")


def test_a_step_that_fails(capfd):
    server = Failing()

    async def serve():
        engine, events = Engine(server, None, 4), []
        engine.start()
        await engine.add(Ticket(events.append), [1], {})
        while not events:
            await asyncio.sleep(0.001)
        assert events[0].reason == "error" and events[0].error.status == 500
        assert events[0].error.message == engine.failure == "the engine has ended: a contradiction"
        with pytest.raises(RequestError, match="a contradiction") as raised:
            await engine.add(Ticket(events.append), [1], {})
        assert raised.value.status == 503
        engine.abort(Ticket(events.append))
        await engine.stop()
        assert len(events) == 1

    asyncio.run(asyncio.wait_for(serve(), 20))
    assert "RuntimeError: a contradiction" in capfd.readouterr().err


def test_a_loop_that_has_ended():
    """Is told nothing, and the thread ends."""
    server = Failing()
    server.step = lambda: None

    async def start():
        engine = Engine(server, None, 4)
        engine.start()
        return engine

    engine = asyncio.run(start())
    engine.abort_all()
    engine._put(lambda: engine._post(print))
    engine._put(engine._end)
    engine._thread.join(timeout=10)
    assert not engine._thread.is_alive() and engine.failure is None


def test_a_signal_while_the_loop_is_busy():
    """The engine's wakeups leave room in the event loop's pipe, of which each signal needs a byte."""
    server, seen, steps = Failing(), [], 0

    async def serve():
        loop, engine = asyncio.get_running_loop(), Engine(server, None, 4)

        def step():
            nonlocal steps
            steps += 1
            engine._post(seen.copy)
            return True

        server.step = step
        loop.add_signal_handler(signal.SIGUSR1, seen.append, None)
        engine.start()
        engine._put(seen.copy)
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
