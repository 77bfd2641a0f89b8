"""Forms of answers: a JSON schema, a regular expression, a choice or a grammar, as llguidance reads them."""

import json

import llguidance
import llguidance.numpy
import numpy

from .errors import RequestError, bad_field, cut

_MOST_BYTES = 64 << 10  # of a grammar: some 30 ms


def of_response_format(given):
    """A grammar, or None: any text."""
    if given is None or given == {"type": "text"}:
        return None
    kind = given.get("type")
    if kind == "json_object":
        return of_schema({"type": "object"})
    if kind == "json_schema" and isinstance(own := given.get("json_schema"), dict) and "schema" in own:
        return of_schema(own["schema"])
    raise bad_field("response_format", given, '{"type": "text"}, {"type": "json_object"}, or {"type": "json_schema", '
                                              '"json_schema": {"schema": ...}}')


def of_structured_outputs(given):
    if given is None:
        return None
    named = {name: value for name in ("json_schema", "regex", "choice", "grammar")
             if (value := getattr(given, name)) is not None}
    if len(named) != 1:
        raise RequestError(400, f"structured_outputs has {len(named)} forms, allowed: one of json, regex, choice and "
                                "grammar", "structured_outputs")
    [(name, value)] = named.items()
    if name == "json_schema":
        return of_schema(value)
    if name == "regex":
        return llguidance.LLMatcher.grammar_from_regex(value)
    if name == "choice":
        return llguidance.LLMatcher.grammar_from_lark("start: " + " | ".join(map(json.dumps, value)))
    return llguidance.LLMatcher.grammar_from_lark(value)


def of_schema(schema):
    """Without white space that goes on for ever: a model that gets lost in it would never end."""
    try:
        return llguidance.LLMatcher.grammar_from_json_schema(
            json.dumps(schema), overrides={"whitespace_flexible": True, "whitespace_pattern": r"[ \n]{0,2}"})
    except ValueError as error:
        raise _bad(str(error))


def check(grammar):
    """The grammar, if it can be used. Raises RequestError. What it costs is limited where bodies are read; the server
    reads it again, while nothing else goes on."""
    if (size := len(grammar.encode())) > _MOST_BYTES:
        raise _bad(f"it has {size} bytes, allowed: {_MOST_BYTES}")
    if said := llguidance.LLMatcher.validate_grammar(grammar):
        raise _bad(said)
    return grammar


def _bad(said):
    lines = said.strip().splitlines() or ["it has no answer"]
    return RequestError(400, f"the answer's form cannot be used: {cut(lines[0])}", "response_format")


# What ends something in JSON, the first that may come first, and how many tokens before the limit that begins.
_CLOSING, _LAST_TOKENS = ('"', "}", "]"), 48


class Grammars:
    """Of a model's tokens: all are looked at when it is made, which nothing else in the process can do meanwhile."""

    def __init__(self, model):
        self._vocab_size = model.vocab_size
        self._tokenizer = llguidance.LLTokenizer(model.tokenizer.to_str(), n_vocab=model.vocab_size,
                                                 eos_token=(model.stops[:1] or [None])[0])
        closing = [token for text in _CLOSING if (token := model.tokenizer.token_to_id(text)) is not None]
        self._ends = [self._words(each) for each in (model.stops, *([token] for token in closing))]

    def masks(self, grammar, limit):
        """A function that makes a Mask, for each answer of at most `limit` tokens; None: of any number. Near the limit
        what can end ends. Raises RequestError."""
        matcher = llguidance.LLMatcher(self._tokenizer, grammar)
        if matcher.is_error():
            raise _bad(matcher.get_error())
        hurry = None if limit is None else limit - min(_LAST_TOKENS, limit // 4)
        return lambda: Mask(matcher.deep_copy(), hurry, self._ends)

    def _words(self, tokens):
        """As masks have them."""
        words = numpy.zeros((self._vocab_size + 31) // 32, numpy.uint32)
        for token in tokens:
            words[token // 32] |= numpy.uint32(1 << token % 32)
        return words


class Mask:
    """Arguments of kvmlir.Server.add() for one answer. From `hurry` tokens on, None: never, what can end ends by a
    token of the first of `ends` that may come. refusal: a RequestError, once the grammar has turned out to be of no
    use."""

    def __init__(self, matcher, hurry, ends):
        self._matcher, self._hurry, self._ends = matcher, hurry, ends
        self._seen = 0  # tokens of the answer
        self.refusal = None

    def allow(self, answer, allowed):
        matcher = self._follow(answer)
        llguidance.numpy.fill_next_token_bitmask(matcher, allowed.view(numpy.int32).reshape(1, -1))
        if matcher.is_error():
            self.refusal = _bad(f"after {len(answer)} tokens none may come, or it is too complex: "
                                f"{matcher.get_error()}")
            raise self.refusal
        if self._hurry is not None and len(answer) >= self._hurry:
            for words in self._ends:
                if (allowed & words).any():
                    allowed &= words
                    return

    def drafts(self, answer):
        """Tokens of the text that must follow, such as a property's name. Other tokens may spell the same text, and
        the step that verifies these sees which the model takes."""
        return self._follow(answer).compute_ff_tokens()

    def _follow(self, answer):
        for token in answer[self._seen:]:
            self._matcher.consume_token(int(token))
        self._seen = len(answer)
        return self._matcher
