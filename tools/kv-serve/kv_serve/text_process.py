"""The processes that read bodies, render chat templates and find tokens. What they are given comes from strangers,
and the template from whoever made the model: so they have limits of time and memory, and can be killed.

One process has loaded the tokenizer, and forks another one whenever it is asked to: that takes no time, and the
server itself, which has threads, could not."""

import contextlib
import dataclasses
import gc
import json
import os
import resource
import signal
import socket
import struct
import sys
import traceback

from kv_generate.errors import GenerateFailure
from pydantic_core import to_json

from .errors import RequestError
from .requests import Asked, read_chat, read_completion, read_detokenize, read_embeddings, read_score, read_tokenize
from .responses import read_conversation, read_response
from .served_model import Encoder, ServedModel, own_words

# Seconds of the processor: for a template, to be compiled and for one chat; for all else.
TEMPLATE_SECONDS, SECONDS = 1.0, 30.0

READERS = {"chat": read_chat, "text": read_completion, "response": read_response, "conversation": read_conversation,
           "embeddings": read_embeddings, "score": read_score, "tokenize": read_tokenize, "detokenize": read_detokenize}
OF_CHATS = ("chat", "response", "conversation")
MAY_BE_CHATS = (*OF_CHATS, "tokenize")

# Frames of both directions: a letter, the bytes that follow, and those. A job is the name of its reader, and the
# body. It is answered by T where the template begins, R where its text is there, and then E, an error, or A, the
# request with the number of each prompt's token ids, and those in pieces, P.
HEAD = struct.Struct("<cI")
PIECE = 1 << 18


@dataclasses.dataclass(frozen=True)
class Order:
    """Of a process. template: it compiles the chat template at once. memory: bytes that it may take beyond those
    that it begins with. most_tokens: ServedModel's max_tokens."""

    template: bool
    memory: int
    most_tokens: int


@contextlib.contextmanager
def _limited(seconds):
    """The process ends by a signal when the time of the processor is over, whatever it does then."""
    left, _ = signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, left)


_DEFAULTS = vars(Asked(None, None))  # which need not be sent


class _Worker:
    def __init__(self, connection, encoder, order):
        self._file = connection.makefile("rwb", buffering=1 << 16)
        self._encoder = encoder
        encoder.model.max_tokens = order.most_tokens
        pages = int(open("/proc/self/statm").read().split()[0])
        most = pages * resource.getpagesize() + order.memory
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        refusal = self._compile() if order.template else None
        self._send(b"H", json.dumps({"process": os.getpid(), "refusal": refusal}).encode())

    def _compile(self):
        """Why the template cannot be used, or None."""
        try:
            with _limited(TEMPLATE_SECONDS):
                self._encoder.compile_template()
        except GenerateFailure as failure:
            return own_words(failure)

    def run(self):
        while head := self._file.read(HEAD.size):
            kind = self._file.read(HEAD.unpack(head)[1]).decode()
            data = self._file.read(HEAD.unpack(self._file.read(HEAD.size))[1])
            try:
                with _limited(SECONDS):
                    self._answer(kind, data)
            except RequestError as error:
                self._send(b"E", json.dumps(error.fields()).encode())
            except MemoryError:
                self._send(b"E", json.dumps([400, "the body needs more memory than there is for one", None,
                                             None]).encode())
            except Exception:
                self._send(b"X", traceback.format_exc().encode(errors="backslashreplace"))

    def _answer(self, kind, data):
        asked = READERS[kind](data, self._encoder.model)
        if asked.template:  # a chat
            self._send(b"T")
            with _limited(TEMPLATE_SECONDS):
                text = self._encoder.render(asked.prompts[0], asked.template)
            self._send(b"R")
            # The template itself writes BOS where the model wants one.
            encoded = [self._encoder.encode(text, add_special_tokens=False)]
            asked.template = {}  # of no further use
            if asked.grammar is None:
                asked.reasons = self._encoder.model.family.begins_with_reasoning(text)
        else:
            encoded = [self._encoder.encode(prompt, add_special_tokens=asked.special_tokens is not False)
                       for prompt in asked.prompts]
            if asked.echo:
                asked.echoes = [self._encoder.decode(tokens, not asked.special_tokens) for tokens in encoded]
        asked.prompts = [len(tokens) for tokens in encoded]
        self._write(b"A", to_json({name: value for name, value in vars(asked).items()
                                   if name not in _DEFAULTS or value != _DEFAULTS[name]}))
        for tokens in encoded:
            data = memoryview(tokens).cast("B")
            for i in range(0, len(data), PIECE):
                self._write(b"P", data[i:i + PIECE])
        self._file.flush()

    def _send(self, letter, data=b""):
        self._write(letter, data)
        self._file.flush()

    def _write(self, letter, data):
        """Each flush wakes the server's event loop."""
        self._file.write(HEAD.pack(letter, len(data)))
        self._file.write(data)


def _fork(connection, orders, encoder, order):
    try:
        if os.fork() != 0:
            return
    except OSError:
        return  # who asked sees that nobody is there
    status = 1
    try:
        orders.close()
        # An allocation that fails in the tokenizer ends the process with a message, which is no news.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        _Worker(connection, encoder, order).run()
        status = 0
    finally:
        os._exit(status)


def main():
    descriptor, folder, name = sys.argv[1:]
    orders = socket.socket(fileno=int(descriptor))
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for them
    os.nice(5)  # the server's own threads go first
    try:
        encoder = Encoder(ServedModel(folder, name))
    except GenerateFailure:
        return 1  # the server has loaded the same, and says so
    gc.freeze()
    while True:
        data, descriptors, _, _ = socket.recv_fds(orders, 1 << 10, 1)
        if not data:
            return 0
        with socket.socket(fileno=descriptors[0]) as connection:
            _fork(connection, orders, encoder, Order(**json.loads(data)))


if __name__ == "__main__":
    sys.exit(main())
