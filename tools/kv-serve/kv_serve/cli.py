"""kv-serve: a model folder behind OpenAI's HTTP interface."""

import os
import sys
from pathlib import Path

import kvmlir
from kv_command_line import version
from kv_generate.errors import GenerateFailure
from kv_generate.model_folder import ModelFolder
from kvmlir.options import SERVER

from .bodies import UNKNOWN_FIELDS
from .cache import describe, make_manager
from .connection import Bodies
from .endpoints import make_application
from .engine import Engine
from .figures import Figures
from .guard import guarded
from .http_server import HttpServer, listen, make_limits
from .options import parse, read_access
from .request_log import Logged
from .responses import StoredResponses
from .served_model import ServedModel
from .text_pool import TextPool


def note(sentence):
    print(f"kv-serve: note: {sentence}", file=sys.stderr)


def metrics_url(manager, address):
    port = manager.metrics_port
    host = (address or "").rpartition(":")[0]
    return port and f"http://{'127.0.0.1' if host in ('', '0.0.0.0', '[::]', '*') else host}:{port}/metrics"


def load_draft(session, text, folder):
    if ModelFolder(folder).tokenizer.get_vocab() != text.tokenizer.get_vocab():
        raise ValueError(f"--draft {folder}: its tokens are not those of {text.folder.folder}")
    return session.load(Path(folder))


def serve(options):
    access, limits = read_access(options), make_limits(options)
    if options.unknown_fields:
        os.environ[UNKNOWN_FIELDS] = options.unknown_fields
    text = ServedModel(options.model, options.served_model_name)
    texts = TextPool(text, note)
    try:
        session = kvmlir.InferenceSession(options.device, options.threads, deterministic=options.deterministic,
                                          log=note)
        model = session.load(Path(options.model))
        manager = make_manager(model, options, text.name, note)
        text.max_tokens, text.vocab_size = manager.max_seq_len, model.manifest.model_vocab_size
        draft = options.draft and load_draft(session, text, options.draft)
        server = kvmlir.Server(model, manager, draft, **{one.name: getattr(options, one.name) for one in SERVER})
        engine = Engine(server, manager, options.max_requests, Figures(text.name), 2 * options.max_batch_tokens)
        listener = listen(options.host, options.port)
        note(describe(model, manager, options))
        application = make_application(text, engine, texts, Bodies(options.body_bytes),
                                       StoredResponses(options.stored_bytes), metrics_url(manager, options.metrics), (version(), bool(access.keys)))
        HttpServer(Logged(guarded(application, access)), engine, limits, options).run(listener)
    finally:
        texts.stop()
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
