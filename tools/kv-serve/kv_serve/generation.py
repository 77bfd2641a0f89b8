"""The answers to one HTTP request, from tokens to pieces of text."""

import asyncio
import collections
import dataclasses
import time
from typing import Optional

from kv_generate.detokenize import Detokenizer

from .engine import Ticket, Token
from .stop_strings import StopStrings


@dataclasses.dataclass
class Known:
    """A token of an answer or a prompt. logprobs: kvmlir.Stream's of it; None for a prompt's first."""

    token: int
    logprobs: Optional[tuple]


@dataclasses.dataclass
class Piece:
    """index: the answer's. finish_reason: None while there is more. known: of the tokens since the last piece, where
    log probabilities were asked for. calls: of tools. embedding: of the last one, where it was asked for. usage: up to
    this piece, where each chunk has it. reasoning: text before the answer's own."""

    index: int
    text: str
    finish_reason: str = None
    known: list = dataclasses.field(default_factory=list)
    calls: list = dataclasses.field(default_factory=list)
    embedding: Optional[list] = None
    usage: Optional[dict] = None
    reasoning: str = ""


class Answer:
    """One of those to a prompt."""

    def __init__(self, index, asked, prompt, model):
        self.index, self.asked, self.prompt, self.model = index, asked, prompt, model
        self.parts = None if asked.reasons is None else model.family.parts(asked.reasons)
        self.marks = {} if self.parts is None else model.marks
        self.mask = None  # Grammars', if the request has one
        self.detokenizer, self.stops = Detokenizer(model.tokenizer), StopStrings(asked.stops)
        self.new_tokens = self.reasoning_tokens = self.prompt_tokens = self.cached_tokens = 0
        self.pages = None
        self.has_begun = False
        self.stopped = False  # by a stop string: what the engine still has is of no use
        self.prompt_logprobs = None
        self.sum_of_logprobs = 0.0
        self.begin = asked.echoes[index // asked.best_of] if asked.echo else ""
        self._held = []  # texts that may be a call of a tool
        self._has_call = False  # whether that is known before the end
        self._known = []

    def take(self, event):
        """A piece, or None."""
        self._see_prompt(event)
        if not self.asked.has_answer:
            return None
        self.new_tokens += 1
        if event.logprobs is not None:
            self._known.append(Known(event.id, event.logprobs))
            self.sum_of_logprobs += event.logprobs[0]
        text, self.stopped = self.stops.push(self._text_of(event.id))
        reasoning = ""
        if self.parts:
            reasoning, text = self.parts.push(text)
            self.reasoning_tokens += bool(reasoning) or self.parts.reasons
        if self.asked.calls:
            text = self._hold(text)
        return self._piece(text, reasoning=reasoning) if text or reasoning else None

    def _text_of(self, token):
        if (mark := self.marks.get(token)) is None:
            return self.detokenizer.push(token)
        text = self.detokenizer.finish() + mark
        self.detokenizer = Detokenizer(self.model.tokenizer)
        return text

    def _hold(self, text):
        """What is no part of a call for certain. Once a call has begun nothing is looked at before the end."""
        self._held.append(text)
        if self._has_call:
            return ""
        text = "".join(self._held)
        self._has_call = self.model.family.has_call(text)
        if self.model.family.may_have_call(text):
            self._held = [text]
            return ""
        self._held = []
        return text

    def end(self, event):
        """The last piece."""
        self._see_prompt(event)
        self.prompt_tokens, self.cached_tokens, self.pages = event.prompt_tokens, event.cached_tokens, event.pages
        text, reasoning, reason = "", "", event.reason
        if self.stopped:
            reason = "stop"
        elif self.asked.has_answer:
            text, stopped = self.stops.push(self.detokenizer.finish())
            text, reason = (text, "stop") if stopped else (text + self.stops.finish(), reason)
        if self.parts:
            found = zip(self.parts.push(text), self.parts.finish())
            reasoning, text = map("".join, found)
        calls = []
        if self.asked.calls:
            text, calls = self.model.family.split("".join([*self._held, text]))
            calls += self.parts.calls if self.parts else []
            if calls and reason == "stop":
                reason = "tool_calls"
        return self._piece(text, reason, calls, reasoning, event.embedding)

    def _see_prompt(self, event):
        if self.prompt_logprobs is None and event.prompt_logprobs:
            self.prompt_logprobs = [None, *event.prompt_logprobs]
            if self.asked.echo:
                self._known = self.known_prompt()

    def known_prompt(self):
        """Of each token of the prompt, where log probabilities were asked for; else None."""
        if self.prompt_logprobs is None:
            return None
        return [Known(int(token), known) for token, known in zip(self.prompt, self.prompt_logprobs)]

    def _piece(self, text, reason=None, calls=(), reasoning="", embedding=None):
        begin, self.begin = self.begin, ""
        known, self._known = self._known, []
        return Piece(self.index, begin + text, reason, known, list(calls), embedding, reasoning=reasoning)


class _Inbox:
    """What has come since somebody last looked."""

    def __init__(self):
        self._items, self._has_some = [], asyncio.Event()

    def put(self, item):
        self._items.append(item)
        self._has_some.set()

    async def take(self):
        """At least one."""
        await self._has_some.wait()
        self._has_some.clear()
        items, self._items = self._items, []
        return items


class Generation:
    """make_mask: of Grammars.masks(), where the request has a grammar."""

    def __init__(self, engine, model, asked, make_mask=None):
        self.engine, self.asked, self._make_mask = engine, asked, make_mask
        self._sampling = {**asked.sampling, "logit_bias": {
            int(token): value for token, value in asked.sampling["logit_bias"].items()}}
        self.answers = [Answer(i, asked, prompt, model) for i, prompt in enumerate(
            prompt for prompt in asked.prompts for _ in range(asked.best_of))]
        self._later = collections.deque(self._firsts())  # that the engine does not have yet
        self._tokens_ahead = 0  # of prompts that it has, and that have not begun
        self._events = _Inbox()
        self._tickets = {}  # by indices of answers; None once the answer has ended
        self.first_token = None  # when it came

    async def begin(self):
        """For who must know that the engine takes the prompts before their pieces come. Raises RequestError; then
        nothing is left in the engine."""
        try:
            while (answer := self._next()) is not None:
                await self.engine.add(*self._order(answer))
        except BaseException:
            self.abort()
            raise

    def _firsts(self):
        return self.answers[::self.asked.best_of]

    def _order(self, answer):
        """Arguments of the engine's add()."""
        events = self._events  # not self: a cycle would wait for the collector, which stops all threads
        ticket = Ticket(lambda event: events.put((answer, event)), self.asked.priority,
                        self.asked.explains and answer.index % self.asked.best_of == 0)
        self._tickets[answer.index] = ticket
        own = {"seed": (self._sampling["seed"] + answer.index % self.asked.best_of) % 2**64}
        if self._make_mask is not None:
            answer.mask = self._make_mask()
            own.update(mask=answer.mask.allow, drafts=answer.mask.drafts)
        return ticket, answer.prompt, {**self._sampling, **own}

    async def pieces(self):
        """As they come, in lists: where the event loop is behind the engine it catches up, since a list costs little
        more than a piece. Raises RequestError for what fails on its way."""
        if not self._tickets:
            self._put_next()
        left = len(self.answers)
        while left:
            found = []
            for answer, event in await self._events.take():
                if not answer.has_begun:
                    self._see_begun(answer)
                if isinstance(event, Token):
                    piece = self._take(answer, event)
                elif event.error is None or answer.stopped:
                    left -= 1
                    self._tickets[answer.index] = None
                    piece = answer.end(event)
                else:
                    if found:
                        yield found
                    raise answer.mask and answer.mask.refusal or event.error
                if piece is not None:
                    piece.usage = self.usage() if self.asked.continuous_usage else None
                    found.append(piece)
            if found:
                yield found

    def _next(self):
        """The first answer to a prompt for the engine, or None. It has few at a time, so that other requests' prompts
        come between those of one that has many."""
        if not self._later or self._tokens_ahead >= self.engine.most_tokens_ahead:
            return None
        answer = self._later.popleft()
        self._tokens_ahead += len(answer.prompt)
        return answer

    def _put_next(self):
        while (answer := self._next()) is not None:
            self.engine.put(*self._order(answer))

    def _see_begun(self, answer):
        """A prompt is in the cache once its first answer has begun: the others find its pages there. And it no longer
        waits."""
        answer.has_begun = True
        if answer.index % self.asked.best_of == 0:
            for other in self.answers[answer.index + 1:answer.index + self.asked.best_of]:
                self.engine.put(*self._order(other))
            self._tokens_ahead -= len(answer.prompt)
            self._put_next()

    def _take(self, answer, token):
        """A piece, or None."""
        self.first_token = self.first_token or time.monotonic()
        if answer.stopped:
            return None
        piece = answer.take(token)
        if answer.stopped:
            self.engine.abort(self._tickets[answer.index])
        return piece

    def chosen(self):
        """Of the answers those that are given, prompt by prompt: the most likely ones, by token."""
        if self.asked.n == self.asked.best_of:
            return self.answers
        found = []
        for begin in range(0, len(self.answers), self.asked.best_of):
            ranked = sorted(self.answers[begin:begin + self.asked.best_of],
                            key=lambda answer: -answer.sum_of_logprobs / max(answer.new_tokens, 1))
            found += ranked[:self.asked.n]
        return found

    def abort(self):
        """Pages of what has not ended are free after the step that runs. The engine's thread is woken only if there is
        something to abort."""
        for ticket in filter(None, self._tickets.values()):
            self.engine.abort(ticket)

    def usage(self):
        """A prompt counts once, however many answers it has."""
        firsts = self._firsts()
        prompt = sum(answer.prompt_tokens or len(answer.prompt) for answer in firsts)
        new = sum(answer.new_tokens for answer in self.answers)
        cached = sum(answer.cached_tokens for answer in firsts)
        details = {"cached_tokens": cached}
        if pages := [page for answer in firsts for page in answer.pages or ()]:
            details["pages"] = pages
        reasoning = sum(answer.reasoning_tokens for answer in self.answers)
        return {"prompt_tokens": prompt, "completion_tokens": new, "total_tokens": prompt + new,
                "prompt_tokens_details": details, "completion_tokens_details": {"reasoning_tokens": reasoning}}
