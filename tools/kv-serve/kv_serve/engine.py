"""The thread that steps the server, and the event loop's way to it."""

import asyncio
import collections
import dataclasses
import os
import queue
import select
import threading
import time
import traceback

import kvmlir

from .errors import RequestError

_OBEYING_SECONDS = 0.005  # between two steps; a request takes some 0.1 ms


@dataclasses.dataclass
class Token:
    """logprobs, prompt_logprobs: kvmlir.Stream's, of this token and of the prompt."""

    id: int
    logprobs: tuple = None
    prompt_logprobs: list = None


@dataclasses.dataclass
class End:
    """The last event. reason: "stop", "length", "abort" or "error". pages: of the prompt, kvmlir.REASONS, where they
    were asked for. embedding: kvmlir.Stream's."""

    reason: str
    prompt_tokens: int = 0
    cached_tokens: int = 0
    error: Exception = None
    prompt_logprobs: list = None
    pages: list = None
    embedding: list = None


class Ticket:
    """One prompt on its way. Events come to receive(event), in the event loop. Of those that wait the smallest
    priority begins first. explains: whether End has pages. Times are time.monotonic()'s; admitted: when the first
    step had the request."""

    def __init__(self, receive, priority=0, explains=False):
        self.receive, self.priority, self.explains = receive, priority, explains
        self.arrived = time.monotonic()
        # The engine's thread alone touches these.
        self.stream = self.added = self.admitted = self.first_token = self.last_token = self.pages = None
        self.new_tokens = 0


class Engine:
    """All calls of the server and its manager are made in one thread, between the steps. The other
    methods are the event loop's."""

    def __init__(self, server, manager, most_requests, figures, most_tokens_ahead=1024):
        """most_tokens_ahead: of prompts of one HTTP request that wait here."""
        self._server, self._manager, self._most_requests = server, manager, most_requests
        self.most_tokens_ahead = most_tokens_ahead
        self.figures = figures
        self._commands = queue.SimpleQueue()
        self._wake = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)  # readable: there are new commands
        # Prompts that peers want, where they do.
        self._wakers = [self._wake, *(fd for fd in [server.prompt_descriptor] if fd >= 0)]
        self._is_busy = False  # the latest step has left something to do
        self._tickets = {}  # by stream
        self._events = []  # of the latest step
        self._posts = collections.deque()  # calls that the event loop has not made yet
        self._is_waking = False  # the event loop has been woken for them
        self._ends = False
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self.failure = None  # the sentence of what ended the thread before its time

    def start(self):
        self._loop = asyncio.get_running_loop()
        self._thread.start()

    # ---- The event loop's side ----

    async def add(self, ticket, tokens, sampling):
        """Raises RequestError: the request cannot be answered."""
        await self._call(lambda: self._add(ticket, tokens, sampling))

    def put(self, ticket, tokens, sampling):
        """As add(), without waiting: the End of a request that cannot be answered has the error."""
        self._command(lambda: self._try_to_add(ticket, tokens, sampling))

    def abort(self, ticket):
        """Nothing, if it has ended; else its End is on its way."""
        self._command(lambda: self._abort(ticket))

    async def reset_prefix_cache(self):
        await self._call(self._manager.reset_prefix_cache)

    def abort_all(self):
        self._command(self._abort_all)

    async def stop(self):
        """Aborts what is left, and waits for the thread."""
        self.abort_all()
        self._command(self._end)
        await asyncio.to_thread(self._thread.join)

    async def _call(self, function):
        """What the function returns or raises in the engine's thread."""
        answer = self._loop.create_future()

        def give(result, error):
            if answer.cancelled():
                return
            if error is None:
                answer.set_result(result)
            else:
                answer.set_exception(error)

        def run():
            try:
                result, error = function(), None
            except Exception as raised:
                result, error = None, raised
            self._post(give, result, error)

        if self.failure:
            raise RequestError(503, self.failure)
        self._command(run)
        return await answer

    def _command(self, command):
        self._commands.put(command)
        os.eventfd_write(self._wake, 1)

    # ---- The engine's thread ----

    def _run(self):
        try:
            while not self._ends:
                self._obey()
                self._is_busy = self._server.step()
                self._tell()
        except Exception as error:
            traceback.print_exc()
            self.failure = f"the engine has ended: {error}"
            for stream in list(self._tickets):
                self._finish(stream, "error", RequestError(500, self.failure))
            self._tell()
            while not self._ends:  # whoever asks gets an answer
                self._commands.get()()
                self._tell()

    def _obey(self):
        """Commands that are there, for some milliseconds: a client with many prompts does not keep others from their
        tokens. Waits for one, or for a prompt of a peer, if there is nothing to compute."""
        if self._commands.empty():
            if self._is_busy or self._server.num_requests:
                return
            select.select(self._wakers, [], [])
        try:
            os.eventfd_read(self._wake)
        except BlockingIOError:
            pass  # nobody has woken it
        end = time.monotonic() + _OBEYING_SECONDS
        while not self._ends and time.monotonic() < end:
            try:
                command = self._commands.get_nowait()
            except queue.Empty:
                return
            command()
            self._tell()

    def _post(self, function, *arguments):
        """Has the event loop call the function. At most one wakeup is on its way: each takes a byte of the
        loop's pipe, and a signal that finds the pipe full is lost."""
        self._posts.append((function, arguments))
        if self._is_waking:
            return
        self._is_waking = True
        try:
            self._loop.call_soon_threadsafe(self._make_posts)
        except RuntimeError:
            pass  # the loop has ended: nobody waits

    def _make_posts(self):
        """In the event loop. The flag goes first: what is added after the last look brings a wakeup of its own."""
        self._is_waking = False
        for _ in range(len(self._posts)):
            function, arguments = self._posts.popleft()
            function(*arguments)

    def _tell(self):
        """One wakeup of the event loop for all that a step brought."""
        if self._events:
            events, self._events = self._events, []
            self._post(_deliver, events)

    def _add(self, ticket, tokens, sampling):
        if self.failure:
            raise RequestError(503, self.failure)
        if self._server.num_requests >= self._most_requests:
            raise RequestError(429, f"{self._most_requests} requests run and wait already, try again later")
        try:
            stream = self._server.add(tokens, listener=self._listen, priority=ticket.priority, **sampling)
        except (ValueError, MemoryError) as error:
            # "request request-7: " is the server's business.
            _, _, sentence = str(error).partition(": ")
            raise RequestError(400, sentence or str(error), None, "context_length_exceeded" if isinstance(
                error, MemoryError) or "prompt tokens, the model" in sentence else None)
        if ticket.explains and isinstance(self._manager, kvmlir.PagedKVCacheManager):
            context = kvmlir.TextGenerationContext(tokens)
            context.set_scope(salt=sampling["salt"])
            # Whether others have sent this prompt is theirs to know.
            shown = {"other_scope": "never_seen"}
            if (wanted := sampling.get("prompt_logprobs")) is not None:
                kept = self._manager.payload_bytes_per_token
                context.set_payload(len(tokens) * kept)
                if wanted > kept // 8 - 1:
                    shown |= dict.fromkeys(("hit", "other_tier"), "without_logprobs")
            ticket.pages = [shown.get(reason, reason) for reason in self._manager.explain(context)]
        ticket.stream, ticket.added = stream, time.monotonic()
        self._tickets[stream] = ticket

    def _try_to_add(self, ticket, *arguments):
        try:
            self._add(ticket, *arguments)
        except Exception as error:
            self._events.append((ticket, End("error", error=error)))

    def _listen(self, stream, token):
        ticket = self._tickets[stream]
        if token is not None:
            self.figures.take(ticket, time.monotonic())
            self._events.append((ticket, Token(
                token, stream.logprobs[-1] if stream.logprobs else None, stream.prompt_logprobs)))
        elif stream.finish_reason == "error":
            self._finish(stream, "error", RequestError(500, stream.error))
        else:
            self._finish(stream, stream.finish_reason)

    def _finish(self, stream, reason, error=None):
        ticket = self._tickets.pop(stream)
        if stream.queue_seconds is not None:
            ticket.admitted = ticket.added + stream.queue_seconds
        end = End(reason, stream.prompt_tokens, stream.cached_tokens, error, stream.prompt_logprobs, ticket.pages,
                  stream.embedding)
        self.figures.finish(ticket, end, time.monotonic())
        self._events.append((ticket, end))

    def _abort(self, ticket):
        if ticket.stream in self._tickets:
            ticket.stream.abort()
            self._finish(ticket.stream, "abort")

    def _abort_all(self):
        for stream in list(self._tickets):
            stream.abort()
            self._finish(stream, "error", RequestError(503, "the server is shutting down"))

    def _end(self):
        self._ends = True


def _deliver(events):
    for ticket, event in events:
        ticket.receive(event)

