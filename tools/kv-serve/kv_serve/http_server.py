"""uvicorn, ended as a service manager expects it."""

import asyncio
import contextlib
import signal
import socket
import sys

import uvicorn


def listen(host, port):
    """Raises OSError."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM,
                                                  flags=socket.AI_PASSIVE)[0]
    return socket.create_server(address[:2], family=family, backlog=2048)


class HttpServer(uvicorn.Server):
    """SIGTERM or SIGINT: no more connections, and those that are there have some seconds; after that
    the engine gives their requests up, which they are told. A second signal waits for nothing."""

    def __init__(self, application, engine, seconds, log_level):
        # Twice the time at most: answers that are given up still go out.
        super().__init__(uvicorn.Config(application, log_level=log_level, lifespan="on",
                                        timeout_graceful_shutdown=2 * seconds + 1))
        self.engine, self.seconds = engine, seconds

    def run(self, listener):
        asyncio.run(self.serve(sockets=[listener]))

    @contextlib.contextmanager
    def capture_signals(self):
        """uvicorn's own would end the process by the signal, after all is done. The handlers are Python's, not the
        event loop's: those hear of a signal by a pipe only, which may be full."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._end)
        yield

    def _end(self, *_):
        """Between any two instructions of the main thread, so nothing that takes a lock: on_tick() sees it."""
        self.force_exit = self.should_exit
        self.should_exit = True

    async def on_tick(self, counter):
        """Whether to end: also when the engine has, so that whoever started the process sees it."""
        return await super().on_tick(counter) or self.engine.failure is not None

    async def shutdown(self, sockets=None):
        asyncio.get_running_loop().call_later(self.seconds, self.engine.abort_all)
        watch = asyncio.ensure_future(self._abort_when_forced())
        try:
            await super().shutdown(sockets)
        finally:
            watch.cancel()

    async def _abort_when_forced(self):
        while not self.force_exit:
            await asyncio.sleep(0.05)
        self.engine.abort_all()

    async def startup(self, sockets=None):
        await super().startup(sockets)
        host, port = sockets[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        print(f"kv-serve: http://{shown}:{port}", file=sys.stderr, flush=True)
