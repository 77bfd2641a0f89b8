"""The model's text side: its name, tokenizer and chat template."""

from array import array

from kv_generate.chat import ChatFormat, TooLong
from kv_generate.errors import GenerateFailure
from kv_generate.model_folder import ModelFolder

from .errors import RequestError, cut
from .families import family_of

NO_TEMPLATE = "the model has no chat template: /v1/completions continues a text"


class ServedModel:
    """max_tokens: of a prompt and its answer together; vocab_size: of a row of logits. 0 until the model is loaded."""

    def __init__(self, folder, name=None):
        self.folder = ModelFolder(folder)
        self.name = name or self.folder.name
        self.tokenizer, self.stops = self.folder.tokenizer, self.folder.stops
        self.sampling, self.family = self.folder.sampling, family_of(self.tokenizer)
        self.marks = self.family.marks_of(self.tokenizer)
        self.has_template = bool(self.folder.template)
        self.max_tokens = self.vocab_size = 0

    def check_name(self, name):
        if name != self.name:
            raise RequestError(404, f"the model {cut(repr(name))} is not there, only {self.name!r}", "model",
                               "model_not_found")


def own_words(failure):
    """A sentence without the file's path, which is no client's business."""
    return str(failure).partition(": ")[2]


class Encoder:
    """Prompts to token ids. Prompts that are too long by their bytes are not read."""

    def __init__(self, model):
        self.model, self._chat = model, None
        self._longest = max((len(token.encode()) for token in model.tokenizer.get_vocab()), default=1)

    def compile_template(self):
        """Raises GenerateFailure."""
        if self._chat is None:
            self._chat = ChatFormat(self.model.folder)

    def render(self, messages, variables):
        """A chat's text. variables: ChatFormat.text()'s. Raises RequestError."""
        try:
            self.compile_template()
            return self._chat.text(messages, self._most_bytes, **variables)
        except GenerateFailure as failure:
            raise RequestError(400, own_words(failure), "messages")
        except TooLong:
            raise self._too_long(f"the chat has more than {self._most_bytes} bytes", "messages")

    def encode(self, prompt, **more):
        """An int32 array of a text or a list of token ids. Raises RequestError."""
        if isinstance(prompt, str):
            if (size := len(prompt.encode())) > self._most_bytes:
                raise self._too_long(f"a prompt has {size} bytes", None)
            prompt = self.model.tokenizer.encode(prompt, **more).ids
        if len(prompt) > self.model.max_tokens:
            raise RequestError(400, f"{len(prompt)} prompt tokens, the model takes at most {self.model.max_tokens}",
                               None, "context_length_exceeded")
        return array("i", prompt)

    def decode(self, tokens, skip_special_tokens):
        return self.model.tokenizer.decode(list(tokens), skip_special_tokens=skip_special_tokens)

    @property
    def _most_bytes(self):
        return self.model.max_tokens * self._longest

    def _too_long(self, given, field):
        return RequestError(400, f"{given}, the model takes at most {self.model.max_tokens} tokens, none of them of "
                                 f"more than {self._longest} bytes", field, "context_length_exceeded")
