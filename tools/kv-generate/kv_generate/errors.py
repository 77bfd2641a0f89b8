"""The one error that a user sees: a single sentence, no traceback."""


class GenerateFailure(Exception):
    pass
