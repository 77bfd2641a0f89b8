"""Starlette on uvicorn, which answers the requests of the benchmark overhead at once: what HTTP alone costs here.

It prints its port."""

import asyncio
import json
import socket

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

ANSWER = {"id": "cmpl-0123456789abcdef", "object": "text_completion", "created": 0, "model": "tiny",
          "choices": [{"index": 0, "text": "a", "logprobs": None, "finish_reason": None}]}


async def completions(request):
    asked = await request.json()
    return StreamingResponse(tokens(asked["max_tokens"])) if asked.get("stream") else JSONResponse(ANSWER)


async def tokens(count):
    for _ in range(count):
        await asyncio.sleep(0)  # other streams have a turn, as between two steps
        yield f"data: {json.dumps(ANSWER)}\n\n"


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    print(listener.getsockname()[1], flush=True)
    application = Starlette(routes=[Route("/v1/completions", completions, methods=["POST"])])
    uvicorn.Server(uvicorn.Config(application, log_level="critical")).run(sockets=[listener])


if __name__ == "__main__":
    main()
