"""What HTTP clients send, and whether they are still there."""

import asyncio

from pydantic_core import to_json
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
    """Those of all requests. most_waiting: bytes of all that are held and have not been read, beyond the small ones."""

    def __init__(self, most_waiting):
        self._left, self._most = most_waiting, most_waiting
        self._next = 0.0  # when the event loop takes more of a large one

    def hold(self, count):
        """Of bytes more, or fewer."""
        self._left -= count
        if count > 0 and self._left < 0:
            raise RequestError(503, f"bodies of {self._most} bytes are being read already, try again later")

    async def wait_turn(self, count):
        now = asyncio.get_running_loop().time()
        self._next = max(self._next, now) + count / _BYTES_PER_SECOND
        await asyncio.sleep(self._next - now)


class Body:
    """One of them, in pieces: with it, it is read."""

    def __init__(self, bodies, request):
        self.pieces, self._bodies, self._count, self._held = [bytearray()], bodies, 0, 0
        self._request = request

    async def __aenter__(self):
        """Raises RequestError, ClientDisconnect."""
        try:
            async for part in self._request.stream():
                await self._add(part)
        except BaseException:
            self.release()
            raise
        return self

    async def __aexit__(self, *_):
        self.release()

    async def _add(self, part):
        self._count += len(part)
        if self._count > MOST_BYTES:
            raise RequestError(413, f"the body has more than {MOST_BYTES} bytes")
        if len(self.pieces[-1]) > _PIECE:
            self.pieces.append(bytearray())
        self.pieces[-1] += part
        if self._count > SMALL:
            more, self._held = self._count - self._held, self._count
            self._bodies.hold(more)
            await self._bodies.wait_turn(len(part))

    def release(self):
        """Nobody needs it any more."""
        self._bodies.hold(-self._held)
        self.pieces, self._held = [], 0


async def unless_gone(receive, work):
    """What the coroutine returns; None if the client goes first, and the coroutine is cancelled."""
    own, has_gone = asyncio.current_task(), False

    async def watch():
        nonlocal has_gone
        while (await receive())["type"] != "http.disconnect":
            pass
        has_gone = True
        own.cancel()

    watcher = asyncio.ensure_future(watch())
    try:
        return await work
    except asyncio.CancelledError:
        if has_gone and not own.uncancel():
            return None
        raise  # somebody else has cancelled it
    finally:
        watcher.cancel()


class EventStream(Response):
    """Server-sent events of an asynchronous iterator of lists of objects. Those of a list go out at once. Starlette's own
    response watches for clients that go with some servers only. close() is called at the end, however that comes."""

    media_type = "text/event-stream"

    def __init__(self, lists, close):
        self.lists, self.close = lists, close
        self.status_code, self.background = 200, None
        self.init_headers({"cache-control": "no-cache", "x-accel-buffering": "no"})

    async def __call__(self, scope, receive, send):
        try:
            await unless_gone(receive, self._send(send))
        finally:
            self.close()

    async def _send(self, send):
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async for objects in self.lists:
            if objects:
                await send({"type": "http.response.body", "more_body": True, "body": b"".join(
                    b"data: %b\n\n" % to_json(one, inf_nan_mode="null") for one in objects)})
        await send({"type": "http.response.body", "body": b"data: [DONE]\n\n"})
