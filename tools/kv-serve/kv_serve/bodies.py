"""The bodies of requests. A field's constraint, the words that name it in a sentence, and /openapi.json come from
its one line here."""

import dataclasses
import json
import os
from typing import Annotated, Any, Literal, Optional, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, FailFast, Field, PlainValidator, StrictBool, StrictStr, \
    ValidationError, WithJsonSchema

from .errors import RequestError, bad_field, cut

UNKNOWN_FIELDS = "KV_SERVE_UNKNOWN_FIELDS"
MOST_PROMPTS, MOST_STOPS, MOST_STOP_LENGTH, MOST_STOP_TOKENS = 128, 16, 256, 256
MOST_ANSWERS, MOST_LOGPROBS, MOST_BIASES, MOST_CHOICES = 32, 20, 1024, 1024


@dataclasses.dataclass(frozen=True)
class Allowed:
    """What a sentence says after "allowed:". each: of the field's items. kind: the model of the field or its items."""

    words: str
    each: str = None
    kind: type = None


def _whole(value):
    """JSON has one kind of numbers: 1.0 is an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _integer(least, most=None, **more):
    words = f"an integer, {least} or more" if most is None else f"an integer from {least} to {most}"
    return Annotated[Optional[Annotated[int, Field(strict=True, ge=least, le=most)]], BeforeValidator(_whole),
                     Allowed(words), Field(**more)]


def _number(words, **bounds):
    return Annotated[Optional[Annotated[float, Field(strict=True, **bounds)]], Allowed(f"a number {words}")]


def _only(*values):
    """A field that is known elsewhere, and allowed as far as it asks for nothing."""
    def check(value, info):
        # True == 1 in Python.
        if value is not None and not any(value == one and isinstance(value, bool) == isinstance(one, bool)
                                         for one in values):
            allowed = " or ".join(map(json.dumps, values)) or "null"
            raise bad_field(info.field_name, value, f"{allowed}; kv-serve has nothing else")
        return value
    return Annotated[Any, PlainValidator(check), WithJsonSchema({"enum": [*values, None]})]


_Text = Annotated[Optional[StrictStr], Allowed("a string")]
_Flag = Annotated[Optional[StrictBool], Allowed("true or false")]
_STOP = {"type": "string", "minLength": 1, "maxLength": MOST_STOP_LENGTH}
_TOKENS = {"type": "array", "items": {"type": "integer", "minimum": 0, "maximum": 2**31 - 1}}
_SOME_TOKENS = {**_TOKENS, "minItems": 1}


def is_token(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**31


def _tokens(given):
    """A list of token ids; None if it is something else."""
    if not isinstance(given, list):
        return None
    if all(map(is_token, given)):
        return given
    given = list(map(_whole, given))
    return given if all(map(is_token, given)) else None


def _read_stop_tokens(given):
    tokens = [] if given is None else _tokens(given)
    if tokens is None or len(tokens) > MOST_STOP_TOKENS:
        raise bad_field("stop_token_ids", given, f"a list of token ids, at most {MOST_STOP_TOKENS}")
    return tokens


def _read_tokens(given):
    if (tokens := _tokens(given)) is None:
        raise bad_field("tokens", given, "a list of token ids")
    return tokens


def _read_stops(given):
    stops = [] if given is None else [given] if isinstance(given, str) else given
    if (not isinstance(stops, list) or len(stops) > MOST_STOPS
            or not all(isinstance(one, str) and 0 < len(one) <= MOST_STOP_LENGTH for one in stops)):
        raise bad_field("stop", given, f"a string, or at most {MOST_STOPS}, none of them empty or of more than "
                                       f"{MOST_STOP_LENGTH} characters")
    return stops


_PROMPTS = "a string, a list of token ids, or a list of either"


def _read_prompts(given, info):
    """A list of texts and lists of token ids."""
    if isinstance(given, str):
        return [given]
    if isinstance(given, list) and given:
        if tokens := _tokens(given):
            return [tokens]
        if len(given) > MOST_PROMPTS:
            raise RequestError(400, f"{len(given)} prompts, allowed: at most {MOST_PROMPTS}", info.field_name)
        if all(isinstance(one, str) for one in given):
            return given
        if all(prompts := list(map(_tokens, given))):
            return prompts
    raise bad_field(info.field_name, given, _PROMPTS)


_Prompts = Annotated[Any, PlainValidator(_read_prompts), Allowed(_PROMPTS), WithJsonSchema(
    {"anyOf": [{"type": "string"}, _SOME_TOKENS, *(
        {"type": "array", "items": items, "minItems": 1, "maxItems": MOST_PROMPTS}
        for items in ({"type": "string"}, _SOME_TOKENS))]})]


def _read_salt(given):
    if given is not None and (not isinstance(given, str) or not given or "\0" in given):
        raise bad_field("cache_salt", given, "a string that is not empty, without NUL")
    return given


def _read_biases(given):
    """By token ids, which are texts in JSON."""
    allowed = f"an object of at most {MOST_BIASES} numbers from -100 to 100, by token ids"
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MOST_BIASES:
        raise bad_field("logit_bias", given, allowed)
    for token, value in given.items():
        if not token.isascii() or not token.isdigit() or not is_token(int(token[:11])) \
                or isinstance(value, bool) or not isinstance(value, (int, float)) or not -100 <= value <= 100:
            raise bad_field("logit_bias", given, allowed)
    return given


def _read_logprobs(given):
    """Of a chat a flag, of a completion a number."""
    count = _whole(given)
    if given is None or isinstance(given, bool) or isinstance(count, int) and 0 <= count <= MOST_LOGPROBS:
        return count
    raise bad_field("logprobs", given, f"true or false; of a completion an integer from 0 to {MOST_LOGPROBS}")


def _read_content(given):
    """A text, or parts that are texts."""
    if isinstance(given, list) and all(isinstance(part, dict) and part.get("type") == "text"
                                       and isinstance(part.get("text"), str) for part in given):
        return "".join(part["text"] for part in given)
    return given


_TextPart = {"type": "object", "required": ["type", "text"],
             "properties": {"type": {"const": "text"}, "text": {"type": "string"}}}


class CalledFunction(BaseModel):
    model_config = ConfigDict(extra="allow")

    name: Annotated[StrictStr, Allowed("a string")]
    arguments: Annotated[StrictStr, Allowed("a string, JSON")] = "{}"


class ToolCall(BaseModel):
    model_config = ConfigDict(extra="allow")

    function: Annotated[CalledFunction, Allowed("an object with a name", kind=CalledFunction)]


class Message(BaseModel):
    """Further fields are the template's."""

    model_config = ConfigDict(extra="allow")

    role: Annotated[StrictStr, Allowed("a string")]
    content: Annotated[Optional[StrictStr], BeforeValidator(_read_content),
                       Allowed('a string, or a list of {"type": "text", "text": ...}'),
                       WithJsonSchema({"anyOf": [{"type": ["string", "null"]},
                                                 {"type": "array", "items": _TextPart}]})] = None
    tool_calls: Annotated[Optional[list[ToolCall]], FailFast(), Allowed(
        "a list of calls", 'an object with "function"', ToolCall)] = None
    audio: _only() = None


class Function(BaseModel):
    model_config = ConfigDict(extra="ignore")

    name: Annotated[StrictStr, Field(min_length=1, max_length=256), Allowed("a string of 1 to 256 characters")]
    description: _Text = None
    parameters: Annotated[Optional[dict], Allowed("an object, a JSON schema")] = None


class Tool(BaseModel):
    model_config = ConfigDict(extra="ignore")

    type: Annotated[Literal["function"], Allowed('"function"')]
    function: Annotated[Function, Allowed("an object with a name", kind=Function)]


class StructuredOutputs(BaseModel):
    """One of them: what the answer's text is."""

    model_config = ConfigDict(extra="forbid")

    # A schema as it is, or its text.
    json_schema: Annotated[Optional[Union[dict, StrictBool]], Allowed("a JSON schema")] = Field(None, alias="json")
    regex: _Text = None
    choice: Annotated[Optional[list[StrictStr]], Field(min_length=1, max_length=MOST_CHOICES),
                      Allowed(f"a list of 1 to {MOST_CHOICES} strings", "a string")] = None
    grammar: _Text = Field(None, description="in Lark's syntax, as llguidance has it")


class StreamOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    include_usage: _Flag = None
    continuous_usage_stats: _Flag = Field(None, description="with include_usage: in each chunk")
    include_obfuscation: _Flag = Field(None, description="of no use where all is plain text")


class _Named(BaseModel):
    """What all kinds of requests have. null is as if the field were not there."""

    model_config = ConfigDict(extra="forbid", protected_namespaces=())

    model: _Text = Field(None, description="the model's name, if it is given")


class _Request(_Named):
    """What is computed."""

    cache_salt: Annotated[Any, PlainValidator(_read_salt), WithJsonSchema({"type": ["string", "null"], "minLength": 1}),
                          Field(description="cached prefixes are shared by requests of an equal salt only")] = None
    priority: _integer(-2**31, 2**31 - 1, description="of requests that wait the smallest number begins first; "
                                                      "default: 0") = None
    user: Any = Field(None, description="changes no answer")


class EmbeddingRequest(_Request):
    input: _Prompts
    encoding_format: Annotated[Optional[Literal["float", "base64"]], Allowed('"float" or "base64"')] = None
    pooling: Annotated[Optional[Literal["last", "mean"]], Allowed('"last" or "mean"'), Field(
        description="the last hidden state, or the mean of all, which computes the whole text; default: last")] = None
    normalize: _Flag = Field(None, description="to the length 1; default: true")
    dimensions: _only() = None


class ScoreRequest(_Request):
    """How alike texts are: the cosine of their embeddings. Pairs, or one text and others."""

    text_1: _Prompts
    text_2: _Prompts


class TokenizeRequest(_Named):
    """A text, or a chat."""

    prompt: _Text = None
    messages: Annotated[Optional[list[dict]], Allowed("a list of messages", "an object"), Field(
        description="instead of a prompt; as a chat has them, and so are the four fields that follow")] = None
    tools: Any = None
    add_generation_prompt: Any = None
    continue_final_message: Any = None
    chat_template_kwargs: Any = None
    add_special_tokens: _Flag = Field(None, description="of a prompt; default: true")
    return_token_strs: _Flag = None


class DetokenizeRequest(_Named):
    tokens: Annotated[Any, PlainValidator(_read_tokens), Allowed("a list of token ids"), WithJsonSchema(_TOKENS)]


class _Body(_Request):
    """What has answers."""

    max_tokens: _integer(0, description="more than the model takes is as much as it takes; 0: the prompt alone") = None
    min_tokens: _integer(0, 2**31 - 1, description="the answer does not end by itself before") = None
    temperature: _number("from 0 to 2", ge=0, le=2) = None
    top_p: _number("above 0, at most 1", gt=0, le=1) = None
    top_k: _integer(-1, description="0 and -1: all") = None
    min_p: _number("from 0 to 1", ge=0, le=1) = None
    seed: _integer(-2**63, 2**64 - 1, description="the same seed draws the same tokens") = None
    stop_token_ids: Annotated[Any, PlainValidator(_read_stop_tokens),
                              WithJsonSchema({**_TOKENS, "maxItems": MOST_STOP_TOKENS})] = Field(default_factory=list)
    ignore_eos: _Flag = None
    stop: Annotated[Any, PlainValidator(_read_stops), WithJsonSchema(
        {"anyOf": [_STOP, {"type": "array", "items": _STOP, "maxItems": MOST_STOPS}]})] = Field(default_factory=list)
    stream: _Flag = None
    stream_options: Annotated[Optional[StreamOptions], Allowed("an object", kind=StreamOptions),
                              Field(description="with stream true")] = None

    # These say who asks, or what is done with the answer elsewhere: they change no answer.
    metadata: Any = None
    store: Any = None
    service_tier: Any = None
    safety_identifier: Any = None
    prompt_cache_key: Any = None

    n: _integer(1, MOST_ANSWERS, description="answers to each prompt, which share its pages") = None
    presence_penalty: _number("from -2 to 2", ge=-2, le=2) = None
    frequency_penalty: _number("from -2 to 2", ge=-2, le=2) = None
    repetition_penalty: _number("above 0, at most 10", gt=0, le=10) = None
    logit_bias: Annotated[Any, PlainValidator(_read_biases), WithJsonSchema(
        {"type": "object", "maxProperties": MOST_BIASES, "propertyNames": {"pattern": "^[0-9]{1,9}$"},
         "additionalProperties": {"type": "number", "minimum": -100, "maximum": 100}})] = Field(default_factory=dict)
    logprobs: Annotated[Any, PlainValidator(_read_logprobs), WithJsonSchema(
        {"anyOf": [{"type": "boolean"}, {"type": "integer", "minimum": 0, "maximum": MOST_LOGPROBS}]})] = None
    prompt_logprobs: _integer(0, MOST_LOGPROBS) = None
    structured_outputs: Annotated[Optional[StructuredOutputs], Allowed("an object", kind=StructuredOutputs)] = None
    explain: _Flag = Field(None, description="usage says of each page of the prompt whether it was cached, and why "
                                             "not")
    modalities: _only(["text"]) = None


class ChatRequest(_Body):
    messages: Annotated[list[Message], FailFast(), Field(min_length=1), Allowed(
        "a list of at least one message", "an object with role and content", Message)]
    max_completion_tokens: _integer(1, description="goes before max_tokens") = None
    top_logprobs: _integer(0, MOST_LOGPROBS, description="with logprobs true") = None
    tools: Annotated[Optional[list[Tool]], FailFast(), Field(max_length=128), Allowed(
        "a list of at most 128 tools", "an object with type and function", Tool)] = None
    tool_choice: Any = Field(None, description='"none", "auto", "required", or {"type": "function", "function": '
                                               '{"name": ...}}')
    parallel_tool_calls: _Flag = None
    response_format: Annotated[Optional[dict], Allowed("an object with a type")] = None
    chat_template_kwargs: Annotated[Optional[dict], Allowed("an object: variables of the chat template")] = None
    reasoning_effort: _Text = Field(None, description="a variable of the chat template")
    add_generation_prompt: _Flag = None
    continue_final_message: _Flag = Field(None, description="the answer goes on where the last message ends; with "
                                                            "add_generation_prompt false")
    functions: _only([]) = None


class CompletionRequest(_Body):
    best_of: _integer(1, MOST_ANSWERS, description="of so many answers the n most likely ones, by token; not "
                                                    "streamed") = None
    echo: _Flag = Field(None, description="the prompt's text goes before the answer's")
    suffix: _only("") = None
    prompt: _Prompts


def read(kind, body):
    """The object of this class, and the names of fields that are not known, if those are ignored. Raises
    RequestError."""
    ignored = [name for name in body if name not in kind.model_fields]
    if ignored and not ignores_unknown():
        _check_names(kind, body)
    given = {name: value for name, value in body.items() if value is not None and name not in ignored}
    if isinstance(options := given.get("stream_options"), dict):
        _check_names(StreamOptions, options)
    try:
        asked = kind.model_validate(given)
    except ValidationError as error:
        raise _refusal(kind, error.errors(include_url=False, include_context=False)[0])
    if isinstance(asked, _Body) and asked.stream_options is not None and not asked.stream:
        raise RequestError(400, "stream_options is given, allowed: with stream true", "stream_options")
    return asked, ignored


def ignores_unknown():
    """Whether fields that are not known are passed over: for clients that send what other servers have."""
    return os.environ.get(UNKNOWN_FIELDS) == "ignore"


def _check_names(kind, body):
    for name in body:
        if name not in kind.model_fields:
            raise RequestError(400, f"{cut(name)} is no field that kv-serve knows", cut(name))


def _refusal(kind, error):
    """The sentence of an error as pydantic has it: the place, and the value that was there."""
    name, words = "", "an object"
    for part in error["loc"]:
        if isinstance(part, int):
            name, words = f"{name}[{part}]", rule.each
            continue
        field = next((field for known, field in (kind.model_fields if kind else {}).items()
                      if part in (known, field.alias)), None)
        if field is None:  # pydantic's name of a kind of value
            break
        rule = next(one for one in field.metadata if isinstance(one, Allowed))
        name, words, kind = f"{name}.{part}" if name else part, rule.words, rule.kind
    value = None if error["type"] == "missing" else error["input"]
    return bad_field(name, value, words)
