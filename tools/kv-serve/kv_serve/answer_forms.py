"""OpenAI's objects around texts: of a chat and of a completion, whole and in chunks."""

import time
import uuid


class _Form:
    def __init__(self, model_name):
        self.head = {"id": f"{self.PREFIX}-{uuid.uuid4().hex}", "created": int(time.time()),
                     "model": model_name}

    def whole(self, texts, reasons, usage):
        choices = [self._choice(i, text, reason) for i, (text, reason) in enumerate(zip(texts, reasons))]
        return {**self.head, "object": self.OBJECT, "choices": choices, "usage": usage}

    def chunk(self, *choices, **usage):
        return {**self.head, "object": self.CHUNK, "choices": choices, **usage}


class Chat(_Form):
    PREFIX, OBJECT, CHUNK = "chatcmpl", "chat.completion", "chat.completion.chunk"

    def _choice(self, index, text, reason):
        return {"index": index, "message": {"role": "assistant", "content": text}, "logprobs": None,
                "finish_reason": reason}

    def opening(self):
        """The choice of a first chunk."""
        return {"index": 0, "delta": {"role": "assistant", "content": ""}, "logprobs": None,
                "finish_reason": None}

    def part(self, piece):
        return {"index": piece.index, "delta": {"content": piece.text} if piece.text else {},
                "logprobs": None, "finish_reason": piece.finish_reason}


class Completion(_Form):
    PREFIX, OBJECT, CHUNK = "cmpl", "text_completion", "text_completion"

    def _choice(self, index, text, reason):
        return {"index": index, "text": text, "logprobs": None, "finish_reason": reason}

    def opening(self):
        return None

    def part(self, piece):
        return self._choice(piece.index, piece.text, piece.finish_reason)
