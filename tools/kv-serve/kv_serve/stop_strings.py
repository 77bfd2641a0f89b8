"""Texts that end an answer."""


def overlap(text, marker):
    """How many characters at the text's end begin the marker, and are not all of it."""
    most = min(len(text), len(marker) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(marker[:n])), 0)


class StopStrings:
    """A stop string may begin in one piece and end in a later one: what may be its beginning is held
    back."""

    def __init__(self, stops):
        self.stops = stops
        self.held = ""

    def push(self, text):
        """(text that is certain, whether a stop string followed it)"""
        if not self.stops:
            return text, False
        text = self.held + text
        found = [at for at in (text.find(stop) for stop in self.stops) if at >= 0]
        if found:
            self.held = ""
            return text[:min(found)], True
        kept = max((overlap(text, stop) for stop in self.stops), default=0)
        self.held = text[len(text) - kept:]
        return text[:len(text) - kept], False

    def finish(self):
        """What was held back, and began no stop string."""
        return self.held
