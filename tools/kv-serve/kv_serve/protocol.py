"""Connections with limits: of their number, of the time that a request's head and body take, and of what one of them
may cost between two others' turns. uvicorn has none of these."""

import asyncio
import collections
import dataclasses
import json
import logging
import socket

import h11
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.h11_impl import STATUS_PHRASES, H11Protocol

from .errors import RequestError

_READ = 64 << 10  # bytes at once
_HEAD, _LINES = 64 << 10, 200  # of a request's head
_EVENTS = 16  # of h11, some 30 us each, before others have their turn
_PAUSE = 0.002  # seconds between turns, in which all else has the processor
_CLOSING_SECONDS = 5
_PROBE_SECONDS = 1


@dataclasses.dataclass
class Limits:
    """Of all connections. head_seconds: for a connection's first byte, and for a request's head from its first byte.
    write_seconds: in which a client takes nothing of what is sent."""

    connections: int = 2048
    head_seconds: float = 10
    body_seconds: float = 60
    write_seconds: float = 60
    # Those that wait for the rest of a request, the longest first: give_up() ends one.
    waiting: dict = dataclasses.field(default_factory=dict)
    coming: int = 0  # those whose first byte has come, before they have a protocol
    # Those that have something to read left, by turns.
    behind: collections.deque = dataclasses.field(default_factory=collections.deque)


class _Connection(h11.Connection):
    """Has no more events when its turn is over. A head is read at once, so it has a limit of lines. An answer's head
    goes out with its body: the client is woken once."""

    turn = 0
    _lines, _tail = 0, b""
    _head = b""  # of an answer whose body comes at once

    def receive_data(self, data):
        if self.their_state is h11.IDLE:
            text = self._tail + data
            ends = [at for at in (text.find(b"\n\r\n"), text.find(b"\n\n")) if at >= 0]
            self._lines += text.count(b"\n", len(self._tail), min(ends, default=len(text)))
            self._tail = text[-2:]
        super().receive_data(data)

    def next_event(self):
        if not self.turn:
            return h11.NEED_DATA
        self.turn -= 1
        if self._lines > _LINES and self.their_state is h11.IDLE:
            raise h11.RemoteProtocolError(f"more than {_LINES} lines")
        event = super().next_event()
        if isinstance(event, h11.Request):
            self._lines, self._tail = 0, b""
        return event

    def send(self, event):
        data = super().send(event)
        if isinstance(event, h11.Response) and any(name == b"content-length" for name, _ in event.headers):
            self._head = data
            return b""
        head, self._head = self._head, b""
        return head + data if head else data


class _Flow(FlowControl):
    is_held = False

    def resume_reading(self):
        if not self.is_held:
            super().resume_reading()


class Protocol(H11Protocol, asyncio.BufferedProtocol):
    """`limits` is given to a subclass."""

    LOG = "uvicorn.error.connections"

    limits: Limits
    _buffer = memoryview(bytearray(_READ))  # nothing stays in it between two calls

    def __init__(self, *arguments, **more):
        super().__init__(*arguments, **more)
        self.conn = _Connection(h11.SERVER, _HEAD)
        # Warnings of what clients do are for who asks for them.
        self.logger = logging.getLogger(self.LOG)
        self._phase, self._deadline, self._stall, self._probe = None, None, None, None
        self._has_ended = False  # the client's side
        self._is_refused = False  # what still comes is not read

    # ---- asyncio's calls ----

    def connection_made(self, transport):
        super().connection_made(transport)
        self.flow = _Flow(transport)
        self.limits.coming -= 1
        self._look_at_phase()
        if len(self.connections) > self.limits.connections:
            self._refuse(RequestError(503, f"{self.limits.connections} connections are open already, try again later"))

    def give_up(self):
        """Ends a connection that waits; connection_lost() comes later than other connections."""
        self.limits.waiting.pop(self)
        self.connections.discard(self)
        self.transport.abort()

    def connection_lost(self, error):
        self.limits.waiting.pop(self, None)
        for timer in (self._deadline, self._stall, self._probe):
            if timer:
                timer.cancel()
        super().connection_lost(error)

    def get_buffer(self, sizehint):
        return self._buffer

    def buffer_updated(self, count):
        if self._is_refused:
            return
        if self.timeout_keep_alive_task is not None:
            self._phase = None  # a new request begins
        self.data_received(bytes(self._buffer[:count]))

    def eof_received(self):
        """Whether the connection stays: a client may end its side, and read its answer."""
        self._has_ended = True
        is_asked = self._has_request() and self.conn.their_state is not h11.SEND_BODY
        if not is_asked or self._is_refused or self.scheme == "https":
            return False
        self._look_for_reader()
        return True

    def pause_writing(self):
        super().pause_writing()
        self._stall = self.loop.call_later(self.limits.write_seconds, self.transport.abort)

    def resume_writing(self):
        super().resume_writing()
        self._stall.cancel()

    # ---- uvicorn's calls ----

    def handle_events(self):
        """A turn of them; where more are left, others come first."""
        if self.flow.is_held or self._is_refused:
            return
        self.conn.turn = _EVENTS
        super().handle_events()
        if not self.conn.turn and not self._is_refused and not self.transport.is_closing():
            self.flow.pause_reading()
            self.flow.is_held = True
            self.limits.behind.append(self)
            if len(self.limits.behind) == 1:
                self.loop.call_later(_PAUSE, self._take_turn)
        self._look_at_phase()

    def _take_turn(self):
        """Of whoever has waited longest."""
        behind = self.limits.behind
        next_one = behind.popleft()
        next_one.flow.is_held = False
        if not next_one.transport.is_closing():
            next_one.flow.resume_reading()
            next_one.handle_events()
        # It may have added itself, and has then seen to its turn.
        if behind and behind[0] is not next_one:
            self.loop.call_later(_PAUSE, self._take_turn)

    def on_response_complete(self):
        super().on_response_complete()
        self._look_at_phase()
        if self._has_ended and not self._has_request():
            self.transport.close()

    def send_400_response(self, msg):
        self._refuse(RequestError(400, "what was sent is no HTTP/1.1 request"))

    def shutdown(self):
        if self.conn.their_state is h11.SEND_BODY and not self._is_refused:
            self._refuse(RequestError(503, "the server is shutting down"))
        if self._is_refused:
            self.loop.call_later(_PROBE_SECONDS, self.transport.abort)
        else:
            super().shutdown()

    # ---- Time ----

    def _has_request(self):
        return self.cycle is not None and not self.cycle.response_complete

    def _look_at_phase(self):
        """A request's head and its body have a time each."""
        phase = self.conn.their_state
        if phase is self._phase or self._is_refused:
            return
        self._phase = phase
        self.limits.waiting.pop(self, None)
        if self._deadline:
            self._deadline.cancel()
        if phase in (h11.IDLE, h11.SEND_BODY) and not self.transport.is_closing():
            self.limits.waiting[self] = True
            seconds = self.limits.head_seconds if phase is h11.IDLE else self.limits.body_seconds
            self._deadline = self.loop.call_later(seconds, self._end_waiting, seconds)

    def _end_waiting(self, seconds):
        if self._phase is h11.IDLE and not self.conn.trailing_data[0]:
            self.transport.close()  # nothing has been asked
            return
        what = "head" if self._phase is h11.IDLE else "body"
        self._refuse(RequestError(408, f"the {what} of the request is not there after {seconds:g} s"))

    def _refuse(self, error):
        """Says so where nothing has been said, and closes. To close while something is left to be read would take
        back what has been said, so the client closes first, or is late."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            data = json.dumps(error.body()).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode()),
                       (b"connection", b"close")]
            for event in (h11.Response(status_code=error.status, headers=headers,
                                       reason=STATUS_PHRASES[error.status]), h11.Data(data=data), h11.EndOfMessage()):
                self.transport.write(self.conn.send(event))
            if self.cycle is not None:
                self.cycle.disconnected = True  # what answers it is told, and sends nothing
                self.cycle.message_event.set()
        self._is_refused = True
        if self._deadline:
            self._deadline.cancel()
        self._deadline = self.loop.call_later(_CLOSING_SECONDS, self.transport.abort)
        if not self.transport.can_write_eof():  # TLS
            self.transport.close()
            return
        try:
            self.transport.write_eof()
        except OSError:  # the client has gone: its machine refuses what was just said
            self.transport.abort()
            return
        self.limits.waiting[self] = True
        self.flow.is_held = False
        self.flow.resume_reading()

    def _look_for_reader(self):
        """Whether a client that has ended its side still reads: who does not refuses what is sent. Before the answer
        that is an interim one, which clients pass over; asyncio itself does not look any more."""
        peer = self.transport.get_extra_info("socket")
        if peer.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
            self.transport.abort()
            return
        if self.conn.our_state is h11.SEND_RESPONSE and self.scope["http_version"] == "1.1":
            self.transport.write(self.conn.send(h11.InformationalResponse(status_code=102, headers=[],
                                                                          reason="Processing")))
        self._probe = self.loop.call_later(_PROBE_SECONDS if self._probe else 0.05, self._look_for_reader)
