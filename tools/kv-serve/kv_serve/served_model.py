"""The model's text side: its name, tokenizer and chat template."""

from kv_generate.chat import ChatFormat
from kv_generate.errors import GenerateFailure
from kv_generate.model_folder import ModelFolder

from .errors import RequestError


class ServedModel:
    """max_tokens: of a prompt and its answer together."""

    def __init__(self, folder, name=None):
        self.folder = ModelFolder(folder)
        self.name = name or self.folder.name
        self.tokenizer, self.stops = self.folder.tokenizer, self.folder.stops
        self.sampling = self.folder.sampling
        self.chat = ChatFormat(self.folder) if self.folder.template else None
        self.max_tokens = 0  # once the cache is known

    def check_name(self, name):
        if name is None:
            raise RequestError(400, "model is missing, allowed: the name of a model", "model")
        if name != self.name:
            raise RequestError(404, f"the model {name!r} is not there, only {self.name!r}", "model",
                               "model_not_found")

    def encode(self, prompt):
        """Token ids, a text, or a chat's messages to token ids."""
        if isinstance(prompt, str):
            return self.tokenizer.encode(prompt).ids
        if isinstance(prompt[0], int):
            return prompt
        if self.chat is None:
            raise RequestError(400, "the model has no chat template: /v1/completions continues a text",
                               "messages")
        try:
            return self.chat.tokens(prompt)
        except GenerateFailure as failure:
            # Without the file's path, which is nobody's business here.
            raise RequestError(400, str(failure).partition(": ")[2], "messages")
