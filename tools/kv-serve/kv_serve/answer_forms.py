"""OpenAI's objects around texts: of a chat and of a completion, whole and in chunks."""

import base64
import time

import numpy
from pydantic_core import to_json

from .request_log import new_id


def _token_text(tokenizer, token):
    """As a piece of text; of a part of a character the replacement character."""
    return tokenizer.decode([token], skip_special_tokens=False)


def _unit(given):
    """Of the length 1."""
    values = numpy.array(given)
    return values / (numpy.linalg.norm(values) or 1)


class _Form:
    def __init__(self, model_name, tokenizer, asked):
        self.tokenizer, self.asked = tokenizer, asked
        self.head = {"id": f"{self.PREFIX}-{new_id()}", "created": int(time.time()),
                     "model": model_name}

    def whole(self, pieces, usage, known=None):
        """pieces: one for each answer. known: of the prompt's tokens, if they are shown."""
        more = {} if known is None else {"prompt_logprobs": [self._prompt_token(one) for one in known]}
        choices = [self._choice(i, piece) for i, piece in enumerate(pieces)]
        return {**self.head, "object": self.OBJECT, "choices": choices, "usage": usage, **more}

    def begin(self, generation):
        """Chunks before the answers."""
        openings = [self._opening(answer.index) for answer in generation.answers]
        return [self._chunk(generation, opening) for opening in openings if opening]

    def go_on(self, generation, piece):
        return [self._chunk(generation, self._part(piece), usage=piece.usage)]

    def end(self, generation):
        return [self._chunk(generation, usage=generation.usage())] if generation.asked.include_usage else []

    def _chunk(self, generation, *choices, usage=None):
        more = {"usage": usage} if generation.asked.include_usage else {}
        return {**self.head, "object": self.CHUNK, "choices": choices, **more}

    def _prompt_token(self, known):
        """As vLLM has it: an object by token ids, in which the token itself is the first; null for the first token."""
        if known.logprobs is None:
            return None
        value, _, top = known.logprobs
        return {str(token): {"logprob": each, "decoded_token": _token_text(self.tokenizer, token)}
                for token, each in {known.token: value, **dict(top)}.items()}


class Chat(_Form):
    PREFIX, OBJECT, CHUNK = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def _choice(self, index, piece):
        message = {"role": "assistant", "content": piece.text if piece.text or not piece.calls else None}
        if piece.reasoning:
            message["reasoning_content"] = piece.reasoning
        if piece.calls:
            message["tool_calls"] = [call.body() for call in piece.calls]
        return {"index": index, "message": message, "logprobs": self._logprobs(piece),
                "finish_reason": piece.finish_reason}

    def _opening(self, index):
        """The choice of a first chunk."""
        return {"index": index, "delta": {"role": "assistant", "content": ""}, "logprobs": None,
                "finish_reason": None}

    def _part(self, piece):
        delta = {name: text for name, text in (("reasoning_content", piece.reasoning), ("content", piece.text)) if text}
        if piece.calls:
            delta["tool_calls"] = [call.body(index=i) for i, call in enumerate(piece.calls)]
        return {"index": piece.index, "delta": delta, "logprobs": self._logprobs(piece),
                "finish_reason": piece.finish_reason}

    def _logprobs(self, piece):
        if not piece.known:
            return None
        return {"content": [{**self._token(one.token, one.logprobs[0]), "top_logprobs": [
            self._token(token, value) for token, value in one.logprobs[2]]} for one in piece.known], "refusal": None}

    def _token(self, token, logprob):
        text = _token_text(self.tokenizer, token)
        return {"token": text, "logprob": logprob, "bytes": list(text.encode())}


class Completion(_Form):
    PREFIX, OBJECT, CHUNK = "cmpl", "text_completion", "text_completion"

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._offsets = {}  # of answers: characters of tokens that were given

    def _choice(self, index, piece):
        return {"index": index, "text": piece.text, "logprobs": self._logprobs(index, piece),
                "finish_reason": piece.finish_reason}

    def _opening(self, index):
        return None

    def _part(self, piece):
        return self._choice(piece.index, piece)

    def _logprobs(self, index, piece):
        if not piece.known:
            return None
        texts = [_token_text(self.tokenizer, one.token) for one in piece.known]
        offsets, at = [], self._offsets.get(index, 0)
        for text in texts:
            offsets.append(at)
            at += len(text)
        self._offsets[index] = at
        return {"tokens": texts, "text_offset": offsets,
                "token_logprobs": [one.logprobs and one.logprobs[0] for one in piece.known],
                "top_logprobs": [one.logprobs and {_token_text(self.tokenizer, token): value
                                                   for token, value in one.logprobs[2]} for one in piece.known]}


class Embeddings(_Form):
    """In JSON: each vector is written when it comes, since the event loop waits meanwhile."""

    PREFIX, OBJECT = "embd", "list"

    def vector(self, given):
        values = _unit(given) if self.asked.normalizes else numpy.array(given)
        if self.asked.in_base64:
            return b'"%s"' % base64.b64encode(values.astype("<f4").tobytes())
        return to_json(values.astype(numpy.float32).tolist(), inf_nan_mode="null")

    def whole(self, pieces, usage, known=None):
        data = b",".join(b'{"object":"embedding","index":%d,"embedding":%s}' % (i, piece.embedding)
                         for i, piece in enumerate(pieces))
        return to_json({**self.head, "object": self.OBJECT, "usage": usage})[:-1] + b',"data":[%s]}' % data


class Scores(_Form):
    PREFIX, OBJECT = "score", "list"

    def vector(self, given):
        return _unit(given)

    def whole(self, pieces, usage, known=None):
        data = [{"object": "score", "index": i, "score": float(pieces[one].embedding @ pieces[other].embedding)}
                for i, (one, other) in enumerate(self.asked.pairs)]
        return {**self.head, "object": self.OBJECT, "data": data, "usage": usage}
