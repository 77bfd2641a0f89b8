"""The one error that a user sees: a single sentence, no traceback."""


class ImportFailure(Exception):
    """A bad input: names the file, what was found and what is allowed."""


class NotTaken(ImportFailure):
    """A folder that only the code of transformers may take: its `model_type` is in no row of the table of families,
    or a value in its config.json is one that the row's families do not have. `short`: why, in few words."""

    def __init__(self, sentence, short):
        super().__init__(sentence)
        self.short = short
