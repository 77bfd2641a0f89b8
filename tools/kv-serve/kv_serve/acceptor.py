"""Accepts connections, and makes a protocol of one when its first byte comes: that costs ten times as much as to accept
it, so a thousand silent connections do not keep a client waiting."""

import asyncio
import collections
import errno
import select
import socket

_ACCEPTED = 64  # connections, some 25 us each, before others have their turn
_HEARD = 64  # that begin to speak or go, some 20 us each
_HANDED_OVER = 16  # some 150 us each
_RETRY_SECONDS = 1  # after the system has refused a connection for want of memory or files


class _Silent:
    """A connection that has sent nothing yet."""

    __slots__ = ("socket", "acceptor", "deadline")

    def __init__(self, peer, acceptor, deadline):
        self.socket, self.acceptor, self.deadline = peer, acceptor, deadline

    def give_up(self):
        self.acceptor.forget(self)
        self.socket.close()


class Acceptor:
    """Stands for asyncio's Server where uvicorn ends it. make_protocol: of a connection. connections: the set of those
    that have a protocol. context: of TLS; None: without."""

    def __init__(self, listener, make_protocol, connections, limits, context):
        self._loop, self._listener, self._limits = asyncio.get_running_loop(), listener, limits
        self._make_protocol, self._connections, self._context = make_protocol, connections, context
        self._silent = {}  # by their files, in the order in which they came
        # Of their own, since the event loop's would give all at once that have something to say.
        self._poll = select.epoll()
        self._loop.add_reader(self._poll, self._hear)
        self._speaking = collections.deque()  # sockets whose first bytes have come
        self._tasks = set()
        self._is_open = True
        listener.setblocking(False)
        self._resume()

    def close(self):
        self._is_open = False
        self._loop.remove_reader(self._listener)
        for one in list(self._silent.values()):
            one.give_up()
        self._loop.remove_reader(self._poll)
        self._poll.close()

    async def wait_closed(self):
        pass

    def forget(self, silent):
        self._poll.unregister(silent.socket)
        del self._silent[silent.socket.fileno()]
        self._limits.waiting.pop(silent, None)

    def _resume(self):
        if self._is_open:
            self._loop.add_reader(self._listener, self._accept)

    def _accept(self):
        for _ in range(_ACCEPTED):
            if self._is_full() and not self._limits.waiting and self._limits.coming and not self._context:
                return  # in a moment those that come have a protocol, and some of them wait
            try:
                peer, _ = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    raise
                self._loop.remove_reader(self._listener)
                self._loop.call_later(_RETRY_SECONDS, self._resume)
                return
            peer.setblocking(False)
            if self._make_room():
                self._hold(peer)
            elif self._context:
                peer.close()
            else:
                self._add_speaking(peer)  # its protocol refuses it

    def _is_full(self):
        return len(self._connections) + len(self._silent) + self._limits.coming >= self._limits.connections

    def _make_room(self):
        """Whether there is room for one more; who has waited longest makes it."""
        if self._is_full():
            if not self._limits.waiting:
                return False
            next(iter(self._limits.waiting)).give_up()
        return True

    def _hold(self, peer):
        one = _Silent(peer, self, self._loop.time() + self._limits.head_seconds)
        if not self._silent:
            self._loop.call_at(one.deadline, self._end_silent)
        self._silent[peer.fileno()] = one
        self._limits.waiting[one] = True
        self._poll.register(peer, select.EPOLLIN)

    def _end_silent(self):
        """Those whose time is over."""
        now = self._loop.time()
        while self._silent:
            oldest = next(iter(self._silent.values()))
            if oldest.deadline > now:
                self._loop.call_at(oldest.deadline, self._end_silent)
                return
            oldest.give_up()

    def _hear(self):
        for file, _ in self._poll.poll(0, _HEARD):
            one = self._silent[file]
            self.forget(one)
            try:
                has_bytes = one.socket.recv(1, socket.MSG_PEEK)
            except OSError:
                has_bytes = False
            if has_bytes:
                self._add_speaking(one.socket)
            else:
                one.socket.close()

    def _add_speaking(self, peer):
        self._limits.coming += 1
        self._speaking.append(peer)
        if len(self._speaking) == 1:
            self._loop.call_soon(self._hand_over)

    def _hand_over(self):
        for _ in range(min(_HANDED_OVER, len(self._speaking))):
            task = self._loop.create_task(self._connect(self._speaking.popleft()))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        if self._speaking:
            self._loop.call_soon(self._hand_over)

    async def _connect(self, peer):
        try:
            await self._loop.connect_accepted_socket(
                self._make_protocol, peer, ssl=self._context,
                ssl_handshake_timeout=self._limits.head_seconds if self._context else None)
        except OSError:  # of the handshake; also ssl.SSLError and TimeoutError
            self._limits.coming -= 1
            peer.close()
