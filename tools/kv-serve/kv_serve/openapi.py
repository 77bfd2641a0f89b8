"""The interface's description, made from the bodies' models."""

import html
import json

from pydantic.json_schema import models_json_schema

from .bodies import ChatRequest, CompletionRequest, DetokenizeRequest, EmbeddingRequest, ScoreRequest, TokenizeRequest
from .responses import SAME

_PREFIX = "#/components/schemas/"
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {
    "type": "object", "required": ["message", "type", "param", "code"], "properties": {
        "message": {"type": "string", "description": "one sentence: what was given, and what is allowed"},
        "type": {"type": "string"}, "param": {"type": ["string", "null"]}, "code": {"type": ["string", "null"]}}}}}


def describe(version, has_keys):
    """A dict: OpenAPI 3.1."""
    kinds = (ChatRequest, CompletionRequest, EmbeddingRequest, ScoreRequest, TokenizeRequest, DetokenizeRequest)
    _, schemas = models_json_schema([(kind, "validation") for kind in kinds], ref_template=_PREFIX + "{model}")
    schemas["$defs"]["ResponseRequest"] = _response_request(schemas["$defs"]["ChatRequest"]["properties"])
    found = {
        "openapi": "3.1.0", "info": {"title": "kv-serve", "version": version},
        "paths": {
            "/v1/chat/completions": {"post": _generates("Continues a chat.", "ChatRequest")},
            "/v1/completions": {"post": _generates("Continues texts or token ids.", "CompletionRequest")},
            "/v1/responses": {"post": _generates("Continues a chat, in the form of OpenAI's Responses.",
                                                "ResponseRequest")},
            "/v1/responses/{name}": {"get": _of_name("A stored response."),
                                     "delete": _of_name("Forgets a stored response.")},
            "/v1/embeddings": {"post": _generates("Embeddings of texts or token ids.", "EmbeddingRequest",
                                                 streams=False)},
            "/v1/score": {"post": _generates("How alike texts are.", "ScoreRequest", streams=False)},
            "/tokenize": {"post": _generates("The token ids of a text or a chat.", "TokenizeRequest", streams=False)},
            "/detokenize": {"post": _generates("The text of token ids.", "DetokenizeRequest", streams=False)},
            "/v1/models": {"get": _answers("The model.")},
            "/v1/models/{name}": {"get": _of_name("The model of this name.")},
            "/": {"get": _answers("A page to try the model.", "text/html")},
            "/docs": {"get": _answers("What is described here, as a page.", "text/html")},
            "/version": {"get": _answers("The server's version.")},
            "/health": {"get": _answers("200; 503 when the engine has failed.", None)},
            "/metrics": {"get": _answers("Figures for Prometheus.", "text/plain")},
            "/reset_prefix_cache": {"post": _answers("Forgets all cached prefixes.", None)},
        },
        "components": {"schemas": {**schemas["$defs"], "Error": _ERROR}}}
    if has_keys:
        found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"key": []}]
    return found


def _response_request(of_chat):
    """Of fields that a chat has, too: as it has them."""
    text, item = {"type": ["string", "null"]}, {"type": "object", "required": ["role", "content"], "properties": {
        "role": {"type": "string"}, "content": {"type": "string"}}}
    own = {"input": {"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1, "items": item}]},
           "instructions": text, "max_output_tokens": of_chat["max_completion_tokens"],
           "previous_response_id": {**text, "description": "of a stored response, which this one follows"},
           "store": {"type": ["boolean", "null"], "description": "default: true"},
           "metadata": {"type": ["object", "null"], "description": "is in the response"},
           "text": {"type": ["object", "null"]}, "reasoning": {"type": ["object", "null"]},
           "tools": {"type": ["array", "null"], "items": {"type": "object"}}, "tool_choice": {}}
    return {"type": "object", "required": ["input"], "additionalProperties": False,
            "properties": {**{name: of_chat[name] for name in SAME if name in of_chat}, **own}}


def _generates(summary, kind, streams=True):
    """Of a stream each event is an object, and the last one is [DONE]."""
    any_object = {"schema": {"type": "object"}}
    return {**_answers(summary), "requestBody": {"required": True, "content": {
        "application/json": {"schema": {"$ref": _PREFIX + kind}}}},
        "responses": _responses(dict.fromkeys(["application/json", *["text/event-stream"] * streams], any_object))}


def _of_name(summary):
    return {**_answers(summary), "parameters": [
        {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}]}


def _answers(summary, media="application/json"):
    return {"summary": summary, "responses": _responses({media: {}} if media else None)}


def _responses(content):
    return {"200": {"description": "done", **({"content": content} if content else {})},
            "default": {"description": "an error", "content": {"application/json": {
                "schema": {"$ref": _PREFIX + "Error"}}}}}


def make_page(described):
    """What is described, as HTML without scripts."""
    schemas = described["components"]["schemas"]
    parts = [f"<h1>kv-serve {html.escape(described['info']['version'])}</h1><p>In a form for programs: "
             "<a href='openapi.json'>openapi.json</a>"]
    for path, methods in described["paths"].items():
        for method, one in methods.items():
            parts.append(f"<h2>{method.upper()} {path}</h2><p>{html.escape(one['summary'])}")
            body = one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            if body:
                parts.append(_table(schemas[body["$ref"].removeprefix(_PREFIX)]))
    return f"<!doctype html><html lang='en'><meta charset='utf-8'><title>kv-serve</title>{''.join(parts)}</html>"


def _table(schema):
    needed, rows = schema.get("required", ()), []
    for name, field in schema["properties"].items():
        kind = {key: value for key, value in field.items() if key not in ("title", "description", "default")}
        cells = (name, "needed" if name in needed else "", field.get("description", ""), json.dumps(kind))
        rows.append("".join(f"<td>{html.escape(cell)}" for cell in cells))
    return f"<table border='1'><tr>{'<tr>'.join(rows)}</table>"
