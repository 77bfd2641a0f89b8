"""kv-serve: a model folder behind OpenAI's HTTP interface."""

import sys
from pathlib import Path

import kvmlir
from kv_command_line import Parser, integer
from kv_generate.errors import GenerateFailure

from .cache import make_manager
from .endpoints import make_application
from .engine import Engine
from .http_server import HttpServer, listen
from .served_model import ServedModel


_PAGES, _BYTES = integer(1, 2**31 - 2), integer(1, 2**63 - 1)
# What is of use with another option only.
_NEEDED = {"events_replay": "events", "events_topic": "events", "events_tiers": "events", "disk_bytes": "disk_dir",
           "role": "peer", "peer": "role"}


def parse(arguments):
    parser = Parser(
        prog="kv-serve", description="Serves a model folder (what kv-import wrote, and model.so) over OpenAI's HTTP "
                                     "interface.")
    parser.add_argument("model", help="folder with model.so, weights.safetensors, tokenizer.json and "
                                      "model.json")
    add = parser.add_argument
    add("--host", default="127.0.0.1", help="nobody is asked who they are: bind it where all may ask")
    add("--port", type=integer(0, 65535), default=8000, metavar="N", help="0: one that is free")
    add("--served-model-name", metavar="NAME", help="default: the model's own")
    add("--device", metavar="D", help="cpu (default), cuda or cuda:N: what the artifact is for")
    add("--threads", type=integer(1, 4096), metavar="N", help="default: cores")
    add("--max-batch", type=integer(1, 2**20 - 1), default=16, metavar="N", help="most requests of a step")
    add("--max-batch-tokens", type=integer(1, 2**24), default=512, metavar="N",
        help="most tokens of a step: longer prompts are computed in chunks")
    add("--max-requests", type=integer(1, 2**31 - 1), default=1024, metavar="N",
        help="most requests that run and wait; more are refused by 429")
    sizes = parser.add_mutually_exclusive_group()
    sizes.add_argument("--pages", type=_PAGES, metavar="N")
    sizes.add_argument("--cache-bytes", type=_BYTES, metavar="N",
                       help="default: 4 requests of the model's length, at most 1 GiB")
    add("--host-pages", type=_PAGES, metavar="N", help="of host memory, behind the cache")
    add("--disk-dir", metavar="DIR", help="computed pages, also for the next start")
    add("--disk-bytes", type=_BYTES, metavar="N", help="default: 8 GiB")
    add("--store", metavar="ADDRESS",
        help="computed pages that machines share: a Redis or Valkey server, redis://host:port/db or unix:///path")
    add("--role", choices=("prefill", "decode"), help="prefill: computes prompts for others, too; decode: has them "
                                                      "computed by the one at --peer")
    add("--peer", metavar="ENDPOINT", help="tcp://HOST:PORT or ipc://PATH; prefill binds it, decode connects to it")
    add("--metrics", metavar="HOST:PORT", help="the figures of /metrics at a port of their own, too")
    add("--events", metavar="ENDPOINT", help="which prefixes are cached, over ZeroMQ")
    add("--events-replay", metavar="ENDPOINT")
    add("--events-topic", type=str, metavar="TOPIC")
    add("--events-tiers", action="store_true", help="also tell of pages in host memory, on the disk and in the store")
    add("--shutdown-seconds", type=integer(0, 86400), default=30, metavar="N",
        help="for running requests, after SIGTERM")
    add("--log-level", default="warning", choices=("error", "warning", "info", "debug"))
    options = parser.parse_args(arguments)
    for name, needed in _NEEDED.items():
        if getattr(options, name) and not getattr(options, needed):
            parser.error(f"--{name} is given, and no --{needed}".replace("_", "-"))
    return options


def note(sentence):
    print(f"kv-serve: note: {sentence}", file=sys.stderr)


def metrics_url(manager, address):
    port = manager.metrics_port
    host = (address or "").rpartition(":")[0]
    return port and f"http://{'127.0.0.1' if host in ('', '0.0.0.0', '[::]', '*') else host}:{port}/metrics"


def serve(options):
    text = ServedModel(options.model, options.served_model_name)
    session = kvmlir.InferenceSession(options.device, options.threads, log=note)
    model = session.load(Path(options.model))
    manager = make_manager(model, options, text.name, note)
    text.max_tokens = manager.max_seq_len
    server = kvmlir.Server(model, manager, max_batch=options.max_batch,
                           max_batch_tokens=options.max_batch_tokens)
    engine = Engine(server, manager, options.max_requests)
    application = make_application(text, engine, metrics_url(manager, options.metrics))
    listener = listen(options.host, options.port)
    HttpServer(application, engine, options.shutdown_seconds, options.log_level).run(listener)
    return 1 if engine.failure else 0


def main(arguments=None):
    options = parse(arguments)
    try:
        return serve(options)
    except (GenerateFailure, kvmlir.KVError, ValueError) as error:
        print(f"kv-serve: {error}", file=sys.stderr)
    except OSError as error:
        place = error.filename or f"{options.host}:{options.port}"
        print(f"kv-serve: {place}: {error.strerror or error}", file=sys.stderr)
    return 1
