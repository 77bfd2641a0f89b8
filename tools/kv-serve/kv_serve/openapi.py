"""The interface's description, made from the bodies' models."""

from pydantic.json_schema import models_json_schema

from .bodies import ChatRequest, CompletionRequest

_PREFIX = "#/components/schemas/"
_ERROR = {"type": "object", "required": ["error"], "properties": {"error": {
    "type": "object", "required": ["message", "type", "param", "code"], "properties": {
        "message": {"type": "string", "description": "one sentence: what was given, and what is allowed"},
        "type": {"type": "string"}, "param": {"type": ["string", "null"]}, "code": {"type": ["string", "null"]}}}}}


def describe(version, has_keys):
    """A dict: OpenAPI 3.1."""
    _, schemas = models_json_schema([(kind, "validation") for kind in (ChatRequest, CompletionRequest)],
                                    ref_template=_PREFIX + "{model}")
    found = {
        "openapi": "3.1.0", "info": {"title": "kv-serve", "version": version},
        "paths": {
            "/v1/chat/completions": {"post": _generates("Continues a chat.", ChatRequest)},
            "/v1/completions": {"post": _generates("Continues texts or token ids.", CompletionRequest)},
            "/v1/responses": {"post": _answers("Continues a chat, in the form of OpenAI's Responses.")},
            "/v1/embeddings": {"post": _answers("Refused: an artifact gives no hidden states.")},
            "/v1/models": {"get": _answers("The model.")},
            "/v1/models/{name}": {"get": {**_answers("The model of this name."), "parameters": [
                {"name": "name", "in": "path", "required": True, "schema": {"type": "string"}}]}},
            "/": {"get": _answers("A page to try the model.", "text/html")},
            "/health": {"get": _answers("200; 503 when the engine has failed.", None)},
            "/metrics": {"get": _answers("Figures for Prometheus.", "text/plain")},
            "/reset_prefix_cache": {"post": _answers("Forgets all cached prefixes.", None)},
        },
        "components": {"schemas": {**schemas["$defs"], "Error": _ERROR}}}
    if has_keys:
        found["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
        found["security"] = [{"key": []}]
    return found


def _generates(summary, kind):
    """Of a stream each event is an object, and the last one is [DONE]."""
    any_object = {"schema": {"type": "object"}}
    return {**_answers(summary), "requestBody": {"required": True, "content": {
        "application/json": {"schema": {"$ref": _PREFIX + kind.__name__}}}},
        "responses": _responses({"application/json": any_object, "text/event-stream": any_object})}


def _answers(summary, media="application/json"):
    return {"summary": summary, "responses": _responses({media: {}} if media else None)}


def _responses(content):
    return {"200": {"description": "done", **({"content": content} if content else {})},
            "default": {"description": "an error", "content": {"application/json": {
                "schema": {"$ref": _PREFIX + "Error"}}}}}
