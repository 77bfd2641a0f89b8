"""Messages to the model's prompt, by its own template."""

import datetime
import json

import jinja2
import jinja2.ext
import jinja2.sandbox

from .errors import GenerateFailure


class TooLong(Exception):
    """A chat's text has more bytes than it may have."""


class _Generation(jinja2.ext.Extension):
    """{% generation %} ... {% endgeneration %} mark what the model has written, which training asks for: here they
    are only read."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_show"), [], [], body).set_lineno(line)

    def _show(self, caller):
        return caller()


def _raise(message):
    raise jinja2.TemplateError(message)


def _to_json(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


class ChatFormat:
    """The template is a program from the model's file: it runs in a sandbox, with what transformers'
    apply_chat_template gives it."""

    def __init__(self, model):
        if not model.template:
            raise GenerateFailure(f"{model.folder / 'model.json'}: the model has no chat template; "
                                  "--raw gives it the prompt as it is")
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=[_Generation, "jinja2.ext.loopcontrols"])
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda f: datetime.datetime.now().strftime(f)
        environment.filters["tojson"] = _to_json
        self.model = model
        try:
            self.template = environment.from_string(model.template)
        except Exception as error:  # also the compiler's own, of what is no text
            raise self._failure("bad chat template", error)

    def _failure(self, what, error):
        said = " ".join(str(error).split()) or type(error).__name__  # a MemoryError says nothing
        return GenerateFailure(f"{self.model.folder / 'model.json'}: {what}: {said}")

    def text(self, messages, most=None, continues=False, **variables):
        """Raises TooLong for a text of more than `most` bytes, when so many are there. continues: it ends where the
        last message does. variables: of the template, such as tools."""
        given = {"tools": None, "documents": None, "add_generation_prompt": True, **self.model.special, **variables}
        pieces, left = [], most
        try:
            for piece in self.template.generate(messages=messages, **given):
                pieces.append(piece)
                if most is not None and (left := left - len(piece.encode())) < 0:
                    raise TooLong
        except TooLong:
            raise
        except Exception as error:  # whatever a program can do wrong
            raise self._failure("the chat template refuses these messages", error)
        text = "".join(pieces)
        if not continues:
            return text
        last = str(messages[-1]["content"]).strip()
        if (begin := text.rfind(last)) < 0:
            raise self._failure("the chat template refuses these messages",
                                ValueError("it does not show the last one as it is"))
        return text[:begin + len(last)]

    def tokens(self, messages):
        # The template itself writes BOS where the model wants one.
        return self.model.tokenizer.encode(self.text(messages), add_special_tokens=False).ids


def conversation(system, *turns):
    """user, assistant, user, ... after an optional system message."""
    roles = ("user", "assistant")
    head = [{"role": "system", "content": system}] if system else []
    return head + [{"role": roles[i % 2], "content": turn} for i, turn in enumerate(turns)]
