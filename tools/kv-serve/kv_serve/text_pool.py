"""The server's side of the processes that read requests: a few at a time, killed when they take too much or nobody
waits for them any more."""

import asyncio
import contextlib
import dataclasses
import json
import logging
import os
import signal
import socket
import subprocess
import sys

import numpy
from pydantic_core import from_json

from .errors import RequestError
from .connection import SMALL
from .requests import Asked
from .served_model import NO_TEMPLATE
from .text_process import HEAD, MAY_BE_CHATS, OF_CHATS, PIECE, SECONDS, TEMPLATE_SECONDS, Order

_WAIT = 4 * SECONDS  # of a clock: for processes that get no processor


class _Lane:
    """Requests that wait for each other. memory: bytes of one's process, which serves again if the lane keeps it."""

    def __init__(self, processes, memory, keeps, template=False):
        self.free, self.keeps = asyncio.Semaphore(processes), keeps
        self.memory, self.template = memory, template
        self.idle = []


class _Ended(Exception):
    """The process has. at: the letter of the last frame."""

    def __init__(self, at):
        self.at = at


class _Process:
    def __init__(self, reader, writer):
        self._reader, self._writer, self._at = reader, writer, b""
        self._handle = None

    async def greet(self):
        """What keeps its template from use, or None."""
        _, data = await self._receive()
        said = json.loads(data)
        self._handle = os.pidfd_open(said["process"])
        return said["refusal"]

    async def ask(self, kind, pieces):
        """The request, with arrays of token ids. Raises RequestError, _Ended."""
        self._at = b""
        head = HEAD.pack(b"J", len(kind)) + kind.encode() + HEAD.pack(b"J", sum(map(len, pieces)))
        with contextlib.suppress(ConnectionError):  # then it has ended, which reading shows
            for piece in [head + pieces[0], *pieces[1:]]:
                self._writer.write(piece)
                await self._writer.drain()
        while True:
            letter, data = await self._receive()
            if letter == b"E":
                raise RequestError(*json.loads(data))
            if letter == b"X":
                logging.getLogger("uvicorn.error").error("%s", data.decode())
                raise RequestError(500, "the server failed; its log says how")
            if letter == b"A":
                asked = Asked(**from_json(data))
                asked.prompts = [await self._receive_tokens(count) for count in asked.prompts]
                return asked

    async def _receive_tokens(self, count):
        if count * 4 <= PIECE:
            return numpy.frombuffer((await self._receive())[1] if count else b"", numpy.int32)
        tokens = numpy.empty(count, numpy.int32)
        data, begin = tokens.view(numpy.uint8), 0
        while begin < data.size:
            _, piece = await self._receive()
            data[begin:begin + len(piece)] = numpy.frombuffer(piece, numpy.uint8)
            begin += len(piece)
        return tokens

    async def _receive(self):
        """(letter, bytes) of a frame."""
        try:
            letter, size = HEAD.unpack(await self._reader.readexactly(HEAD.size))
            data = await self._reader.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise _Ended(self._at)
        self._at = letter
        return letter, data

    def kill(self):
        with contextlib.suppress(RuntimeError):  # the event loop has ended
            self._writer.close()
        if self._handle is not None:
            with contextlib.suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._handle, signal.SIGKILL)
            os.close(self._handle)
            self._handle = None


class TextPool:
    """Made before the model is loaded, which takes as long as what it does meanwhile."""

    def __init__(self, model, note):
        """note(): says why chats are refused, if the template cannot be used."""
        self._model, self._note = model, note
        self._refusal = None if model.has_template else NO_TEMPLATE
        self._start_nursery()
        self._busy = set()
        self._lanes = {"chat": _Lane(2, 512 << 20, keeps=True, template=True),
                       "text": _Lane(2, 512 << 20, keeps=True), "large": _Lane(1, 2 << 30, keeps=False)}

    def _start_nursery(self):
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            # A group of its own does not see the terminal's interrupts. A session of its own would not know that
            # the server's threads go first: Linux shares processors between sessions, whatever their niceness.
            self._nursery = subprocess.Popen(
                [sys.executable, "-m", "kv_serve.text_process", str(theirs.fileno()), str(self._model.folder.folder),
                 self._model.name], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                process_group=0,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TOKENIZERS_PARALLELISM": "false"})
        self._orders = ours

    async def start(self):
        lane = self._lanes["chat"]
        if self._refusal is None:
            try:
                process, self._refusal = await self._fork(lane)
                lane.idle.append(process)
            except _Ended:
                self._refusal = (f"bad chat template: compiling it takes more than {TEMPLATE_SECONDS:g} s or "
                                 f"{lane.memory >> 20} MiB")
            if self._refusal is not None:
                lane.template = False
                self._note(f"chats are refused: {self._refusal}")

    @property
    def takes_chats(self):
        return self._refusal is None

    async def ask(self, kind, pieces):
        """What a body asks for, with the token ids of its prompts. kind: of READERS. pieces: of the body. Raises
        RequestError."""
        if kind in OF_CHATS and self._refusal is not None:
            raise RequestError(400, self._refusal, "messages")
        lane = self._lanes["large" if sum(map(len, pieces)) > SMALL else "chat" if kind in MAY_BE_CHATS else "text"]
        async with lane.free:
            try:
                process = lane.idle.pop() if lane.idle else await self._order(lane)
            except _Ended:
                raise RequestError(503, "no process can be started that reads the request, try again later")
            self._busy.add(process)
            is_done, late = False, asyncio.get_running_loop().call_later(_WAIT, process.kill)
            try:
                asked = await process.ask(kind, pieces)
                is_done = True
                return asked
            except RequestError:
                is_done = True
                raise
            except _Ended as error:
                raise self._refuse(lane, error.at)
            finally:
                late.cancel()
                self._busy.discard(process)
                if is_done and lane.keeps:
                    lane.idle.append(process)
                else:
                    process.kill()

    def _refuse(self, lane, at):
        memory = f"{lane.memory >> 20} MiB"
        if at == b"T":
            return RequestError(400, f"the chat template refuses these messages: it takes more than "
                                     f"{TEMPLATE_SECONDS:g} s or {memory} for them", "messages")
        return RequestError(400, f"the body cannot be read in {SECONDS:g} s and {memory}")

    async def _order(self, lane):
        """A new process. The lane is occupied until it is there, even if the client goes first: else orders of clients
        that have gone would fill the nursery's socket, and the event loop would wait for room in it."""
        fork = asyncio.ensure_future(self._fork(lane))
        try:
            process, _ = await asyncio.shield(fork)
            return process
        except asyncio.CancelledError:
            await asyncio.wait([fork])
            if fork.exception() is None:
                lane.idle.append(fork.result()[0])
            raise

    async def _fork(self, lane):
        """(process, why its template is of no use)"""
        if self._nursery.poll() is not None:  # somebody has ended it, such as a system that is out of memory
            self._orders.close()
            self._start_nursery()
        ours, theirs = socket.socketpair()
        with theirs:
            order = Order(lane.template, lane.memory, self._model.max_tokens)
            try:
                socket.send_fds(self._orders, [json.dumps(dataclasses.asdict(order)).encode()], [theirs.fileno()])
            except OSError:
                ours.close()
                raise _Ended(b"")
        process = _Process(*await asyncio.open_unix_connection(sock=ours))
        try:
            return process, await process.greet()
        except BaseException:
            process.kill()
            raise

    def stop(self):
        """At once, whatever is on its way."""
        self._orders.close()
        self._nursery.kill()
        self._nursery.wait()
        for process in [*self._busy, *(one for lane in self._lanes.values() for one in lane.idle)]:
            process.kill()
