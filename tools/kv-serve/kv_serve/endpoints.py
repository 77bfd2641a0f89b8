"""The application: paths to what answers them."""

import asyncio
import contextlib
import functools
import http.client
import logging
import time
import urllib.parse

from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from .answer_forms import Chat, Completion, Embeddings, Scores
from .connection import Body, EventStream, refusal, unless_gone
from .errors import RequestError, cut
from .generation import Generation, Piece
from .grammars import Grammars
from .openapi import describe, make_page
from .page import answer_page
from .request_log import note_generation, note_refusal
from .responses import Responses

_GONE = 499  # nobody reads it
_MOST_NAMES = 256


def make_application(model, engine, texts, bodies, stored, metrics_url, description):
    """texts: TextPool. bodies: Bodies. stored: StoredResponses. description: arguments of openapi.describe()."""
    own = _Endpoints(model, engine, texts, bodies, stored, metrics_url)
    described = describe(*description)
    as_json, as_page = to_json(described), make_page(described)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        await texts.start()
        engine.start()
        yield
        await engine.stop()
        texts.stop()

    async def openapi(request):
        return Response(as_json, media_type="application/json")

    async def docs(request):
        return HTMLResponse(as_page, headers={"content-security-policy": "default-src 'none'"})

    async def version(request):
        return JSONResponse({"version": described["info"]["version"]})

    return Starlette(lifespan=lifespan, routes=[
        Route("/v1/chat/completions", own.chat, methods=["POST"]),
        Route("/v1/completions", own.completions, methods=["POST"]),
        Route("/v1/responses", own.responses, methods=["POST"]),
        Route("/v1/responses/{name}", own.stored_response, methods=["GET"]),
        Route("/v1/responses/{name}", own.delete_response, methods=["DELETE"]),
        Route("/v1/embeddings", own.embeddings, methods=["POST"]),
        Route("/v1/score", own.score, methods=["POST"]),
        Route("/tokenize", own.tokenize, methods=["POST"]),
        Route("/detokenize", own.detokenize, methods=["POST"]),
        Route("/v1/models", own.models),
        Route("/v1/models/{name:path}", own.model_of_name),
        Route("/", answer_page),
        Route("/health", own.health),
        Route("/metrics", own.metrics),
        Route("/openapi.json", openapi),
        Route("/docs", docs),
        Route("/version", version),
        Route("/reset_prefix_cache", own.reset_prefix_cache, methods=["POST"]),
    ], exception_handlers={RequestError: _refuse, HTTPException: _refuse_http, ClientDisconnect: _leave,
                           Exception: _fail})


class _Endpoints:
    def __init__(self, model, engine, texts, bodies, stored, metrics_url):
        self.model, self.engine, self.texts, self.bodies, self.stored = model, engine, texts, bodies, stored
        self.metrics_url = metrics_url and urllib.parse.urlsplit(metrics_url)
        self.grammars = Grammars(model)
        self.since = int(time.time())
        self._ignored = set()

    async def chat(self, request):
        return await self._generate(request, "chat", Chat)

    async def completions(self, request):
        return await self._generate(request, "text", Completion)

    async def responses(self, request):
        return await self._generate(request, "response", Responses)

    async def stored_response(self, request):
        answer = self.stored.get(_tenant_of(request), request.path_params["name"])
        return Response(answer, media_type="application/json")

    async def delete_response(self, request):
        name = request.path_params["name"]
        self.stored.delete(_tenant_of(request), name)
        return JSONResponse({"id": name, "object": "response", "deleted": True})

    async def embeddings(self, request):
        return await self._generate(request, "embeddings", Embeddings)

    async def score(self, request):
        return await self._generate(request, "score", Scores)

    async def tokenize(self, request):
        return await self._respond(request, self._tokenize)

    async def _tokenize(self, body):
        asked = await self._read("tokenize", body.pieces)
        tokens = asked.prompts[0].tolist()
        return JSONResponse({"count": len(tokens), "max_model_len": self.model.max_tokens, "tokens": tokens,
                             "token_strs": [self.model.tokenizer.id_to_token(token) for token in tokens]
                             if asked.shows_tokens else None})

    async def detokenize(self, request):
        return await self._respond(request, self._detokenize)

    async def _detokenize(self, body):
        return JSONResponse({"prompt": (await self._read("detokenize", body.pieces)).echoes[0]})

    async def _respond(self, request, work):
        """What work(body) returns, unless the client goes first."""
        async with Body(self.bodies, request) as body:
            return await unless_gone(request.receive, work(body)) or Response(status_code=_GONE)

    async def _read(self, kind, pieces):
        asked = await self.texts.ask(kind, pieces)
        for name in asked.ignored:
            self._warn_of(name)
        return asked

    async def _generate(self, request, kind, form):
        tenant = _tenant_of(request)
        return await self._respond(request, lambda body: self._answer(kind, form, body, tenant))

    async def _answer(self, kind, form, body, tenant):
        """tenant: whose key was given; None: the salt says whose turn it is."""
        asked = await self._read(kind, body.pieces)
        if asked.follows is not None:
            before = self.stored.conversation(tenant, asked.follows)
            asked = await self._read("conversation", [*before, *body.pieces])
        asked.sampling["tenant"] = tenant or asked.sampling["salt"] or ""
        make_mask = asked.grammar and self.grammars.masks(asked.grammar, asked.sampling["max_new_tokens"])
        generation = Generation(self.engine, self.model, asked, make_mask)
        note_generation(generation)
        form = form(self.model.name, self.model.tokenizer, asked)
        if asked.keeps:
            self.stored.put(tenant, form.id, body.pieces, asked.follows)
            form.keep = functools.partial(self.stored.complete, tenant, form.id)
        body.release()
        if asked.stream:
            await generation.begin()
            return EventStream(_chunks(generation, form), generation.abort)
        try:
            whole = await _whole(generation, form)
        finally:
            generation.abort()
        return Response(whole if isinstance(whole, bytes) else to_json(whole, inf_nan_mode="null"),
                        media_type="application/json")

    def _warn_of(self, name):
        """Once, of a field that is passed over."""
        if name not in self._ignored and len(self._ignored) < _MOST_NAMES:
            self._ignored.add(name)
            logging.getLogger("uvicorn.error").warning("%s is no field that kv-serve knows: it is ignored", cut(name))

    async def models(self, request):
        return JSONResponse({"object": "list", "data": [self._model()]})

    async def model_of_name(self, request):
        self.model.check_name(request.path_params["name"])
        return JSONResponse(self._model())

    def _model(self):
        return {"id": self.model.name, "object": "model", "created": self.since, "owned_by": "kv-serve",
                "max_model_len": self.model.max_tokens,
                "capabilities": ["completion", *["chat"] * self.texts.takes_chats]}

    async def health(self, request):
        if self.engine.failure:
            raise RequestError(503, self.engine.failure)
        return Response()

    async def metrics(self, request):
        """Those of requests, after what the manager's own server has, if there is one."""
        text, kind = b"", "text/plain; version=0.0.4; charset=utf-8"
        if self.metrics_url:
            try:
                text, kind = await asyncio.to_thread(self._scrape)
            except (OSError, http.client.HTTPException) as error:
                raise RequestError(502, f"the metrics cannot be read: {error}")
        return Response(text + self.engine.figures.text(), media_type=kind)

    def _scrape(self):
        """Without a proxy, which environment variables may name: it is an address of this machine."""
        connection = http.client.HTTPConnection(self.metrics_url.hostname, self.metrics_url.port, timeout=10)
        with contextlib.closing(connection):
            connection.request("GET", self.metrics_url.path)
            answer = connection.getresponse()
            return answer.read(), answer.headers["Content-Type"]

    async def reset_prefix_cache(self, request):
        await self.engine.reset_prefix_cache()
        return Response()


def _tenant_of(request):
    return request.scope.get("state", {}).get("tenant")


async def _whole(generation, form):
    wholes = [Piece(i, "") for i in range(len(generation.answers))]
    async for pieces in generation.pieces():
        for piece in pieces:
            whole = wholes[piece.index]
            whole.text += piece.text
            whole.reasoning += piece.reasoning
            whole.finish_reason = piece.finish_reason
            whole.known += piece.known
            whole.calls += piece.calls
            if piece.embedding is not None:
                whole.embedding = form.vector(piece.embedding)
    prompt = generation.answers[0].known_prompt() if generation.asked.shows_prompt else None
    return form.whole([wholes[answer.index] for answer in generation.chosen()], generation.usage(), prompt)


async def _chunks(generation, form):
    """Lists of them."""
    try:
        yield form.begin(generation)
        async for pieces in generation.pieces():
            yield [chunk for piece in pieces for chunk in form.go_on(generation, piece)]
        yield form.end(generation)
    except RequestError as error:
        note_refusal(error)
        yield [error.body()]


async def _refuse(request, error):
    return refusal(error)


async def _refuse_http(request, error):
    sentence = f"{request.method} {cut(request.url.path)}: {error.detail}"
    return refusal(RequestError(error.status_code, sentence), error.headers)


async def _leave(request, error):
    return Response(status_code=_GONE)


async def _fail(request, error):
    return JSONResponse(RequestError(500, "the server failed; its log says how").body(), 500)
