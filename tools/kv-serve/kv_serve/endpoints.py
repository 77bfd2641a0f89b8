"""The application: paths to what answers them."""

import asyncio
import contextlib
import time
import urllib.error
import urllib.request

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from .answer_forms import Chat, Completion
from .connection import EventStream, read_body, unless_gone
from .errors import RequestError
from .fields import parse
from .generation import Generation
from .requests import read_chat, read_completion


def make_application(model, engine, metrics_url):
    own = _Endpoints(model, engine, metrics_url)

    @contextlib.asynccontextmanager
    async def lifespan(_):
        engine.start()
        yield
        await engine.stop()

    return Starlette(lifespan=lifespan, routes=[
        Route("/v1/chat/completions", own.chat, methods=["POST"]),
        Route("/v1/completions", own.completions, methods=["POST"]),
        Route("/v1/models", own.models),
        Route("/v1/models/{name:path}", own.model_of_name),
        Route("/health", own.health),
        Route("/metrics", own.metrics),
        Route("/reset_prefix_cache", own.reset_prefix_cache, methods=["POST"]),
    ], exception_handlers={RequestError: _refuse, HTTPException: _refuse_http, Exception: _fail})


class _Endpoints:
    def __init__(self, model, engine, metrics_url):
        self.model, self.engine, self.metrics_url = model, engine, metrics_url
        self.since = int(time.time())

    async def chat(self, request):
        return await self._generate(request, read_chat, Chat)

    async def completions(self, request):
        return await self._generate(request, read_completion, Completion)

    async def _generate(self, request, read, form):
        asked = read(parse(await read_body(request)), self.model)
        generation = Generation(self.engine, self.model, asked)
        await generation.start()
        form = form(self.model.name)
        if asked.stream:
            return EventStream(_chunks(generation, form), generation.abort)
        try:
            whole = await unless_gone(request.receive, _whole(generation, form))
        finally:
            generation.abort()
        return JSONResponse(whole) if whole else Response(status_code=499)  # nobody reads it

    async def models(self, request):
        return JSONResponse({"object": "list", "data": [self._model()]})

    async def model_of_name(self, request):
        self.model.check_name(request.path_params["name"])
        return JSONResponse(self._model())

    def _model(self):
        return {"id": self.model.name, "object": "model", "created": self.since, "owned_by": "kv-serve",
                "max_model_len": self.model.max_tokens}

    async def health(self, request):
        if self.engine.failure:
            raise RequestError(503, self.engine.failure)
        return Response()

    async def metrics(self, request):
        """The manager's own server has all figures."""
        if not self.metrics_url:
            raise RequestError(501, "there are no metrics: the cache has no pages, or libkv_metrics.so "
                                    "is not there")

        def scrape():
            with urllib.request.urlopen(self.metrics_url, timeout=10) as answer:
                return answer.read(), answer.headers["Content-Type"]

        try:
            text, kind = await asyncio.to_thread(scrape)
        except (OSError, urllib.error.URLError) as error:
            raise RequestError(502, f"the metrics cannot be read: {error}")
        return Response(text, media_type=kind)

    async def reset_prefix_cache(self, request):
        await self.engine.reset_prefix_cache()
        return Response()


async def _whole(generation, form):
    texts, reasons = [""] * len(generation.answers), [None] * len(generation.answers)
    async for piece in generation.pieces():
        texts[piece.index] += piece.text
        reasons[piece.index] = piece.finish_reason
    return form.whole(texts, reasons, generation.usage())


async def _chunks(generation, form):
    usage = {"usage": None} if generation.asked.include_usage else {}
    try:
        if opening := form.opening():
            yield form.chunk(opening, **usage)
        async for piece in generation.pieces():
            yield form.chunk(form.part(piece), **usage)
        if usage:
            yield form.chunk(usage=generation.usage())
    except RequestError as error:
        yield error.body()


async def _refuse(request, error):
    return JSONResponse(error.body(), error.status)


async def _refuse_http(request, error):
    sentence = f"{request.method} {request.url.path}: {error.detail}"
    return JSONResponse(RequestError(error.status_code, sentence).body(), error.status_code,
                        error.headers)


async def _fail(request, error):
    return JSONResponse(RequestError(500, "the server failed; its log says how").body(), 500)
