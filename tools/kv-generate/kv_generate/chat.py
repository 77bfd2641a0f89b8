"""Messages to the model's prompt, by its own template."""

import datetime
import json

import jinja2
import jinja2.sandbox

from .errors import GenerateFailure


def _raise(message):
    raise jinja2.TemplateError(message)


class ChatFormat:
    """The template is a program from the model's file: it runs in a sandbox."""

    def __init__(self, model):
        if not model.template:
            raise GenerateFailure(f"{model.folder / 'model.json'}: the model has no chat template; "
                                  "--raw gives it the prompt as it is")
        environment = jinja2.sandbox.ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])
        environment.globals["raise_exception"] = _raise
        environment.globals["strftime_now"] = lambda f: datetime.datetime.now().strftime(f)
        environment.filters["tojson"] = lambda value, indent=None: json.dumps(
            value, ensure_ascii=False, indent=indent)
        self.model = model
        try:
            self.template = environment.from_string(model.template)
        except Exception as error:  # also the compiler's own, of what is no text
            raise self._failure("bad chat template", error)

    def _failure(self, what, error):
        return GenerateFailure(f"{self.model.folder / 'model.json'}: {what}: {' '.join(str(error).split())}")

    def tokens(self, messages):
        try:
            text = self.template.render(messages=messages, add_generation_prompt=True,
                                        **self.model.special)
        except Exception as error:  # whatever a program can do wrong
            raise self._failure("the chat template refuses these messages", error)
        # The template itself writes BOS where the model wants one.
        return self.model.tokenizer.encode(text, add_special_tokens=False).ids


def conversation(system, *turns):
    """user, assistant, user, ... after an optional system message."""
    roles = ("user", "assistant")
    head = [{"role": "system", "content": system}] if system else []
    return head + [{"role": roles[i % 2], "content": turn} for i, turn in enumerate(turns)]
