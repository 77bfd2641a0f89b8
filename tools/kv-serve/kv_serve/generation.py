"""The prompts of one HTTP request, from tokens to pieces of text."""

import asyncio
import dataclasses

from kv_generate.detokenize import Detokenizer

from .engine import Ticket, Token
from .stop_strings import StopStrings


@dataclasses.dataclass
class Piece:
    """index: the prompt's. finish_reason: None while there is more."""

    index: int
    text: str
    finish_reason: str = None


class Answer:
    """Of one prompt."""

    def __init__(self, index, asked, tokenizer):
        self.index = index
        self.detokenizer, self.stops = Detokenizer(tokenizer), StopStrings(asked.stops)
        self.new_tokens = self.prompt_tokens = self.cached_tokens = 0
        self.stopped = False  # by a stop string: what the engine still has is of no use

    def take(self, token):
        self.new_tokens += 1
        text, self.stopped = self.stops.push(self.detokenizer.push(token))
        return text

    def end(self, event):
        """The last piece."""
        self.prompt_tokens, self.cached_tokens = event.prompt_tokens, event.cached_tokens
        if self.stopped:
            return Piece(self.index, "", "stop")
        text, stopped = self.stops.push(self.detokenizer.finish())
        if stopped:
            return Piece(self.index, text, "stop")
        return Piece(self.index, text + self.stops.finish(), event.reason)


class Generation:
    def __init__(self, engine, tokenizer, asked):
        self.engine, self.asked = engine, asked
        self.answers = [Answer(i, asked, tokenizer) for i in range(len(asked.prompts))]
        self._events = asyncio.Queue()
        self._tickets = []

    async def start(self):
        """Raises RequestError; then nothing is left in the engine."""
        try:
            for answer, tokens in zip(self.answers, self.asked.prompts):
                ticket = Ticket(lambda event, answer=answer: self._events.put_nowait((answer, event)))
                self._tickets.append(ticket)
                await self.engine.add(ticket, tokens, self.asked.sampling)
        except BaseException:
            self.abort()
            raise

    async def pieces(self):
        """As they come. Raises RequestError for what fails on its way."""
        left = len(self.answers)
        while left:
            answer, event = await self._events.get()
            if isinstance(event, Token):
                if answer.stopped:
                    continue
                text = answer.take(event.id)
                if answer.stopped:
                    self.engine.abort(self._tickets[answer.index])
                if text:
                    yield Piece(answer.index, text)
                continue
            if event.error is not None and not answer.stopped:
                raise event.error
            left -= 1
            yield answer.end(event)

    def abort(self):
        """Pages of what has not ended are free after the step that runs."""
        for ticket in self._tickets:
            self.engine.abort(ticket)

    def usage(self):
        prompt = sum(answer.prompt_tokens for answer in self.answers)
        new = sum(answer.new_tokens for answer in self.answers)
        cached = sum(answer.cached_tokens for answer in self.answers)
        return {"prompt_tokens": prompt, "completion_tokens": new, "total_tokens": prompt + new,
                "prompt_tokens_details": {"cached_tokens": cached}}
