"""Token ids to text as they come."""

import functools


@functools.lru_cache(maxsize=8)  # a model may have ten thousands of them
def special_tokens(tokenizer):
    return frozenset(token for token, added in tokenizer.get_added_tokens_decoder().items() if added.special)


class Detokenizer:
    """Text that can no longer change. The bytes of a character may be spread over several
    tokens, and how a token is written may depend on its predecessor: a few ids before the new
    ones are decoded again, and an unfinished character is held back. So a token costs the same
    wherever it stands, also among bytes that are no characters at all."""

    # A character has at most four bytes, and a token at least one: what so many ids have not
    # finished is no character. It is looked at when twice as many are held back.
    LONGEST = 4

    def __init__(self, tokenizer):
        self.tokenizer = tokenizer
        self.skipped = special_tokens(tokenizer)
        self.ids = []
        self.start = 0  # the window that is decoded again
        self.done = 0  # ids whose text has been given out

    def push(self, token):
        # Special tokens, and ids that name none, are as if they were not there, as in decode() of all. A window that
        # began with one would lose the space that some tokenizers take from the beginning of a text.
        if token in self.skipped or self.tokenizer.id_to_token(token) is None:
            return ""
        self.ids.append(token)
        text = self._text(self.start, len(self.ids))
        if not text.endswith("\ufffd"):
            return self._advance(text, len(self.ids))
        end = len(self.ids) - self.LONGEST
        if end - self.done < self.LONGEST:
            return ""
        before = self._text(self.start, end)
        return self._advance(before, end) if text.startswith(before) else ""

    def finish(self):
        """What is held back: a character that was never finished."""
        end = len(self.ids)
        return self._advance(self._text(self.start, end), end) if end > self.done else ""

    def _advance(self, text, end):
        new = text[len(self._text(self.start, self.done)):]
        self.start, self.done = self.done, end
        return new

    def _text(self, begin, end):
        if begin == end:
            return ""
        return self.tokenizer.decode(self.ids[begin:end], skip_special_tokens=True)
