"""What HTTP clients send, and whether they are still there."""

import asyncio
import contextlib
import json

from starlette.responses import JSONResponse, Response

from .errors import RequestError
from .request_log import note_refusal

MOST_BYTES = 16 << 20
SMALL = 256 << 10  # a body that is not larger waits for no larger ones
_PIECE = 128 << 10  # bytes: a large body in one piece would be copied whenever it grows
_BYTES_PER_SECOND = 64 << 20  # of all larger ones together, so that others have most of the event loop's time


def refusal(error, headers=None):
    """The answer that a RequestError is."""
    note_refusal(error)
    return JSONResponse(error.body(), error.status, headers)


class Bodies:
    """Reads them whole. most_waiting: bytes of all that are held and have not been answered, beyond the small ones."""

    def __init__(self, most_waiting):
        self._left, self._most = most_waiting, most_waiting
        self._next = 0.0  # when the event loop takes more of a large one

    @contextlib.asynccontextmanager
    async def read(self, request):
        """A list of its pieces. Raises RequestError, ClientDisconnect."""
        pieces, count, held = [bytearray()], 0, 0
        try:
            async for part in request.stream():
                count += len(part)
                if count > MOST_BYTES:
                    raise RequestError(413, f"the body has more than {MOST_BYTES} bytes")
                if len(pieces[-1]) > _PIECE:
                    pieces.append(bytearray())
                pieces[-1] += part
                if count > SMALL:
                    self._left -= count - held
                    held = count
                    if self._left < 0:
                        raise RequestError(503,
                                           f"bodies of {self._most} bytes are being read already, try again later")
                    await self._wait_turn(len(part))
            yield pieces
        finally:
            self._left += held

    async def _wait_turn(self, count):
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now) + count / _BYTES_PER_SECOND
        await asyncio.sleep(self._next - now)


async def unless_gone(receive, work):
    """What the coroutine returns; None if the client goes first, and the coroutine is cancelled."""
    async def gone():
        while (await receive())["type"] != "http.disconnect":
            pass

    work, watch = asyncio.ensure_future(work), asyncio.ensure_future(gone())
    try:
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        return work.result() if work.done() else None
    finally:
        for task in (work, watch):
            task.cancel()
        await asyncio.gather(work, watch, return_exceptions=True)


class EventStream(Response):
    """Server-sent events of an asynchronous iterator of objects. Starlette's own response watches for
    clients that go with some servers only. close() is called at the end, however that comes."""

    media_type = "text/event-stream"

    def __init__(self, objects, close):
        self.objects, self.close = objects, close
        self.status_code, self.background = 200, None
        self.init_headers({"cache-control": "no-cache", "x-accel-buffering": "no"})

    async def __call__(self, scope, receive, send):
        try:
            await unless_gone(receive, self._send(send))
        finally:
            self.close()

    async def _send(self, send):
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for one in self.objects:
            await self._send_event(send, json.dumps(one, ensure_ascii=False))
        await self._send_event(send, "[DONE]")
        await send({"type": "http.response.body", "body": b""})

    async def _send_event(self, send, text):
        await send({"type": "http.response.body", "body": f"data: {text}\n\n".encode(),
                    "more_body": True})
