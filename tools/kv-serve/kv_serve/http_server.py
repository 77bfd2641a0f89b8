"""uvicorn, ended as a service manager expects it."""

import asyncio
import contextlib
import functools
import gc
import logging
import os
import resource
import signal
import socket
import sys

import uvicorn

from .acceptor import Acceptor
from .protocol import Limits, Protocol

_BACKLOG = 2048  # connections that the system keeps until they are accepted
_FILES, _SPARE_FILES = 1 << 16, 64


def resolve(host, port):
    """(family, address). Raises OSError."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM,
                                                  flags=socket.AI_PASSIVE)[0]
    return family, address[:2]


def listen(host, port):
    """Raises OSError."""
    family, address = resolve(host, port)
    listener = socket.create_server(address, family=family, backlog=_BACKLOG)
    # Of its connections, too: else a token waits until the client has acknowledged the one before, which takes 40 ms.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def make_limits(options):
    """Of connections: no more than the process may open files, of which a few are for all else. Raises ValueError."""
    files, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    if files != resource.RLIM_INFINITY and files < _FILES:
        files = _FILES if most == resource.RLIM_INFINITY else min(most, _FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (files, most))
    left = (1 << 31 if files == resource.RLIM_INFINITY else files) - len(os.listdir("/proc/self/fd")) - _SPARE_FILES
    if left < 1:
        raise ValueError(f"the process may open {files} files, too few for a connection")
    if options.max_connections and options.max_connections > left:
        raise ValueError(f"--max-connections is {options.max_connections}, allowed: at most {left}, since the process "
                         f"may open {files} files")
    return Limits(options.max_connections or min(left, Limits.connections), options.header_seconds,
                  options.body_seconds)


class HttpServer(uvicorn.Server):
    """SIGTERM or SIGINT: no more connections, and those that are there have some seconds; after that
    the engine gives their requests up, which they are told. A second signal waits for nothing."""

    def __init__(self, application, engine, limits, options):
        # Twice the time at most: answers that are given up still go out.
        protocol = type("Limited", (Protocol,), {"limits": limits})
        super().__init__(uvicorn.Config(
            application, log_level=options.log_level, lifespan="on", http=protocol, ws="none",
            timeout_graceful_shutdown=2 * options.shutdown_seconds + 1, proxy_headers=False, server_header=False,
            access_log=False, ssl_certfile=options.tls_cert, ssl_keyfile=options.tls_key))
        if options.log_level == "warning":  # nothing of clients that go away, or speak no HTTP
            for name in (Protocol.LOG, "asyncio"):
                logging.getLogger(name).setLevel(logging.ERROR)
        self.engine, self.seconds, self._limits = engine, options.shutdown_seconds, limits

    def run(self, listener):
        # The engine's thread and the event loop give Python's lock to each other with each token.
        sys.setswitchinterval(0.001)
        try:
            asyncio.run(self.serve(sockets=[listener]))
        finally:
            gc.unfreeze()

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
        await super().startup([])  # an empty list: uvicorn accepts nothing
        make_protocol = functools.partial(self.config.http_protocol_class, config=self.config,
                                          server_state=self.server_state, app_state=self.lifespan.state)
        self.servers.append(Acceptor(sockets[0], make_protocol, self.server_state.connections, self._limits,
                                     self.config.ssl))
        # Whenever connections have left enough garbage, the collector looks at all objects, and nobody is answered
        # meanwhile: 40 ms for those of the modules and the tokenizer. They stay anyway, so it leaves them out.
        gc.collect()
        gc.freeze()
        host, port = sockets[0].getsockname()[:2]
        shown = f"[{host}]" if ":" in host else host
        print(f"kv-serve: http{'s' * self.config.is_ssl}://{shown}:{port}", file=sys.stderr, flush=True)
