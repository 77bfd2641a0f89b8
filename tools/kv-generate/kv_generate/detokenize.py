"""Token ids to text as they come."""


class Detokenizer:
    """Text that can no longer change. The bytes of a character may be spread over several
    tokens, and how a token is written may depend on its predecessor: a few ids before the new
    ones are decoded again, and an unfinished character is held back."""

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.ids = []
        self.start = 0  # the window that is decoded again
        self.done = 0  # ids whose text has been given out

    def push(self, token):
        self.ids.append(token)
        text = self._text(self.start, len(self.ids))
        if text.endswith("\ufffd"):
            return ""
        return self._advance(text)

    def finish(self):
        """What is held back: a character that was never finished."""
        return self._advance(self._text(self.start, len(self.ids)))

    def _advance(self, text):
        new = text[len(self._text(self.start, self.done)):]
        self.start, self.done = self.done, len(self.ids)
        return new

    def _text(self, begin, end):
        return self.tokenizer.decode(self.ids[begin:end], skip_special_tokens=True)
