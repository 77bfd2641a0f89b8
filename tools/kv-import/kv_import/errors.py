"""The one error that a user sees: a single sentence, no traceback."""


class ImportFailure(Exception):
    """A bad input: names the file, what was found and what is allowed."""
