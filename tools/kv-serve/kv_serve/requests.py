"""Bodies of chat and completion requests to what the engine is asked."""

import dataclasses
import json
import secrets
from typing import Optional

from . import bodies, grammars
from .errors import RequestError, bad_field
from .json_body import parse


@dataclasses.dataclass
class Asked:
    """sampling: arguments of kvmlir.Server.add. prompts: texts, token ids, or a chat's messages; once they are
    encoded, arrays of token ids. template: variables of the chat template. n, best_of: answers to each prompt that
    are given, of those that are made. echoes: the prompts' texts, once they are encoded. shows_prompt: its log
    probabilities. grammar: of answers, as grammars.py has it. calls: how tools may be called, as _read_choice() has it.
    reasons: of a chat, whether the prompt's end is the mark of reasoning; None: the answer is text, whatever it has.
    normalizes, in_base64: of embeddings. pairs: of what is compared, places among the prompts.
    special_tokens: are added to a text, or are part of one. shows_tokens: as texts. ignored: names of fields that nothing knows.
    priority, explains: engine.Ticket's. follows, metadata, keeps: of a response, the id of another one, what it shows,
    and whether it is stored."""

    prompts: list
    sampling: dict
    stops: list = dataclasses.field(default_factory=list)
    stream: bool = False
    include_usage: bool = False
    continuous_usage: bool = False
    n: int = 1
    best_of: int = 1
    echo: bool = False
    echoes: list = dataclasses.field(default_factory=list)
    has_answer: bool = True
    shows_prompt: bool = False
    template: dict = dataclasses.field(default_factory=dict)
    grammar: Optional[str] = None
    calls: Optional[str] = None
    reasons: Optional[bool] = None
    normalizes: bool = True
    in_base64: bool = False
    pairs: list = dataclasses.field(default_factory=list)
    special_tokens: Optional[bool] = None
    shows_tokens: bool = False
    ignored: list = dataclasses.field(default_factory=list)
    priority: int = 0
    explains: bool = False
    follows: Optional[str] = None
    metadata: dict = dataclasses.field(default_factory=dict)
    keeps: bool = False


def read_chat(data, model):
    return chat_of(parse(data), model)


def chat_of(body, model):
    asked, ignored = bodies.read(bodies.ChatRequest, body)
    messages = [_message(f"messages[{i}]", given, message)
                for i, (given, message) in enumerate(zip(body["messages"], asked.messages))]
    limit = asked.max_completion_tokens
    if asked.logprobs is not None and not isinstance(asked.logprobs, bool):
        raise bad_field("logprobs", asked.logprobs, "true or false")
    if asked.top_logprobs and not asked.logprobs:
        raise RequestError(400, "top_logprobs is given, allowed: with logprobs true", "top_logprobs")
    found = _finish(asked, model, [messages], limit if limit is not None else asked.max_tokens)
    found.sampling["logprobs"] = (asked.top_logprobs or 0) if asked.logprobs else None
    found.template = _template(asked)
    found.ignored = ignored
    tools = [tool.function for tool in asked.tools or []]
    choice = _read_choice(asked.tool_choice, tools)
    if choice != "none":
        found.template["tools"] = body["tools"]
        found.calls = choice
    _set_grammar(found, asked, model, grammars.of_response_format(asked.response_format),
                 _form_of_calls(choice, tools, asked.parallel_tool_calls is not False))
    return found


def read_completion(data, model):
    asked, ignored = bodies.read(bodies.CompletionRequest, parse(data))
    # OpenAI's default for completions.
    found = _finish(asked, model, asked.prompt, 16 if asked.max_tokens is None else asked.max_tokens)
    count = asked.logprobs
    found.sampling["logprobs"] = None if count is None or count is False else int(count)
    found.best_of = found.n if asked.best_of is None else asked.best_of
    if found.best_of < found.n:
        raise bad_field("best_of", asked.best_of, f"n, which is {found.n}, or more")
    if found.best_of > found.n:
        if found.stream:
            raise RequestError(400, "best_of is given with stream, allowed: one of them", "best_of")
        if found.sampling["logprobs"] is None:
            found.sampling["logprobs"] = 0
    found.echo = bool(asked.echo)
    if found.echo and found.sampling["logprobs"] is not None:
        found.sampling["prompt_logprobs"] = found.sampling["logprobs"]
        if asked.max_tokens == 1:  # of what clients see as the last token, whatever it is
            found.sampling["stop_tokens"] = []
    found.ignored = ignored
    _set_grammar(found, asked, model)
    return found


def read_embeddings(data, model):
    asked, ignored = bodies.read(bodies.EmbeddingRequest, parse(data))
    return _embed(asked, model, asked.input, asked.pooling or "last", normalizes=asked.normalize is not False,
                  in_base64=asked.encoding_format == "base64", ignored=ignored)


def read_score(data, model):
    asked, ignored = bodies.read(bodies.ScoreRequest, parse(data))
    first, second = len(asked.text_1), len(asked.text_2)
    if first not in (1, second):
        raise RequestError(400, f"text_1 has {first} texts and text_2 {second}, allowed: one, or as many", "text_1")
    return _embed(asked, model, asked.text_1 + asked.text_2, "last", ignored=ignored,
                  pairs=[(i if first > 1 else 0, first + i) for i in range(second)])


def _embed(asked, model, prompts, pooling, **more):
    _check_model(asked, model)
    sampling = {"embedding": pooling, "salt": asked.cache_salt, "max_new_tokens": 1, "seed": 0, "logit_bias": {}}
    return Asked(prompts, sampling, has_answer=False, priority=asked.priority or 0, **more)


def read_tokenize(data, model):
    body = parse(data)
    asked, ignored = bodies.read(bodies.TokenizeRequest, body)
    if (asked.prompt is None) == (asked.messages is None):
        raise RequestError(400, "prompt and messages are both given or both missing, allowed: one of them", "prompt")
    if asked.prompt is None:
        found = chat_of({name: value for name, value in body.items() if name in bodies.ChatRequest.model_fields}, model)
    else:
        _check_model(asked, model)
        found = Asked([asked.prompt], {}, special_tokens=asked.add_special_tokens)
    found.shows_tokens, found.ignored = bool(asked.return_token_strs), ignored
    return found


def read_detokenize(data, model):
    asked, ignored = bodies.read(bodies.DetokenizeRequest, parse(data))
    _check_model(asked, model)
    for i, token in enumerate(asked.tokens):
        if model.tokenizer.id_to_token(token) is None:
            raise bad_field(f"tokens[{i}]", token, "a token of the model")
    return Asked([asked.tokens], {}, echo=True, special_tokens=True, ignored=ignored)


def _check_model(asked, model):
    if asked.model is not None:
        model.check_name(asked.model)


def _message(place, given, message):
    """As templates take it: arguments of calls are objects."""
    result = {**given, "content": message.content}
    if message.tool_calls:
        result["tool_calls"] = [{**call, "function": {**call["function"], "arguments": _arguments(place, call)}}
                                for call in given["tool_calls"]]
    elif message.content is None and message.role != "assistant":
        raise bad_field(f"{place}.content", None, 'a string, or a list of {"type": "text", "text": ...}')
    # Templates add texts to texts.
    return {**result, "content": message.content or ""}


def _arguments(place, call):
    text = call["function"].get("arguments") or "{}"
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise bad_field(f"{place}.tool_calls.function.arguments", text, "JSON")


def _read_choice(given, tools):
    """Of tools: "none", "auto", "required", or a function's name after "="."""
    if not tools:
        if given not in (None, "none", "auto"):
            raise RequestError(400, "tool_choice is given, allowed: with tools", "tool_choice")
        return "none"
    if given is None:
        return "auto"
    if given in ("none", "auto", "required"):
        return given
    name = given.get("function", {}).get("name") if isinstance(given, dict) and isinstance(
        given.get("function"), dict) else None
    if name not in [tool.name for tool in tools]:
        raise bad_field("tool_choice", given, '"none", "auto", "required", or {"type": "function", "function": '
                                              '{"name": ...}} with the name of a tool')
    return f"={name}"


def _form_of_calls(choice, tools, parallel):
    """The form of an answer that must be calls, or None. It is a list of them, whatever the model has learned."""
    if choice in ("none", "auto"):
        return None
    calls = [{"type": "object", "required": ["name", "arguments"], "additionalProperties": False,
              "properties": {"name": {"const": tool.name}, "arguments": tool.parameters or {"type": "object"}}}
             for tool in tools if choice in ("required", f"={tool.name}")]
    single = not parallel or choice != "required"
    return grammars.of_schema({"type": "array", "items": {"anyOf": calls}, "minItems": 1,
                                **({"maxItems": 1} if single else {"maxItems": 16})})


def _template(asked):
    continues = bool(asked.continue_final_message)
    if continues and asked.add_generation_prompt is not False:
        raise RequestError(400, "continue_final_message is given, allowed: with add_generation_prompt false",
                           "continue_final_message")
    variables = dict(asked.chat_template_kwargs or {})
    for name in ("messages", "tools", "documents", "add_generation_prompt"):
        if name in variables:
            raise RequestError(400, f"chat_template_kwargs has {name}, which has a field of its own",
                               "chat_template_kwargs")
    if asked.reasoning_effort is not None:
        variables["reasoning_effort"] = asked.reasoning_effort
    return {**variables, "add_generation_prompt": asked.add_generation_prompt is not False,
            "continues": continues}


def _set_grammar(found, asked, model, *others):
    given = [one for one in (grammars.of_structured_outputs(asked.structured_outputs), *others) if one is not None]
    if len(given) > 1:
        raise RequestError(400, "the answer has more than one form, allowed: one of response_format, "
                                "structured_outputs and a tool_choice that forces a call")
    if given:
        found.grammar = grammars.check(given[0])
        found.sampling["stop_tokens"] = [*model.stops, *asked.stop_token_ids]  # nothing follows the form's end


def _finish(asked, model, prompts, limit):
    _check_model(asked, model)

    def choose(name, default):
        value = getattr(asked, name)
        return model.sampling.get(name, default) if value is None else value

    sampling = {
        # More than the model takes is as much as it takes. Without an answer the prompt still gives one token.
        "max_new_tokens": None if limit is None else max(min(limit, model.max_tokens), 1),
        "temperature": float(choose("temperature", 1.0)), "top_p": float(choose("top_p", 1.0)),
        "top_k": min(max(choose("top_k", 0), 0), 2**31 - 1), "min_p": float(choose("min_p", 0.0)),
        # Without a seed no two answers are the same draw.
        "seed": (secrets.randbits(63) if asked.seed is None else asked.seed) % 2**64,
        "salt": asked.cache_salt,
        "stop_tokens": asked.stop_token_ids if asked.ignore_eos else [*model.stops, *asked.stop_token_ids],
        "presence_penalty": float(asked.presence_penalty or 0), "frequency_penalty": float(asked.frequency_penalty or 0),
        "repetition_penalty": float(asked.repetition_penalty or 1), "logit_bias": asked.logit_bias,
        "min_new_tokens": asked.min_tokens or 0, "prompt_logprobs": asked.prompt_logprobs}
    count = asked.n or 1
    if count * len(prompts) > bodies.MOST_PROMPTS:
        raise RequestError(400, f"{count} answers to {len(prompts)} prompts, allowed: {bodies.MOST_PROMPTS} answers", "n")
    options = asked.stream_options
    return Asked(prompts, sampling, asked.stop, bool(asked.stream), bool(options and options.include_usage),
                 bool(options and options.include_usage and options.continuous_usage_stats),
                 n=count, best_of=count, has_answer=limit != 0,
                 shows_prompt=asked.prompt_logprobs is not None,
                 priority=asked.priority or 0, explains=bool(asked.explain))
