"""The one error that a user sees: a single sentence, no traceback."""


class ImportFailure(Exception):
    """A bad input: names the file, what was found and what is allowed."""


class UnknownFamily(ImportFailure):
    """A folder whose `model_type` is in no row of the table of families."""

    def __init__(self, sentence, model_type):
        super().__init__(sentence)
        self.model_type = model_type
